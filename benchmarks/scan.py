"""How much `leakcheck scan` costs beside what it can't do without: python benchmarks/scan.py [FOLDER]

Five ratios, each against a bar that must hold:

start   the whole process of `leakcheck --version` against a script that does the same with bare argparse.
filter  scan of 2,000 files that name no known library against walking the same folders and reading the same files.
scan    scan of machine-learning scripts against `libcst.parse_module` of the same texts, garbage collector as it is by
        default. With FOLDER, of the Python files there in place of generated scripts.
warm    a second scan of the same files against the first one, which fills the cache.
jobs    a scan of the same files in two processes against one.

Both sides of a ratio run alternately in one go on this machine, warm, in one process (`start`, `warm`, `jobs`: whole
processes alternate); the medians are compared. There is no cache and one process where nothing else is said. Exit
status 1 where a bar is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ml_scripts import write_ml_scripts, write_plain_modules

START_BAR, FILTER_BAR, SCAN_BAR, WARM_BAR, JOBS_BAR = 2.0, 2.0, 1.8, 0.1, 1 / 1.6
START_RUNS, FILTER_RUNS, SCAN_RUNS, WHOLE_RUNS = 25, 7, 5, 3

OPTIONS = ("--isolated", "--exit-zero", "--quiet", "--output-format", "concise")
# What the installed `leakcheck` command holds.
LAUNCHER = "import sys\nfrom leakcheck.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
BARE = """\
import argparse
import sys

def main():
    parser = argparse.ArgumentParser(prog="bare")
    parser.add_argument("--version", action="version", version="bare 0.1.0")
    parser.parse_args()

if __name__ == "__main__":
    sys.exit(main())
"""


@dataclass(frozen=True)
class Ratio:
    """One comparison: median seconds of both sides, and what their ratio may be at most."""

    name: str
    ours: float
    baseline: float
    bar: float
    what: str

    @property
    def value(self) -> float:
        return self.ours / self.baseline

    def row(self) -> str:
        verdict = "ok" if self.value <= self.bar else "MISSED"
        return (
            f"{self.name:8}{self.value:6.2f}{self.bar:6.2f}  {verdict:7}"
            f"{self.ours * 1000:9.1f} ms {self.baseline * 1000:9.1f} ms  {self.what}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    parser.add_argument("--files", type=int, default=200, help="generated scripts (default: 200)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        folder = options.folder or work / "ml"
        if options.folder is None:
            write_ml_scripts(folder, options.files)
        ratios = [start(work), prefilter(work / "plain"), scan(folder), warm(folder, work), jobs(folder)]
    print(f"{'':8}{'ratio':>6}{'bar':>6}  {'':7}{'leakcheck':>12} {'baseline':>12}")
    for ratio in ratios:
        print(ratio.row())
    return int(any(ratio.value > ratio.bar for ratio in ratios))


def start(work: Path) -> Ratio:
    ours, bare = work / "launcher.py", work / "bare.py"
    ours.write_text(LAUNCHER, encoding="utf-8")
    bare.write_text(BARE, encoding="utf-8")
    medians = alternate(process(ours, "--version"), process(bare, "--version"), START_RUNS)
    return Ratio("start", *medians, START_BAR, "leakcheck --version / bare argparse script, whole process")


def prefilter(folder: Path) -> Ratio:
    lines = write_plain_modules(folder, files=2000)

    def read() -> None:
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    file.read()

    medians = alternate(lambda: leakcheck_scan(folder), read, FILTER_RUNS)
    return Ratio(
        "filter", *medians, FILTER_BAR, f"scan / os.walk and read, 2000 files, {lines} lines, no known library"
    )


def scan(folder: Path) -> Ratio:
    import libcst

    texts = []
    for file in sorted(folder.rglob("*.py")):
        with contextlib.suppress(UnicodeDecodeError, libcst.ParserSyntaxError):
            text = file.read_text(encoding="utf-8")
            libcst.parse_module(text)
            texts.append(text)

    def parse() -> None:
        for text in texts:
            libcst.parse_module(text)

    medians = alternate(lambda: leakcheck_scan(folder), parse, SCAN_RUNS)
    lines = sum(text.count("\n") for text in texts)
    return Ratio("scan", *medians, SCAN_BAR, f"scan / libcst.parse_module, {len(texts)} files, {lines} lines")


def warm(folder: Path, work: Path) -> Ratio:
    kept, fresh = work / "kept", work / "fresh"
    second = process("-m", "leakcheck", "scan", *OPTIONS, "--jobs", "1", "--cache-dir", str(kept), str(folder))
    cold = process("-m", "leakcheck", "scan", *OPTIONS, "--jobs", "1", "--cache-dir", str(fresh), str(folder))

    def first() -> None:
        shutil.rmtree(fresh, ignore_errors=True)
        cold()

    return Ratio("warm", *alternate(second, first, WHOLE_RUNS), WARM_BAR, "second scan / first scan, whole processes")


def jobs(folder: Path) -> Ratio:
    one, two = (
        process("-m", "leakcheck", "scan", *OPTIONS, "--no-cache", "--jobs", count, str(folder)) for count in "12"
    )
    return Ratio("jobs", *alternate(two, one, WHOLE_RUNS), JOBS_BAR, "scan in two processes / in one")


def process(*arguments: str | Path) -> Callable[[], None]:
    """Runs this Python with these arguments, output thrown away."""
    import leakcheck

    environment = os.environ | {"PYTHONPATH": str(Path(leakcheck.__file__).parents[1])}
    command = [sys.executable, *map(str, arguments)]
    return lambda: subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL) and None


def leakcheck_scan(folder: Path) -> None:
    """What the command does, with its output thrown away."""
    from leakcheck.cli import main as command

    options = (*OPTIONS, "--no-cache", "--jobs", "1")
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        status = command(["scan", *options, str(folder)])
    if status != 0:
        first_lines = "\n".join(said.getvalue().splitlines()[:5])
        raise SystemExit(f"leakcheck scan {folder} ended with {status}:\n{first_lines}")


def alternate(ours: Callable[[], object], baseline: Callable[[], object], runs: int) -> tuple[float, float]:
    """Median seconds of both, run in turn after one warm-up each."""
    ours()
    baseline()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for took, call in zip(seconds, (ours, baseline), strict=True):
            gc.collect()
            began = time.perf_counter()
            call()
            took.append(time.perf_counter() - began)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


if __name__ == "__main__":
    sys.exit(main())
