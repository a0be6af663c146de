"""Which findings are shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Confidence, Finding, Location, Severity
from leakcheck.project import select
from leakcheck.project.config import Config
from leakcheck.project.select import Selection

KNOWN = {
    "LK001": "unreadable-file",
    "LK101": "preprocess-before-split",
    "LK102": "select-before-split",
    "LK107": "vocabulary-before-split",
    "LK201": "repeated-test-evaluation",
}


@pytest.fixture(autouse=True)
def _few_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "known_codes", lambda: KNOWN)


def finding(code: str, path: str = "a.py") -> Finding:
    severity = Severity.NOTE if code == "LK107" else Severity.WARNING
    return Finding(code, KNOWN[code], "", severity, Confidence.SURE, "m", "h", Location(path, None, 1, 1, 1, 1))


def shown(config: Config) -> set[str]:
    selection = Selection.of(config)
    return {code for code in ("LK101", "LK102", "LK107", "LK201") if selection.shows(finding(code))}


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, {"LK101", "LK102", "LK201"}),
        ({"select": ("ALL",)}, {"LK101", "LK102", "LK107", "LK201"}),
        ({"select": ("LK1",)}, {"LK101", "LK102"}),
        ({"select": ("LK107",)}, {"LK107"}),
        ({"select": ("vocabulary-before-split",)}, {"LK107"}),
        ({"select": ()}, set()),
        ({"extend_select": ("LK107",)}, {"LK101", "LK102", "LK107", "LK201"}),
        ({"ignore": ("LK1",)}, {"LK201"}),
        ({"ignore": ("select-before-split",)}, {"LK101", "LK201"}),
        ({"ignore": ("ALL",), "select": ("LK10",)}, {"LK101", "LK102"}),
        ({"ignore": ("LK1",), "extend_select": ("LK101",)}, {"LK101", "LK201"}),
        ({"ignore": ("LK101",), "select": ("LK101",)}, set()),
        ({"ignore": ("ALL",)}, set()),
    ],
)
def test_the_closest_selector_wins(changes: dict[str, tuple[str, ...]], codes: set[str]) -> None:
    assert shown(replace(Config(Path.cwd()), **changes)) == codes  # type: ignore[arg-type]


def test_codes_are_ignored_in_files_that_match() -> None:
    config = replace(Config(Path.cwd()), per_file_ignores=(("tests/", ("LK1",)), ("*.ipynb", ("ALL",))))
    selection = Selection.of(config)
    assert not selection.shows(finding("LK101", "tests/a.py"))
    assert selection.shows(finding("LK201", "tests/a.py"))
    assert not selection.shows(finding("LK201", "x/b.ipynb"))
    assert selection.ignores("b.ipynb", "LK001")
    assert not selection.ignores("tests/a.py", "LK001")


@pytest.mark.parametrize(
    ("selector", "hint"),
    [("LK110x", "LK1"), ("preproces-before-split", "preprocess-before-split"), ("lk101", "LK101"), ("LK9", "LK")],
)
def test_an_unknown_code_is_an_error_with_the_nearest_known_one(selector: str, hint: str) -> None:
    with pytest.raises(LeakcheckError, match=f"{selector}.*ignore.*did you mean '{hint}"):
        Selection.of(replace(Config(Path.cwd()), ignore=(selector,)))
