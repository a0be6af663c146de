"""`leakcheck compare`: a paired summary of one claimed comparison."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from leakcheck.cli.options import use_rules_here
from leakcheck.cli.output import SERVICE_FORMATS, check_outputs, write_output
from leakcheck.cli.parser import Parser
from leakcheck.errors import LeakcheckError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from leakcheck.claims.ablation import Ablation
    from leakcheck.claims.facts import Claim, ClaimFacts
    from leakcheck.claims.ranking import Ranking
    from leakcheck.claims.summary import Settings
    from leakcheck.claims.variance import Component
    from leakcheck.findings import Finding
    from leakcheck.report.document import Document

_FORMATS = ("full", "concise", "json", "json-lines", *SERVICE_FORMATS)
EXAMPLES = """\
examples:
  leakcheck compare results.csv --a baseline --b ours --direction higher --threshold 0.01
  leakcheck compare runs.csv --a baseline --metric accuracy --pair seed      (all other methods, Holm)
  leakcheck compare base/ ours/ --metric acc                                 (sample logs of each)
"""


def run(arguments: list[str]) -> int:
    """Compare, print, and return the exit status."""
    options = build_parser().parse_args(arguments)
    from leakcheck.claims.extra import require_libraries

    require_libraries()
    check_outputs(report=options.report, output_file=options.output_file)
    use_rules_here()
    settings = _settings(options)
    root = Path()
    facts: tuple[ClaimFacts, ...] = ()
    findings: tuple[Finding, ...] = ()
    if options.ablation:
        extras = _Extras(ablation=_ablation(options, settings, root))
    elif options.factors and options.a is None:
        extras = _Extras(variance=_variance(options, root))  # one method's runs are compared with nothing
    else:
        facts, findings, extras = _compared(options, settings, root)
    write_output(_render(options.output_format, facts, findings, settings, extras), options.output_file)
    if options.report:
        from leakcheck.report.page import write_report

        write_report(Path(options.report), _document(facts, findings, settings, extras))
    return 1 if findings and not options.exit_zero else 0


def _compared(
    options: argparse.Namespace, settings: Settings, root: Path
) -> tuple[tuple[ClaimFacts, ...], tuple[Finding, ...], _Extras]:
    """Facts and findings of each method compared with `a`, and what was asked for beside."""
    from leakcheck.claims.check import check_claims
    from leakcheck.claims.pairing import NoSuchMethodError
    from leakcheck.claims.rules import findings_of
    from leakcheck.project.fingerprint import fingerprints_without_code

    claims = _claims(options, root)
    checked = check_claims(claims, root, settings)
    if checked.failures:
        error = checked.failures[0].error
        if isinstance(error, NoSuchMethodError) and None in (options.a, options.b):
            raise LeakcheckError("name the methods with --a and --b", file=error.file, found=error.found)
        raise error
    extras = _Extras(_rank(options, claims, root), _variance(options, root))
    return checked.facts, fingerprints_without_code(findings_of(checked.facts)), extras


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck compare",
        "RESULTS [RESULTS]",
        "Compare two methods on the same runs: difference, intervals, verdict.",
        EXAMPLES,
    )
    parser.add_argument(
        "results",
        nargs="+",
        metavar="RESULTS",
        help="one table with both methods, or a file, folder or glob of a, then one of b",
    )
    add = parser.add_argument_group("the comparison").add_argument
    add(
        "--a",
        metavar="NAME",
        help="the method to beat: a column, or a name in the method column (default: a, or the first RESULTS)",
    )
    add("--b", action="append", metavar="NAME", help="the method claimed to be better (default: every other one)")
    add("--metric", metavar="NAME", help="the score: its column in a long table")
    add("--unit", choices=("fraction", "points", "raw"), default="raw", help="how the values are written")
    add("--direction", choices=("higher", "lower"), default="higher", help="which way the metric improves")
    add("--threshold", metavar="NUMBER", help="smallest difference that matters, in the metric's units")
    add("--pair", metavar="COLUMN", help="what a pair shares; its column (default: id, seed, run or fold)")
    add("--cluster", metavar="COLUMN", help="the run of each row, where rows are examples")
    add("--task", metavar="COLUMN", help="the data set of each row, to compare methods over data sets")
    add("--unit-of-analysis", choices=("run", "example"), default="run", help="what a row is")
    add(
        "--ablation",
        metavar="NAME=FULL,...",
        help="read an ablation table: its components, as the full method has them",
    )
    add("--factors", metavar="COLUMNS", help="split the spread of b over these columns (seed, order); needs no --a")
    add("--stage", choices=("confirmatory", "exploratory"), default="confirmatory", help="planned before, or not")
    add("--trials", nargs=2, type=int, metavar=("A", "B"), help="tuning trials that each method was given")
    add("--best-of", type=int, metavar="K", help="b is the best of K variants compared on these runs")
    add("--correction", choices=("holm", "bonferroni", "fdr", "none"), default="holm", help="over several comparisons")
    add = parser.add_argument_group("the calculation").add_argument
    add("--level", type=float, default=0.95, metavar="L", help="of the intervals (default: 0.95)")
    add("--resamples", type=int, default=2000, metavar="N", help="of the bootstrap (default: 2000)")
    add("--seed", type=int, default=42, metavar="N", help="of the bootstrap (default: 42)")
    add("--bca", action="store_true", help="show the BCa interval too")
    add = parser.add_argument_group("output").add_argument
    add("--output-format", choices=_FORMATS, default="full", help="(default: full)")
    add("--output-file", metavar="FILE", help="write there instead of standard output")
    add("--report", metavar="FILE", help="write a report: .html, .md or .json")
    add("--exit-zero", action="store_true", help="exit with 0 even if something was found")
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    from leakcheck.claims.summary import Settings

    if not 0.5 <= options.level < 1.0:
        raise LeakcheckError("--level is not usable", expected="a number from 0.5 up to 1", found=str(options.level))
    if not 100 <= options.resamples <= 10_000_000:
        raise LeakcheckError(
            "--resamples is not usable", expected="a number from 100 to 10,000,000", found=str(options.resamples)
        )
    if options.seed < 0:
        raise LeakcheckError("--seed is not usable", expected="a whole number from 0", found=str(options.seed))
    return Settings(options.level, options.resamples, options.seed, options.bca)


def _base(options: argparse.Namespace) -> Claim:
    """What all comparisons of the command share."""
    from leakcheck.claims.check import results_location
    from leakcheck.claims.facts import AnalysisUnit, Budget, Claim, Correction, Direction, Stage, Unit

    results = options.results
    if options.best_of is not None and options.best_of < 1:
        raise LeakcheckError("--best-of is not usable", expected="a whole number from 1", found=str(options.best_of))
    if options.trials is not None and min(options.trials) < 0:
        raise LeakcheckError(
            "--trials is not usable", expected="two whole numbers from 0", found=" ".join(map(str, options.trials))
        )
    if len(results) > 2:
        raise LeakcheckError(
            "at most two results were expected: one table, or one of each method", found=f"{len(results)}"
        )
    a, b = _side_names(*results) if len(results) == 2 else ("a", "b")
    return Claim(
        id="comparison",
        a=options.a or a,
        b=b,
        results_a=(results[0],),
        results_b=tuple(results[1:]),
        location=results_location(results[0]),
        metric=options.metric,
        unit=Unit(options.unit),
        direction=Direction(options.direction),
        threshold=_threshold(options.threshold),
        pair=options.pair,
        cluster=options.cluster,
        task=options.task,
        analysis_unit=AnalysisUnit(options.unit_of_analysis),
        stage=Stage(options.stage),
        trials=None if options.trials is None else Budget(*options.trials),
        best_of=options.best_of,
        correction=Correction(options.correction),
    )


def _side_names(a: str, b: str) -> tuple[str, str]:
    """The methods of two results: the names of their files or folders; their paths where these are alike."""
    if a == b:
        return "a", "b"
    names = Path(a).stem, Path(b).stem
    are_patterns = any(mark in a + b for mark in "*?[")
    return names if names[0] != names[1] and not are_patterns else (a, b)


def _claims(options: argparse.Namespace, root: Path) -> list[Claim]:
    """One claim for each method compared with `a`."""
    from leakcheck.claims.pairing import methods_beside

    first = _base(options)
    names = options.b
    if not names:
        names = [first.b] if options.a is None or first.results_b else list(methods_beside(first, root))
    for name in names:
        if name == first.a:
            raise LeakcheckError("a method cannot be compared with itself", found=repr(name))
    return [replace(first, id=f"{name} over {first.a}", b=name) for name in dict.fromkeys(names)]


def _threshold(text: str | None) -> Decimal | None:
    from leakcheck.claims.tables import to_decimal

    if text is None:
        return None
    try:
        number = to_decimal(text)
    except ValueError:
        number = to_decimal(-1)
    if number < 0:
        raise LeakcheckError("--threshold is not usable", expected="a number, zero or above", found=repr(text))
    return number


@dataclass(frozen=True)
class _Extras:
    """What is computed beside the pairs, where it was asked for."""

    ranking: Ranking | None = None
    variance: tuple[Component, ...] = ()
    ablation: Ablation | None = None


def _rank(options: argparse.Namespace, claims: Sequence[Claim], root: Path) -> Ranking | None:
    if options.task is None or len(claims) < 2:
        return None
    from leakcheck.claims.pairing import scores_by_task
    from leakcheck.claims.ranking import rank_methods

    scores, methods = scores_by_task(claims, root)
    return rank_methods(scores, methods, claims[0].direction) if len(scores) > 1 else None


def _variance(options: argparse.Namespace, root: Path) -> tuple[Component, ...]:
    """Components of the spread of method b over the factors of its runs."""
    if options.factors is None:
        return ()
    from leakcheck.claims.pairing import NoSuchMethodError, runs_of
    from leakcheck.claims.variance import variance_components

    method = options.b[0] if options.b else "b"
    names = [name.strip() for name in options.factors.split(",")]
    try:
        values, factors = runs_of(_base(options), method, names, root)
    except NoSuchMethodError as error:
        if options.b:
            raise
        raise LeakcheckError("name the method with --b", file=error.file, found=error.found) from None
    try:
        return variance_components(values, factors)
    except ValueError as problem:
        raise LeakcheckError(f"the spread cannot be split: {problem}", file=options.results[0]) from None


def _ablation(options: argparse.Namespace, settings: Settings, root: Path) -> Ablation:
    from leakcheck.claims.ablation import read_ablation
    from leakcheck.claims.tables import read_table

    full = dict(part.split("=", 1) for part in options.ablation.split(",") if "=" in part)
    if len(full) != len(options.ablation.split(",")):
        raise LeakcheckError("--ablation is not usable", expected="NAME=FULL,...", found=repr(options.ablation))
    table = read_table(root / options.results[0], options.results[0])
    return read_ablation(table, list(full), full, _base(options), settings)


def _render(
    output_format: str,
    facts: Sequence[ClaimFacts],
    findings: Sequence[Finding],
    settings: Settings,
    extras: _Extras,
) -> str:
    if output_format == "json":
        return _json(facts, findings, settings, extras)
    if output_format == "json-lines":
        import json

        from leakcheck.report.json import finding_record

        return "".join(f"{json.dumps(finding_record(found))}\n" for found in findings)
    if output_format in SERVICE_FORMATS:
        from leakcheck.report.formats import Results, render

        return render(output_format, Results(findings, lambda: _document(facts, findings, settings, extras)))
    from leakcheck.report.ansi import Style
    from leakcheck.report.text import clean, concise

    lines = list(concise(findings, Style(False)))
    if output_format == "full":
        lines = _full(facts, findings, lines, extras)
    return "".join(f"{clean(line)}\n" for line in lines)


def _full(facts: Sequence[ClaimFacts], findings: Sequence[Finding], lines: Sequence[str], extras: _Extras) -> list[str]:
    """The summaries, what was asked for beside, and the lines of the findings with what to do."""
    from leakcheck.claims.text import ablation_text, ranking_text, summary_text, variance_text

    parts = [summary_text(one) for one in facts]
    if extras.ablation is not None:
        parts.append(ablation_text(extras.ablation))
    if extras.ranking is not None:
        parts.append(ranking_text(extras.ranking))
    if extras.variance:
        parts.append(variance_text(extras.variance))
    if findings:
        parts.append("\n".join(f"{line}\n  help: {found.help}" for line, found in zip(lines, findings, strict=True)))
    return "\n\n".join(parts).split("\n")


def _document(
    facts: Sequence[ClaimFacts], findings: Sequence[Finding], settings: Settings, extras: _Extras
) -> Document:
    from leakcheck.report.document import build

    return build(
        findings=findings,
        claims=facts,
        settings=settings,
        ranking=extras.ranking,
        ablation=extras.ablation,
        variance=extras.variance,
    )


def _json(facts: Sequence[ClaimFacts], findings: Sequence[Finding], settings: Settings, extras: _Extras) -> str:
    import json
    from collections import Counter
    from dataclasses import asdict

    from leakcheck import __version__
    from leakcheck.claims.export import ablation_json, claim_json
    from leakcheck.report.json import FORMAT_VERSION, finding_record

    by_code = Counter(found.code for found in findings)
    record = {
        "version": FORMAT_VERSION,
        "tool": {"name": "leakcheck", "version": __version__},
        "summary": {"claims": len(facts), "findings": len(findings), "by_code": dict(sorted(by_code.items()))},
        "claims": [claim_json(one, settings) for one in facts],
        "ranking": None if extras.ranking is None else asdict(extras.ranking),
        "variance": [asdict(part) for part in extras.variance],
        "ablation": None if extras.ablation is None else ablation_json(extras.ablation, settings),
        "findings": [finding_record(found) for found in findings],
        "errors": [],
    }
    return json.dumps(record, indent=2) + "\n"
