"""What each column is, and hashes of its values that do not depend on their formatting."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.shingles import words
from leakcheck.audit.splits import Options, Split
from leakcheck.errors import LeakcheckError

_ID_NAME = re.compile(
    r"(^|_|\b)(id|ids|idx|index|uuid|guid|key|rownum|row_number|unnamed: \d+)$|Id$|ID$", re.IGNORECASE
)
CONTENT = "content"  # the hash of a picture or recording, unique but no identifier
_TEXT_WORDS = 4  # mean words from which a column of mostly distinct strings is text
_SAMPLE = 500
_MISSING = "\x00missing"


@dataclass(frozen=True, slots=True)
class Columns:
    """The common columns of all splits by what they are."""

    common: tuple[str, ...]
    text: tuple[str, ...]
    ids: tuple[str, ...]
    numeric: tuple[str, ...]
    times: tuple[str, ...]
    target: str | None

    @property
    def compared(self) -> tuple[str, ...]:
        """Those that make a row: all but identifiers."""
        return tuple(column for column in self.common if column not in self.ids)


def columns_of(splits: Sequence[Split], options: Options) -> Columns:
    """Sort the columns that all splits share."""
    common = [c for c in splits[0].frame.columns if all(c in split.frame for split in splits)]
    ids, text, numeric, times = list(options.ids), list(options.text), [], []
    for column in common:
        values = pd.concat([split.frame[column] for split in splits], ignore_index=True)
        if column in (options.target, CONTENT, *ids, *text):
            continue
        if pd.api.types.is_datetime64_any_dtype(values) or column in (options.time, options.prediction_time):
            times.append(column)
        elif pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            if column not in options.group and _numbered(column, values):
                ids.append(column)
            else:
                numeric.append(column)
        elif _is_strings(values):
            if not options.text and _is_text(values):
                text.append(column)
            elif column not in options.group and _named(column, values):
                ids.append(column)
    return Columns(tuple(common), tuple(text), tuple(ids), tuple(numeric), tuple(times), options.target)


def _is_strings(values: pd.Series) -> bool:
    sample = values.dropna().head(_SAMPLE)
    return len(sample) > 0 and all(isinstance(value, str) for value in sample)


def _is_text(values: pd.Series) -> bool:
    sample = values.dropna().head(_SAMPLE)
    mean = sum(len(words(value)) for value in sample) / len(sample)
    return mean >= _TEXT_WORDS and sample.nunique() >= 0.5 * len(sample)


def _numbered(column: str, values: pd.Series) -> bool:
    present = values.dropna()
    if len(present) < 3 or present.nunique() < 0.99 * len(present) or not (present == present.round()).all():
        return False
    # a running number: distinct whole numbers without large holes
    return bool(_ID_NAME.search(column)) or (
        not pd.api.types.is_float_dtype(values) and len(present) > 50 and np.ptp(present) < 1.5 * len(present)
    )


def _named(column: str, values: pd.Series) -> bool:
    present = values.dropna()
    if len(present) < 3 or present.nunique() < 0.99 * len(present):
        return False
    if _looks_dated(present):
        return False
    return bool(_ID_NAME.search(column)) or (len(present) > 50 and not present.str.contains(r"\s").any())


def _looks_dated(values: pd.Series) -> bool:
    sample = values.head(20)
    return bool(sample.str.match(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}").all())


def canonical(value: Any) -> str:
    """One spelling for equal values: 1 and 1.0, lists and arrays, dates, nested values; every missing one alike.

    >>> canonical([1, 2.0]), canonical({"b": None, "a": True})
    ('[1,2]', '{a:True,b:\\x00missing}')
    """
    if isinstance(value, str):
        return value
    if value is None or value is pd.NaT or value is pd.NA:
        return _MISSING
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return _MISSING
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, datetime.datetime | np.datetime64):
        stamp = pd.Timestamp(value)
        return str((stamp.tz_convert("UTC").tz_localize(None) if stamp.tzinfo else stamp).isoformat())
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + ",".join(canonical(part) for part in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{canonical(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def hashed(series: Sequence[pd.Series]) -> list[NDArray[np.uint64]]:
    """Hashes of one column in several splits; equal where the values are equal."""
    if all(pd.api.types.is_numeric_dtype(one) and not pd.api.types.is_bool_dtype(one) for one in series) and not any(
        pd.api.types.is_integer_dtype(one) and one.abs().max() > 2**53 for one in series if len(one)
    ):
        out = []
        for one in series:
            values = one.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0.0 becomes 0.0
            values = np.where(np.isnan(values), np.nan, values)  # one NaN of the many
            out.append(pd.util.hash_array(values.view(np.uint64)))
        return out
    if all(pd.api.types.is_datetime64_any_dtype(one) for one in series):
        return [pd.util.hash_array(instants(one, "").to_numpy().view(np.uint64)) for one in series]
    return [
        pd.util.hash_array(np.array([canonical(value) for value in one.astype(object)], dtype=object)) for one in series
    ]


def instants(values: pd.Series, place: str) -> pd.Series:
    """Nanoseconds since 1970 in UTC; -2^63 where missing. Naive times count as UTC; whole numbers stay as they are.

    Raises
    ------
    LeakcheckError
        When a value can't be read as a date.
    """
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        filled = values.astype("float64")
        return filled.where(filled.notna(), np.nan).fillna(-(2.0**63)).astype("int64")
    try:
        parsed = pd.to_datetime(values, utc=True, format="mixed" if values.dtype.kind in "OUT" else None)
    except (ValueError, TypeError, OverflowError) as error:
        bad = next((row for row, value in enumerate(values) if not _readable(value)), 0)
        raise LeakcheckError(
            "not a date", file=place, place=f"row {bad + 1}", expected="a date or time", found=repr(values.iloc[bad])
        ) from error
    return parsed.dt.as_unit("ns").dt.tz_localize(None).astype("int64")


def _readable(value: Any) -> bool:
    try:
        pd.to_datetime(value, utc=True)
    except (ValueError, TypeError, OverflowError):
        return False
    return True
