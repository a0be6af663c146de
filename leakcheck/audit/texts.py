"""Texts as bytes: one store and the place of each text in it, no Python object a text.

A store keeps its bytes in memory up to `MEMORY_BYTES` and beyond that in a temporary file without a name, so that
memory grows with the number of texts and not with their length.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from threading import Lock
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from leakcheck.errors import LeakcheckError

MEMORY_BYTES = 16 << 20  # of one column of one split, before it goes to disk
TASK_BYTES = 1 << 19  # a task of one thread: large against its overhead, small against the cache
_NEAR = 1 << 12  # unwanted bytes between two texts that are read along rather than skipped
_CHUNK_ROWS = 1 << 16


class Store:
    """Bytes that are only ever added to; the address of a byte never changes."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[NDArray[np.uint8]] = []
        self._bases: list[int] = []
        self._file: BinaryIO | None = None
        self._lock = Lock()

    def add(self, data: NDArray[np.uint8]) -> int:
        """The address of the first byte.

        Raises
        ------
        LeakcheckError
            When the temporary folder is full.
        """
        base = self.size
        self.size += len(data)
        try:
            if self._file is None and self.size > MEMORY_BYTES:
                self._file = tempfile.TemporaryFile(prefix="leakcheck-", buffering=0)  # noqa: SIM115 - lives as long
                for part in self._parts:
                    self._write(part)
                self._parts, self._bases = [], []
            if self._file is not None:
                self._write(data)
        except OSError as error:
            raise LeakcheckError(
                f"long texts can't be kept in the temporary folder: {error.strerror}",
                file=tempfile.gettempdir(),
                expected="room for them there, or in the folder that TMPDIR names",
            ) from error
        if self._file is None and len(data):
            self._parts.append(data)
            self._bases.append(base)
        return base

    def read(self, low: int, high: int) -> NDArray[np.uint8]:
        """The bytes ``low..high``; a view where they stand in one piece in memory."""
        if self._file is not None:
            data = np.empty(high - low, np.uint8)
            view, done = data.data, 0
            with self._lock:
                self._file.seek(low)
                while done < len(data):
                    done += self._file.readinto(view[done:])  # type: ignore[attr-defined]
            return data
        first = int(np.searchsorted(self._bases, low, side="right")) - 1
        pieces = []
        while low < high:
            base, part = self._bases[first], self._parts[first]
            pieces.append(part[low - base : high - base])
            low = base + len(part)
            first += 1
        return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, np.uint8), *pieces])

    def _write(self, data: NDArray[np.uint8]) -> None:
        assert self._file is not None
        view = np.ascontiguousarray(data).data
        while len(view):
            view = view[self._file.write(view) :]


class Texts:
    """Texts in NFKC, in row order; missing ones are empty.

    Parameters
    ----------
    column : pyarrow Array or ChunkedArray of strings, or an iterable of str
    """

    def __init__(self, column: pa.Array | pa.ChunkedArray | Iterable[str | None] = ()) -> None:
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(list(column), pa.large_string())
        whole = Texts.of(column.chunks if isinstance(column, pa.ChunkedArray) else [column])
        self.store: Store = whole.store
        self.starts: NDArray[np.int64] = whole.starts
        self.ends: NDArray[np.int64] = whole.ends

    @classmethod
    def of(cls, chunks: Iterable[pa.Array]) -> Texts:
        """The texts of Arrow arrays that come one after another."""
        writer = TextWriter(keep_original=False)
        for chunk in chunks:
            writer.add(chunk)
        return cls.at(writer.store, *writer.normal())

    @classmethod
    def at(cls, store: Store, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Texts:
        """The texts at these places of a store."""
        texts = cls.__new__(cls)
        texts.store, texts.starts, texts.ends = store, starts, ends
        return texts

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def bytes(self) -> int:
        return int((self.ends - self.starts).sum())

    def tasks(self, documents: NDArray[np.int64] | None = None) -> list[NDArray[np.int64]]:
        """The documents (all, or those given) in pieces of about `TASK_BYTES` for the threads."""
        chosen = np.arange(len(self), dtype=np.int64) if documents is None else documents
        if not len(chosen):
            return []
        sizes = np.cumsum(self.ends[chosen] - self.starts[chosen])
        cuts = np.searchsorted(sizes, np.arange(TASK_BYTES, int(sizes[-1]), TASK_BYTES)) + 1
        return [piece for piece in np.split(chosen, np.unique(cuts)) if len(piece)]

    def open(self, documents: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """Bytes, and where in them each of the documents starts and ends."""
        starts, ends = self.starts[documents], self.ends[documents]
        if not len(documents):
            return np.empty(0, np.uint8), starts, ends
        far = np.flatnonzero((starts[1:] < ends[:-1]) | (starts[1:] > ends[:-1] + _NEAR))
        cuts = np.zeros(len(far) + 2, np.int64)
        cuts[1:-1], cuts[-1] = far + 1, len(starts)
        lows, highs = starts[cuts[:-1]], ends[cuts[1:] - 1]
        pieces = [self.store.read(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]
        moved = np.repeat(lows - _offsets(highs - lows)[:-1], np.diff(cuts))
        return (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)), starts - moved, ends - moved

    def copied(self, documents: NDArray[np.int64]) -> Texts:
        """Some of the texts in a store of their own, close together: quicker to read again and again."""
        store = Store()
        starts, ends = np.empty(len(documents), np.int64), np.empty(len(documents), np.int64)
        done = 0
        for piece in self.tasks(documents):
            data, *places = self.open(piece)
            base = store.add(data)
            these = slice(done, done := done + len(piece))
            starts[these], ends[these] = (place + base for place in places)
        return Texts.at(store, starts, ends)

    def text(self, document: int) -> str:
        return bytes(self.store.read(int(self.starts[document]), int(self.ends[document]))).decode()

    def subset(self, documents: NDArray[np.int64]) -> Texts:
        return Texts.at(self.store, self.starts[documents], self.ends[documents])

    def arrow(self) -> Iterable[pa.Array]:
        """All texts as Arrow arrays, a bounded number at a time."""
        for low in range(0, len(self), _CHUNK_ROWS):
            data, starts, ends = self.open(np.arange(low, min(low + _CHUNK_ROWS, len(self))))
            offsets = _offsets(ends - starts)
            if len(starts) and not (starts[1:] == ends[:-1]).all():
                data = np.concatenate([data[s:e] for s, e in zip(starts, ends, strict=True)])
            elif len(starts):
                data = data[starts[0] : ends[-1]]
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
            yield pa.Array.from_buffers(pa.large_string(), len(starts), buffers)


class TextWriter:
    """Takes the texts of a column batch by batch, and finds the NFKC form of each.

    Parameters
    ----------
    keep_original : bool
        Whether the texts are wanted as they were given, too; only those that NFKC changes are stored twice.
    store : Store, optional
        Where to put the bytes; of its own if not given.
    """

    def __init__(self, *, keep_original: bool, store: Store | None = None) -> None:
        self.store = store or Store()
        self.size = 0
        self._keep_original = keep_original
        self._given: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._normal: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._missing: list[NDArray[np.bool_]] = []

    def add(self, chunk: pa.Array) -> None:
        """Add some texts.

        Raises
        ------
        pyarrow.ArrowInvalid
            When they are not UTF-8.
        """
        if not pa.types.is_large_string(chunk.type):
            chunk = chunk.cast(pa.large_string())
        self._missing.append(_nulls(chunk))
        if chunk.null_count:
            chunk = pc.fill_null(chunk, "")
        data, offsets = _buffers(chunk)
        self.size += len(data)
        changing = np.empty(0, np.int64)
        if len(data) and data.max() >= 0x80:
            chunk.validate(full=True)  # the kernels trust that it is UTF-8
            changing = _changing(data, offsets)
        if not len(changing):
            place = self._place(data, offsets)
            self._given.append(place)
            self._normal.append(place)
            return
        normal = pc.utf8_normalize(chunk.take(pa.array(changing)), form="NFKC")
        if self._keep_original:
            starts, ends = self._place(data, offsets)
            self._given.append((starts, ends))
            new_starts, new_ends = self._place(*_buffers(normal))
            starts, ends = starts.copy(), ends.copy()
            starts[changing], ends[changing] = new_starts, new_ends
            self._normal.append((starts, ends))
        else:
            mask = np.zeros(len(chunk), bool)
            mask[changing] = True
            self._normal.append(self._place(*_buffers(pc.replace_with_mask(chunk, pa.array(mask), normal))))

    def given(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the texts start and end, as they were given."""
        return _joined(self._given)

    def normal(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the texts in NFKC start and end."""
        return _joined(self._normal)

    def missing(self) -> NDArray[np.bool_]:
        return np.concatenate([np.empty(0, bool), *self._missing])

    def _place(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        places = offsets + self.store.add(data)
        return places[:-1], places[1:]


def _changing(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The documents that NFKC may change."""
    if find_spec("numba") is not None:
        from leakcheck.audit import kernels
        from leakcheck.audit.shingles import stable_in_nfkc

        changing = np.empty(len(offsets) - 1, np.bool_)
        kernels.may_change(data, offsets, stable_in_nfkc(), changing)
        return np.flatnonzero(changing)
    # the document of each byte that is not ASCII
    return np.unique(np.searchsorted(offsets, np.flatnonzero(data >= 0x80), side="right") - 1)


def _buffers(chunk: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of the strings, and their offsets from 0."""
    _, offsets, data = chunk.buffers()
    if not len(chunk) or data is None:
        return np.empty(0, np.uint8), np.zeros(len(chunk) + 1, np.int64)
    places = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    return np.frombuffer(data, np.uint8)[places[0] : places[-1]], places - places[0]


def _nulls(chunk: pa.Array) -> NDArray[np.bool_]:
    """Where the array has no value; Arrow's own conversion would import pandas."""
    if not chunk.null_count:
        return np.zeros(len(chunk), bool)
    bits = np.unpackbits(np.frombuffer(chunk.buffers()[0], np.uint8), bitorder="little")
    return ~bits[chunk.offset : chunk.offset + len(chunk)].astype(bool)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _joined(
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(s for s, _ in places)]), np.concatenate([none, *(e for _, e in places)])
