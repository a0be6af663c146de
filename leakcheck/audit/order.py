"""Time and entities across splits."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.columns import canonical, instants
from leakcheck.audit.facts import Example, Kind, LateColumn, Overlap, TimeOverlap
from leakcheck.audit.splits import Options, Split
from leakcheck.errors import LeakcheckError

_MISSING = -(2**63)
_WIDTH = 40  # columns of the picture of the date ranges


def time_overlap(training: Split, held_out: Split, options: Options) -> TimeOverlap | None:
    """Training rows dated at or after the first held-out row less the gap."""
    column = options.time
    assert column is not None
    times = [instants(split.frame[column], split.files[0]).to_numpy() for split in (training, held_out)]
    kept = [np.flatnonzero(values != _MISSING) for values in times]
    if not len(kept[0]) or not len(kept[1]):
        return None
    numeric = pd.api.types.is_numeric_dtype(training.frame[column])
    start = int(times[1][kept[1]].min())
    late = kept[0][times[0][kept[0]] >= start - _gap(options.gap, numeric)]
    if not len(late):
        return None
    worst, first = int(late[times[0][late].argmax()]), int(kept[1][times[1][kept[1]].argmin()])
    ranges = [(int(values[rows].min()), int(values[rows].max())) for values, rows in zip(times, kept, strict=True)]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    spoken = [(_shown(r[0], numeric), _shown(r[1], numeric)) for r in ranges]
    return TimeOverlap(
        training.name,
        held_out.name,
        column,
        len(late),
        len(training),
        spoken[0],
        spoken[1],
        options.gap,
        sum(len(v) - len(k) for v, k in zip(times, kept, strict=True)),
        Example(held_out.place(first), training.place(worst)),
        (_bar(ranges[0], low, high), _bar(ranges[1], low, high)),
    )


def _gap(gap: str, numeric: bool) -> int:
    try:
        return (
            int(float(gap.rstrip("s"))) if numeric else int(pd.Timedelta(re.sub(r"d$", "D", gap)).as_unit("ns").value)
        )
    except ValueError as error:
        raise LeakcheckError("cannot read the gap", expected="a duration such as 7d or 12h", found=gap) from error


def _shown(value: int, numeric: bool) -> str:
    """A number as it is, a date without the time of day where that is midnight."""
    if numeric:
        return str(value)
    return pd.Timestamp(value, unit="ns").isoformat(sep=" ", timespec="seconds").removesuffix(" 00:00:00")


def _bar(extent: tuple[int, int], low: int, high: int) -> str:
    """Where a range lies between low and high: `..====..`."""
    span = max(high - low, 1)
    first, last = (int((value - low) / span * (_WIDTH - 1)) for value in extent)
    return "." * first + "=" * (last - first + 1) + "." * (_WIDTH - 1 - last)


def entity_overlap(training: Split, held_out: Split, column: str, options: Options) -> Overlap | None:
    """Held-out rows whose entity has rows in training too."""
    sides = [
        pd.Series(
            [None if _absent(v) else canonical(v).strip() for v in split.frame[column].astype(object)], dtype=object
        )
        for split in (training, held_out)
    ]
    # "7" in one file and 7 in another are one entity
    first_row = {entity: row for row, entity in reversed(list(enumerate(sides[0]))) if entity is not None}
    rows = [row for row, entity in enumerate(sides[1]) if entity is not None and entity in first_row]
    if not rows:
        return None
    entities = {sides[1][row] for row in rows}
    examples: list[Example] = []
    seen = set()
    for row in rows:
        entity = sides[1][row]
        if entity not in seen and len(examples) < options.max_evidence:
            seen.add(entity)
            text = None if options.redact else entity
            examples.append(Example(held_out.place(row), training.place(first_row[entity]), 1.0, text, text))
    counts = np.bincount([training.file_of[first_row[sides[1][row]]] for row in rows], minlength=len(training.files))
    return Overlap(
        Kind.ENTITY,
        training.name,
        held_out.name,
        column,
        len(rows),
        len(held_out),
        "equal values, missing ones left out",
        tuple(examples),
        by_file=tuple((f, int(n)) for f, n in zip(training.files, counts, strict=True) if n),
        distinct=len(entities),
    )


def _absent(value: object) -> bool:
    return canonical(value) in ("\x00missing", "")


def late_columns(split: Split, options: Options) -> list[LateColumn]:
    """Timestamp columns with values later than the moment of prediction."""
    moment = options.prediction_time
    assert moment is not None
    reference = instants(split.frame[moment], split.files[0]).to_numpy()
    found = []
    for column in split.frame:
        if column in (moment, options.target, options.time, *options.group, *options.ids, *options.text):
            continue
        values = _timestamps(split.frame[column])
        if values is None:
            continue
        late = np.flatnonzero((values != _MISSING) & (reference != _MISSING) & (values > reference))
        if len(late):
            place = split.place(int(late[0]))
            found.append(LateColumn(split.name, str(column), moment, len(late), len(split), Example(place, place)))
    return found


def _timestamps(values: pd.Series) -> NDArray[np.int64] | None:
    """The column as instants where it holds dates, also dates written as text; else None."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return instants(values, "").to_numpy()
    present = values.dropna()
    if not len(present) or pd.api.types.is_numeric_dtype(values):
        return None
    sample = present.head(50)
    if not all(isinstance(v, str) and len(v) >= 8 and v[:1].isdigit() and not v.isdigit() for v in sample):
        return None
    try:
        return instants(values, "").to_numpy()
    except LeakcheckError:
        return None
