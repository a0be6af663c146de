"""Findings for programs: the JSON of `--output-format json` and `json-lines`; its schema is `docs/json-schema.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from leakcheck import __version__
from leakcheck.findings import Finding, Fix, Location
from leakcheck.plugins import BUILT_IN_PREFIX
from leakcheck.project.paths import shown
from leakcheck.project.source import Problem
from leakcheck.report.rule_pages import page_of
from leakcheck.report.statistics import statistics_records

if TYPE_CHECKING:
    from leakcheck.run import ScanResult

FORMAT_VERSION = 1


def result_record(result: ScanResult, *, statistics: bool = False) -> dict[str, Any]:
    """A whole result; with the numbers of findings of each code in place of the findings, if `statistics`."""
    return {
        "version": FORMAT_VERSION,
        "tool": {"name": "leakcheck", "version": __version__},
        "summary": {
            "files": result.files,
            "skipped": result.skipped,
            "findings": len(result.findings),
            "by_code": result.by_code,
            "suppressed": suppressed_counts(result.suppressed),
        },
        **(
            {"statistics": statistics_records(result.findings)}
            if statistics
            else {"findings": [finding_record(finding) for finding in result.findings]}
        ),
        "errors": [problem_record(problem) for problem in result.errors],
    }


def suppressed_counts(suppressed: Iterable[Finding]) -> dict[str, int]:
    """How many findings comments and the baseline silence."""
    by = Counter(finding.suppressed.by for finding in suppressed if finding.suppressed)
    return {"comment": by["comment"], "baseline": by["baseline"]}


def finding_record(finding: Finding) -> dict[str, Any]:
    """One finding."""
    hidden = finding.suppressed
    return {
        "code": finding.code,
        "name": finding.name,
        "class": finding.leak_class,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "help": finding.help,
        "url": _page_url(finding.code),
        "location": location_record(finding.location),
        "trace": [{"label": step.label, "location": location_record(step.location)} for step in finding.trace],
        "fix": _fix_record(finding.fix) if finding.fix else None,
        "evidence": dict(finding.evidence) if finding.evidence is not None else None,
        "suppressed": {"by": hidden.by, "reason": hidden.reason} if hidden else None,
        "fingerprint": finding.fingerprint,
    }


def problem_record(problem: Problem) -> dict[str, Any]:
    """What couldn't be read."""
    return {"code": "LK001", "message": problem.message, "location": location_record(problem.location)}


def to_json(result: ScanResult, *, statistics: bool = False) -> str:
    """The result as one JSON object, in ASCII so that every terminal can print it."""
    return json.dumps(result_record(result, statistics=statistics), indent=2, default=plain_value)


def to_json_lines(result: ScanResult) -> Iterator[str]:
    """One JSON object a finding."""
    for finding in result.findings:
        yield json.dumps(finding_record(finding), default=plain_value)


def _fix_record(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": "safe" if fix.safe else "unsafe",
        "description": fix.description,
        "edits": [{"location": location_record(edit.location), "replacement": edit.replacement} for edit in fix.edits],
    }


def location_record(location: Location) -> dict[str, Any]:
    """A place."""
    return {
        "path": location.path,
        "cell": location.cell,
        "line": location.line,
        "column": location.column,
        "end_line": location.end_line,
        "end_column": location.end_column,
    }


def _page_url(code: str) -> str:
    """Where the rule is described: its page in the source tree, or beside an in-house rule."""
    file = page_of(code)
    if file is None:
        return ""
    return f"rules/{file.parent.name}/{file.name}" if code.startswith(BUILT_IN_PREFIX) else shown(file)


def plain_value(value: object) -> object:
    """Numbers of numpy and dates as JSON knows them."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)
