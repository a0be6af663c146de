"""Columns of long texts in a frame: on disk, read when a value is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.indexers import check_array_indexer

from leakcheck.audit import texts
from leakcheck.audit.texts import Texts, TextWriter

LONG_BYTES = 32  # a row; with fewer a string takes about what is kept of a long text


class LongTextDtype(ExtensionDtype):
    """Strings that `LongTexts` keeps."""

    name = "long texts"
    type = str
    na_value = np.nan

    @classmethod
    def construct_array_type(cls) -> Any:
        return LongTexts


class LongTexts(ExtensionArray):
    """A column of strings of which memory holds the places only.

    Parameters
    ----------
    given, normal : Texts
        The texts as they were given, and in NFKC.
    missing : array of bool, shape (rows,)
    """

    def __init__(self, given: Texts, normal: Texts, missing: NDArray[np.bool_]) -> None:
        self.given, self.normal, self._missing = given, normal, missing

    @classmethod
    def written(cls, writer: TextWriter) -> LongTexts:
        """What the writer has taken."""
        given, normal = (Texts.at(writer.store, *places) for places in (writer.given(), writer.normal()))
        return cls(given, normal, writer.missing())

    @classmethod
    def _from_sequence(cls, scalars: Sequence[Any], *, dtype: Any = None, copy: bool = False) -> LongTexts:
        writer = TextWriter(keep_original=True)
        writer.add(pa.array([None if pd.isna(one) else str(one) for one in scalars], pa.large_string()))
        return cls.written(writer)

    @classmethod
    def _from_factorized(cls, values: Sequence[Any], original: LongTexts) -> LongTexts:
        return cls._from_sequence(values)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[LongTexts]) -> LongTexts:
        writer = TextWriter(keep_original=True)
        for one in to_concat:
            first = 0
            for chunk in one.given.arrow():
                missing = one._missing[first : first + len(chunk)]
                first += len(chunk)
                writer.add(pc.if_else(pa.array(missing), None, chunk))
        return cls.written(writer)

    @property
    def dtype(self) -> LongTextDtype:
        return LongTextDtype()

    @property
    def nbytes(self) -> int:
        return len(self) * 33  # four places and whether it is missing

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        if isinstance(item, int | np.integer):
            row = int(item) + (len(self) if item < 0 else 0)
            return np.nan if self._missing[row] else self.given.text(row)
        return self._at(np.arange(len(self))[item])

    def __iter__(self) -> Iterator[Any]:
        row = 0
        for chunk in self.given.arrow():
            for value in chunk.to_pylist():
                yield np.nan if self._missing[row] else value
                row += 1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = np.empty(len(self), object)
        values[:] = list(self)
        return values

    def __eq__(self, other: object) -> Any:
        return np.asarray(self) == (np.asarray(other) if isinstance(other, LongTexts) else other)

    def isna(self) -> NDArray[np.bool_]:
        return self._missing.copy()

    def copy(self) -> LongTexts:
        return self._at(np.arange(len(self)))

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> LongTexts:
        rows = np.asarray(indices, np.int64)
        if allow_fill and (rows < -1).any():
            raise ValueError("rows to fill are given by -1")
        filled = (rows == -1) if allow_fill else np.zeros(len(rows), bool)
        if filled.all():
            return self._from_sequence([None] * len(rows))
        part = self._at(np.where(filled, 0, np.arange(len(self)).take(np.where(filled, 0, rows))))
        part._missing |= filled
        return part

    def _at(self, rows: NDArray[np.int64]) -> LongTexts:
        return LongTexts(self.given.subset(rows), self.normal.subset(rows), self._missing[rows])


class FrameBuilder:
    """Puts together the frame of one split, file by file and batch by batch.

    A column of strings that grows beyond `texts.MEMORY_BYTES`, with `LONG_BYTES` a row, becomes one of `LongTexts`.
    """

    def __init__(self) -> None:
        self.lengths: list[int] = []  # rows of each file
        self._columns: dict[str, None] = {}  # in order
        self._frames: list[pd.DataFrame] = []
        self._sizes: Counter[str] = Counter()
        self._long: dict[str, TextWriter] = {}

    def add_file(self, tables: Iterable[pa.Table]) -> None:
        """Add the rows of one file, which comes in pieces."""
        pieces: list[pa.Table] = []
        for table in tables:
            self._columns |= dict.fromkeys(table.column_names)
            for column in table.column_names:
                if column not in self._long and _is_string(table.schema.field(column).type):
                    self._sizes[column] += table.column(column).nbytes
                    rows = sum(self.lengths) + sum(map(len, pieces)) + len(table)
                    if self._sizes[column] > max(texts.MEMORY_BYTES, LONG_BYTES * rows):
                        self._lengthen(column, pieces)
            for column, writer in self._long.items():
                _write(writer, table, column)
            pieces.append(table.select([column for column in table.column_names if column not in self._long]))
        length = sum(map(len, pieces))
        pieces = [piece.select([name for name in piece.column_names if name not in self._long]) for piece in pieces]
        if pieces and any(piece.column_names for piece in pieces):
            table = pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces, promote_options="permissive")
            self._frames.append(to_frame(table))
        else:
            self._frames.append(pd.DataFrame(index=pd.RangeIndex(length)))
        self.lengths.append(length)

    def frame(self) -> pd.DataFrame:
        """All rows."""
        several = len(self._frames) > 1
        frame = pd.concat(self._frames, ignore_index=True) if several else self._frames[0].reset_index(drop=True)
        for column, writer in self._long.items():
            frame[column] = LongTexts.written(writer)
        return frame[list(self._columns)]

    def _lengthen(self, column: str, pieces: Sequence[pa.Table]) -> None:
        """Move the rows read so far to a writer."""
        writer = self._long[column] = TextWriter(keep_original=True)
        for frame in self._frames:
            writer.add(strings(frame.pop(column)) if column in frame else pa.nulls(len(frame), pa.large_string()))
        for piece in pieces:
            _write(writer, piece, column)


def to_frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas(ignore_metadata=True, date_as_object=False)
    return frame


def texts_of(series: pd.Series) -> Texts:
    """The texts of a column, in NFKC."""
    return series.array.normal if isinstance(series.array, LongTexts) else Texts(strings(series))


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Some rows with all values in memory."""
    long = [column for column in frame.columns if isinstance(frame[column].dtype, LongTextDtype)]
    return frame.astype(dict.fromkeys(long, object))


def strings(series: pd.Series) -> pa.Array:
    """The values as Arrow strings; missing where there is none."""
    if pd.api.types.is_string_dtype(series.dtype) and series.dtype != object:
        values = pa.array(series, from_pandas=True)
    else:
        spelled = [_spelled(value) for value in series.astype(object)]
        values = pa.array(spelled, pa.large_string())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values.cast(pa.large_string())


def _spelled(value: Any) -> str | None:
    if pd.api.types.is_scalar(value):
        return None if pd.isna(value) else str(value)
    return " ".join(str(leaf) for leaf in leaves(value) if leaf is not None)


def leaves(value: Any) -> Iterator[Any]:
    """The single values in nested ones, in order; of a dict its values, not its keys.

    >>> list(leaves([{"role": "user", "content": "hello"}, 1]))
    ['user', 'hello', 1]
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def _write(writer: TextWriter, table: pa.Table, column: str) -> None:
    if column not in table.column_names:
        writer.add(pa.nulls(len(table), pa.large_string()))
        return
    for chunk in table.column(column).chunks:
        writer.add(chunk if _is_string(chunk.type) else strings(chunk.to_pandas()))


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
