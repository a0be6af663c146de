"""Time and entities across splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.columns import MISSING, canonical
from leakcheck.audit.facts import EntityOrder, Example, Kind, LateColumn, Overlap, TimeOverlap
from leakcheck.audit.splits import Options, Split
from leakcheck.audit.times import Axis, Moments, gap_of, is_dated, moments_of
from leakcheck.errors import LeakcheckError

_WIDTH = 40  # columns of the picture of the date ranges
_DAY = 24 * 60 * 60 * 1_000_000  # microseconds


@dataclass(frozen=True)
class Entities:
    """The entity of each row of each split as a number, the same in all; -1 where missing."""

    column: str
    names: NDArray[Any]
    codes: tuple[NDArray[np.int64], ...]


def entities_of(splits: Sequence[Split], column: str) -> Entities:
    """Read an entity column: equal values are one entity, so 7 in one file and "7" in another."""
    spelled = [_spelled(split.frame[column]) for split in splits]
    codes, names = pd.factorize(pd.concat(spelled, ignore_index=True))
    cuts = np.cumsum([len(one) for one in spelled])[:-1]
    return Entities(column, np.asarray(names, dtype=object), tuple(np.split(codes.astype(np.int64), cuts)))


def _spelled(values: pd.Series) -> pd.Series:
    """Canonical text of each value, missing and empty ones as None."""
    try:
        codes, names = pd.factorize(values)
    except TypeError:  # lists and the like
        codes, names = pd.factorize(values.map(canonical))
    texts = [canonical(name).strip() for name in names]
    known = np.array([None if text in (MISSING, "") else text for text in texts] + [None], dtype=object)
    return pd.Series(known[codes], dtype=object)  # code -1, missing, is the last


def time_overlap(splits: Sequence[Split], a: int, b: int, moments: Moments, options: Options) -> TimeOverlap | None:
    """Training rows (split a) dated at or after the first held-out row (split b) less the gap."""
    rows = [np.flatnonzero(moments.present[i]) for i in (a, b)]
    if not len(rows[0]) or not len(rows[1]):
        return None
    times = [moments.values[i][kept] for i, kept in zip((a, b), rows, strict=True)]
    start = _plain(times[1].min()) - gap_of(options.gap, moments.axis)
    late = np.flatnonzero(times[0] >= start)
    if not len(late):
        return None
    last, first = rows[0][late[times[0][late].argmax()]], rows[1][times[1].argmin()]
    ranges = [(_plain(one.min()), _plain(one.max())) for one in times]
    spoken = [(moments.shown(low), moments.shown(high)) for low, high in ranges]
    return TimeOverlap(
        training=splits[a].name,
        held_out=splits[b].name,
        column=moments.column,
        touched=len(late),
        total=len(splits[a]),
        training_range=spoken[0],
        held_out_range=spoken[1],
        gap=options.gap,
        missing=sum(len(splits[i]) - len(kept) for i, kept in zip((a, b), rows, strict=True)),
        example=Example(splits[b].place(int(first)), splits[a].place(int(last))),
        picture=_picture(ranges),
    )


def entity_order(
    splits: Sequence[Split], a: int, b: int, moments: Moments, entities: Entities, options: Options
) -> EntityOrder | None:
    """Training rows dated at or after the first held-out row of their own entity less the gap.

    None where no entity has dated rows on both sides, as after a split by entity.
    """
    kept = [np.flatnonzero(moments.present[i] & (entities.codes[i] >= 0)) for i in (a, b)]
    training = pd.DataFrame({"entity": entities.codes[a][kept[0]], "time": moments.values[a][kept[0]], "row": kept[0]})
    held_out = pd.DataFrame({"entity": entities.codes[b][kept[1]], "time": moments.values[b][kept[1]], "row": kept[1]})
    firsts = held_out.loc[held_out.groupby("entity")["time"].idxmin()].set_index("entity")
    training = training[training["entity"].isin(firsts.index)]
    if training.empty:
        return None
    shared = int(training["entity"].nunique())
    begins = firsts["time"].reindex(training["entity"]).to_numpy()
    late = training[training["time"].to_numpy() >= begins - gap_of(options.gap, moments.axis)]
    examples: tuple[Example, ...] = ()
    picture, worst = ("", ""), None
    if len(late):
        counts = late["entity"].value_counts()
        shown = [int(entity) for entity in counts.index[: options.max_evidence]]
        lasts = late.loc[late.groupby("entity")["time"].idxmax()].set_index("entity")
        names = [None if options.redact else str(entities.names[entity]) for entity in shown]
        pairs = zip(firsts["row"].reindex(shown).tolist(), lasts["row"].reindex(shown).tolist(), names, strict=True)
        examples = tuple(
            Example(splits[b].place(first), splits[a].place(last), 1.0, name, name) for first, last, name in pairs
        )
        worst = names[0]
        own = [frame.loc[frame["entity"] == shown[0], "time"] for frame in (training, held_out)]
        picture = _picture([(_plain(one.min()), _plain(one.max())) for one in own])
    return EntityOrder(
        training=splits[a].name,
        held_out=splits[b].name,
        column=moments.column,
        entity=entities.column,
        touched=len(late),
        total=len(splits[a]),
        entities=int(late["entity"].nunique()),
        shared=shared,
        gap=options.gap,
        examples=examples,
        worst=worst,
        picture=picture,
    )


def _plain(value: Any) -> Any:
    """A Python number: differences of unsigned numbers must not wrap around."""
    return value.item() if isinstance(value, np.generic) else value


def _picture(ranges: Sequence[tuple[Any, Any]]) -> tuple[str, str]:
    """Where the two ranges lie between the first and the last moment of both: `..====..`."""
    low, high = min(first for first, _ in ranges), max(last for _, last in ranges)
    span = (high - low) or 1
    bars = []
    for extent in ranges:
        first, last = (int((value - low) / span * (_WIDTH - 1)) for value in extent)
        bars.append("." * first + "=" * (last - first + 1) + "." * (_WIDTH - 1 - last))
    return bars[0], bars[1]


def entity_overlap(splits: Sequence[Split], a: int, b: int, entities: Entities, options: Options) -> Overlap | None:
    """Held-out rows (split b) whose entity has rows in training (split a) too."""
    training, held_out = splits[a], splits[b]
    known, first_row = np.unique(entities.codes[a], return_index=True)
    of_rows = entities.codes[b]
    rows = np.flatnonzero((of_rows >= 0) & np.isin(of_rows, known))
    if not len(rows):
        return None
    partners = first_row[np.searchsorted(known, of_rows[rows])]
    shared, first_at = np.unique(of_rows[rows], return_index=True)
    examples = []
    for at in np.sort(first_at)[: options.max_evidence].tolist():
        name = None if options.redact else str(entities.names[of_rows[rows[at]]])
        examples.append(Example(held_out.place(int(rows[at])), training.place(int(partners[at])), 1.0, name, name))
    counts = np.bincount(training.file_of[partners], minlength=len(training.files))
    return Overlap(
        Kind.ENTITY,
        training.name,
        held_out.name,
        entities.column,
        len(rows),
        len(held_out),
        "equal values, missing ones left out",
        tuple(examples),
        by_file=tuple((f, int(n)) for f, n in zip(training.files, counts, strict=True) if n),
        distinct=len(shared),
        distinct_total=len(np.unique(of_rows[of_rows >= 0])),
    )


def late_columns(splits: Sequence[Split], options: Options) -> tuple[list[LateColumn], list[str]]:
    """Timestamp columns with values later than the moment of prediction, and what could not be judged."""
    assert options.prediction_time is not None
    moment = moments_of(splits, options.prediction_time)
    if moment.axis is not Axis.DATE:
        return [], [f"`{moment.column}` holds {moment.axis.value}, no dates: nothing was held against it (LK707)"]
    notes = list(moment.notes)
    found = []
    whole_day = _DAY - 1 if moment.whole_days else 0  # a date without a time of day stands for the whole day
    for column in _dated_columns(splits, options):
        holders = [i for i, split in enumerate(splits) if column in split.frame]
        try:
            times = moments_of([splits[i] for i in holders], column)
        except LeakcheckError as error:
            notes.append(f"`{column}` was not held against `{moment.column}`: {error}")
            continue
        if times.axis is not Axis.DATE:
            continue
        for i, values, present in zip(holders, times.values, times.present, strict=True):
            late = np.flatnonzero(present & moment.present[i] & (values > moment.values[i] + whole_day))
            if len(late):
                places = tuple(splits[i].place(int(row)) for row in late[: options.max_evidence])
                found.append(LateColumn(splits[i].name, column, moment.column, len(late), len(splits[i]), places))
    return found, notes


def _dated_columns(splits: Sequence[Split], options: Options) -> list[str]:
    """Columns that hold dates, less those with a role of their own."""
    roles = {options.prediction_time, options.target, options.time, *options.group, *options.ids, *options.text}
    names = dict.fromkeys(column for split in splits for column in split.frame.columns)
    return [
        column
        for column in names
        if column not in roles and any(column in split.frame and is_dated(split.frame[column]) for split in splits)
    ]
