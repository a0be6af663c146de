"""`leakcheck audit`"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leakcheck.audit import require_packages
from leakcheck.cli.options import use_rules_here
from leakcheck.cli.output import SERVICE_FORMATS, check_outputs, output_style, write_output
from leakcheck.cli.parser import Parser, code_list
from leakcheck.cli.progress import StepLine
from leakcheck.errors import LeakcheckError
from leakcheck.project.paths import shown
from leakcheck.report import text

if TYPE_CHECKING:
    from leakcheck.audit.result import AuditResult
    from leakcheck.audit.splits import Options, Progress, Split
    from leakcheck.report.document import Document

EXAMPLES = """\
examples:
  leakcheck audit train.csv test.csv --target label
  leakcheck audit 'data/train/*.parquet' data/test.parquet --text question --group patient_id
  leakcheck audit all.csv --split-column split --target label --time visited --gap 7d
  leakcheck audit train.csv test.csv --report audit.html --write-clean clean/
"""

_FORMATS = ("full", "concise", "json", "json-lines", *SERVICE_FORMATS)
_MEGABYTE = 1 << 20


def run(arguments: list[str]) -> int:
    """Audit, print, write what was asked for, and return the exit status."""
    given = build_parser().parse_args(arguments)
    require_packages()
    check_outputs(report=given.report, output_file=given.output_file)
    use_rules_here()
    from leakcheck.audit.run import audit_splits

    options = _options(given)
    if given.write_clean:
        from leakcheck.audit.clean import check_new, write_clean

        check_new(Path(given.write_clean))
    progress = StepLine(not given.quiet)
    try:
        result = audit_splits(_splits(given, options, progress), options, progress)
    finally:
        progress.clear()
    write_output(_rendered(result, given), given.output_file)
    if given.report:
        _write_report(result, Path(given.report), given)
    if given.write_clean:
        write_clean(result.splits, dict(result.leaking), Path(given.write_clean))
    return 0 if given.exit_zero else result.exit_status


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck audit",
        "TRAIN TEST",
        "Find what evaluation splits share with training (duplicates, dates, entities), and shortcuts to the target.",
        EXAMPLES,
    )
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
    how("--threshold", type=float, default=0.8, metavar="NUMBER", help="similarity of near duplicates (default: 0.8)")
    how("--shingle", metavar="KIND:SIZE", help="words:3 or chars:5 (default: words, or characters without spaces)")
    how(
        "--method",
        choices=("auto", "exact", "minhash"),
        default="auto",
        help="how near duplicates are found",
    )
    how("--memory", type=int, metavar="MB", default=2048, help="most for the exact join, else MinHash (default: 2048)")
    how("--threads", type=int, metavar="N", help="threads that compare texts (default: one for each processor)")
    output = parser.add_argument_group("output").add_argument
    output("--output-format", choices=_FORMATS, default="full", help="(default: full)")
    output("--output-file", metavar="FILE", help="write the findings there instead of standard output")
    output("--report", metavar="FILE", help="write a report: .html, .json or .md")
    output("--write-clean", metavar="FOLDER", help="write the splits without the held-out rows that leak")
    output("--redact", action="store_true", help="leave texts out, keep row numbers")
    output("--max-evidence", type=int, default=10, metavar="N", help="examples of each finding (default: 10)")
    output("--exit-zero", action="store_true", help="exit with 0 even if something was found")
    output("--color", choices=("auto", "always", "never"), default="auto", help="(default: on terminals)")
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
    from leakcheck.audit.readers import SPLIT_NAMES, saved_splits
    from leakcheck.audit.splits import by_column, read_split, read_splits

    root = Path.cwd()
    paths = list(given.paths)
    if given.split_column:
        if len(paths) != 1:
            raise LeakcheckError("--split-column takes one table", expected="one path", found=f"{len(paths)} paths")
        return by_column(read_split("all", paths, root, progress), given.split_column, options)
    if len(paths) == 1 and not given.train and not given.test:
        saved = saved_splits(root / paths[0])
        if saved is None and (root / paths[0]).is_dir():
            raise LeakcheckError(
                "the folder doesn't hold two splits",
                file=paths[0],
                expected=f"files or folders called {', '.join(SPLIT_NAMES)}, or --train and --test with paths",
            )
        if saved is None:
            raise LeakcheckError(
                "one path is not enough", file=paths[0], expected="two splits, a folder of splits, or --split-column"
            )
        parts, others = saved
        for other in others if not given.quiet else ():
            print(f"note: {shown(Path(other))} belongs to no split and is left out", file=sys.stderr)
        return read_splits(parts, root, options, progress)
    sides = {"train": list(given.train), "test": list(given.test)}
    names = [name for name, files in sides.items() if not files]
    if len(paths) != len(names):
        raise LeakcheckError(
            "cannot tell the splits apart",
            expected="TRAIN TEST, or --train and --test with a path each",
            found=" ".join([*paths, *(f"--{name} {file}" for name, files in sides.items() for file in files)])
            or "no path",
        )
    for name, path in zip(names, paths, strict=True):
        sides[name] = [path]
    return read_splits(sides, root, options, progress)


def _rendered(result: AuditResult, given: argparse.Namespace) -> str:
    """The output, in its format."""
    if given.output_format == "json":
        return json.dumps(result.to_dict(), indent=2, default=str) + "\n"
    if given.output_format == "json-lines":
        return "".join(f"{json.dumps(record, default=str)}\n" for record in result.to_dict()["findings"])
    if given.output_format == "markdown":
        return f"{result.to_markdown()}\n"
    if given.output_format in SERVICE_FORMATS:
        from leakcheck.project.fingerprint import fingerprints_without_code
        from leakcheck.report.formats import Results, render

        findings = fingerprints_without_code(result.findings)
        document = partial(_document, result, given)
        return render(given.output_format, Results(findings, document, notices=result.facts.notes))
    style, width = output_style(given.output_file, given.color)
    if given.output_format == "concise":
        lines = list(text.concise(result.findings, style))
    else:
        lines = list(text.full(result.findings, lambda _: None, style, width))
    if not given.quiet:
        lines += [f"checked: {text.clean(check)}" for check in result.facts.checks]
        lines += [f"note: {text.clean(note)}" for note in result.facts.notes]
        rows = ", ".join(f"{name} {count} rows" for name, count in result.rows.items())
        lines.append(f"{len(result.findings)} finding{'' if len(result.findings) == 1 else 's'} in {rows}")
    return "".join(f"{line}\n" for line in lines)


def _document(result: AuditResult, given: argparse.Namespace) -> Document:
    from leakcheck.audit.declared import audited_data
    from leakcheck.report.document import build

    data = audited_data(", ".join(result.rows), _declared(given), result)
    return build(findings=result.findings, datasets=(data,))


def _declared(given: argparse.Namespace) -> dict[str, object]:
    """What the command says of the data, under the keys of a declared data set."""
    keys = ("text", "target", "group", "time", "prediction-time", "gap", "contained", "threshold", "shingle", "method")
    values = {key: getattr(given, key.replace("-", "_")) for key in keys} | {"id-columns": given.id}
    return {key: value for key, value in values.items() if value}


def _write_report(result: AuditResult, path: Path, given: argparse.Namespace) -> None:
    """Write the document as HTML, the results as JSON, or the section for a data set card as Markdown."""
    from leakcheck.report.files import write_file
    from leakcheck.report.page import write_report

    if path.suffix == ".json":
        write_file(path, json.dumps(result.to_dict(), indent=2, default=str) + "\n")
    elif path.suffix == ".md":
        write_file(path, result.to_markdown())
    else:
        write_report(path, _document(result, given))
