"""`leakcheck scan`"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from leakcheck.cli.options import add_file_options, add_rule_options, full_config
from leakcheck.cli.parser import Parser
from leakcheck.cli.progress import ProgressLine
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Location
from leakcheck.project.config import Config
from leakcheck.report.ansi import style_of
from leakcheck.run import ScanResult, scan

EXAMPLES = """\
examples:
  leakcheck scan                                  the working folder
  leakcheck scan src/ notebooks/train.ipynb
  leakcheck scan --select LK1,LK202 --output-format concise
  leakcheck scan --config 'per-file-ignores = {"eda/*" = ["LK2"]}'
  leakcheck scan --stdin-filename src/train.py - < src/train.py
"""

_FORMATS = ("full", "concise", "json", "json-lines")
_PLAIN_WIDTH = 120  # columns where there is no terminal: output must not depend on the machine


def run(arguments: list[str]) -> int:
    """Scan, print, and return the exit status."""
    options = build_parser().parse_args(arguments)
    started = time.perf_counter()
    paths, unsaved = _paths(options)
    config = full_config(options, [path.absolute() for path in paths])
    progress = ProgressLine(not options.quiet)
    try:
        result = scan(*paths, config=config, claims=not options.no_claims, unsaved=unsaved, progress=progress)
    finally:
        progress.clear()
    _print_messages(result, options)
    _print_findings(result, options)
    if options.report:
        _write_report(result, Path(options.report))
    if options.verbose:
        _print_details(result, config, time.perf_counter() - started)
    return 0 if options.exit_zero and not result.errors else result.exit_status


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck scan",
        "[PATH ...]",
        "Find leaks in Python files and notebooks, without running them. Of folders (not of single files) the data "
        "sets and claims that the configuration declares are checked too.",
        EXAMPLES,
    )
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and folders (default: the working folder); - reads a file from standard input",
    )
    add_rule_options(parser)
    files = add_file_options(parser).add_argument
    files("--stdin-filename", metavar="FILE", help="the name under which standard input is checked and reported")
    files("--no-cache", action="store_true", help="read every file anew (there is no cache yet)")
    files("--no-data", action="store_true", help="leave out the data sets that the configuration declares")
    files("--no-claims", action="store_true", help="leave out the claims that the configuration declares")
    output = parser.add_argument_group("output").add_argument
    output("--output-format", choices=_FORMATS, default="full", help="(default: full)")
    output(
        "--statistics", action="store_true", help="print the number of findings of each code instead of the findings"
    )
    output("--report", metavar="FILE", help="write a report: .html, .md or .json")
    output("--exit-zero", action="store_true", help="exit with 0 even if something was found")
    output("--color", choices=("auto", "always", "never"), default="auto", help="(default: on terminals)")
    output("-q", "--quiet", action="store_true", help="print findings and errors only")
    output("-v", "--verbose", action="store_true", help="say what was done")
    return parser  # fmt: skip


def _paths(options: argparse.Namespace) -> tuple[list[Path], dict[Path, bytes]]:
    """What to scan, and the bytes of what comes from standard input."""
    given, name = options.paths, options.stdin_filename
    if "-" not in given and name is None:
        return [Path(path) for path in given or (".",)], {}
    others = [path for path in given if path != "-"]
    if others:
        raise LeakcheckError("standard input is checked alone", expected="no other path beside -", found=others[0])
    if sys.stdin is None:
        raise LeakcheckError("there is no standard input to read")
    file = Path(name or "-")
    return [file], {file: sys.stdin.buffer.read()}


def _print_findings(result: ScanResult, options: argparse.Namespace) -> None:
    if options.output_format == "json":
        from leakcheck.report.json import to_json

        print(to_json(result))
        return
    if options.output_format == "json-lines":
        from leakcheck.report.json import to_json_lines

        for line in to_json_lines(result):
            print(line)
        return
    from leakcheck.report import text

    style = style_of(sys.stdout, options.color)
    if options.statistics:
        names = {finding.code: finding.name for finding in result.findings}
        lines = text.statistics(result.by_code, names)
    elif options.output_format == "concise":
        lines = text.concise(result.findings, style)
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_WIDTH
        lines = text.full(result.findings, result.sources.text, style, width)
    for line in lines:
        print(line)
    if not options.quiet:
        print(text.summary(result.findings, len(result.errors), result.files, len(result.suppressed), style))


def _write_report(result: ScanResult, file: Path) -> None:
    from leakcheck.report.document import build
    from leakcheck.report.page import write_report

    def line_of(place: Location) -> str | None:
        lines = (result.sources.text(place) or "").split("\n")
        return lines[place.line - 1].strip() if place.line <= len(lines) else None

    errors = [f"{problem.location.path}: {problem.message}" for problem in result.errors]
    findings = [*result.findings, *result.suppressed]
    write_report(
        file, build(findings=findings, claims=result.claims, errors=errors, files=result.files, line_of=line_of)
    )


def _print_messages(result: ScanResult, options: argparse.Namespace) -> None:
    """What concerns the run, on stderr: errors (in JSON they stand in the output), notices, and an empty run."""
    from leakcheck.report.text import clean, problem_line

    style = style_of(sys.stderr, options.color)
    if options.output_format != "json":
        for problem in result.errors:
            print(problem_line(problem, style), file=sys.stderr)
    if options.quiet:
        return
    for notice in result.notices:
        print(f"{style.bold('note')}: {clean(notice)}", file=sys.stderr)
    if not result.files:
        print(
            f"{style.bold('note')}: no Python files or notebooks in {', '.join(options.paths) or '.'}", file=sys.stderr
        )


def _print_details(result: ScanResult, config: Config, seconds: float) -> None:
    print(f"configuration: {config.file or 'none'}; project root: {config.root}", file=sys.stderr)
    for finding in result.suppressed:
        reason = finding.suppressed.reason if finding.suppressed else ""
        print(f"suppressed: {finding.location}: {finding.code} {reason}".rstrip(), file=sys.stderr)
    print(f"{result.files} files in {seconds:.2f} s", file=sys.stderr)
