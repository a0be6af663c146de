"""Places of the analysed program, as findings show them."""

from __future__ import annotations

from collections.abc import Iterable

from leakcheck.findings import Location, TraceStep
from leakcheck.flow.rows import Site

_MOST_CALLERS = 6


def location(site: Site) -> Location:
    first, column, last, end = site.span
    return Location(site.path, site.cell, first, column, last, end)


def step(label: str, site: Site) -> TraceStep:
    return TraceStep(label, location(site))


def callers(site: Site) -> list[TraceStep]:
    """The calls that led to a place, the nearest first."""
    steps: list[TraceStep] = []
    caller = site.caller
    while caller is not None and len(steps) < _MOST_CALLERS:
        steps.append(step("called from here", caller))
        caller = caller.caller
    return steps


def unique(steps: Iterable[TraceStep]) -> tuple[TraceStep, ...]:
    """The first step at each place."""
    first: dict[Location, TraceStep] = {}
    for one in steps:
        first.setdefault(one.location, one)
    return tuple(first.values())
