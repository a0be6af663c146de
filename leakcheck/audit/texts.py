"""Texts as bytes: one buffer and its offsets a block, no Python object a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

BLOCK_BYTES = 1 << 20  # a task of one thread: large against its overhead, small against the cache


@dataclass(frozen=True, slots=True)
class Block:
    """Documents ``data[offsets[i]:offsets[i + 1]]`` in NFKC as UTF-8; the first is document `first` of all."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    first: int

    def __len__(self) -> int:
        return len(self.offsets) - 1


class Texts:
    """The texts of one column of one split, in row order; missing ones are empty.

    Parameters
    ----------
    column : pyarrow Array or ChunkedArray of strings, or an iterable of str
    """

    def __init__(self, column: pa.Array | pa.ChunkedArray | Iterable[str | None]) -> None:
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(list(column), pa.large_string())
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        self.blocks: list[Block] = []
        first = 0
        for chunk in chunks:
            if len(chunk):
                block = _block(chunk, first)
                self.blocks.append(block)
                first += len(block)
        self._starts = np.array([block.first for block in self.blocks], np.int64)
        self._length = first

    def __len__(self) -> int:
        return self._length

    @property
    def bytes(self) -> int:
        return sum(int(block.offsets[-1] - block.offsets[0]) for block in self.blocks)

    def tasks(self, documents: NDArray[np.int64] | None = None) -> list[tuple[Block, NDArray[np.int64]]]:
        """The documents (all, or those given, ascending) in pieces of about `BLOCK_BYTES` for the threads."""
        pieces: list[tuple[Block, NDArray[np.int64]]] = []
        for block in self.blocks:
            if documents is None:
                chosen = np.arange(len(block), dtype=np.int64)
            else:
                low, high = np.searchsorted(documents, [block.first, block.first + len(block)])
                chosen = documents[low:high] - block.first
            if not len(chosen):
                continue
            sizes = np.cumsum(block.offsets[chosen + 1] - block.offsets[chosen])
            cuts = np.searchsorted(sizes, np.arange(BLOCK_BYTES, int(sizes[-1]), BLOCK_BYTES)) + 1
            pieces += [(block, piece) for piece in np.split(chosen, np.unique(cuts)) if len(piece)]
        return pieces

    def text(self, document: int) -> str:
        block = self.blocks[int(np.searchsorted(self._starts, document, side="right")) - 1]
        low, high = block.offsets[document - block.first], block.offsets[document - block.first + 1]
        return bytes(block.data[low:high]).decode()

    def subset(self, documents: NDArray[np.int64]) -> Texts:
        """The given documents as texts of their own, in blocks of bounded size."""
        part = Texts([])
        step = 1 << 16
        part.blocks = [
            Block(block.data, block.offsets, low)
            for low in range(0, len(documents), step)
            for block in [self.take(documents[low : low + step])]
        ]
        part._starts = np.array([block.first for block in part.blocks], np.int64)
        part._length = len(documents)
        return part

    def take(self, documents: NDArray[np.int64]) -> Block:
        """The given documents copied into one block, in that order."""
        owners = np.searchsorted(self._starts, documents, side="right") - 1
        sizes = np.zeros(len(documents) + 1, np.int64)
        lows = np.zeros(len(documents), np.int64)
        for owner in np.unique(owners).tolist():
            block, of_owner = self.blocks[owner], owners == owner
            local = documents[of_owner] - block.first
            lows[of_owner] = block.offsets[local]
            sizes[1:][of_owner] = block.offsets[local + 1] - block.offsets[local]
        offsets = np.cumsum(sizes)
        data = np.empty(int(offsets[-1]), np.uint8)
        for i, (owner, low) in enumerate(zip(owners.tolist(), lows.tolist(), strict=True)):
            size = offsets[i + 1] - offsets[i]
            data[offsets[i] : offsets[i + 1]] = self.blocks[owner].data[low : low + size]
        return Block(data, offsets, 0)


def _block(chunk: pa.Array, first: int) -> Block:
    if not pa.types.is_large_string(chunk.type):
        chunk = chunk.cast(pa.large_string())
    if chunk.null_count:
        chunk = pc.fill_null(chunk, "")
    data, offsets = _buffers(chunk)
    low, high = int(offsets[0]), int(offsets[-1])
    if high > low and data[low:high].max() >= 0x80:
        chunk.validate(full=True)  # the kernels trust that it is UTF-8
        data, offsets = _buffers(pc.utf8_normalize(chunk, form="NFKC"))
    return Block(data, offsets, first)


def _buffers(chunk: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    _, offsets, data = chunk.buffers()
    starts = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8), starts
