"""What is known about prose that compares methods. Apart from the other facts: every scan loads its rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from leakcheck.findings import Location
from leakcheck.project.suppress import Comments


class ProseKind(Enum):
    """Where a sentence stands."""

    MARKDOWN = "Markdown"
    NOTEBOOK = "notebook text"
    DOCSTRING = "docstring"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A sentence which says, with a number, that one method beats another."""

    location: Location
    kind: ProseKind
    text: str
    numbers: tuple[str, ...]
    covered_by: str | None = None  # id of the declared claim


@dataclass(frozen=True, slots=True)
class ProseFacts:
    """The comparisons found in one file's prose, and the comments for leakcheck in its Markdown."""

    path: str
    comparisons: tuple[Comparison, ...]
    comments: Comments = field(default_factory=Comments)
