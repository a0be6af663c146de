"""Bytes of a file -> Python text in chunks, or one problem that says where and why not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from leakcheck.findings import Location
from leakcheck.project.source import Chunk, Problem, Source

# PEP 263: a comment on the first or second line.
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_HEAD = 1000  # bytes in which the first two lines end, unless they are absurd
_COMMENT_STARTS = (b"#", b" ", b"\t", b"\f", b"\r", b"\n")  # how a file with a coding comment can begin
UTF8_BOM = b"\xef\xbb\xbf"
_UTF8_NAMES = ("utf-8", "utf8", "utf-8-sig", "u8", "utf")
_OTHER_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file for the analysis, and its text as the user wrote it (for people to see)."""

    source: Source
    originals: tuple[Chunk, ...]

    def original(self, cell: int | None) -> str | None:
        """The text of the file, or of one cell, as written."""
        return next((chunk.text for chunk in self.originals if chunk.cell == cell), None)


class DecodeProblem(Exception):  # noqa: N818  (a notice to the user, not a fault of the program)
    """The bytes are no text in the encoding that holds for them."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        self.message = message
        self.line = line
        self.column = column
        super().__init__(message)


def load(data: bytes, path: str, file: Path) -> Loaded:
    """Turn the bytes of a Python file or notebook into chunks.

    Parameters
    ----------
    data : bytes
        What the file holds.
    path : str
        The file as shown to people.
    file : Path
        The file on disk; its suffix decides between notebook and Python file.
    """
    if path.endswith(".ipynb"):
        from leakcheck.project.notebook import load_notebook

        return load_notebook(data, path, file)
    try:
        text = decode(data)
    except DecodeProblem as problem:
        return unreadable(problem, path, file)
    original = Chunk(text)
    if "get_ipython()" in text:
        from leakcheck.project.nbconvert import inline_magic_code

        text = inline_magic_code(text)
    return Loaded(Source(path, file, (Chunk(text),)), (original,))


def unreadable(problem: DecodeProblem, path: str, file: Path) -> Loaded:
    """A file of which nothing can be analysed."""
    place = Location(path, None, problem.line, problem.column, problem.line, problem.column)
    return Loaded(Source(path, file, (), (Problem(problem.message, place),)), ())


def decode(data: bytes) -> str:
    """Decode a Python file as Python does: byte order mark, coding cookie, else UTF-8.

    Line ends come back as ``\\n``; lines and columns are those of the file.

    Raises
    ------
    DecodeProblem
        If the bytes are binary, the encoding is unknown, or a byte doesn't fit it.
    """
    for mark, name in _OTHER_BOMS:
        if data.startswith(mark):
            raise DecodeProblem(f"the file is {name}; Python source must be UTF-8 or name its encoding in line 1 or 2")
    nul = data.find(b"\0")
    if nul >= 0:
        raise DecodeProblem("the file is binary: expected Python text, found a NUL byte", *_place(data, nul))
    has_mark = data.startswith(UTF8_BOM)
    if has_mark:
        data = data[len(UTF8_BOM) :]
    encoding = declared_encoding(data)
    if has_mark and encoding.lower().replace("_", "-") not in _UTF8_NAMES:
        raise DecodeProblem(f"the file starts with a UTF-8 byte order mark but declares the encoding {encoding!r}")
    try:
        text = data.decode(encoding)
    except LookupError:
        raise DecodeProblem(f"unknown encoding {encoding!r} in the coding comment", _cookie_line(data)) from None
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise DecodeProblem(
            f"not {encoding.upper()} text: byte 0x{byte:02x} at offset {error.start}; "
            "save the file as UTF-8 or name its encoding in a coding comment",
            *_place(data, error.start),
        ) from None
    except ValueError as error:  # e.g. the codec "undefined"
        raise DecodeProblem(f"the file can't be decoded as {encoding!r}: {error}", _cookie_line(data)) from None
    return unify_line_ends(text)


def unify_line_ends(text: str) -> str:
    """`\\r\\n` and lone `\\r` become `\\n`."""
    if "\r" in text:
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def codec_of(data: bytes) -> str:
    """The codec of a Python file that `decode` can read; it adds no byte order mark of its own."""
    encoding = declared_encoding(data.removeprefix(UTF8_BOM))
    return "utf-8" if encoding.lower().replace("_", "-") in _UTF8_NAMES else encoding


def declared_encoding(data: bytes) -> str:
    """The encoding that a coding comment in the first two lines names; UTF-8 where none does."""
    if data[:1] not in _COMMENT_STARTS or b"coding" not in data[:_HEAD]:
        return "utf-8"
    line = _cookie_line(data)
    if not line:
        return "utf-8"
    found = _COOKIE.match(_head(data)[line - 1])
    assert found is not None
    return found[1].decode("ascii", "replace")


def _cookie_line(data: bytes) -> int:
    """1 or 2 where a coding comment stands there, else 0."""
    head = _head(data)
    if _COOKIE.match(head[0]):
        return 1
    if len(head) > 1 and _BLANK.match(head[0]) and _COOKIE.match(head[1]):
        return 2
    return 0


def _head(data: bytes) -> list[bytes]:
    return data[:_HEAD].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n", 2)[:2]


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column of a byte; the column counts characters as far as they decode."""
    before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    last = before.rsplit(b"\n", 1)[-1]
    return before.count(b"\n") + 1, len(last.decode("utf-8", "replace")) + 1
