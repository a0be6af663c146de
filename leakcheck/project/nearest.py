"""The nearest known name, for messages about unknown ones."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"` where something known is near, else `""`."""
    from difflib import get_close_matches

    by_lower = {entry.lower(): entry for entry in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""
