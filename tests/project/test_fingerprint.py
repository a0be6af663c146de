"""Fingerprints survive moved and reformatted lines."""

import subprocess
import sys

import pytest

from leakcheck.findings import Confidence, Finding, Location, Severity
from leakcheck.project.fingerprint import content_fingerprints, with_fingerprints

CODE = "def load(x):\n    y = fit( x )\n    return y\n"
UGLY = """\
class A:
    def load ( self,x ) :
        '''It says: 'ours' beats theirs.'''
        y = Scaler (with_mean = True).fit_transform( df[ ['aaaaaaaaaaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',U'c'] ] )
        if (y.score(x)>0XFF  and x [1 :2]) :
            return (y)
        with open ('a') as f, open('b') as g : use(f,g) ; del f
        return f'{y}' + \\
            'b'
"""  # noqa: E501


def place(line: int, column: int = 1, end: int | None = None, path: str = "a.py") -> Location:
    return Location(path, None, line, column, line, column + 1 if end is None else end)


def found(where: Location, code: str = "LK101", message: str = "m") -> Finding:
    return Finding(code, "n", "", Severity.WARNING, Confidence.SURE, message, "h", where)


def fingerprints(text: str, *places: Location, code: str = "LK101") -> list[str]:
    findings = [found(where, code) for where in places]
    return [finding.fingerprint for finding in with_fingerprints(findings, lambda _: text, lambda path: path)]


def content(text: str, marker: str, path: str = "a.py") -> str:
    """The content of a finding at the first place of some text."""
    before = text[: text.index(marker)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return content_fingerprints(lambda _: text)(found(place(line, column, column + len(marker), path)))


def test_moved_and_reformatted_lines_keep_it() -> None:
    moved = "import os\n\n\n" + CODE.replace("fit( x )", "fit(  x  )  # leakcheck: ignore[LK101] why")
    assert fingerprints(CODE, place(2, 9)) == fingerprints(moved, place(5, 9))


@pytest.mark.parametrize("marker", ["Scaler", ".score", "return (y)", "use", "del f", "return f"])
def test_a_formatter_changes_none(marker: str) -> None:
    tidy = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "-"], input=UGLY, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    assert tidy != UGLY
    assert content(UGLY, marker) == content(tidy, marker.replace("(y)", "y"))


def test_a_moved_function_keeps_its_content() -> None:
    assert content(CODE, "fit") == content("def other():\n    return 1\n\n" + CODE, "fit", path="b.py")


def test_indenting_with_tabs_changes_none() -> None:
    assert content(CODE, "fit") == content(CODE.replace("    ", "\t"), "fit")


def test_another_function_statement_rule_or_file_has_another() -> None:
    (mine,) = fingerprints(CODE, place(2, 9))
    assert fingerprints(CODE.replace("load", "other"), place(2, 9)) != [mine]
    assert fingerprints(CODE, place(3, 5)) != [mine]
    assert fingerprints(CODE, place(2, 9), code="LK102") != [mine]
    assert fingerprints(CODE, place(2, 9, path="b.py")) != [mine]
    assert fingerprints(CODE.replace("fit", "refit"), place(2, 9)) != [mine]


def test_of_a_block_only_its_first_line_counts() -> None:
    block = "if best > score:\n    keep(a)\nelse:\n    drop(b)\n"
    assert content(block, "best") == content(block.replace("keep(a)", "hold(c)").replace("drop", "lose"), "best")
    assert content(block, "best") != content(block.replace("> score", "< score"), "best")
    assert content(block, "keep") != content(block, "drop")


def test_equal_lines_are_told_apart() -> None:
    first, second = fingerprints("fit(x)\nfit(x)\n", place(1), place(2))
    assert first != second


def test_a_comment_and_a_sentence_of_a_docstring_go_by_their_text() -> None:
    text = 'def f(x):\n    """One.\n\n    Ours beats theirs by 3.\n    """\n    g(x)  # leakcheck: ignore[LK101] a\n'
    assert content(text, "Ours beats theirs") == content(text.replace("One", "Another"), "Ours beats theirs")
    comment = "# leakcheck: ignore[LK101] a"
    assert content(text, comment) == content(text.replace("g(x)", "h(y)"), comment)
    assert content(text, comment) != content(text.replace("] a", "] b"), "# leakcheck: ignore[LK101] b")


def test_what_has_no_code_goes_by_its_message() -> None:
    def data(message: str) -> str:
        return content_fingerprints(lambda _: None)(found(place(3), message=message))

    assert data("3 rows") == data("3 rows")
    assert data("3 rows") != data("4 rows")


def test_broken_and_very_deep_code_is_no_fault() -> None:
    assert content("def f(:\n  fit(x)\n", "fit") == content("def f(:\n\n\n   fit(x)\n", "fit")
    deep = "y = " + "-" * 3000 + "fit(x)\n"
    assert content(deep, "fit") == content("\n" + deep, "fit")
