"""What people read."""

from dataclasses import replace

import pytest

from leakcheck.findings import Confidence, Finding, Location, Severity, TraceStep
from leakcheck.project.source import Problem
from leakcheck.report.ansi import Style
from leakcheck.report.text import concise, full, problem_line, summary

TEXTS = {
    ("train.py", None): "from prep import scale\nX = scale(read())\nA, B = train_test_split(X)\n",
    ("prep.py", None): "def scale(X):\n    return StandardScaler().fit_transform(X)\n",
    ("n.ipynb", 3): "model.fit(\n    A,\n)\n",
}


def text_of(location: Location) -> str | None:
    return TEXTS.get((location.path, location.cell))


def at(path: str, line: int, column: int, end: int, cell: int | None = None, end_line: int | None = None) -> Location:
    return Location(path, cell, line, column, end_line or line, end)


FITTED = at("prep.py", 2, 12, 45)
FINDING = Finding(
    "LK101",
    "preprocess-before-split",
    "L1.2",
    Severity.WARNING,
    Confidence.LIKELY,
    "StandardScaler is fitted on all rows",
    "split first",
    FITTED,
    trace=(
        TraceStep("fitted here", FITTED),
        TraceStep("called here", at("train.py", 2, 5, 18)),
        TraceStep("split here", at("train.py", 3, 8, 27)),
        TraceStep("trained here", at("n.ipynb", 1, 1, 2, cell=3, end_line=3)),
        TraceStep("read here", at("data.csv", 7, 1, 1)),
    ),
)

EXPECTED = """\
warning[LK101] preprocess-before-split: StandardScaler is fitted on all rows
 --> prep.py:2:12
  |
2 |     return StandardScaler().fit_transform(X)
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ fitted here
 ::: train.py:2:5
  |
2 | X = scale(read())
  |     ------------- called here
  |
3 | A, B = train_test_split(X)
  |        ------------------- split here
 ::: n.ipynb:cell 3:1:1
  |
1 | model.fit(
  | ---------- trained here
 ::: data.csv:7:1: read here
  |
  = likely: one link is a convention, not resolved
  = help: split first
"""


def test_full_shows_each_place_with_its_line() -> None:
    assert "\n".join(full([FINDING], text_of, Style(False), 100)) == EXPECTED


def test_colour_changes_nothing_but_colour() -> None:
    import re

    coloured = "\n".join(full([FINDING], text_of, Style(True), 100))
    assert coloured != EXPECTED
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == EXPECTED


def test_concise_is_one_line() -> None:
    assert list(concise([FINDING], Style(False))) == [
        "prep.py:2:12: LK101 [warning] StandardScaler is fitted on all rows"
    ]


def test_a_name_of_the_user_cannot_steer_the_terminal() -> None:
    problem = Problem("found \x1b[2J", Location("a\x1b[2J.py", None, 1, 2, 1, 2))
    assert "\x1b" not in problem_line(problem, Style(False))


def test_the_summary_says_what_was_and_what_was_not_found() -> None:
    plain = Style(False)
    assert summary([], 0, 3, 0, plain) == "All checks passed: 3 files."
    assert summary([], 1, 3, 0, plain) == "No findings in what could be read; 1 error."
    assert (
        summary([FINDING], 0, 3, 2, plain) == "Found 1 finding (1 warning) in 1 of 3 files (2 suppressed by comments)."
    )
    assert summary([], 0, 3, 0, plain, accepted=2) == "All checks passed: 3 files (2 suppressed by the baseline)."
    assert summary([], 0, 3, 1, plain, 2) == "All checks passed: 3 files (1 suppressed by comments, 2 by the baseline)."
    assert summary([FINDING], 0, 0, 0, plain) == "Found 1 finding (1 warning) in 1 file."


@pytest.mark.parametrize(("code", "said"), [("LK101", True), ("LK502", True), ("LK504", False), ("LK703", False)])
def test_only_findings_that_follow_code_speak_of_links(code: str, said: bool) -> None:
    lines = full([replace(FINDING, code=code)], lambda _: None, Style(False), 80)
    assert any("one link is a convention" in line for line in lines) is said
