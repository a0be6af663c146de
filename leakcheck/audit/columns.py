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

from leakcheck.audit.long_texts import LongTextDtype, leaves
from leakcheck.audit.readers import MEDIA
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
_RICH_LETTERS = 32  # mean letters a value
_BEGINNING = 1_000  # letters of a value that say whether it is text
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
    media: tuple[str, ...]  # pictures or recordings as bytes
    rich: tuple[str, ...]  # values too long to be equal by chance
    target: str | None
    compared: tuple[str, ...]  # those that make a row


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
            expected=f"columns of {splits[0].name}: {listed(list(splits[0].frame.columns))}",
            found=f"in {splits[1].name}: {listed(list(splits[1].frame.columns))}",
        )
    ids, text, numeric, times = list(options.ids), list(options.text), [], []
    media, rich = [], []
    for column in common:
        parts = _beginnings([split.frame[column] for split in splits])
        values = pd.concat(parts, ignore_index=True)
        sample = values.dropna().head(_SAMPLE)
        if _is_rich(sample):
            rich.append(column)
        if column in (options.target, CONTENT, *ids, *text):
            continue
        if column in rich and _all(sample, _is_media):
            media.append(column)
        elif column in (options.time, options.prediction_time) or is_dated(values):
            times.append(column)
        elif is_number(values) and not pd.api.types.is_bool_dtype(values):
            if column not in options.group and _is_unique(parts) and _numbered(column, values):
                ids.append(column)
            else:
                numeric.append(column)
        elif not options.text and _is_text(sample):
            text.append(column)
        elif _all(sample, _is_string) and column not in options.group and _is_unique(parts) and _named(column, values):
            ids.append(column)
    compared = [column for column in common if column not in ids]
    if not options.ids and all(column == options.target for column in compared):
        compared = common  # a table of identifiers: they are what it is about
    return Columns(
        tuple(common), tuple(text), tuple(ids), tuple(numeric), tuple(times), tuple(media), tuple(rich), options.target,
        tuple(compared),
    )  # fmt: skip


def _beginnings(parts: Sequence[pd.Series]) -> list[pd.Series]:
    """The values of each split; of long texts the first ones only."""
    if any(isinstance(part.dtype, LongTextDtype) for part in parts):
        return [part.iloc[:_SAMPLE].astype(object) for part in parts]
    return list(parts)


def left_out(splits: Sequence[Split], columns: Columns) -> list[str]:
    """Notes on columns that are not compared, or hold values of different kinds."""
    notes = []
    names = dict.fromkeys(column for split in splits for column in split.frame.columns)
    if partial := [c for c in names if c not in columns.common and c != columns.target]:
        notes.append(f"left out, since not every split has them: {listed(partial)}")
    if ids := [column for column in columns.ids if column not in columns.compared]:
        notes.append(f"left out of the comparison of rows as identifiers: {listed(ids)}")
    for column in columns.common:
        if _all(splits[0].frame[column].dropna().head(_SAMPLE), _is_file_name):
            notes.append(f"column {column!r} holds names of files: what is in them was not compared")
        kinds = {kind: split.name for split in splits if (kind := _kind(split.frame[column]))}
        if len(kinds) > 1:
            told = ", ".join(f"{kind} in {name}" for kind, name in kinds.items())
            notes.append(f"column {column!r} holds values of different kinds: {told}")
    return notes


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(name or "(without a name)" for name in names[:_LISTED]) + more


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


def _all(sample: pd.Series, fits: Callable[[Any], bool]) -> bool:
    return len(sample) > 0 and all(map(fits, sample))


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_media(value: Any) -> bool:
    """Bytes, or a picture or recording as Hugging Face keeps it: its bytes, and the name that its file had."""
    return isinstance(value, bytes) or (_is_file(value) and value["bytes"] is not None)


def _is_file(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"bytes", "path"}


def _is_file_name(value: Any) -> bool:
    name = value["path"] if _is_file(value) and value["bytes"] is None else value
    return isinstance(name, str) and name.lower().endswith(tuple(MEDIA))


def _is_rich(sample: pd.Series) -> bool:
    if not len(sample) or (sample.dtype != object and not pd.api.types.is_string_dtype(sample)):
        return False
    spelled = sample.map(canonical)
    return bool(spelled.str.len().mean() >= _RICH_LETTERS and spelled.nunique() >= 0.5 * len(spelled))


def _is_text(sample: pd.Series) -> bool:
    """Whether the strings, or those in nested values, such as the messages of a conversation, read as text."""
    if not len(sample) or (sample.dtype != object and not pd.api.types.is_string_dtype(sample)):
        return False
    spelled = sample.map(lambda value: " ".join(leaf for leaf in leaves(value) if isinstance(leaf, str)))
    mean = sum(len(words(text[:_BEGINNING])) for text in spelled) / len(spelled)
    return bool(mean >= _TEXT_WORDS and spelled.nunique() >= 0.5 * len(spelled))


def _is_unique(parts: Sequence[pd.Series]) -> bool:
    """Whether next to no value repeats within a split; an identifier may well stand in two."""
    present = [part.dropna() for part in parts]
    total = sum(map(len, present))
    return total >= 3 and sum(part.nunique() for part in present) >= 0.99 * total


def _numbered(column: str, values: pd.Series) -> bool:
    present = values[np.isfinite(values.to_numpy(np.float64, na_value=np.nan))]
    if len(present) < 3 or not (present == present.round()).all():
        return False
    # a running number: distinct whole numbers without large holes
    return _has_id_name(column) or (
        not pd.api.types.is_float_dtype(values)
        and len(present) > 50
        and int(present.max()) - int(present.min()) < 1.5 * len(present)
    )


def _named(column: str, values: pd.Series) -> bool:
    present = values.dropna()
    return _has_id_name(column) or (len(present) > 50 and not present.str.contains(r"\s").any())


def _has_id_name(column: str) -> bool:
    return not column or column == "__index_level_0__" or bool(_ID_NAME.search(column))


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
    if _is_media(value) and isinstance(value, dict):
        return canonical(value["bytes"])
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
