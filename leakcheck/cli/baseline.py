"""`leakcheck baseline`"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from leakcheck.cli.options import add_config_options, file_config
from leakcheck.cli.parser import Parser
from leakcheck.cli.progress import ProgressLine
from leakcheck.project.baseline import Baseline, Entries, baseline_file, read_baseline, write_baseline
from leakcheck.project.paths import shown
from leakcheck.report.ansi import style_of
from leakcheck.report.text import clean, problem_line
from leakcheck.run import scan

EXAMPLES = """\
examples:
  leakcheck baseline                              accept what a scan finds today
  leakcheck baseline --prune                      forget what is gone
"""


def run(arguments: list[str]) -> int:
    """Scan, write the baseline, and return the exit status."""
    options = build_parser().parse_args(arguments)
    config = file_config(options, [Path(path).absolute() for path in options.paths])
    file = options.baseline or baseline_file(config)
    before = read_baseline(file) if options.prune or file.exists() else Counter()
    progress = ProgressLine(not options.quiet)
    try:
        result = scan(*options.paths, config=config, baseline=Baseline(file, before), progress=progress)
    finally:
        progress.clear()
    style = style_of(sys.stderr, "auto")
    for problem in result.errors:
        print(problem_line(problem, style), file=sys.stderr)
    assert result.baseline is not None
    after = result.baseline.pruned if options.prune else result.baseline.today
    write_baseline(file, after)
    if not options.quiet:
        print(_summary(before, after, file))
    return 2 if result.errors else 0


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck baseline",
        "[PATH ...]",
        "Accept today's findings: write them to a file, which `scan` then hides.",
        EXAMPLES,
    )
    add = parser.add_argument
    add("paths", nargs="*", default=["."], metavar="PATH", help="files and folders (default: the working folder)")
    add("--prune", action="store_true", help="only take out the findings that are gone; accept no new ones")
    add(
        "--baseline",
        type=Path,
        metavar="FILE",
        help="the file (default: that of the configuration, else .leakcheck-baseline.json at the project's root)",
    )
    add_config_options(parser)
    add("-q", "--quiet", action="store_true", help="print errors only")
    return parser


def _summary(before: Entries, after: Entries, file: Path) -> str:
    new, gone = after - before, before - after
    moved = (_unplaced(new) & _unplaced(gone)).total()
    counts = {"added": new.total() - moved, "moved": moved, "removed": gone.total() - moved}
    number = after.total()
    told = [f"{count} {what}" for what, count in counts.items() if count or (what != "moved" and not moved)]
    changes = f" ({', '.join(told)})" if before else ""
    return f"Wrote {number} finding{'' if number == 1 else 's'} to {clean(shown(file))}{changes}."


def _unplaced(entries: Entries) -> Counter[tuple[str, str]]:
    """The entries without their files: what stands in a file that was renamed is the same."""
    return Counter((entry.code, entry.fingerprint) for entry in entries.elements())
