"""Comments that silence findings."""

from pathlib import Path

import pytest

from leakcheck.findings import Confidence, Finding, Location, Severity
from leakcheck.project.source import Chunk, Source
from leakcheck.project.suppress import Comments, read_comments, read_markdown_comments, unused

KNOWN = {
    "LK002": "unused-suppression",
    "LK101": "preprocess-before-split",
    "LK201": "repeated-test-evaluation",
    "LK601": "exact-duplicates",
}
RAN = frozenset(("LK101", "LK201"))


def comments(*chunks: str, cells: bool = False) -> Comments:
    return read_comments(
        Source(
            "a.py", Path("a.py"), tuple(Chunk(text, number if cells else None) for number, text in enumerate(chunks, 1))
        )
    )


def finding(line: int, code: str = "LK101", cell: int | None = None) -> Finding:
    place = Location("a.py", cell, line, 1, line, 2)
    return Finding(code, KNOWN[code], "", Severity.WARNING, Confidence.SURE, "m", "h", place)


def silenced(text: str, code: str = "LK101") -> set[int]:
    """Lines on which a finding is silenced."""
    read = comments(text)
    return {line for line in range(1, text.count("\n") + 2) if read.suppressed_by(finding(line, code)) is not None}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a = 1\nb = 2  # leakcheck: ignore[LK101] why\nc = 3", {2}),
        ("b = 2  # leakcheck: ignore[preprocess-before-split]", {1}),
        ("b = 2  # leakcheck:ignore[LK201,LK101]", {1}),
        ("b = 2  # leakcheck: ignore[LK201]", set()),
        ("b = 2  # leakcheck: ignore", {1}),
        ("b = 2  # noqa: E501  # leakcheck: ignore[LK101] why", {1}),
        ("f(\n    a,\n    b,\n)  # leakcheck: ignore[LK101]\nc = 3", {1, 2, 3, 4}),
        ("f(\n    a,  # leakcheck: ignore[LK101]\n    b,\n)\nc = 3", {1, 2, 3, 4}),
        ("a = 1\n# leakcheck: ignore[LK101] why\nf(\n    b,\n)\nc = 3", {3, 4, 5}),
        ("# leakcheck: ignore[LK101]\n# another comment\na = 1\nb = 2", {3}),
        ("def f():\n    # leakcheck: ignore[LK101]\n    a = 1\n    b = 2", {3}),
        ("for a in b:  # leakcheck: ignore[LK101]\n    c = a", {1}),
        ("s = '# leakcheck: ignore[LK101]'", set()),
        ('s = """\n# leakcheck: ignore[LK101]\n"""\na = 1', set()),
        ("# leakcheck: ignore-file[LK101] why\na = 1\nb = 2", {1, 2, 3}),
        ("# leakcheck: ignore-file[LK201] why\na = 1", set()),
        ("a = 1  # leakcheck: ignore[LK101]\nb = (", {1}),
    ],
)
def test_a_comment_silences_its_statement(text: str, lines: set[int]) -> None:
    assert silenced(text) == lines


def test_a_comment_in_a_cell_holds_for_that_cell() -> None:
    read = comments("a = 1  # leakcheck: ignore[LK101] why", "a = 1", cells=True)
    assert read.suppressed_by(finding(1, cell=1)) == "why"
    assert read.suppressed_by(finding(1, cell=2)) is None


def test_ignore_file_in_one_cell_holds_for_the_notebook() -> None:
    read = comments("# leakcheck: ignore-file[LK101]\na = 1", "a = 1", cells=True)
    assert read.suppressed_by(finding(1, cell=2)) is not None


def test_exploratory() -> None:
    assert comments("# leakcheck: exploratory\na = 1").exploratory
    assert not comments("s = '# leakcheck: exploratory'").exploratory


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a = 1  # leakcheck: ignore[LK201]", ["silences nothing", "LK201"]),
        ("a = 1  # leakcheck: ignore[LK101, LK201]", ["LK201"]),
        ("a = 1  # leakcheck: ignore[LK1001]", ["unknown rule 'LK1001'", "did you mean 'LK101'"]),
        ("a = 1  # leakcheck: ignore[]", ["names no code"]),
        ("a = 1  # leakcheck: ignroe[LK101]", ["unknown directive 'ignroe'", "did you mean 'ignore'"]),
        ("a = 1  # leakcheck: disable=LK101", ["unknown directive 'disable'"]),
        ("a = 1  # leakcheck: ignore-file[LK101]", ["line of its own"]),
        ("b = 1\n\n\n# leakcheck: ignore", ["silences nothing"]),
    ],
)
def test_a_comment_at_fault_is_told(text: str, parts: list[str]) -> None:
    read = comments(text)
    read.suppressed_by(finding(1))
    ((place, message),) = unused(read, KNOWN, RAN, require_reason=False)
    assert all(part in message for part in parts)
    assert text.split("\n")[place.line - 1][place.column - 1 : place.end_column - 1].startswith("# leakcheck:")


@pytest.mark.parametrize(
    "text",
    [
        "a = 1  # leakcheck: ignore[LK101] why",
        "a = 1  # leakcheck: ignore why",
        "a = 1  # leakcheck: ignore[LK601] of the data leg, which did not run",
        "a = 1  # leakcheck: ignore[LK201, LK002] wanted",
        "# leakcheck: this tool reads the file\na = 1",
        "# run leakcheck: it is quick\na = 1",
    ],
)
def test_a_comment_of_use_is_not_told(text: str) -> None:
    read = comments(text)
    read.suppressed_by(finding(1))
    assert list(unused(read, KNOWN, RAN, require_reason=False)) == []


def test_a_reason_may_be_required() -> None:
    read = comments("a = 1  # leakcheck: ignore[LK101]")
    read.suppressed_by(finding(1))
    ((_, message),) = unused(read, KNOWN, RAN, require_reason=True)
    assert "no reason" in message


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# leakcheck: ignore[LK101] see #12", "see #12"),
        ("# leakcheck: ignore[LK101]: #12 is known  # noqa: E501", "#12 is known"),
        ("# leakcheck: ignore[LK101] see issue # 12 # type: ignore", "see issue # 12"),
        ("# leakcheck: ignore[LK101]  # pylint: disable=all", ""),
        ("# leakcheck: ignore[LK101] C#  # fmt: skip  # leakcheck: ignore[LK201] other", "C#"),
    ],
)
def test_a_reason_ends_at_the_comment_of_a_tool(comment: str, reason: str) -> None:
    assert comments(f"a = 1  {comment}\n").suppressions[0].reason == reason


COMMENT = "<!-- leakcheck: ignore[LK101] why -->"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"One.\n\nTwo, {COMMENT} and\nmore.\n\nThree.\n", {3, 4}),
        (f"One.\n{COMMENT}\nTwo.\n\nThree.\n", {2, 3}),
        (f"One.\n\n{COMMENT}\n\nTwo,\nand more.\n\nThree.\n", {3, 4, 5, 6}),
        ("<!-- leakcheck: ignore-file[LK101] why -->\nOne.\n\nTwo.\n", {1, 2, 3, 4, 5}),
        (f"```\n{COMMENT}\n```\nOne.\n", set()),
        (f"    {COMMENT}\n\nOne.\n", set()),
        (f"Write `{COMMENT}` for that.\n", set()),
        ("<!-- an ordinary comment -->\nOne.\n", set()),
    ],
)
def test_a_comment_in_markdown_silences_its_paragraph(text: str, lines: set[int]) -> None:
    read = read_markdown_comments("a.py", text)
    silent = {line for line in range(1, text.count("\n") + 2) if read.suppressed_by(finding(line)) is not None}
    assert silent == lines


@pytest.mark.parametrize(
    "comment", ["ignore[LK9]", "ignore[]", "noqa", "ignroe[LK101]", "ignore[LK201]", "exploratory"]
)
def test_a_faulty_comment_in_markdown_is_told_in_its_place(comment: str) -> None:
    read = read_markdown_comments("a.py", f"One.\n\nTwo <!-- leakcheck: {comment} -->\n")
    ((place, _),) = unused(read, KNOWN, RAN, require_reason=False)
    assert (place.line, place.column) == (3, 5)
