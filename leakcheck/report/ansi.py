"""Colour for terminals."""

from __future__ import annotations

import os
from typing import TextIO


class Style:
    """Wraps text in ANSI codes, or leaves it as it is."""

    def __init__(self, colour: bool, links: bool = False) -> None:
        self._colour = colour
        self.links = links

    def _wrap(self, codes: str, text: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self._colour and text else text

    def bold(self, text: str) -> str:
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        return self._wrap("2", text)

    def red(self, text: str) -> str:
        return self._wrap("1;31", text)

    def yellow(self, text: str) -> str:
        return self._wrap("1;33", text)

    def blue(self, text: str) -> str:
        return self._wrap("1;34", text)

    def cyan(self, text: str) -> str:
        return self._wrap("36", text)

    def green(self, text: str) -> str:
        return self._wrap("32", text)

    def link(self, url: str, text: str) -> str:
        """The text, leading somewhere."""
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\" if self.links and url else text


def style_of(stream: TextIO, choice: str) -> Style:
    """Colour as `wants_colour` says, and links in a coloured terminal that shows them."""
    if not wants_colour(stream, choice):
        return Style(False)
    from leakcheck.report.links import wants_links

    return Style(True, wants_links(stream))


def wants_colour(stream: TextIO, choice: str) -> bool:
    """Whether to colour what goes to a stream; `choice` is "auto", "always" or "never".

    By default a terminal is coloured, unless `NO_COLOR` is set (https://no-color.org) or it can't; `FORCE_COLOR` and
    `CLICOLOR_FORCE` (https://bixense.com/clicolors) colour anything.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
