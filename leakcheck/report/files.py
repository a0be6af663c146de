"""Writes the text of a report."""

from __future__ import annotations

from pathlib import Path

from leakcheck.project.write import write_file as write_bytes


def write_file(file: Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all; half of a surrogate pair, as in odd file names, becomes a question mark.

    Raises
    ------
    LeakcheckError
        If it cannot be written.
    """
    write_bytes(file, text.encode("utf-8", "replace"))
