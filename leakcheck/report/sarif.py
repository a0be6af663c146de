"""SARIF 2.1.0, which code scanning services and editors read: https://docs.oasis-open.org/sarif/sarif/v2.1.0/"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from leakcheck import __version__
from leakcheck.findings import Finding, Fix, Location, Severity
from leakcheck.report.formats import Results
from leakcheck.report.json import plain_value
from leakcheck.report.places import Place, Places, worded
from leakcheck.report.text import clean

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_UNREADABLE = "LK001"

Record = dict[str, Any]


def to_sarif(results: Results) -> str:
    """One run: the findings with their rules, suppressed ones marked as such, and what couldn't be read."""
    places = Places()
    findings = (*results.findings, *results.suppressed)
    codes = sorted({finding.code for finding in findings})
    driver: Record = {
        "name": "leakcheck",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(code, next(finding for finding in findings if finding.code == code)) for code in codes],
    }
    if results.errors:
        driver["notifications"] = [_rule_page({"id": _UNREADABLE, "name": "unreadable-file"}, _UNREADABLE)]
    errors = [
        {
            "descriptor": {"id": _UNREADABLE},
            "level": "error",
            "message": _message(worded(place := places.of(problem.location), problem.message)),
            "locations": [{"physicalLocation": _physical(place)}],
        }
        for problem in results.errors
    ]
    notices = [{"level": "note", "message": _message(notice)} for notice in results.notices]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not results.errors, "toolExecutionNotifications": [*errors, *notices]}],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes.index(finding.code), places) for finding in findings],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, default=plain_value) + "\n"


def _rule(code: str, example: Finding) -> Record:
    from leakcheck.rules import rules

    rule = next((rule for rule in rules() if rule.code == code), None)
    severity = rule.severity if rule else example.severity
    tags = ["data-leakage", *([f"class-{example.leak_class}"] if example.leak_class else [])]
    record: Record = {
        "id": code,
        "name": example.name,
        "shortDescription": {"text": example.name.replace("-", " ")},
        "defaultConfiguration": {"level": severity.value},
        "properties": {"tags": tags, "problem.severity": _problem_severity(severity)},
    }
    return _rule_page(record | {"help": {"text": example.help}}, code)


def _rule_page(record: Record, code: str) -> Record:
    """The record with what the page of the rule says, if there is one."""
    from leakcheck.report.rule_pages import page_of, plain, section

    file = page_of(code)
    if file is None:
        return record
    page = file.read_text(encoding="utf-8")
    return record | {
        "fullDescription": {"text": plain(section(page, "What it finds")) or record["name"]},
        "help": {"text": plain(page), "markdown": page},
    }


def _result(finding: Finding, index: int, places: Places) -> Record:
    place = places.of(finding.location)
    record: Record = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": _message(worded(place, finding.message)),
        "locations": [_location(place)],
        "partialFingerprints": {"leakcheck/v1": finding.fingerprint},
        "properties": {"confidence": finding.confidence.value, "help": finding.help},
    }
    if finding.evidence is not None:
        record["properties"]["evidence"] = dict(finding.evidence)
    if finding.trace:
        steps = [(places.of(step.location), step.label) for step in finding.trace]
        flow = [{"location": _location(at) | {"message": _message(worded(at, label))}} for at, label in steps]
        record["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    if finding.fix is not None and (fix := _fix(finding.fix, places)):
        record["fixes"] = [fix]
    if finding.suppressed is not None:
        kind = "inSource" if finding.suppressed.by == "comment" else "external"
        reason = clean(finding.suppressed.reason)
        record["suppressions"] = [{"kind": kind, "status": "accepted"} | ({"justification": reason} if reason else {})]
    return record


def _location(place: Place) -> Record:
    record: Record = {"physicalLocation": _physical(place)}
    if place.words:
        record["logicalLocations"] = [{"name": place.words}]
    return record


def _physical(place: Place) -> Record:
    record: Record = {"artifactLocation": _artifact(place.path)}
    if place.lines is not None:
        record["region"] = _region(place.lines)
    return record


def _artifact(path: str) -> Record:
    """Relative to the root; a file outside of it by its full address."""
    if os.path.isabs(path) or path.startswith("../"):
        return {"uri": Path(os.path.abspath(path)).as_uri()}
    return {"uri": quote(os.fsencode(path), safe="/"), "uriBaseId": _ROOT}


def _region(lines: Location) -> Record:
    if (lines.end_line, lines.end_column) <= (lines.line, lines.column):
        return {"startLine": lines.line, "startColumn": lines.column}
    return {
        "startLine": lines.line,
        "startColumn": lines.column,
        "endLine": lines.end_line,
        "endColumn": lines.end_column,
    }


def _fix(fix: Fix, places: Places) -> Record | None:
    """The edits by file; None where one spans lines of a notebook's cell, which are strings of their own."""
    changes: dict[str, list[Record]] = {}
    for edit in fix.edits:
        place = places.of(edit.location)
        in_cell = edit.location.cell is not None
        if place.lines is None or (in_cell and edit.location.line != edit.location.end_line):
            return None
        lines = place.lines
        deleted = _region(lines) | {"endLine": lines.end_line, "endColumn": lines.end_column}
        text = json.dumps(edit.replacement)[1:-1] if in_cell else edit.replacement
        changes.setdefault(place.path, []).append({"deletedRegion": deleted, "insertedContent": {"text": text}})
    return {
        "description": _message(fix.description),
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _message(text: str) -> Record:
    """Text in which nothing reads as a link."""
    return {"text": clean(text).replace("](", "\\](")}


def _problem_severity(severity: Severity) -> str:
    """The word of GitHub's code scanning."""
    return "recommendation" if severity is Severity.NOTE else severity.value
