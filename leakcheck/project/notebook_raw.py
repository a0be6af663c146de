"""Where the text of a notebook's cells stands in its file: line and column of the JSON, character by character."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_BLANK = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\r|\n")
_decode = json.JSONDecoder().raw_decode  # a value and where it ends


@dataclass(frozen=True)
class RawCell:
    """The source of one cell: for each of its lines, where each character and the line's end stand in the file.

    `lines[i][j]` is the offset of column ``j + 1`` of line ``i + 1`` in the text of the file; the last one of each line
    is that of the line end, or of the closing quote.
    """

    lines: tuple[tuple[int, ...], ...]

    def offset(self, line: int, column: int) -> int | None:
        """Offset in the file's text of a place in the cell; a column past the line's end is the line's end."""
        if not 1 <= line <= len(self.lines):
            return None
        places = self.lines[line - 1]
        return places[min(column, len(places)) - 1]


class RawNotebook:
    """The text of a notebook file and where its cells stand in it.

    Parameters
    ----------
    data : bytes
        A file that `load_notebook` reads.

    Raises
    ------
    ValueError
        If it is not a notebook.
    """

    def __init__(self, data: bytes) -> None:
        self.text = data.decode("utf-8-sig")
        if not isinstance(json.loads(self.text), dict):  # from here on the text is known to be sound
            raise ValueError("not an object")
        self._cells = list(_cells(self.text))
        self._line_starts = [0, *(found.end() for found in _LINE_END.finditer(self.text))]
        self._read: dict[int, RawCell | None] = {}

    def cell(self, number: int) -> RawCell | None:
        """The cell with a number from 1 over all cells; None where there is none with a source."""
        if number not in self._read:
            strings = self._cells[number - 1] if 1 <= number <= len(self._cells) else []
            self._read[number] = _raw_cell(self.text, strings) if strings else None
        return self._read[number]

    def place(self, cell: int, line: int, column: int) -> tuple[int, int] | None:
        """Line and column in the file, both from 1, of a place in a cell."""
        raw = self.cell(cell)
        offset = raw.offset(line, column) if raw else None
        if offset is None:
            return None
        number = bisect_right(self._line_starts, offset)
        return number, offset - self._line_starts[number - 1] + 1


def _raw_cell(text: str, strings: list[int]) -> RawCell:
    lines: list[tuple[int, ...]] = []
    places: list[int] = []
    after_return = False
    end = 0
    for start in strings:
        for character, offset in _characters(text, start):
            if character == "\n" and after_return:
                after_return = False
                continue
            after_return = character == "\r"
            places.append(offset)
            if character in "\r\n":
                lines.append(tuple(places))
                places = []
        end = _decode(text, start)[1] - 1
    lines.append((*places, end))
    return RawCell(tuple(lines))


def _characters(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Each character of the string whose opening quote stands at `start`, with its offset."""
    position = start + 1
    while text[position] != '"':
        if text[position] == "\\":
            found = _ESCAPE.match(text, position)
            assert found is not None
            character = json.loads(f'"{found[0]}"')
            yield (character if len(character) == 1 else "\ufffd"), position
            position = found.end()
        else:
            yield text[position], position
            position += 1


def _cells(text: str) -> Iterator[list[int]]:
    """For each cell the offsets of the strings that make up its source; of equal keys the last one counts."""
    top = dict(_members(text, _after(text, 0)))
    if "cells" in top and text[top["cells"]] == "[":
        lists = [top["cells"]]
    elif "worksheets" in top and text[top["worksheets"]] == "[":
        sheets = [dict(_members(text, sheet)) for sheet in _items(text, top["worksheets"]) if text[sheet] == "{"]
        lists = [sheet["cells"] for sheet in sheets if "cells" in sheet and text[sheet["cells"]] == "["]
    else:
        lists = []
    for cells in lists:
        for cell in _items(text, cells):
            members = dict(_members(text, cell)) if text[cell] == "{" else {}
            source = members.get("source", members.get("input"))
            if source is None:
                yield []
            elif text[source] == '"':
                yield [source]
            else:
                yield [item for item in _items(text, source) if text[item] == '"'] if text[source] == "[" else []


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Keys of an object and where their values start."""
    position = _after(text, start + 1)
    while text[position] != "}":
        key, position = _decode(text, position)
        position = _after(text, _after(text, position) + 1)
        yield key, position
        position = _next(text, position)


def _items(text: str, start: int) -> Iterator[int]:
    """Where the items of a list start."""
    position = _after(text, start + 1)
    while text[position] != "]":
        yield position
        position = _next(text, position)


def _next(text: str, position: int) -> int:
    """Where what follows a value starts, its comma passed over."""
    position = _after(text, _decode(text, position)[1])
    return _after(text, position + 1) if text[position] == "," else position


def _after(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    assert found is not None
    return found.end()
