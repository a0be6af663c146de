"""Where the keys of a configuration stand in its file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from leakcheck.project.config import KEYS

_TABLE = re.compile(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_ASSIGNED = re.compile(r"\s*([A-Za-z0-9_.\s\"'-]+?)\s*=")
_OWN_TABLE = ("tool", "leakcheck")


def key_lines(file: Path) -> dict[str, int]:
    """The line on which each key is first set, from 1; keys written in a form that can't be found are left out.

    `file` is a configuration that was read without fault.
    """
    lines = file.read_text(encoding="utf-8").splitlines()
    found: dict[str, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        header, assigned = _TABLE.match(line), _ASSIGNED.match(line)
        if not (header or assigned) or not _starts_anew("\n".join(lines[: number - 1])):
            continue
        if header:
            table = _parts(header[1])
        path = table + _parts(assigned[1]) if assigned else table
        if path[: len(_OWN_TABLE)] == _OWN_TABLE:
            path = path[len(_OWN_TABLE) :]
        elif file.name == "pyproject.toml":
            continue
        if path and path[0] in KEYS:
            found.setdefault(path[0], number)
    return found


def _starts_anew(before: str) -> bool:
    """Whether a line below this text stands outside of a value that spans several lines."""
    try:
        tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\"'") for part in dotted.split("."))
