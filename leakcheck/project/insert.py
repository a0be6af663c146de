"""Inserts text into the bytes of a file or notebook; every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from leakcheck.errors import LeakcheckError
from leakcheck.project.notebook_raw import RawNotebook
from leakcheck.project.read import UTF8_BOM, Loaded, codec_of
from leakcheck.project.source import Chunk

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, order=True)
class Insertion:
    """Text that goes before a column of a line, both from 1, of a file or of a notebook's cell."""

    cell: int | None
    line: int
    column: int
    text: str


def insert(data: bytes, loaded: Loaded, insertions: Iterable[Insertion]) -> bytes:
    """The bytes of the file with the text in it.

    Parameters
    ----------
    data : bytes
        The file.
    loaded : Loaded
        What `load` makes of it.
    insertions : iterable of Insertion

    Raises
    ------
    LeakcheckError
        If the file's encoding has no such characters.
    """
    notebook = loaded.source.path.endswith(".ipynb")
    pieces = _in_notebook(data, insertions) if notebook else _in_python(data, loaded, insertions)
    for offset, piece in sorted(pieces, key=lambda one: one[0], reverse=True):
        data = data[:offset] + piece + data[offset:]
    return data


def inserted_text(chunks: Sequence[Chunk], insertions: Iterable[Insertion]) -> tuple[Chunk, ...]:
    """The same for decoded text, to hold the outcome against."""
    lines = {chunk.cell: chunk.text.split("\n") for chunk in chunks}
    for one in sorted(insertions, key=lambda one: (one.line, one.column), reverse=True):
        text = lines[one.cell][one.line - 1]
        lines[one.cell][one.line - 1] = text[: one.column - 1] + one.text + text[one.column - 1 :]
    return tuple(replace(chunk, text="\n".join(lines[chunk.cell])) for chunk in chunks)


def _in_python(data: bytes, loaded: Loaded, insertions: Iterable[Insertion]) -> list[tuple[int, bytes]]:
    codec = codec_of(data)
    starts = [0, *(found.end() for found in _LINE_END.finditer(data))]
    starts[0] = len(UTF8_BOM) if data.startswith(UTF8_BOM) else 0
    lines = (loaded.original(None) or "").split("\n")
    pieces = []
    for one in insertions:
        try:
            before = lines[one.line - 1][: one.column - 1].encode(codec)
            pieces.append((starts[one.line - 1] + len(before), one.text.encode(codec)))
        except UnicodeEncodeError as error:
            raise LeakcheckError(
                f"the file's encoding {codec} has no {error.object[error.start]!r}; nothing was written",
                file=loaded.source.path,
            ) from None
    return pieces


def _in_notebook(data: bytes, insertions: Iterable[Insertion]) -> list[tuple[int, bytes]]:
    notebook = RawNotebook(data)
    mark = len(UTF8_BOM) if data.startswith(UTF8_BOM) else 0
    pieces = []
    for one in insertions:
        cell = notebook.cell(one.cell or 0)
        offset = cell.offset(one.line, one.column) if cell else None
        assert offset is not None
        text = json.dumps(one.text, ensure_ascii=data.isascii())[1:-1]
        pieces.append((mark + len(notebook.text[:offset].encode()), text.encode()))
    return pieces
