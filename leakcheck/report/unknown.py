"""What the engine didn't follow, for people who wonder which library table to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leakcheck.findings import Location
from leakcheck.flow.facts import Unknown, UnknownKind
from leakcheck.report.text import clean

_MOST = 25  # of one kind
_TITLES = {
    UnknownKind.CALLABLE: "callables of libraries that no table describes",
    UnknownKind.METHOD: "methods of data that no table describes",
    UnknownKind.VALUE: "calls and loaded objects of which nothing is known",
    UnknownKind.IMPORT: "imports from the project that lead to nothing",
    UnknownKind.LIMIT: "cut short by a limit",
}


def unknown_lines(unknown: Sequence[Unknown]) -> Iterator[str]:
    """One line each, by kind, most frequent first: at how many places, what, and the first place.

    Parameters
    ----------
    unknown : sequence of Unknown
        What was not followed in all programs, each with all of its places.
    """
    if not unknown:
        yield "everything was followed"
        return
    yield "not followed (taken to pass rows through and to learn nothing):"
    for kind, title in _TITLES.items():
        found = sorted(
            ((len(one.places), clean(one.name), min(one.places, key=_order)) for one in unknown if one.kind is kind),
            key=lambda row: (-row[0], row[1]),
        )
        if not found:
            continue
        yield f"  {title}:"
        width = max(len(name) for _, name, _ in found[:_MOST])
        for count, name, first in found[:_MOST]:
            yield f"  {count:5}  {name:{width}}  {clean(str(first))}"
        if len(found) > _MOST:
            yield f"         and {len(found) - _MOST} more"
    if any(one.kind in (UnknownKind.CALLABLE, UnknownKind.METHOD) for one in unknown):
        yield "  a library table can describe callables and methods: docs/library-tables.md"


def _order(place: Location) -> tuple[str, int, int, int]:
    return (place.path, place.cell or 0, place.line, place.column)
