"""Fingerprints survive moved lines."""

from leakcheck.findings import Confidence, Finding, Location, Severity
from leakcheck.project.fingerprint import with_fingerprints

CODE = "def load(x):\n    y = fit( x )\n    return y\n"


def fingerprints(text: str, *lines: int, code: str = "LK101", path: str = "a.py") -> list[str]:
    findings = [
        Finding(code, "n", "", Severity.WARNING, Confidence.SURE, "m", "h", Location(path, None, line, 1, line, 2))
        for line in lines
    ]
    return [finding.fingerprint for finding in with_fingerprints(findings, lambda _: text, lambda path: path)]


def test_moved_and_reformatted_lines_keep_it() -> None:
    moved = "import os\n\n\n" + CODE.replace("fit( x )", "fit(  x  )  # leakcheck: ignore[LK101] why")
    assert fingerprints(CODE, 2) == fingerprints(moved, 5)


def test_another_function_line_rule_or_file_has_another() -> None:
    mine = fingerprints(CODE, 2)
    assert mine != fingerprints(CODE.replace("load", "other"), 2)
    assert mine != fingerprints(CODE, 3)
    assert mine != fingerprints(CODE, 2, code="LK102")
    assert mine != fingerprints(CODE, 2, path="b.py")


def test_equal_lines_are_told_apart() -> None:
    first, second = fingerprints("fit(x)\nfit(x)\n", 1, 2)
    assert first != second
