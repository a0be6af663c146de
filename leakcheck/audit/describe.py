"""Evidence and trace of a finding from the facts; what several rules say in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from leakcheck.audit.facts import Example, Overlap, Part, Place, Score
from leakcheck.findings import Location, TraceStep

_NAMED = 5  # columns named in a message
_SHOWN = 120  # letters of a text in a trace


def first_place(overlap: Overlap) -> Location:
    return overlap.examples[0].first.location


def trace(examples: Sequence[Example], first: str, second: str) -> tuple[TraceStep, ...]:
    """The worst pair, with its texts where they may be shown."""
    worst = examples[0]
    return (
        TraceStep(_label(first, worst.first_text), worst.first.location),
        TraceStep(_label(second, worst.second_text), worst.second.location),
    )


def named(part: Part, columns: Sequence[str]) -> str:
    """`a`, `b`, or "the other columns (...)"."""
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    listed = ", ".join(f"`{column}`" for column in columns[:_NAMED]) + more
    return f"the other columns ({listed})" if part is Part.OTHERS else listed


def ranges(training: tuple[str, Place], held_out: tuple[str, Place], picture: tuple[str, str]) -> tuple[TraceStep, ...]:
    """Two date ranges below each other, each with what it is of."""
    width = max(len(str(place.location)) for _, place in (training, held_out))
    return tuple(
        # the label follows the place: blanks keep the two bars below each other
        TraceStep(f"{' ' * (width - len(str(place.location)))}[{bar}] {label}", place.location)
        for (label, place), bar in zip((training, held_out), picture, strict=True)
    )


def _label(what: str, text: str | None) -> str:
    if text is None:
        return what
    shown = " ".join(text.split())
    return f"{what}: {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + ' ...'}"


def evidence(overlap: Overlap) -> dict[str, Any]:
    """Everything known of an overlap, with how many examples were left out."""
    record = {k: v for k, v in asdict(overlap).items() if k not in ("kind", "examples")}
    record["share"] = overlap.share
    record["interval"] = asdict(overlap.interval)
    return {**record, **examples(overlap.examples, overlap.touched)}


def examples(shown: Sequence[Example], total: int) -> dict[str, Any]:
    rows = [{k: v for k, v in asdict(one).items() if v is not None} for one in shown]
    return {"examples": rows, "left_out_of_examples": max(0, total - len(rows))}


def counted(overlap: Overlap) -> str:
    """`12 of 200 rows of test (6.0 %, 95 % interval 3.5 to 10.2 %)`, with the files where there are several."""
    low, high = 100 * overlap.interval.low, 100 * overlap.interval.high
    return (
        f"{overlap.touched} of {overlap.total} rows of {overlap.held_out} "
        f"({100 * overlap.share:.1f} %, 95 % interval {low:.1f} to {high:.1f} %)"
    )


def from_files(overlap: Overlap) -> str:
    """Which training files it comes from, where that says anything."""
    if len(overlap.by_file) < 2:
        return (
            f" (all in {overlap.by_file[0][0]})"
            if overlap.by_file and overlap.by_file[0][0] != overlap.training
            else ""
        )
    return " (" + ", ".join(f"{n} in {file}" for file, n in overlap.by_file) + ")"


def score_evidence(score: Score, **more: Any) -> dict[str, Any]:
    return {"score": asdict(score), **more}
