"""A file as the analysis sees it: Python text in chunks (one a file, one a notebook cell)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leakcheck.findings import Location


@dataclass(frozen=True, slots=True)
class Chunk:
    """Python text of a file or of one code cell; magics are blanked in place, so positions hold."""

    text: str
    cell: int | None = None
    execution_count: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read: an error (LK001, exit 2) or a notice (the file is passed over, exit 0)."""

    message: str
    location: Location
    error: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """One file: `path` as shown to people (relative, forward slashes), `file` on disk."""

    path: str
    file: Path
    chunks: tuple[Chunk, ...]
    problems: tuple[Problem, ...] = ()
