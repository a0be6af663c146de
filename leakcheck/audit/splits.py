"""Splits in memory: a frame each, with the file and row every line came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from leakcheck.audit.batches import read_batches
from leakcheck.audit.facts import Place
from leakcheck.audit.long_texts import FrameBuilder, plain, to_frame
from leakcheck.audit.readers import find_files
from leakcheck.audit.similarity import Asked, Settings
from leakcheck.errors import LeakcheckError
from leakcheck.project.paths import shown

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, and of how much

# Order in which a later split is held out from an earlier one.
_ORDER = ("train", "training", "fit", "dev", "validation", "valid", "val", "test")


@dataclass(frozen=True, slots=True)
class Options:
    """What the user declared about the columns, and how to compare."""

    text: tuple[str, ...] = ()
    target: str | None = None
    group: tuple[str, ...] = ()
    time: str | None = None
    prediction_time: str | None = None
    gap: str = "0s"
    ids: tuple[str, ...] = ()
    contained: bool = False
    redact: bool = False
    max_evidence: int = 10
    settings: Settings = field(default_factory=Settings)

    @property
    def parameters(self) -> dict[str, Any]:
        """What a reader needs to repeat the audit: the declared columns and how texts are compared."""
        settings = self.settings
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in {
                "text": self.text,
                "target": self.target,
                "group": self.group,
                "time": self.time,
                "prediction time": self.prediction_time,
                "gap": self.gap if self.time else None,
                "identifiers": self.ids,
                "contained": self.contained,
                "threshold": settings.threshold,
                "shingle": str(settings.shingling) if settings.shingling else None,
                "method": settings.asked.value,
            }.items()
            if value not in ((), None)
        }

    @property
    def declared(self) -> tuple[str, ...]:
        single = (self.target, self.time, self.prediction_time)
        return (*self.text, *self.group, *self.ids, *(name for name in single if name))


@dataclass(frozen=True)
class Split:
    """One split: `frame` with rows 0..n-1, `files`, and for each row its file and row in it."""

    name: str
    frame: pd.DataFrame
    files: tuple[str, ...]
    paths: tuple[Path, ...]
    file_of: NDArray[np.int32]
    row_in_file: NDArray[np.int64]
    index: pd.Index[Any] | None = None  # what a table in memory calls its rows

    def __len__(self) -> int:
        return len(self.frame)

    def place(self, row: int) -> Place:
        return Place(self.files[self.file_of[row]], int(self.row_in_file[row]) + 1)

    def rows(self, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Some rows, with long texts in memory."""
        return plain(self.frame.iloc[rows])

    def key(self, row: int, ids: Sequence[str]) -> str | None:
        """The row's name in the table's index and its identifiers, such as ``row_id=17``; None where there are none."""
        named = [] if self.index is None else [f"index={self.index[row]}"]
        return ", ".join([*named, *(f"{column}={self.frame[column].iat[row]}" for column in ids)]) or None


def silent(what: str, done: int, total: int) -> None:
    """Progress for nobody."""


def read_splits(
    patterns: Mapping[str, Sequence[str]], root: Path, options: Options, progress: Progress = silent
) -> list[Split]:
    """Read every split.

    Raises
    ------
    LeakcheckError
        When a file can't be read, a split is empty, or a declared column is missing.
    """
    return checked([read_split(name, given, root, progress) for name, given in patterns.items()], options)


def read_split(name: str, patterns: Sequence[str], root: Path, progress: Progress = silent) -> Split:
    """The files of one split, or of a table with all splits in it.

    Raises
    ------
    LeakcheckError
        When there are none, or one can't be read.
    """
    if not patterns:
        raise LeakcheckError(f"the split {name!r} has no files")
    paths = find_files(patterns, root)
    names = tuple(map(shown, paths))
    builder = FrameBuilder()
    for number, (path, one) in enumerate(zip(paths, names, strict=True)):
        progress(f"reading {one}", number, len(paths))
        builder.add_file(read_batches(path, one))
    file_of = np.repeat(np.arange(len(paths), dtype=np.int32), builder.lengths)
    row_in_file = np.concatenate([np.arange(length, dtype=np.int64) for length in builder.lengths])
    return Split(name, builder.frame(), names, tuple(paths), file_of, row_in_file)


def from_tables(tables: Mapping[str, Any], root: Path, options: Options) -> list[Split]:
    """Splits from pandas, polars or Arrow tables, arrays, lists of texts, or paths."""
    splits = []
    for name, given in ((str(name), given) for name, given in tables.items()):
        if isinstance(given, str | Path):
            splits.append(read_split(name, [str(given)], root))
        elif isinstance(given, list | tuple) and given and all(isinstance(one, Path) for one in given):
            splits.append(read_split(name, [str(one) for one in given], root))
        else:
            frame, index = _without_index(_as_frame(given, name), options)
            zeros, rows = np.zeros(len(frame), np.int32), np.arange(len(frame), dtype=np.int64)
            splits.append(Split(name, frame, (name,), (), zeros, rows, index))
    return checked(splits, options)


def by_column(split: Split, column: str, options: Options) -> list[Split]:
    """The splits that a column of one table names.

    Raises
    ------
    LeakcheckError
        When there is no such column, a row has no value in it, or it names fewer than two splits.
    """
    if column not in split.frame:
        raise _missing(column, split)
    missing = np.flatnonzero(split.frame[column].isna())
    if len(missing):
        place = split.place(int(missing[0]))
        raise LeakcheckError(
            f"{len(missing)} row{'' if len(missing) == 1 else 's'} without a split",
            file=place.path,
            place=f"row {place.row}, column {column!r}",
            expected="the name of a split",
        )
    parts = []
    names = split.frame[column].map(str).to_numpy(object)
    for value in sorted(set(names), key=lambda name: (_rank(name), name)):
        rows = np.flatnonzero(names == value)
        frame = split.frame.iloc[rows].drop(columns=column).reset_index(drop=True)
        parts.append(Split(value, frame, split.files, split.paths, split.file_of[rows], split.row_in_file[rows]))
    return checked(parts, options)


def checked(splits: list[Split], options: Options) -> list[Split]:
    """In order of use, after the checks that need no reading of values."""
    for split in splits:
        if not len(split):
            raise LeakcheckError(f"the split {split.name!r} has no rows", file=", ".join(split.files) or None)
        for column in options.declared:
            # evaluation splits are often released without their labels
            if column not in split.frame and not (column == options.target and _rank(split.name) > 0):
                raise _missing(column, split)
    if len(splits) < 2:
        raise LeakcheckError(
            "two splits at least are needed", found=", ".join(split.name for split in splits) or "none"
        )
    if options.target is not None and not any(options.target in split.frame for split in splits):
        raise _missing(options.target, splits[0])
    return sorted(splits, key=lambda split: _rank(split.name))


def _missing(column: str, split: Split) -> LeakcheckError:
    return LeakcheckError(
        f"the split {split.name!r} has no column {column!r}",
        file=split.files[0],
        expected=repr(column),
        found=", ".join(map(str, split.frame.columns[:20])),
    )


def _rank(name: str) -> int:
    lowered = name.lower()
    for rank, known in enumerate(_ORDER):
        if lowered.startswith(known):
            return max(0, rank - 2)
    return 3


def _without_index(frame: pd.DataFrame, options: Options) -> tuple[pd.DataFrame, pd.Index[Any] | None]:
    """The frame with its rows numbered, and what they were called; declared levels of the index become columns."""
    index = frame.index
    for level in range(index.nlevels):
        name = index.names[level]
        if name in options.declared and name not in frame:
            frame = frame.assign(**{name: index.get_level_values(level)})
    numbered = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
    return frame.reset_index(drop=True), None if numbered else index


def _as_frame(given: Any, name: str) -> pd.DataFrame:
    try:
        frame = _table(given)
    except (TypeError, ValueError) as error:
        raise LeakcheckError(
            f"the split {name!r} can't be read as a table: {str(error).splitlines()[0]}",
            expected="a pandas, polars or Arrow table, an array, a list of texts, or paths",
            found=type(given).__name__,
        ) from error
    for column in frame.columns:
        # files are UTF-8, texts in memory need not be
        if frame[column].dtype == object and not all(map(_encodable, frame[column])):
            row = next(row for row, value in enumerate(frame[column]) if not _encodable(value))
            raise LeakcheckError(
                "the text is not Unicode: it holds half of a surrogate pair",
                file=name,
                place=f"row {row + 1}, column {column!r}",
            )
    return frame


def _table(given: Any) -> pd.DataFrame:
    if isinstance(given, pd.DataFrame):
        frame = given.copy(deep=False)
    elif isinstance(given, pa.Table):
        frame = to_frame(given)
    elif hasattr(given, "to_pandas"):  # polars, datasets
        frame = pd.DataFrame(given.to_pandas())
    elif isinstance(given, np.ndarray) and given.dtype.names is None:
        frame = pd.DataFrame(given.reshape(len(given), -1))
    elif isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, str) for one in given):
        frame = pd.DataFrame({"text": list(given)})
    else:
        frame = pd.DataFrame(given)
    frame.columns = _unique([str(column) for column in frame.columns])
    # no order and no distance: complex numbers are compared as they are, not as numbers
    return frame.astype(dict.fromkeys(frame.select_dtypes("complex").columns, object))


def _unique(columns: list[str]) -> list[str]:
    """The same names.

    Raises
    ------
    ValueError
        When two are equal.
    """
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(f"two columns are called {twice!r}")
    return columns


def _encodable(value: Any) -> bool:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


__all__ = ["Asked", "Options", "Settings", "Split", "by_column", "from_tables", "read_splits"]
