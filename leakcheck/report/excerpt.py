"""One source line with marks under a span, fitted to a width."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_TAB = 4
_LEAD = 20  # columns kept before the marks when a line is cut


def excerpt(line: str, start: int, end: int, width: int) -> tuple[str, int, int]:
    """Fit a line to a width around a span.

    Parameters
    ----------
    line : str
        The source line.
    start, end : int
        First column of the span and the column after it, in characters, from 1. An `end` that is no greater than
        `start` marks one column; one past the line's end is cut to it.
    width : int
        Columns of the terminal that the line may take.

    Returns
    -------
    tuple of (str, int, int)
        The line as shown, how many columns stand before the marks, and how many are marked (at least one).

    Notes
    -----
    Tabs become blanks, wide characters count two columns, combining ones none; control characters are shown
    as ``\\ufffd``.
    """
    line = line.rstrip()
    shown = list(_shown(line))
    start = min(max(start, 1), len(line) + 1) - 1
    end = max(min(end - 1, len(line)), start)
    before = sum(columns for _, columns in shown[:start])
    marked = max(1, sum(columns for _, columns in shown[start:end]))
    total = sum(columns for _, columns in shown)
    if total <= width:
        return "".join(text for text, _ in shown), before, min(marked, max(1, width - before))
    return _cut(shown, before, marked, width)


def _cut(shown: list[tuple[str, int]], before: int, marked: int, width: int) -> tuple[str, int, int]:
    """The part of a long line around its marks, with an ellipsis where something is left out."""
    room = width - 2  # an ellipsis on either side
    lead = min(_LEAD, room // 3)
    total = sum(columns for _, columns in shown)
    first = 0 if before + marked <= room else max(0, min(before - lead, total - room))
    kept: list[str] = []
    position = used = skipped = 0
    for text, columns in shown:
        if position < first:
            skipped = position + columns
        elif used + columns <= room:
            kept.append(text)
            used += columns
        else:
            kept.append("…")
            break
        position += columns
    head = "…" if skipped else ""
    before = before - skipped + len(head)
    return head + "".join(kept), before, max(1, min(marked, width - before))


def _shown(line: str) -> Iterator[tuple[str, int]]:
    """Each character as shown, with the columns it takes."""
    if line.isascii() and line.isprintable():
        for character in line:
            yield character, 1
        return
    column = 0
    for character in line:
        if character == "\t":
            text, columns = " " * (_TAB - column % _TAB), _TAB - column % _TAB
        elif (
            unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
            or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        ):
            text, columns = "\ufffd", 1
        elif unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
            text, columns = character, 0
        else:
            text, columns = character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
        column += columns
        yield text, columns
