"""Output streams that never fail on a character."""

from __future__ import annotations

import io
import sys


def prepare_streams() -> None:
    """What a terminal's encoding doesn't have is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
