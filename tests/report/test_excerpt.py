"""A source line fitted to a width, with marks under the right characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakcheck.report.excerpt import excerpt


@pytest.mark.parametrize(
    ("line", "start", "end", "shown"),
    [
        ("x = f(y)", 5, 9, ("x = f(y)", 4, 4)),
        ("x = f(y)  \n", 5, 99, ("x = f(y)", 4, 4)),
        ("x = f(y)", 5, 5, ("x = f(y)", 4, 1)),
        ("", 1, 1, ("", 0, 1)),
        ("\tx = 1", 2, 3, ("    x = 1", 4, 1)),
        ("名 = f(名)", 5, 9, ("名 = f(名)", 5, 5)),
        ("e\u0301 = f(y)", 6, 10, ("e\u0301 = f(y)", 4, 4)),
        ("x = '\x1b[31m'", 5, 12, ("x = '\ufffd[31m'", 4, 7)),
    ],
)
def test_marks_stand_under_the_span(line: str, start: int, end: int, shown: tuple[str, int, int]) -> None:
    assert excerpt(line, start, end, 80) == shown


def test_a_long_line_is_cut_around_the_span() -> None:
    line = "a" * 200 + "TARGET" + "b" * 200
    shown, before, marked = excerpt(line, 201, 207, 60)
    assert shown[before : before + marked] == "TARGET"
    assert len(shown) <= 60
    assert (shown[0], shown[-1]) == ("…", "…")


def test_a_long_line_keeps_its_start_where_the_span_is_near() -> None:
    shown, before, marked = excerpt("x = TARGET" + "b" * 200, 5, 11, 60)
    assert (shown[:10], shown[-1]) == ("x = TARGET", "…")
    assert (before, marked) == (4, 6)


@given(
    st.text(alphabet="ab 名\t\u0301\x07", max_size=120), st.integers(-1, 130), st.integers(-1, 130), st.integers(20, 60)
)
def test_no_line_or_mark_goes_over_the_width(line: str, start: int, end: int, width: int) -> None:
    shown, before, marked = excerpt(line, start, end, width)
    columns = sum(0 if c == "\u0301" else 2 if c == "名" else 1 for c in shown)
    assert columns <= width
    assert marked >= 1
    assert before + marked <= width + 1  # a mark just after a full line
