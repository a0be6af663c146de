"""Output streams that never fail on a character, and that exist."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """What a terminal's encoding doesn't have is written as an escape; a stream the caller closed takes all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (open as long as the process)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
