"""`leakcheck audit`"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from leakcheck.audit import require_packages
from leakcheck.cli.parser import Parser, code_list
from leakcheck.cli.progress import StepLine
from leakcheck.errors import LeakcheckError
from leakcheck.report import text
from leakcheck.report.ansi import Style, wants_colour
from leakcheck.report.files import write_file

if TYPE_CHECKING:
    from leakcheck.audit.result import AuditResult
    from leakcheck.audit.splits import Options, Progress, Split

_REPORTS = (".html", ".json", ".md")
_FORMATS = ("full", "concise", "json", "json-lines", "markdown")
_PLAIN_WIDTH = 120  # columns where there is no terminal: output must not depend on the machine
_MEGABYTE = 1 << 20


def run(arguments: list[str]) -> int:
    """Audit, print, write what was asked for, and return the exit status."""
    given = _parser().parse_args(arguments)
    require_packages()
    from leakcheck.audit.run import audit_splits

    options = _options(given)
    if given.write_clean:
        from leakcheck.audit.clean import check_new, write_clean

        check_new(Path(given.write_clean))
    if given.report:
        _check_kind(Path(given.report))
    progress = StepLine(not given.quiet)
    try:
        result = audit_splits(_splits(given, options, progress), options, progress)
    finally:
        progress.clear()
    _print(result, given)
    if given.report:
        _write_report(result, Path(given.report))
    if given.write_clean:
        write_clean(result.splits, dict(result.leaking), Path(given.write_clean))
    return 0 if given.exit_zero else result.exit_status


def _parser() -> argparse.ArgumentParser:
    parser = Parser("leakcheck audit", "Find what the evaluation splits share with training, and shortcuts.")
    add = parser.add_argument
    add("paths", nargs="*", metavar="SPLIT", help="training and test split, or a folder or table that holds both")
    add("--train", action="append", default=[], metavar="PATH", help="a training file, folder or glob; may repeat")
    add("--test", action="append", default=[], metavar="PATH", help="a test file, folder or glob; may repeat")
    add("--split-column", metavar="COLUMN", help="the column of one table that names the split of each row")
    columns = parser.add_argument_group("columns").add_argument
    for name, what in (
        ("text", "text columns (default: found)"),
        ("group", "columns of entities that must not stand in two splits"),
        ("id", "identifier columns, left out of the comparison of rows"),
    ):
        columns(f"--{name}", type=code_list, action="extend", default=[], metavar="COLUMNS", help=what)
    columns("--target", metavar="COLUMN", help="the label")
    columns("--time", metavar="COLUMN", help="the date of each row")
    columns("--prediction-time", metavar="COLUMN", help="the moment at which the prediction is made")
    columns("--gap", default="0s", metavar="DURATION", help="time between training and held-out rows, such as 7d")
    how = parser.add_argument_group("comparison").add_argument
    how("--contained", action="store_true", help="also look for items inside longer training texts")
    how("--threshold", type=float, default=0.8, help="similarity of near duplicates (default: 0.8)")
    how("--shingle", metavar="KIND:SIZE", help="words:3 or chars:5 (default: words, or characters without spaces)")
    how("--method", choices=("auto", "exact", "minhash"), default="auto", help="(default: auto)")
    how(
        "--memory",
        type=int,
        metavar="MB",
        default=2048,
        help="most for the exact join, else MinHash (default: 2048)",
    )
    how("--threads", type=int, metavar="N", help="threads that compare texts (default: one for each processor)")
    output = parser.add_argument_group("output").add_argument
    output("--output-format", choices=_FORMATS, default="full", help="(default: full)")
    output("--report", metavar="FILE", help="write a report: .html, .json or .md")
    output("--write-clean", metavar="FOLDER", help="write the splits without the held-out rows that leak")
    output("--redact", action="store_true", help="leave texts out, keep row numbers")
    output("--max-evidence", type=int, default=10, metavar="N", help="examples of each finding (default: 10)")
    output("--exit-zero", action="store_true", help="exit with 0 even if something was found")
    output("--color", choices=("auto", "always", "never"), default="auto", help="(default: auto)")
    output("-q", "--quiet", action="store_true", help="print findings and errors only")
    return parser


def _options(given: argparse.Namespace) -> Options:
    from leakcheck.audit.run import make_options

    return make_options(
        text=given.text,
        target=given.target,
        group=given.group,
        time=given.time,
        prediction_time=given.prediction_time,
        gap=given.gap,
        ids=given.id,
        contained=given.contained,
        threshold=given.threshold,
        shingle=given.shingle,
        method=given.method,
        memory=given.memory * _MEGABYTE,
        threads=given.threads,
        redact=given.redact,
        max_evidence=max(1, given.max_evidence),
    )


def _splits(given: argparse.Namespace, options: Options, progress: Progress) -> list[Split]:
    from leakcheck.audit.readers import saved_splits
    from leakcheck.audit.splits import by_column, read_split, read_splits

    root = Path.cwd()
    paths = list(given.paths)
    if given.split_column:
        if len(paths) != 1:
            raise LeakcheckError("--split-column takes one table", expected="one path", found=f"{len(paths)} paths")
        return by_column(read_split("all", paths, root, progress), given.split_column, options)
    if len(paths) == 1 and not given.train and not given.test:
        parts = saved_splits(root / paths[0])
        if parts is None:
            raise LeakcheckError(
                "one path is not enough", file=paths[0], expected="two splits, a folder of splits, or --split-column"
            )
        return read_splits(parts, root, options, progress)
    sides = {"train": list(given.train), "test": list(given.test)}
    names = [name for name, files in sides.items() if not files]
    if len(paths) != len(names):
        raise LeakcheckError(
            "cannot tell the splits apart",
            expected="TRAIN TEST, or --train and --test with a path each",
            found=" ".join(paths) or "no path",
        )
    for name, path in zip(names, paths, strict=True):
        sides[name] = [path]
    return read_splits(sides, root, options, progress)


def _print(result: AuditResult, given: argparse.Namespace) -> None:
    if given.output_format == "json":
        print(json.dumps(result.to_dict(), indent=2, default=str))
        return
    if given.output_format == "json-lines":
        for record in result.to_dict()["findings"]:
            print(json.dumps(record, default=str))
        return
    if given.output_format == "markdown":
        print(result.to_markdown())
        return
    style = Style(wants_colour(sys.stdout, given.color))
    if given.output_format == "concise":
        lines = text.concise(result.findings, style)
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_WIDTH
        lines = text.full(result.findings, lambda _: None, style, width)
    for line in lines:
        print(line)
    if given.quiet:
        return
    for check in result.facts.checks:
        print(f"checked: {text.clean(check)}")
    for note in result.facts.notes:
        print(f"note: {text.clean(note)}")
    rows = ", ".join(f"{name} {count} rows" for name, count in result.rows.items())
    print(f"{len(result.findings)} finding{'' if len(result.findings) == 1 else 's'} in {rows}")


def _check_kind(report: Path) -> None:
    """Refuse a report of an unknown kind before the work is done.

    Raises
    ------
    LeakcheckError
        When the ending names no known format.
    """
    if report.suffix not in _REPORTS:
        raise LeakcheckError(
            "unknown kind of report", file=str(report), expected=".html, .json or .md", found=report.suffix
        )


def _write_report(result: AuditResult, path: Path) -> None:
    """Write beside, then rename."""
    if path.suffix == ".html":
        from leakcheck.report.document import build
        from leakcheck.report.page import write_report

        write_report(path, build(findings=result.findings, datasets=tuple(result.rows)))
        return
    if path.suffix == ".json":
        content = json.dumps(result.to_dict(), indent=2, default=str) + "\n"
    else:
        content = result.to_markdown()
    write_file(path, content)
