"""Links in a terminal (OSC 8): a place leads to its file, a code to the rule's page."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from functools import cache
from typing import TextIO
from urllib.parse import quote

from leakcheck.findings import Location, Within

_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio")  # TERM_PROGRAM
_TERMINALS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "contour")  # how TERM starts
_VARIABLES = ("WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM")
_FIRST_VTE = 5000  # VTE 0.50, the first with links


def wants_links(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream is a terminal that is known to show links; never a pipe or a file."""
    if not stream.isatty():
        return False
    terminal = environment.get("TERM", "")
    if "TMUX" in environment or terminal.startswith(("screen", "tmux", "dumb")):
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _PROGRAMS
        or terminal.startswith(_TERMINALS)
        or any(variable in environment for variable in _VARIABLES)
        or (vte.isdigit() and int(vte) >= _FIRST_VTE)
    )


def place_url(place: Location) -> str:
    """The file of a place, with its line where it has one of its own (a cell's line is not the file's)."""
    line = "" if place.cell is not None or place.within is not Within.LINES else f"#{place.line}"
    return _file_url(os.path.abspath(place.path)) + line


@cache
def rule_url(code: str) -> str:
    """The page of a rule; empty where there is none."""
    from leakcheck.report.rule_pages import page_of

    file = page_of(code)
    return _file_url(str(file)) if file else ""


def _file_url(path: str) -> str:
    # The host keeps a link that is shown over ssh from opening a file of the same name on this side.
    return f"file://{socket.gethostname()}{quote(os.fsencode(path.replace(os.sep, '/')))}"
