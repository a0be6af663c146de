"""Scan broken variants of the fixtures: python benchmarks/fuzz.py [--files N] [--seed S] [--start I]

Tokens are dropped, swapped and put in, lines moved and indented, files cut off, spliced and their bytes flipped, the
cells of notebooks shuffled and spoilt. Whatever comes of it, a scan has to end in time with findings or a clear
error: no exception, no "leakcheck itself failed", and output that can be printed. Each variant depends on the seed and
its number alone; one that fails is kept beside the report of how. Exit status 1 where one did.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import random
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
MOST_SECONDS = 20  # of the processor, for one file
_TOKEN = re.compile(r"\w+|[ \t]+|\n|[^\w\s]|\s")
_ODD = (
    *"()[]{}:;,.*@=~%\\\"'",
    *(
        "**",
        "->",
        ":=",
        "...",
        '"""',
        "f'{",
        "}'",
        "\n",
        "\t",
        "\f",
        "\r",
        "    ",
        "\0",
        "\ufeff",
        "é",
        "\ud7ff",
        "\U0001d4b3",
    ),
    *("lambda ", "yield ", "await ", "async ", "match ", "case _:", "def f(", "class ", "return", "global X", "del "),
    *("import ", "from . import *", "from .. import ", "try:", "except* ", "finally:", "else:", "with ", "for "),
    *("0x", "1e999", "9" * 400, "None", "True", "self", "df", "X_train", "super()", "%matplotlib", "!ls", "# type:"),
)


@dataclass(frozen=True)
class Failure:
    """A variant that a scan did not survive, and how."""

    number: int
    name: str
    how: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5000, help="variants (default: 5000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first one")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_failures"), help="where failing files are put")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for failure, file in fuzz(Path(folder), options.seed, range(options.start, options.start + options.files)):
            failures += 1
            options.keep.mkdir(exist_ok=True)
            kept = options.keep / f"{options.seed}_{failure.number}{file.suffix}"
            kept.write_bytes(file.read_bytes())
            print(f"{failure.number} ({failure.name}), kept as {kept}: {failure.how}", flush=True)
    print(f"{options.files} variants, {failures} failures")
    return int(failures > 0)


def fuzz(folder: Path, seed: int, numbers: range) -> Iterator[tuple[Failure, Path]]:
    """Scan the variants with these numbers; yields those that failed."""
    originals = read_originals()
    for number in numbers:
        name, data = variant(originals, seed, number)
        file = folder / f"variant{Path(name).suffix}"
        file.write_bytes(data)
        how = failure_of(file)
        if how:
            yield Failure(number, name, how), file


def read_originals() -> dict[str, bytes]:
    """The files that are varied, by name."""
    files = [file for part in ("code", "odd_files", "example") for file in sorted((FIXTURES / part).rglob("*"))]
    return {
        file.relative_to(FIXTURES).as_posix(): file.read_bytes() for file in files if file.suffix in (".py", ".ipynb")
    }


# --- what is done to a file ------------------------------------------------------------------------------------------


def variant(originals: dict[str, bytes], seed: int, number: int) -> tuple[str, bytes]:
    """One variant: the name of what it was made from, and its bytes."""
    chance = random.Random(f"{seed} {number}")
    name = chance.choice(list(originals))
    data = originals[name]
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if name.endswith(".ipynb") and chance.random() < 0.8:
            data = _vary_notebook(data, chance)
        elif chance.random() < 0.75:
            data = _as_text(data, _vary_text, chance)
        else:
            data = _vary_bytes(data, originals, chance)
    return name, data


def _as_text(data: bytes, vary: Callable[[str, random.Random], str], chance: random.Random) -> bytes:
    return vary(data.decode("utf-8", "surrogateescape"), chance).encode("utf-8", "surrogateescape")


def _vary_text(text: str, chance: random.Random) -> str:
    return chance.choice((_drop_tokens, _swap_tokens, _put_in, _repeat, _move_lines, _indent, _nest))(text, chance)


def _drop_tokens(text: str, chance: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    for _ in range(min(len(tokens), chance.randint(1, 6))):
        del tokens[chance.randrange(len(tokens))]
    return "".join(tokens)


def _swap_tokens(text: str, chance: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    for _ in range(chance.randint(1, 4) if tokens else 0):
        a, b = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _put_in(text: str, chance: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    for _ in range(chance.randint(1, 4)):
        tokens.insert(chance.randint(0, len(tokens)), chance.choice(_ODD))
    return "".join(tokens)


def _repeat(text: str, chance: random.Random) -> str:
    """One token or one line, very often."""
    parts = _TOKEN.findall(text) if chance.random() < 0.5 else text.splitlines(keepends=True)
    if parts:
        place = chance.randrange(len(parts))
        parts[place] *= chance.choice((2, 3, 50, 400))
    return "".join(parts)


def _move_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randint(1, 5) if lines else 0):
        lines.insert(chance.randrange(len(lines)), lines.pop(chance.randrange(len(lines))))
    return "".join(lines)


def _indent(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        place = chance.randrange(len(lines))
        lines[place] = chance.choice((" ", "    ", "\t", "        ")) + lines[place].lstrip(chance.choice((" ", "")))
    return "".join(lines)


def _nest(text: str, chance: random.Random) -> str:
    """Everything deep inside something."""
    depth = chance.choice((1, 3, 20, 95))
    opening = chance.choice(("if x:", "for i in y:", "while True:", "def f(a):", "class C:", "try:", "with z as q:"))
    lines = [" " * level + opening for level in range(depth)]
    return "\n".join([*lines, *(" " * depth + line for line in text.splitlines())])


def _vary_bytes(data: bytes, originals: dict[str, bytes], chance: random.Random) -> bytes:
    how = chance.randrange(4)
    if how == 0:
        return data[: chance.randint(0, len(data))]
    if how == 1:
        changed = bytearray(data)
        for _ in range(chance.randint(1, 8) if changed else 0):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)
    if how == 2:
        other = originals[chance.choice(list(originals))]
        return data[: chance.randint(0, len(data))] + other[chance.randint(0, len(other)) :]
    start = chance.randint(0, len(data))
    return data[:start] + data[chance.randint(start, len(data)) :]


def _vary_notebook(data: bytes, chance: random.Random) -> bytes:
    try:
        content = json.loads(data)
        cells = content["cells"]
        place = chance.randrange(len(cells))
    except (ValueError, TypeError, KeyError):
        return data
    how = chance.randrange(6)
    if how == 0:
        chance.shuffle(cells)
    elif how == 1:
        del cells[place]
    elif how == 2:
        cells[place] = chance.choice((None, 3, [], "text", {}, {"cell_type": "code"}, [cells[place]]))
    elif how == 3 and isinstance(cells[place], dict):
        odd = (None, 3, {}, [1], [["x"]], "\ud800", "x = (", "%%bash\nls", "!ls {x}\n", "%time f(", "df?")
        cells[place][chance.choice(("source", "cell_type", "metadata"))] = chance.choice(odd)
    elif isinstance(cells[place], dict):
        source = cells[place].get("source", "")
        text = "".join(map(str, source)) if isinstance(source, list) else str(source)
        cells[place]["source"] = _vary_text(text, chance)
    return json.dumps(content).encode()


# --- what a scan makes of it -----------------------------------------------------------------------------------------


class _TooLong(BaseException):
    """The time is up; no Exception, so that nothing catches it on the way."""


def failure_of(file: Path) -> str:
    """How a scan of a file failed; empty where it did not."""
    from leakcheck.cli import main as command

    def stop(*_: object) -> None:
        raise _TooLong

    said, told = io.StringIO(), io.StringIO()
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    faulthandler.dump_traceback_later(30 * MOST_SECONDS, exit=True)  # where the native parser never comes back
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            options = ("--isolated", "--no-cache", "--jobs", "1", "--select", "ALL")
            status = command(["scan", *options, "--show-unknown", "--verbose", str(file)])
            command(["scan", *options, "--output-format", "json", str(file)])
    except _TooLong:
        return f"not done after {MOST_SECONDS} s of processor time"
    except Exception:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        faulthandler.cancel_dump_traceback_later()
    output = said.getvalue() + told.getvalue()
    if status not in (0, 1, 2):
        return f"exit status {status}"
    faults = ("leakcheck itself failed", "Traceback", "output can't be written")
    return output if any(fault in output for fault in faults) else ""


if __name__ == "__main__":
    sys.exit(main())
