"""Evidence and trace of a finding from the facts; what several rules say in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from leakcheck.audit.facts import Distinguishable, Example, Overlap, Part, Place, Score, SingleScore
from leakcheck.findings import Location, TraceStep
from leakcheck.report.text import count

_NAMED = 5  # columns named in a message
_SHOWN = 120  # letters of a text in a trace
_COMPARED = 1_000  # words of a text that are looked at for differences


def first_place(overlap: Overlap) -> Location:
    return overlap.examples[0].first.location


def trace(examples: Sequence[Example], first: str, second: str) -> tuple[TraceStep, ...]:
    """The worst pair, with its texts where they may be shown."""
    worst = examples[0]
    return (
        TraceStep(_label(first, worst.first_key, worst.first_text, worst.only_first), worst.first.location),
        TraceStep(_label(second, worst.second_key, worst.second_text, worst.only_second), worst.second.location),
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
        # the label follows the place: blanks keep the two bars below each other; as code they are so on a page too
        TraceStep(f"{' ' * (width - len(str(place.location)))}`{bar}` {label}", place.location)
        for (label, place), bar in zip((training, held_out), picture, strict=True)
    )


def _label(what: str, key: str | None, text: str | None, only: str | None) -> str:
    label = f"{what} ({key})" if key else what
    if text is not None:
        label += f": {_cut(' '.join(text.split()))}"
    return f"{label} [only here: {only}]" if only else label


def differences(first: str, second: str) -> tuple[str, str]:
    """The words that only the one and only the other of two near texts has, in runs.

    >>> differences("the cat sat on the mat", "the cat sat on a mat today")
    ('the', 'a ... today')
    """
    from difflib import SequenceMatcher

    a, b = first.split()[:_COMPARED], second.split()[:_COMPARED]
    changed = [code for code in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if code[0] != "equal"]
    only_first = " ... ".join(" ".join(a[low:high]) for _, low, high, _, _ in changed if high > low)
    only_second = " ... ".join(" ".join(b[low:high]) for _, _, _, low, high in changed if high > low)
    return _cut(only_first), _cut(only_second)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."


def evidence(overlap: Overlap) -> dict[str, Any]:
    """Everything known of an overlap, with how many examples were left out."""
    of_entities = () if overlap.distinct else ("distinct", "distinct_total")
    record = {k: v for k, v in asdict(overlap).items() if k not in ("kind", "examples", *of_entities)}
    record["share"] = overlap.share
    record["interval"] = asdict(overlap.interval)
    return {**record, **examples(overlap.examples, overlap.distinct or overlap.touched)}


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


def score_lines(
    split: str, target: str | None, singles: Sequence[SingleScore], told: Sequence[Distinguishable]
) -> list[str]:
    """What the target and split checks came to, also where no rule speaks of it."""
    lines = []
    if singles:
        best = max(singles, key=lambda single: single.score.value)
        name = best.name if best.name == best.carrier.value else f"{best.carrier.value} `{best.name}`"
        lines.append(
            f"each column, identifier and order alone against `{target}` in {split}: "
            f"{count(singles[0].looks, 'score')}, the highest of {name}: {best.score}"
        )
    lines += [
        f"telling {one.training} from {one.held_out}: {one.score}, margin {one.margin:g}{one.sample}" for one in told
    ]
    return lines


def score_evidence(score: Score, **more: Any) -> dict[str, Any]:
    return {"score": asdict(score), **more}
