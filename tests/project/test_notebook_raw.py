"""Each character of a cell is found in the notebook's file."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakcheck.project.notebook_raw import RawNotebook

TEXT = st.text(alphabet='ab \t\n\r"\\/é名😀{}[]:,\u2028\x7f', max_size=20)


def notebook(*sources: Any, **how: Any) -> RawNotebook:
    cells = [{"cell_type": "code", "outputs": [{"text": ["]}\n"]}], "source": source, "id": "x"} for source in sources]
    return RawNotebook(json.dumps({"metadata": {"a": [1, {}]}, "cells": cells, "nbformat": 4}, **how).encode())


@given(st.lists(TEXT, max_size=4), st.booleans(), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_character_is_found(source: list[str], ascii_only: bool, indent: Any, joined: bool) -> None:
    raw = notebook("".join(source) if joined else source, ensure_ascii=ascii_only, indent=indent)
    cell = raw.cell(1)
    if cell is None:
        assert source == [] and not joined
        return
    lines = "".join(source).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert len(cell.lines) == len(lines)
    for number, line in enumerate(lines, 1):
        for column, character in enumerate(line, 1):
            offset = cell.offset(number, column)
            assert offset is not None
            rest = raw.text[offset:]
            ends = (2, 6, 12) if rest.startswith("\\") else (1,)
            assert any(_decoded(rest[:end]) == character for end in ends)
        end = cell.offset(number, len(line) + 1)
        assert end is not None
        assert raw.text[end] == '"' if number == len(lines) else raw.text[end : end + 2] in ("\\n", "\\r")


def _decoded(text: str) -> str | None:
    try:
        value = json.loads(f'"{text}"')
    except ValueError:
        return None
    return str(value)


def test_line_and_column_are_those_of_the_file() -> None:
    raw = notebook(["x = 1\n", "y = 2"], indent=1)
    place = raw.place(1, 2, 3)
    assert place is not None
    line = raw.text.split("\n")[place[0] - 1]
    assert line[place[1] - 1 :] == '= 2"'


def test_windows_line_ends_count_once() -> None:
    unix, windows = notebook("x", indent=1), notebook("x", indent=1).text.replace("\n", "\r\n")
    assert RawNotebook(windows.encode()).place(1, 1, 1) == unix.place(1, 1, 1)


def test_the_last_of_equal_keys_counts_as_in_json() -> None:
    raw = RawNotebook(b'{"cells": [], "cells": [{"source": "a", "cell_type": "code", "source": ["b", "c"]}]}')
    cell = raw.cell(1)
    assert cell is not None
    assert [raw.text[offset] for offset in cell.lines[0][:-1]] == ["b", "c"]


def test_format_3() -> None:
    raw = RawNotebook(b'{"worksheets": [{"cells": [{"input": "a"}]}, {}, {"cells": [{"input": "b"}, 3]}]}')
    assert [cell is not None and raw.text[cell.lines[0][0]] for cell in map(raw.cell, (1, 2, 3, 4))] == [
        "a", "b", False, False,
    ]  # fmt: skip


def test_a_byte_order_mark_is_no_column() -> None:
    assert RawNotebook(b'\xef\xbb\xbf{"cells": [{"source": "a"}]}').place(1, 1, 1) == (1, 24)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"cells": [}'])
def test_what_is_no_notebook_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        RawNotebook(data)
