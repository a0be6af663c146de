"""Where the tables of a configuration stand in its file."""

from __future__ import annotations

import re
from pathlib import Path

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_ID = re.compile(r"""\s*id\s*=\s*["']([^"']+)["']""")


def table_lines(file: Path, key: str) -> dict[str, int]:
    """Line of the id of each `[[key]]` table, by id; empty where the file can't be read."""
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, int] = {}
    inside = False
    for number, line in enumerate(lines, start=1):
        if header := _HEADER.match(line):
            inside = header[1].split(".")[-1].strip(" \"'") == key
        elif inside and (match := _ID.match(line)):
            found.setdefault(match[1], number)
    return found
