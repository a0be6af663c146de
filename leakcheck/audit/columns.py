"""What each column is, and hashes of its values that do not depend on their formatting."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.long_texts import LongTextDtype
from leakcheck.audit.shingles import words
from leakcheck.audit.splits import Options, Split
from leakcheck.audit.times import is_dated, microseconds
from leakcheck.errors import LeakcheckError

_ID_NAME = re.compile(
    r"(^|_|\b)(id|ids|idx|index|uuid|guid|key|rownum|row_number|unnamed: \d+)$|Id$|ID$", re.IGNORECASE
)
CONTENT = "content"  # the hash of a picture or recording, unique but no identifier
_TEXT_WORDS = 4  # mean words from which a column of mostly distinct strings is text
_SAMPLE = 500
_CHUNK = 1 << 14  # values spelled out at once
_LISTED = 20  # columns named in a note
MISSING = "\x00missing"


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
    """Sort the columns that all splits share.

    Raises
    ------
    LeakcheckError
        When they share none.
    """
    common = [c for c in splits[0].frame.columns if all(c in split.frame for split in splits)]
    if not common:
        raise LeakcheckError(
            "the splits share no column",
            expected=f"columns of {splits[0].name}: {_listed(list(splits[0].frame.columns))}",
            found=f"in {splits[1].name}: {_listed(list(splits[1].frame.columns))}",
        )
    ids, text, numeric, times = list(options.ids), list(options.text), [], []
    for column in common:
        values = _pooled([split.frame[column] for split in splits])
        if column in (options.target, CONTENT, *ids, *text):
            continue
        if column in (options.time, options.prediction_time) or is_dated(values):
            times.append(column)
        elif is_number(values) and not pd.api.types.is_bool_dtype(values):
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


def _pooled(parts: Sequence[pd.Series]) -> pd.Series:
    """The values of all splits; of long texts the first ones only."""
    if any(isinstance(part.dtype, LongTextDtype) for part in parts):
        parts = [part.iloc[:_SAMPLE].astype(object) for part in parts]
    return pd.concat(parts, ignore_index=True)


def left_out(splits: Sequence[Split], columns: Columns) -> list[str]:
    """Notes on columns that are not compared, or hold values of different kinds."""
    notes = []
    names = dict.fromkeys(column for split in splits for column in split.frame.columns)
    if partial := [c for c in names if c not in columns.common and c != columns.target]:
        notes.append(f"left out, since not every split has them: {_listed(partial)}")
    if columns.ids:
        notes.append(f"left out of the comparison of rows as identifiers: {_listed(columns.ids)}")
    for column in columns.common:
        kinds = {kind: split.name for split in splits if (kind := _kind(split.frame[column]))}
        if len(kinds) > 1:
            told = ", ".join(f"{kind} in {name}" for kind, name in kinds.items())
            notes.append(f"column {column!r} holds values of different kinds: {told}")
    return notes


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _kind(values: pd.Series) -> str | None:
    """What the column's type or its first value is, in the words of the notes; None where all are missing."""
    present = values.dropna()
    if not len(present):
        return None
    if is_number(values):
        return "numbers"  # true and false count as 1 and 0
    if pd.api.types.is_datetime64_any_dtype(values) or isinstance(present.iloc[0], datetime.date):
        return "dates"
    return "text" if isinstance(present.iloc[0], str) else type(present.iloc[0]).__name__


def _is_strings(values: pd.Series) -> bool:
    sample = values.dropna().head(_SAMPLE)
    return len(sample) > 0 and all(isinstance(value, str) for value in sample)


def _is_text(values: pd.Series) -> bool:
    sample = values.dropna().head(_SAMPLE)
    mean = sum(len(words(value)) for value in sample) / len(sample)
    return mean >= _TEXT_WORDS and sample.nunique() >= 0.5 * len(sample)


def _numbered(column: str, values: pd.Series) -> bool:
    present = values[np.isfinite(values.to_numpy(np.float64, na_value=np.nan))]
    if len(present) < 3 or present.nunique() < 0.99 * len(present) or not (present == present.round()).all():
        return False
    # a running number: distinct whole numbers without large holes
    return bool(_ID_NAME.search(column)) or (
        not pd.api.types.is_float_dtype(values)
        and len(present) > 50
        and int(present.max()) - int(present.min()) < 1.5 * len(present)
    )


def _named(column: str, values: pd.Series) -> bool:
    present = values.dropna()
    if len(present) < 3 or present.nunique() < 0.99 * len(present):
        return False
    return bool(_ID_NAME.search(column)) or (len(present) > 50 and not present.str.contains(r"\s").any())


def canonical(value: Any) -> str:
    """One spelling for equal values: 1 and 1.0, lists and arrays, dates, nested values; every missing one alike.

    >>> canonical([1, 2.0]), canonical({"b": None, "a": True})
    ('[1,2]', '{a:True,b:\\x00missing}')
    """
    if isinstance(value, str):
        return value
    if value is None or value is pd.NaT or value is pd.NA:
        return MISSING
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        if math.isnan(value):
            return MISSING
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, datetime.datetime | np.datetime64):
        stamp = pd.Timestamp(value)
        return str((stamp.tz_convert("UTC").tz_localize(None) if stamp.tzinfo else stamp).isoformat())
    if isinstance(value, datetime.date):
        return f"{value.isoformat()}T00:00:00"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return canonical(value.item())
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + ",".join(canonical(part) for part in value) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(canonical(part) for part in value)) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{canonical(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _decimal(value: Decimal) -> str:
    """As the float of the same value where there is one."""
    if not value.is_finite():
        return canonical(float(value)) if not value.is_snan() else MISSING
    number = float(value)
    if math.isfinite(number) and Decimal(repr(number)) == value:
        return canonical(number)
    return str(value.normalize())


def hashed(series: Sequence[pd.Series]) -> list[NDArray[np.uint64]]:
    """Hashes of one column in several splits; equal where the values are equal."""
    if all(map(is_number, series)) and not any(map(_beyond_floats, series)):
        return [_hashed_floats(one.to_numpy(dtype=np.float64, na_value=np.nan)) for one in series]
    if all(pd.api.types.is_datetime64_any_dtype(one) for one in series):
        return [pd.util.hash_array(microseconds(one)) + _below_microseconds(one) for one in series]
    spell = _spelling(series)
    return [_hashed_objects(one, spell) for one in series]


def is_number(values: pd.Series) -> bool:
    """Whether the column's type is a real number's, or true and false."""
    return pd.api.types.is_numeric_dtype(values) and values.dtype.kind != "c"


def _hashed_floats(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    values = values + 0.0  # -0.0 becomes 0.0
    values = np.where(np.isnan(values), np.nan, values)  # one NaN of the many
    return pd.util.hash_array(values.view(np.uint64))


def _hashed_objects(values: pd.Series, spell: Callable[[Any], str]) -> NDArray[np.uint64]:
    """A bounded number of values at a time: long texts come from disk."""
    hashes = np.empty(len(values), np.uint64)
    for low in range(0, len(values), _CHUNK):
        part = values.iloc[low : low + _CHUNK].astype(object)
        hashes[low : low + _CHUNK] = pd.util.hash_array(np.array([spell(value) for value in part], dtype=object))
    return hashes


def _beyond_floats(values: pd.Series) -> bool:
    """Whether some whole number has no float of its own."""
    if not pd.api.types.is_integer_dtype(values) or not values.notna().any():
        return False
    return bool(max(int(values.max()), -int(values.min())) > 2**53)


def _below_microseconds(values: pd.Series) -> NDArray[np.uint64]:
    return np.asarray(values.dt.nanosecond.fillna(0), dtype=np.uint64)


def _spelling(series: Sequence[pd.Series]) -> Callable[[Any], str]:
    """`canonical`, but numbers and dates written as text count as such where another split has them as such."""
    texts = any(isinstance(value, str) for one in series for value in one.dropna().head(1))
    if texts and any(is_number(one) for one in series if one.notna().any()):
        return _spelled_number
    if texts and any(pd.api.types.is_datetime64_any_dtype(one) for one in series if one.notna().any()):
        return _spelled_date
    return canonical


def _spelled_number(value: Any) -> str:
    if isinstance(value, str):
        try:
            return canonical(float(value))
        except ValueError:
            return value
    return canonical(value)


def _spelled_date(value: Any) -> str:
    if isinstance(value, str):
        try:
            return canonical(pd.Timestamp(value))
        except ValueError:
            return value
    return canonical(value)
