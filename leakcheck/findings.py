"""The one result type that code, data and claims share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Severity(Enum):
    """How much the fault usually inflates a score."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Confidence(Enum):
    """How sure the tool is: every link resolved, or one link a convention."""

    SURE = "sure"
    LIKELY = "likely"


class Within(Enum):
    """What a location counts inside its path."""

    LINES = "lines"
    ROWS = "rows"  # of data: the header is not among them
    NOTHING = "nothing"  # the whole file or folder is meant


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A span of a file; lines and columns count from 1, columns in characters.

    In a notebook `cell` counts from 1 over all cells and `line` is inside the cell.
    In a data file `line` is the row; where a whole file or folder is meant it is 1.
    """

    path: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int
    within: Within = field(default=Within.LINES, compare=False)

    def __str__(self) -> str:
        if self.within is Within.NOTHING:
            return self.path
        if self.within is Within.ROWS:
            return f"{self.path}:row {self.line}"
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.path}:{cell}{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One labelled place on the way from cause to effect, possibly in another file."""

    label: str
    location: Location


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at `location` by `replacement`."""

    location: Location
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding; unsafe ones may change what the program does elsewhere."""

    description: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Why a finding is hidden: a comment in the source, or the baseline file."""

    by: str  # "comment" or "baseline"
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at one place, with what led there and what to do about it."""

    code: str
    name: str
    leak_class: str
    severity: Severity
    confidence: Confidence
    message: str
    help: str
    location: Location
    trace: tuple[TraceStep, ...] = ()
    fix: Fix | None = None
    evidence: Mapping[str, Any] | None = field(default=None, hash=False)
    fingerprint: str = ""
    suppressed: Suppressed | None = None

    def sort_key(self) -> tuple[str, int, int, int, str, str]:
        """Order of output: by place, then code; never by the order files were read."""
        where = self.location
        return (where.path, where.cell or 0, where.line, where.column, self.code, self.message)
