"""`leakcheck scan`"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from leakcheck.cli.options import add_file_options, add_rule_options, full_config
from leakcheck.cli.output import HOLD_ERRORS, SERVICE_FORMATS, check_outputs, output_style, write_output
from leakcheck.cli.parser import Parser, process_count
from leakcheck.cli.progress import ProgressLine
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Location
from leakcheck.project.config import Config
from leakcheck.report.ansi import Style, style_of
from leakcheck.report.statistics import require_statistics, statistics_text
from leakcheck.run import ScanResult, scan

if TYPE_CHECKING:
    from leakcheck.report.document import Document

EXAMPLES = """\
examples:
  leakcheck scan                                  the working folder
  leakcheck scan src/ notebooks/train.ipynb
  leakcheck scan --select LK1,LK202 --output-format concise
  leakcheck scan --output-format sarif --output-file leakcheck.sarif
  leakcheck scan --config 'per-file-ignores = {"eda/*" = ["LK2"]}'
  leakcheck scan --stdin-filename src/train.py - < src/train.py
"""

_FORMATS = ("full", "concise", "json", "json-lines", *SERVICE_FORMATS)
_FOR_READERS = ("full", "concise", "github")  # formats that show no fingerprints


def run(arguments: list[str]) -> int:
    """Scan, print, and return the exit status."""
    options = build_parser().parse_args(arguments)
    if options.statistics:
        require_statistics(options.output_format)
    check_outputs(report=options.report, output_file=options.output_file)
    started = time.perf_counter()
    paths, unsaved = _paths(options)
    config = full_config(options, [path.absolute() for path in paths])
    progress = ProgressLine(not options.quiet)
    try:
        result = scan(
            *paths,
            config=config,
            data=not options.no_data,
            claims=not options.no_claims,
            cache=not options.no_cache and (options.cache_dir or True),
            jobs=options.jobs,
            baseline=_baseline(options),
            unsaved=unsaved,
            fingerprints=options.output_format not in _FOR_READERS or options.report is not None,
            progress=progress,
        )
    finally:
        progress.clear()
    failed = False
    if options.add_ignore is not None:
        from leakcheck.cli.ignoring import write_ignores

        result, failed = write_ignores(result, options.add_ignore, options.quiet)
    _print_messages(result, options)
    write_output(_rendered(result, options), options.output_file)
    if options.output_file and not options.quiet:
        print(_summary(result, style_of(sys.stderr, options.color)), file=sys.stderr)
    if options.report:
        from leakcheck.report.page import write_report

        write_report(Path(options.report), _document(result))
    if options.show_unknown:
        _print_unknown(result)
    if options.verbose:
        _print_details(result, config, time.perf_counter() - started)
    if failed:
        return 2
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
    files("--baseline", type=Path, metavar="FILE", help="hide the findings that this file accepts")
    files("--no-baseline", action="store_true", help="show accepted findings, too")
    files("--no-cache", action="store_true", help="follow every file anew, and store nothing")
    files(
        "--cache-dir", type=Path, metavar="FOLDER", help="the cache (default: .leakcheck_cache in the project's root)"
    )
    files("--jobs", type=process_count, metavar="N", help="processes (default: one a core where that is worth it)")
    files("--no-data", action="store_true", help="leave out the data sets that the configuration declares")
    files("--no-claims", action="store_true", help="leave out the claims that the configuration declares")
    output = parser.add_argument_group("output").add_argument
    output("--output-format", choices=_FORMATS, default="full", help="(default: full)")
    output(
        "--statistics", action="store_true", help="print the number of findings of each code instead of the findings"
    )
    output("--output-file", metavar="FILE", help="write the findings there instead of standard output")
    output("--report", metavar="FILE", help="write a report: .html, .md or .json")
    output("--show-unknown", action="store_true", help="list on stderr what was not followed, and why")
    output("--add-ignore", metavar="REASON", help="write `# leakcheck: ignore[...] REASON` comments for the findings")
    output("--exit-zero", action="store_true", help="exit with 0 even if something was found")
    output("--color", choices=("auto", "always", "never"), default="auto", help="(default: on terminals)")
    output("-q", "--quiet", action="store_true", help="print findings and errors only")
    output("-v", "--verbose", action="store_true", help="say on stderr what was done with each file")
    return parser  # fmt: skip


def _paths(options: argparse.Namespace) -> tuple[list[Path], dict[Path, bytes]]:
    """What to scan, and the bytes of what comes from standard input."""
    given, name = options.paths, options.stdin_filename
    if "-" not in given and name is None:
        return [Path(path) for path in given or (".",)], {}
    others = [path for path in given if path != "-"]
    if others:
        raise LeakcheckError("standard input is checked alone", expected="no other path beside -", found=others[0])
    if options.add_ignore is not None:
        raise LeakcheckError("--add-ignore writes to files, not to standard input")
    if sys.stdin is None:
        raise LeakcheckError("there is no standard input to read")
    file, data = Path(name or "-"), sys.stdin.buffer.read()
    if name is None and _is_notebook(data):
        raise LeakcheckError("standard input holds a notebook: name it with --stdin-filename NAME.ipynb")
    return [file], {file: data}


def _is_notebook(data: bytes) -> bool:
    """Whether the bytes are JSON with cells, which is a harmless expression as Python."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or b'"cells"' not in data:
        return False
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "cells" in content


def _baseline(options: argparse.Namespace) -> Path | Literal[False] | None:
    """The file that was named; False for none; None for that of the project."""
    if options.no_baseline or (options.isolated and options.baseline is None):
        return False
    file: Path | None = options.baseline
    return file


def _rendered(result: ScanResult, options: argparse.Namespace) -> str:
    """The output, in its format."""
    if options.output_format == "json":
        from leakcheck.report.json import to_json

        return to_json(result, statistics=options.statistics) + "\n"
    if options.output_format == "json-lines" and not options.statistics:
        from leakcheck.report.json import to_json_lines

        return "".join(f"{line}\n" for line in to_json_lines(result))
    if options.output_format in SERVICE_FORMATS and not options.statistics:
        from leakcheck.report.formats import Results, render

        results = Results(result.findings, lambda: _document(result), result.suppressed, result.errors, result.notices)
        return render(options.output_format, results)
    from leakcheck.report import text

    style, width = output_style(options.output_file, options.color)
    if options.statistics:
        content = statistics_text(result.findings, options.output_format)
    elif options.output_format == "concise":
        content = "".join(f"{line}\n" for line in text.concise(result.findings, style))
    else:
        content = "".join(f"{line}\n" for line in text.full(result.findings, result.sources.text, style, width))
    if options.quiet or options.output_format not in ("full", "concise"):
        return content
    return f"{content}{_summary(result, style)}\n"


def _summary(result: ScanResult, style: Style) -> str:
    from leakcheck.report import text

    accepted = len(result.baseline.hidden) if result.baseline else 0
    suppressed = len(result.suppressed) - accepted
    return text.summary(result.findings, len(result.errors), result.files, suppressed, style, accepted)


def _document(result: ScanResult) -> Document:
    from leakcheck.report.document import build

    def line_of(place: Location) -> str | None:
        lines = (result.sources.text(place) or "").split("\n")
        return lines[place.line - 1].strip() if place.line <= len(lines) else None

    errors = [f"{problem.location.path}: {problem.message}" for problem in result.errors]
    return build(
        findings=[*result.findings, *result.suppressed],
        claims=result.claims,
        errors=errors,
        files=result.code_files,
        datasets=result.data,
        line_of=line_of,
    )


def _print_messages(result: ScanResult, options: argparse.Namespace) -> None:
    """What concerns the run, on stderr: errors (unless they stand in the output), notices, and an empty run."""
    from leakcheck.report import text

    style = style_of(sys.stderr, options.color)
    if options.output_file or options.output_format not in HOLD_ERRORS:
        for problem in result.errors:
            print(text.problem_line(problem, style), file=sys.stderr)
    if options.quiet:
        return
    for notice in result.notices:
        print(f"{style.bold('note')}: {text.clean(notice)}", file=sys.stderr)
    if not result.files:
        print(
            f"{style.bold('note')}: no Python files or notebooks in {', '.join(options.paths) or '.'}", file=sys.stderr
        )


def _print_unknown(result: ScanResult) -> None:
    from leakcheck.report.unknown import unknown_lines

    for line in unknown_lines(result.unknown):
        print(line, file=sys.stderr)


def _print_details(result: ScanResult, config: Config, seconds: float) -> None:
    from leakcheck.report.course import course_lines
    from leakcheck.report.text import count

    print(f"configuration: {config.file or 'none'}; project root: {config.root}", file=sys.stderr)
    for line in course_lines(result.course):
        print(line, file=sys.stderr)
    for finding in result.suppressed:
        reason = finding.suppressed.reason if finding.suppressed else ""
        print(f"suppressed: {finding.location}: {finding.code} {reason}".rstrip(), file=sys.stderr)
    print(f"{count(result.files, 'file')} in {seconds:.2f} s", file=sys.stderr)
