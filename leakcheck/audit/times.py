"""Columns of dates, numbers or durations as instants on one axis, and the gap between splits."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.facts import NO_GAP
from leakcheck.audit.splits import Split
from leakcheck.errors import LeakcheckError

_MICROSECOND = pd.Timedelta(microseconds=1)
_MISSING = -(2**63)  # where a date is missing
_SHOWN = 80  # letters of a value that can't be read
# Day and month in figures before the year; their order must be read off the column.
_NUMERIC_DATE = re.compile(r"^\s*(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_HAS_YEAR = re.compile(r"\d{4}|\d{1,2}([/.-])\d{1,2}\1\d{2}")
_LOOKS_DATED = re.compile(r"\s*(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})(?!\d)")
_PIVOT = 69  # two-digit years from here on are of the last century (POSIX)


class Axis(Enum):
    """What the values of a time column are."""

    DATE = "dates"
    NUMBER = "numbers"
    DURATION = "durations"


@dataclass(frozen=True)
class Moments:
    """One time column in all splits: its values, and where they are present.

    Dates and durations are whole microseconds (dates since 1970 in UTC; those without a zone count as UTC), numbers
    stay as they are.
    """

    column: str
    axis: Axis
    values: tuple[NDArray[Any], ...]
    present: tuple[NDArray[np.bool_], ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def whole_days(self) -> bool:
        """Whether no value has a time of day."""
        day = pd.Timedelta(days=1) // _MICROSECOND
        return self.axis is Axis.DATE and not any(
            (values[present] % day).any() for values, present in zip(self.values, self.present, strict=True)
        )

    def shown(self, value: Any) -> str:
        """A value as people write it."""
        if self.axis is Axis.NUMBER:
            return f"{value:.15g}" if isinstance(value, float | np.floating) else str(value)
        if self.axis is Axis.DURATION:
            return str(pd.Timedelta(int(value), unit="us"))
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(value))
        return moment.date().isoformat() if self.whole_days else moment.isoformat(sep=" ", timespec="seconds")


def moments_of(splits: Sequence[Split], column: str) -> Moments:
    """Read a declared time column.

    Raises
    ------
    LeakcheckError
        When a value is no date, days and months can't be told apart, or the splits hold different kinds of values.
    """
    kinds: dict[Axis, Split] = {}
    for split in splits:
        values = split.frame[column]
        axis = _axis(values)
        if axis is not None:
            kinds.setdefault(axis, split)
    if len(kinds) > 1:
        (first, one), (second, other) = list(kinds.items())[:2]
        raise LeakcheckError(
            f"the time column {column!r} holds {first.value} in {one.name} and {second.value} in {other.name}",
            file=other.files[0],
            expected=first.value,
            found=second.value,
        )
    axis = next(iter(kinds), Axis.DATE)
    if axis is Axis.NUMBER:
        return _numbers(splits, column)
    if axis is Axis.DURATION:
        pairs = [_microseconds(pd.to_timedelta(split.frame[column])) for split in splits]
        return Moments(column, axis, tuple(v for v, _ in pairs), tuple(p for _, p in pairs))
    return _dates(splits, column)


def gap_of(gap: str, axis: Axis) -> float | int:
    """The gap in the unit of the axis.

    Raises
    ------
    LeakcheckError
        When it is no duration (for numbers: no number), or negative.
    """
    found: float | int
    try:
        if axis is Axis.NUMBER:
            found = 0 if gap == NO_GAP else float(gap)
        else:
            if re.fullmatch(r"\s*[\d.]+\s*", gap) and float(gap):
                raise ValueError("no unit")
            found = int(pd.Timedelta(re.sub(r"[dw]$", lambda unit: unit[0].upper(), gap)) // _MICROSECOND)
    except (ValueError, OverflowError) as error:
        expected = "a number, in the unit of the time column" if axis is Axis.NUMBER else "a duration such as 7d or 12h"
        raise LeakcheckError("can't read the gap", expected=expected, found=repr(gap)) from error
    if not 0 <= found < float("inf"):
        raise LeakcheckError("the gap lies between training and held-out rows", expected="0 or more", found=repr(gap))
    return found


def is_dated(values: pd.Series) -> bool:
    """Whether a column that nobody declared holds dates, also as text."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return True
    present = values.dropna()
    if not len(present) or pd.api.types.is_numeric_dtype(values):
        return False
    return all(
        isinstance(one, datetime.date) or (isinstance(one, str) and _LOOKS_DATED.match(one)) for one in present.head(50)
    )


def microseconds(values: pd.Series) -> NDArray[np.int64]:
    """A datetime column since 1970 in UTC; -2^63 where missing."""
    return _microseconds(pd.to_datetime(values, utc=True))[0]


def _axis(values: pd.Series) -> Axis | None:
    """The kind of the first value that is present; None where all are missing."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = pd.Series(values.cat.categories)
    present = values.dropna()
    if not len(present):
        return None
    if pd.api.types.is_timedelta64_dtype(values):
        return Axis.DURATION
    first = present.iloc[0]
    if isinstance(first, datetime.timedelta):
        return Axis.DURATION
    is_number = isinstance(first, Real | np.number) and not isinstance(first, bool | np.bool_)
    return Axis.NUMBER if is_number else Axis.DATE


def _numbers(splits: Sequence[Split], column: str) -> Moments:
    columns = []
    for split in splits:
        values = split.frame[column]
        if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            _refuse_first(split, column, lambda v: isinstance(v, Real) and not isinstance(v, bool), "a number")
        columns.append(values)
    present = [values.notna().to_numpy() for values in columns]
    exact = all(pd.api.types.is_integer_dtype(values) for values in columns)
    # as they are: nanoseconds since 1970 are too large for floating point
    read = [
        values.fillna(0).to_numpy() if exact else values.to_numpy(np.float64, na_value=np.nan) for values in columns
    ]
    if not exact:
        present = [kept & np.isfinite(values) for kept, values in zip(present, read, strict=True)]
    return Moments(column, Axis.NUMBER, tuple(read), tuple(present))


def _dates(splits: Sequence[Split], column: str) -> Moments:
    spelled = [_plain(split.frame[column]) for split in splits]
    day_first, notes = _day_order(spelled, splits, column)
    read = []
    zoned: dict[bool, str] = {}
    for split, values in zip(splits, spelled, strict=True):
        parsed = _parsed(values, day_first)
        if parsed is None:
            _refuse_first(split, column, partial(_is_date, day_first=day_first), "a date or time with its year")
        read.append(_microseconds(parsed))
        zoned.setdefault(_has_zone(values), split.name)
    if len(zoned) > 1:
        notes.append(f"`{column}` has a time zone in {zoned[True]} and none in {zoned[False]}: read as UTC there")
    return Moments(column, Axis.DATE, tuple(v for v, _ in read), tuple(p for _, p in read), tuple(notes))


def _plain(values: pd.Series) -> pd.Series:
    """Categories and periods as what they stand for."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.cat.categories.dtype)
    if isinstance(values.dtype, pd.PeriodDtype):
        values = values.dt.to_timestamp()
    return values


def _day_order(columns: Sequence[pd.Series], splits: Sequence[Split], column: str) -> tuple[bool, list[str]]:
    """Whether 03/04/2020 is in April: read off the whole column, in all splits together."""
    day_first: str | None = None
    month_first: str | None = None
    undecided: str | None = None
    dotted = False
    for values, split in zip(columns, splits, strict=True):
        if pd.api.types.is_datetime64_any_dtype(values):
            continue
        for value in pd.unique(values.dropna().astype(object).map(lambda v: v if isinstance(v, str) else "")):
            if not (found := _NUMERIC_DATE.match(value)):
                continue
            first, second = int(found[1]), int(found[3])
            if first > 12:
                day_first = day_first or value
            elif second > 12:
                month_first = month_first or value
            elif first != second:
                undecided = undecided or value
                dotted = dotted or found[2] == "."
            if day_first and month_first:
                raise LeakcheckError(
                    f"the dates of {column!r} put the day first in some rows and the month first in others",
                    file=split.files[0],
                    expected="one order, or dates such as 2020-04-03",
                    found=f"{day_first!r} and {month_first!r}",
                )
    if undecided and not day_first and not month_first:
        order = "day" if dotted else "month"
        return dotted, [
            f"the dates of `{column}` don't say whether day or month comes first: {undecided} is read {order} first"
        ]
    return day_first is not None, []


def _parsed(values: pd.Series, day_first: bool) -> pd.Series | None:
    """The column as datetimes in UTC, or None where a value can't be read."""
    if not pd.api.types.is_datetime64_any_dtype(values):
        values = values.astype(object)
        texts = values.map(lambda v: isinstance(v, str))
        if not all(isinstance(v, str | datetime.date | np.datetime64) for v in values.dropna()):
            return None
        values = values.where(~texts, values.map(lambda v: _iso(v, day_first) if isinstance(v, str) else v))
        if any(isinstance(v, str) and v and not _HAS_YEAR.search(v) for v in values):
            return None  # "12:30" or "now" would be read as of today
    try:
        parsed: pd.Series = pd.to_datetime(values, utc=True, format="mixed" if values.dtype == object else None)
    except (ValueError, TypeError, OverflowError):
        return None
    return parsed


def _is_date(value: Any, day_first: bool) -> bool:
    return _parsed(pd.Series([value], dtype=object), day_first) is not None


def _iso(text: str, day_first: bool) -> str:
    """03/04/2020 with the year first; other texts trimmed."""
    found = _NUMERIC_DATE.match(text)
    if not found:
        return text.strip()
    day, month = (found[1], found[3]) if day_first else (found[3], found[1])
    year = int(found[4])
    if len(found[4]) == 2:
        year += 1900 if year >= _PIVOT else 2000
    return f"{year:04}-{int(month):02}-{int(day):02}{text[found.end() :].rstrip()}"


def _has_zone(values: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(values):
        return isinstance(values.dtype, pd.DatetimeTZDtype)
    present = values.dropna()
    if not len(present):
        return False
    first = present.iloc[0]
    if isinstance(first, str):
        return bool(re.search(r"\d([+-]\d{2}:?\d{2}|\s?Z|\s?UTC)$", first.strip()))
    return getattr(first, "tzinfo", None) is not None


def _microseconds(values: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    present = values.notna().to_numpy()
    whole = values.dt.as_unit("us")
    if isinstance(whole.dtype, pd.DatetimeTZDtype):
        whole = whole.dt.tz_localize(None)
    return np.where(present, whole.to_numpy().view(np.int64), _MISSING), present


def _refuse_first(split: Split, column: str, fits: Callable[[Any], bool], expected: str) -> NoReturn:
    """Point at the first row that can't be read."""
    values = split.frame[column].astype(object)
    row = next((row for row, value in enumerate(values) if not is_absent(value) and not fits(value)), 0)
    place = split.place(row)
    raise LeakcheckError(
        "this is no time",
        file=place.path,
        place=f"row {place.row}, column {column!r}",
        expected=expected,
        found=repr(values.iloc[row])[:_SHOWN],
    )


def is_absent(value: Any) -> bool:
    """Whether a single value is missing."""
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))
