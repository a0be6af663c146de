"""Bytes to text: encodings, line ends, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakcheck.project.read import DecodeProblem, decode, load


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '€'",
        ),
        (b"a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"),
        (b"a = 1\rb = 2\r", "a = 1\nb = 2\n"),
        (b"x = 1  # coding: nothing\n", "x = 1  # coding: nothing\n"),
        (b"x = 1\n# coding: nothing\n", "x = 1\n# coding: nothing\n"),
    ],
)
def test_text_is_decoded_as_python_does(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "line", "column", "part"),
    [
        (b"a = 1\nb = '\xe9'\n", 2, 6, "byte 0xe9"),
        (b"a = 1\r\nb = '\xe9'\r\n", 2, 6, "byte 0xe9"),
        (b"# coding: klingon\n", 1, 1, "unknown encoding 'klingon'"),
        (b"\n# coding: klingon\n", 2, 1, "unknown encoding 'klingon'"),
        (b"# coding: rot13\n", 1, 1, "unknown encoding 'rot13'"),
        (b"a = 1\n\x00\x01", 2, 1, "binary"),
        ("x = 1".encode("utf-16"), 1, 1, "UTF-16"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, 1, "byte order mark"),
        (b"# coding: undefined\n", 1, 1, "'undefined'"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(data: bytes, line: int, column: int, part: str) -> None:
    with pytest.raises(DecodeProblem, match=part) as refused:
        decode(data)
    assert (refused.value.line, refused.value.column) == (line, column)


@given(st.binary(max_size=300))
def test_any_bytes_give_text_or_one_problem(data: bytes) -> None:
    loaded = load(data, "a.py", Path("a.py"))
    assert len(loaded.source.chunks) + len(loaded.source.problems) == 1


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r")))
def test_utf8_text_comes_back_as_it_was(text: str) -> None:
    data = ("#\n#\n" + text).encode()  # no coding comment counts below line 2
    assert decode(data) == "#\n#\n" + text
