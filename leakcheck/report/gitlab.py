"""GitLab's code quality report: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from leakcheck.findings import Severity
from leakcheck.report.formats import Results
from leakcheck.report.places import Place, Places, worded

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def to_code_quality(results: Results) -> str:
    """A list of issues; what couldn't be read is a blocker."""
    places = Places()
    issues = []
    for finding in results.findings:
        place = places.of(finding.location)
        issues.append(
            _issue(finding.code, place, finding.message, _SEVERITIES[finding.severity], finding.fingerprint)
            | {"content": {"body": finding.help}}
        )
    for problem in results.errors:
        place = places.of(problem.location)
        identity = f"LK001\0{place.path}\0{place.words}\0{problem.message}"
        fingerprint = sha256(identity.encode("utf-8", "replace")).hexdigest()[:16]
        issues.append(_issue("LK001", place, problem.message, "blocker", fingerprint))
    return json.dumps(issues, indent=2) + "\n"


def _issue(code: str, place: Place, message: str, severity: str, fingerprint: str) -> dict[str, Any]:
    lines = {"begin": place.lines.line, "end": place.lines.end_line} if place.lines else {"begin": 1}
    return {
        "description": f"{code}: {worded(place, message)}",
        "check_name": code,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": place.path, "lines": lines},
    }
