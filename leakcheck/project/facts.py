"""What is known of a project beside its code, for the rules to turn into findings."""

from __future__ import annotations

from dataclasses import dataclass

from leakcheck.findings import Location


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """The packages behind the scores of a project.

    Attributes
    ----------
    unpinned : tuple of str
        Packages of the tables' libraries that the code imports and no file pins, by name. At least one.
    declared : bool
        Whether a file asks for some of them at all.
    location : Location
        The line that asks for the first of them without a version, else the first file that reports a score.
    """

    unpinned: tuple[str, ...]
    declared: bool
    location: Location
