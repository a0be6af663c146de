"""Splits in memory: a frame each, with the file and row every line came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from leakcheck.audit.facts import Place
from leakcheck.audit.readers import find_files, read_table
from leakcheck.audit.similarity import Asked, Settings
from leakcheck.errors import LeakcheckError
from leakcheck.project.paths import shown

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

    def __len__(self) -> int:
        return len(self.frame)

    def place(self, row: int) -> Place:
        return Place(self.files[self.file_of[row]], int(self.row_in_file[row]) + 1)


def read_splits(patterns: Mapping[str, Sequence[str]], root: Path, options: Options) -> list[Split]:
    """Read every split.

    Raises
    ------
    LeakcheckError
        When a file can't be read, a split is empty, or a declared column is missing.
    """
    splits = []
    for split, given in patterns.items():
        paths = find_files(given, root)
        names = [shown(path) for path in paths]
        frames = [_frame(read_table(path, name)) for path, name in zip(paths, names, strict=True)]
        splits.append(_split(split, frames, tuple(names), tuple(paths)))
    return checked(splits, options)


def read_one(path: str, root: Path) -> Split:
    """One table with all splits in it."""
    paths = find_files([path], root)
    names = tuple(shown(one) for one in paths)
    frames = [_frame(read_table(one, name)) for one, name in zip(paths, names, strict=True)]
    return _split("all", frames, names, tuple(paths))


def from_frames(frames: Mapping[str, Any], options: Options) -> list[Split]:
    """Splits from pandas, polars or Arrow tables, or from lists of texts."""
    splits = []
    for name, given in frames.items():
        splits.append(_split(name, [_as_frame(given)], (name,), ()))
    return checked(splits, options)


def by_column(split: Split, column: str, options: Options) -> list[Split]:
    """The splits that a column of one table names."""
    if column not in split.frame:
        raise _missing(column, split)
    parts = []
    for value in sorted(map(str, split.frame[column].dropna().unique()), key=_rank):
        rows = np.flatnonzero((split.frame[column].astype("string") == value).fillna(False))
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
        raise LeakcheckError("two splits at least are needed", found=", ".join(split.name for split in splits))
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


def _split(name: str, frames: list[pd.DataFrame], files: tuple[str, ...], paths: tuple[Path, ...]) -> Split:
    lengths = [len(frame) for frame in frames]
    file_of = np.repeat(np.arange(len(frames), dtype=np.int32), lengths)
    rows = np.concatenate([np.arange(length, dtype=np.int64) for length in lengths] or [np.empty(0, np.int64)])
    # every row stands alone in a folder of text files
    frame = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0].reset_index(drop=True)
    frame.columns = [str(column) for column in frame.columns]
    return Split(name, frame, files, paths, file_of, rows)


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, date_as_object=False)
    return frame


def _as_frame(given: Any) -> pd.DataFrame:
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, pa.Table):
        return _frame(given)
    if hasattr(given, "to_pandas"):  # polars, datasets
        return pd.DataFrame(given.to_pandas())
    if isinstance(given, np.ndarray):
        return pd.DataFrame(given.reshape(len(given), -1))
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, str) for one in given):
        return pd.DataFrame({"text": list(given)})
    return pd.DataFrame(given)


__all__ = ["Asked", "Options", "Settings", "Split", "by_column", "from_frames", "read_splits"]
