"""Positions of what a report draws; the templates only put them on paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH = 360.0  # of every picture, in its own units: readable on a phone, enlarged elsewhere
MARGIN = 12.0
MOST_ROWS = 24  # pairs drawn one by one; beyond that a histogram
BINS = 20
_LONGEST_NAME = 24  # characters


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled position on the axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A line from `x1` to `x2` with a label; an interval, or a paired difference drawn from zero."""

    label: str
    value: str
    x1: float
    x2: float
    y: float
    kind: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All positions of one picture."""

    height: float
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...]
    zero: float | None
    threshold: float | None
    point: float | None
    title: str


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    def __call__(self, value: float) -> float:
        return round(MARGIN + (value - self.low) / (self.high - self.low) * (WIDTH - 2 * MARGIN), 2)


def interval_picture(claim: Mapping[str, Any]) -> Picture | None:
    """The intervals of a claim with zero and the threshold; None where there is no interval."""
    summary, threshold = claim["summary"], claim["threshold"]
    intervals = [(key, summary[key]) for key in ("t_interval", "bootstrap", "bca") if summary.get(key) is not None]
    if not intervals:
        return None
    ends = [end for _, interval in intervals for end in (interval["low"], interval["high"])]
    scale = _scale([*ends, 0.0, threshold or 0.0])
    bars = tuple(
        Bar(
            label=interval["method"] + (" (decides)" if key == "t_interval" else ""),
            value=f"{_number(interval['low'])} to {_number(interval['high'])}",
            x1=scale(interval["low"]),
            x2=scale(interval["high"]),
            y=34.0 + 34.0 * row,
            kind="decides" if key == "t_interval" else "beside",
        )
        for row, (key, interval) in enumerate(intervals)
    )
    return Picture(
        height=34.0 * len(bars) + 46.0,
        ticks=_ticks(scale),
        bars=bars,
        zero=scale(0.0),
        threshold=None if not threshold else scale(threshold),
        point=scale(summary["difference"]),
        title=f"Intervals of the difference between {claim['b']} and {claim['a']}",
    )


def pairs_picture(claim: Mapping[str, Any]) -> Picture | None:
    """Each paired difference drawn from zero; a histogram of counts where there are many."""
    pairs = claim["inputs"]["pairs"]
    differences = [pair["difference"] for pair in pairs]
    if len(differences) < 2:
        return None
    title = f"Paired differences, {claim['b']} against {claim['a']}"
    scale = _scale([*differences, 0.0, claim["threshold"] or 0.0])
    if len(pairs) > MOST_ROWS:
        bars = _histogram(differences, scale)
        height = 150.0
    else:
        bars = tuple(
            Bar(
                label=_name(str(pair["id"])),
                value=_number(pair["difference"]),
                x1=scale(0.0),
                x2=scale(pair["difference"]),
                y=20.0 + 16.0 * row,
                kind="pair",
            )
            for row, pair in enumerate(pairs)
        )
        height = 16.0 * len(bars) + 40.0
    return Picture(
        height=height,
        ticks=_ticks(scale),
        bars=bars,
        zero=scale(0.0),
        threshold=None if not claim["threshold"] else scale(claim["threshold"]),
        point=None,
        title=title,
    )


def ranking_picture(ranking: Mapping[str, Any]) -> Picture:
    """Mean ranks on one axis, and a bar over each group of methods that do not differ."""
    ranks = dict(zip(ranking["methods"], ranking["mean_ranks"], strict=True))
    scale = _Scale(1.0, float(max(len(ranks), 2)))
    ordered = sorted(ranks, key=lambda method: (ranks[method], method))
    methods = tuple(
        Bar(
            _name(str(method)),
            _number(ranks[method]),
            scale(ranks[method]),
            scale(ranks[method]),
            20.0 + 18.0 * row,
            "rank",
        )
        for row, method in enumerate(ordered)
    )
    below = 20.0 + 18.0 * len(methods)
    groups = tuple(
        Bar(
            "no difference",
            "",
            scale(min(ranks[method] for method in group)),
            scale(max(ranks[method] for method in group)),
            below + 9.0 * row,
            "group",
        )
        for row, group in enumerate(ranking["groups"])
    )
    return Picture(
        height=below + 9.0 * len(groups) + 26.0,
        ticks=tuple(Tick(scale(float(rank)), str(rank)) for rank in range(1, len(ranks) + 1)),
        bars=methods + groups,
        zero=None,
        threshold=None,
        point=None,
        title="Mean ranks (1 is best); a bar joins methods that do not differ",
    )


def _histogram(differences: Sequence[float], scale: _Scale) -> tuple[Bar, ...]:
    low, high = min(differences), max(differences)
    width = (high - low) / BINS or 1.0
    counts = [0] * BINS
    for difference in differences:
        counts[min(int((difference - low) / width), BINS - 1)] += 1
    most = max(counts)
    return tuple(
        Bar(
            label=f"{_number(low + index * width)} to {_number(low + (index + 1) * width)}",
            value=str(count),
            x1=scale(low + index * width),
            x2=scale(low + (index + 1) * width),
            y=round(120.0 - 100.0 * count / most, 2),
            kind="bin",
        )
        for index, count in enumerate(counts)
        if count
    )


def _scale(values: Sequence[float]) -> _Scale:
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 1.0
    return _Scale(low - room, high + room)


def _ticks(scale: _Scale) -> tuple[Tick, ...]:
    """Four to six round numbers."""
    span = scale.high - scale.low
    step = 10.0 ** math.floor(math.log10(span / 4.0))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 5.5)
    first = math.ceil(scale.low / step)
    found = []
    while (value := first * step) <= scale.high:
        found.append(Tick(scale(value), _number(value)))
        first += 1
    return tuple(found)


def _name(method: str) -> str:
    """A name that fits beside its dot."""
    return method if len(method) <= _LONGEST_NAME else method[: _LONGEST_NAME - 3] + "..."


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) > 1e-12 else "0"
