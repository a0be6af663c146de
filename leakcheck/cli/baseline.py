"""`leakcheck baseline`"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from leakcheck.cli.parser import Parser
from leakcheck.cli.progress import ProgressLine
from leakcheck.project.baseline import Baseline, Entries, baseline_file, read_baseline, write_baseline
from leakcheck.project.config import find_config
from leakcheck.project.paths import shown
from leakcheck.report.ansi import Style, wants_colour
from leakcheck.report.text import clean, problem_line
from leakcheck.run import scan


def run(arguments: list[str]) -> int:
    """Scan, write the baseline, and return the exit status."""
    options = _parser().parse_args(arguments)
    places = [Path(path).absolute() for path in options.paths]
    config = find_config(places, file=options.config)
    file = options.baseline or baseline_file(config)
    before = read_baseline(file) if options.prune or file.exists() else Counter()
    progress = ProgressLine(not options.quiet)
    try:
        result = scan(*options.paths, config=config, baseline=Baseline(file, before), progress=progress)
    finally:
        progress.clear()
    style = Style(wants_colour(sys.stderr, "auto"))
    for problem in result.errors:
        print(problem_line(problem, style), file=sys.stderr)
    assert result.baseline is not None
    after = result.baseline.pruned if options.prune else result.baseline.today
    write_baseline(file, after)
    if not options.quiet:
        print(_summary(before, after, file))
    return 2 if result.errors else 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser("leakcheck baseline", "Accept today's findings: write them to a file, which `scan` then hides.")
    add = parser.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="files and folders (default: the working folder)")
    add("--prune", action="store_true", help="only take out the findings that are gone; accept no new ones")
    add(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="the file (default: that of the configuration, else .leakcheck-baseline.json at the project's root)",
    )
    add("--config", type=Path, metavar="FILE", help="use this configuration file")
    add("-q", "--quiet", action="store_true", help="print errors only")
    return parser


def _summary(before: Entries, after: Entries, file: Path) -> str:
    added, removed = (after - before).total(), (before - after).total()
    number = after.total()
    changes = f" ({added} added, {removed} removed)" if before else ""
    return f"Wrote {number} finding{'' if number == 1 else 's'} to {clean(shown(file))}{changes}."
