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
        if header:
            path = _parts(header[1])
        elif assigned:
            path = table + _parts(assigned[1])
        else:
            continue
        key = _key(path, is_shared=file.name == "pyproject.toml")
        is_news = header or (key and key not in found)
        if is_news and _starts_anew("\n".join(lines[: number - 1])):
            table = path if header else table
            if key:
                found.setdefault(key, number)
    return found


def _key(path: tuple[str, ...], is_shared: bool) -> str:
    """The key that a path of names sets or is part of; empty where it is not ours."""
    if path[: len(_OWN_TABLE)] == _OWN_TABLE:
        path = path[len(_OWN_TABLE) :]
    elif is_shared:
        return ""
    return path[0] if path and path[0] in KEYS else ""


def _starts_anew(before: str) -> bool:
    """Whether a line below this text stands outside of a value that spans several lines."""
    try:
        tomllib.loads(before)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\"'") for part in dotted.split("."))
