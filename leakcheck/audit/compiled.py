"""The similarity engine on numba kernels; `plain` is the same on numpy alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from leakcheck.audit import kernels
from leakcheck.audit.pairs import Bands, Pairs, Ratio, agreement_needed, permutations
from leakcheck.audit.shingles import Shingling, tables
from leakcheck.audit.texts import Block, Texts

_U64 = np.uint64
_Task = tuple[Block, NDArray[np.int64]]
_T = TypeVar("_T")
_S = TypeVar("_S")
_N = TypeVar("_N", bound=np.generic)

PAIR_BUFFER = 1 << 16  # pairs a probe writes before it hands them over
VERIFY_CHUNK = 1 << 14  # candidates whose texts are gathered at once
ROUNDS = 4  # of pruning, at most
WORTH_ANOTHER_ROUND = 0.9  # prune again while a round leaves less than this share


class OverBudget(Exception):  # noqa: N818 - a signal to take the other method, not an error
    """The exact join would need more memory than it may take."""


def default_threads() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Engine:
    """Kernels bound to one shingling and a number of threads."""

    shingling: Shingling
    threads: int

    def run(self, work: Callable[[_S], _T], items: Sequence[_S]) -> list[_T]:
        if self.threads <= 1 or len(items) <= 1:
            return [work(item) for item in items]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, items))

    @property
    def _how(self) -> tuple[bool, int, NDArray[np.uint8], NDArray[np.int32]]:
        return (self.shingling.characters, self.shingling.size, *tables())

    # -- one text at a time ------------------------------------------------------------------------------------------

    def text_hashes(self, texts: Texts) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Hash of each normalised text (0 where empty) and its number of words."""
        classes, folds = tables()

        def work(task: _Task) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            block, documents = task
            hashes, words = np.empty(len(documents), _U64), np.empty(len(documents), np.int64)
            kernels.text_hashes(block.data, block.offsets, documents, classes, folds, hashes, words)
            return hashes, words

        parts = self.run(work, texts.tasks())
        return _joined([h for h, _ in parts], _U64), _joined([w for _, w in parts], np.int64)

    def shingles(self, texts: Texts) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Distinct shingle hashes of all texts, one after another, and how many each has."""
        parts = self.run(self._distinct, texts.tasks())
        return _joined([h for h, _ in parts], _U64), _joined([n for _, n in parts], np.int64)

    def signatures(self, texts: Texts, count: int, seed: int, legacy: bool) -> NDArray[np.uint32]:
        """MinHash signatures, shape (documents, count), as datasketch makes them of the 32 low bits of the hashes."""
        a, b = permutations(count, seed, legacy)
        no_bits = np.zeros(1, np.uint8)

        def work(task: _Task) -> NDArray[np.uint32]:
            return self._sign(task, a, b, legacy, no_bits, _U64(63), None)[0]

        parts = self.run(work, texts.tasks())
        return np.concatenate(parts) if parts else np.empty((0, count), np.uint32)

    # -- joins -------------------------------------------------------------------------------------------------------

    def exact(self, held_out: Texts, training: Texts, threshold: Ratio, budget: int) -> Pairs:
        """All pairs at or above the threshold: prune both ways, prefix filter, verify.

        Raises
        ------
        OverBudget
            When what survives the pruning would take more than `budget` bytes.
        """
        left, right = self._survivors(held_out, training, threshold)
        left_hashes, left_sizes = self._gather(held_out, left, budget)
        right_hashes, right_sizes = self._gather(training, right, budget - left_hashes.nbytes)
        pairs = self._prefix_join(left_hashes, left_sizes, right_hashes, right_sizes, threshold)
        return self.verified(held_out, training, left[pairs.left], right[pairs.right], threshold)

    def minhash(self, held_out: Texts, training: Texts, threshold: Ratio, bands: Bands, seed: int) -> Pairs:
        """Pairs that agree in one band of their signatures, verified."""
        a, b = permutations(bands.permutations, seed, legacy=False)
        prune = not self.shingling.characters  # with character shingles nearly nothing can be dropped
        bitmap, shift = self._bitmap(held_out, None) if prune else (np.zeros(1, np.uint8), _U64(63))
        signed = self.run(lambda t: self._sign(t, a, b, False, np.zeros(1, np.uint8), _U64(63), None), held_out.tasks())
        signatures = np.concatenate([s for s, _ in signed] or [np.empty((0, len(a)), np.uint32)])
        counts = _joined([c for _, c in signed], np.int64)
        present = np.flatnonzero(counts)
        signatures = np.ascontiguousarray(signatures[present])
        keys = np.empty((bands.bands, len(present)), _U64)
        kernels.band_keys(signatures, bands.bands, bands.rows, keys)
        orders = np.argsort(keys, axis=1, kind="stable").astype(np.int32)
        ordered = np.take_along_axis(keys, orders, axis=1)
        bits = max(6, int(8 * len(present)).bit_length())
        filters, filter_shift = np.zeros((bands.bands, (1 << bits) >> 3), np.uint8), _U64(64 - bits)
        for band in range(bands.bands):
            kernels.set_bits(filters[band], filter_shift, keys[band], len(present))
        agree = agreement_needed(threshold.value, bands.permutations)

        def work(task: _Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            block, documents = task
            other_signatures, other_counts = self._sign(task, a, b, False, bitmap, shift, threshold if prune else None)
            other_keys = np.empty((bands.bands, len(documents)), _U64)
            kernels.band_keys(other_signatures, bands.bands, bands.rows, other_keys)
            found_left, found_right = [], []
            room = max(PAIR_BUFFER, len(present))
            lefts, rights = np.empty(room + len(present), np.int32), np.empty(room + len(present), np.int32)
            seen, done = np.zeros(len(present), np.int32), 0
            while done < len(documents):
                found, done = kernels.match_bands(
                    done, other_keys, other_counts, ordered, orders, filters, filter_shift, other_signatures,
                    signatures, agree, seen, lefts, rights,
                )  # fmt: skip
                found_left.append(present[lefts[:found]])
                found_right.append(documents[rights[:found]] + block.first)
            return _joined(found_left, np.int64), _joined(found_right, np.int64)

        if not len(present):
            return Pairs.none()
        candidates = self.run(work, training.tasks())
        lefts = _joined([left for left, _ in candidates], np.int64)
        rights = _joined([right for _, right in candidates], np.int64)
        return self.verified(held_out, training, lefts, rights, threshold)

    def contained(self, held_out: Texts, training: Texts, items: NDArray[np.int64], share: Ratio) -> Pairs:
        """For the given held-out items, the training texts that hold at least `share` of their shingles.

        The similarity of each pair is the covered share.
        """
        parts = [self._distinct(task) for task in held_out.tasks(items)]
        hashes, sizes = _joined([h for h, _ in parts], _U64), _joined([n for _, n in parts], np.int64)
        if not len(hashes):
            return Pairs.none()
        table, counts = _table(hashes)
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        postings = np.empty(len(hashes), np.int32)
        offsets = _offsets(sizes)
        kernels.fill_postings(table, starts[:-1].copy(), hashes, offsets, postings)

        def work(task: _Task) -> Pairs:
            block, documents = task
            tokens, scratch, keys, stamps = self._scratch(block, documents)
            touched, hits = np.empty(len(sizes), np.int32), np.zeros(len(sizes), np.int32)
            room = PAIR_BUFFER + len(sizes)
            left, right, inter = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32)
            found: list[Pairs] = []
            done = 0
            while done < len(documents):
                stamps[:] = 0
                count, further = kernels.contain_documents(
                    block.data, block.offsets, documents[done:], *self._how, tokens, scratch, keys, stamps,
                    table, starts, postings, sizes, share.num, share.den, touched, hits, left, right, inter,
                )  # fmt: skip
                done += further
                chosen = left[:count]
                found.append(Pairs(items[chosen], right[:count] + block.first, inter[:count] / sizes[chosen]))
            return Pairs.joined(found)

        return Pairs.joined(self.run(work, training.tasks())).ordered()

    def verified(
        self,
        held_out: Texts,
        training: Texts,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        threshold: Ratio,
    ) -> Pairs:
        """The candidate pairs that reach the threshold on their shingles themselves, with their Jaccard similarity."""
        order = np.lexsort((left, right))
        left, right = left[order], right[order]

        def work(low: int) -> Pairs:
            piece = slice(low, low + VERIFY_CHUNK)
            inter, a, b = self._compare(training, right[piece], held_out, left[piece])
            union = a + b - inter
            good = (inter * threshold.den >= threshold.num * union) & (union > 0)
            return Pairs(left[piece][good], right[piece][good], inter[good] / union[good])

        return Pairs.joined(self.run(work, range(0, len(left), VERIFY_CHUNK))).ordered()

    # -- parts of the joins ------------------------------------------------------------------------------------------

    def _scratch(
        self, block: Block, documents: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
        """Room for the tokens and the shingles of the longest of the documents, and a set of them."""
        longest = int((block.offsets[documents + 1] - block.offsets[documents]).max(initial=0)) + 1
        slots = 1 << (2 * longest).bit_length()
        return np.empty(longest, _U64), np.empty(longest, _U64), np.empty(slots, _U64), np.zeros(slots, np.int32)

    def _distinct(self, task: _Task) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        block, documents = task
        tokens, scratch, keys, stamps = self._scratch(block, documents)
        out = np.empty(int((block.offsets[documents + 1] - block.offsets[documents]).sum()), _U64)
        counts = np.empty(len(documents), np.int64)
        total = kernels.distinct_documents(
            block.data, block.offsets, documents, *self._how, tokens, scratch, keys, stamps, out, counts
        )
        return out[:total].copy(), counts

    def _sign(
        self,
        task: _Task,
        a: NDArray[np.uint64],
        b: NDArray[np.uint64],
        legacy: bool,
        bitmap: NDArray[np.uint8],
        shift: np.uint64,
        threshold: Ratio | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        block, documents = task
        tokens, scratch, keys, stamps = self._scratch(block, documents)
        signatures = np.empty((len(documents), len(a)), np.uint32)
        counts = np.empty(len(documents), np.int64)
        num, den = (threshold.num, threshold.den) if threshold else (1, 1)
        kernels.sign_documents(
            block.data, block.offsets, documents, *self._how, tokens, scratch, keys, stamps, a, b, legacy,
            threshold is not None, bitmap, shift, num, den, signatures, counts,
        )  # fmt: skip
        return signatures, counts

    def _bitmap(self, texts: Texts, documents: NDArray[np.int64] | None) -> tuple[NDArray[np.uint8], np.uint64]:
        """About eight bits a shingle, set where one of the documents has it."""
        tasks = texts.tasks(documents)
        size = sum(int((block.offsets[chosen + 1] - block.offsets[chosen]).sum()) for block, chosen in tasks)
        # a word takes about six bytes
        bits = max(6, int(8 * size / (1 if self.shingling.characters else 6)).bit_length())
        bitmap, shift = np.zeros((1 << bits) >> 3, np.uint8), _U64(64 - bits)
        lock = Lock()

        def work(task: _Task) -> None:
            block, chosen = task
            tokens = self._scratch(block, chosen)[0]
            out = np.empty(int((block.offsets[chosen + 1] - block.offsets[chosen]).sum()), _U64)
            counts = np.empty(len(chosen), np.int64)
            total = kernels.shingle_documents(block.data, block.offsets, chosen, *self._how, tokens, out, counts)
            with lock:  # two threads must not write one byte at a time
                kernels.set_bits(bitmap, shift, out, total)

        self.run(work, tasks)
        return bitmap, shift

    def _kept(
        self, texts: Texts, documents: NDArray[np.int64] | None, bitmap: NDArray[np.uint8], shift: np.uint64, t: Ratio
    ) -> NDArray[np.int64]:
        def work(task: _Task) -> NDArray[np.int64]:
            block, chosen = task
            keep = np.empty(len(chosen), np.bool_)
            kernels.keep_documents(
                block.data, block.offsets, chosen, *self._how, *self._scratch(block, chosen)[:2], bitmap, shift,
                t.num, t.den, *self._scratch(block, chosen)[2:], keep,
            )  # fmt: skip
            return chosen[keep] + block.first

        return _joined(self.run(work, texts.tasks(documents)), np.int64)

    def _survivors(self, held_out: Texts, training: Texts, t: Ratio) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The documents of both sides that can have a partner: J(A, B) >= t needs |A and B| >= t |A| and >= t |B|."""
        left: NDArray[np.int64] | None = None
        right: NDArray[np.int64] | None = None
        for _ in range(ROUNDS):
            before = (len(held_out) if left is None else len(left)) + (len(training) if right is None else len(right))
            right = self._kept(training, right, *self._bitmap(held_out, left), t)
            left = self._kept(held_out, left, *self._bitmap(training, right), t)
            if len(left) + len(right) > WORTH_ANOTHER_ROUND * before:
                break
        assert left is not None and right is not None
        return left, right

    def _gather(
        self, texts: Texts, documents: NDArray[np.int64], budget: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        size = 0
        limit = Lock()

        def work(task: _Task) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            nonlocal size
            part = self._distinct(task)
            with limit:
                size += part[0].nbytes
                if 4 * size > budget:  # the hashes, their ranks, the table and the postings
                    raise OverBudget
            return part

        parts = self.run(work, texts.tasks(documents))
        return _joined([h for h, _ in parts], _U64), _joined([n for _, n in parts], np.int64)

    def _prefix_join(
        self,
        left_hashes: NDArray[np.uint64],
        left_sizes: NDArray[np.int64],
        right_hashes: NDArray[np.uint64],
        right_sizes: NDArray[np.int64],
        t: Ratio,
    ) -> Pairs:
        """Prefix-filtered join (Chaudhuri et al. 2006; Bayardo et al. 2007), rarest shingle first."""
        if not len(left_hashes) or not len(right_hashes):
            return Pairs.none()
        table, left_counts = _table(left_hashes)
        right_counts = np.zeros(len(table), np.int32)
        kernels.count_known(table, right_counts, right_hashes)
        slots = np.flatnonzero(left_counts)
        order = np.argsort(left_counts[slots].astype(np.int64) * right_counts[slots], kind="stable")
        ranks = left_counts  # reused: one entry a slot
        ranks[slots[order]] = np.arange(len(slots), dtype=np.int32)

        left_ranks = np.empty(len(left_hashes), np.int32)
        known = np.empty(len(left_sizes), np.int64)
        left_offsets = _offsets(left_sizes)
        kernels.to_ranks(table, ranks, left_hashes, left_offsets, left_ranks, known)
        prefixes = left_sizes - (t.num * left_sizes + t.den - 1) // t.den + 1
        owners = np.repeat(np.arange(len(left_sizes)), prefixes)
        within = np.arange(len(owners)) - np.repeat(_offsets(prefixes)[:-1], prefixes)
        counts = np.bincount(left_ranks[left_offsets[owners] + within], minlength=len(slots))
        starts = _offsets(counts)
        postings = np.empty(len(owners), np.int32)
        kernels.prefix_postings(left_ranks, left_offsets, prefixes, starts[:-1].copy(), postings)

        right_ranks = np.empty(len(right_hashes), np.int32)
        right_known = np.empty(len(right_sizes), np.int64)
        total = kernels.to_ranks(table, ranks, right_hashes, _offsets(right_sizes), right_ranks, right_known)
        right_ranks, right_offsets = right_ranks[:total], _offsets(right_known)

        def work(piece: tuple[int, int]) -> Pairs:
            first, last = piece
            room = max(PAIR_BUFFER, len(left_sizes)) + len(left_sizes)
            left, right, inter = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
            seen = np.zeros(len(left_sizes), np.int32)
            found: list[Pairs] = []
            while first < last:
                count, first = kernels.probe(
                    first, last, right_sizes, right_ranks, right_offsets, left_sizes, left_ranks, left_offsets,
                    starts, postings, t.num, t.den, seen, left, right, inter,
                )  # fmt: skip
                found.append(Pairs(left[:count].copy(), right[:count].copy(), inter[:count].astype(np.float64)))
            return Pairs.joined(found)

        step = max(1000, len(right_sizes) // (4 * self.threads) + 1)
        pieces = [(low, min(low + step, len(right_sizes))) for low in range(0, len(right_sizes), step)]
        return Pairs.joined(self.run(work, pieces))

    def _compare(
        self, texts: Texts, documents: NDArray[np.int64], others: Texts, other_documents: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Common shingles and the distinct ones of either side, pair by pair."""
        left, left_at = np.unique(documents, return_inverse=True)
        right, right_at = np.unique(other_documents, return_inverse=True)
        block, other = texts.take(left), others.take(right)
        room = [
            buffer
            for side in (block, other)
            for longest in [int(np.diff(side.offsets).max(initial=0)) + 1]
            for buffer in (
                np.empty(longest, _U64),
                np.empty(longest, _U64),
                np.empty(longest, np.int64),
                np.empty(longest, np.int64),
                np.empty(1 << (2 * longest).bit_length(), np.int32),
            )
        ]
        inter, a, b = (np.zeros(len(documents), np.int64) for _ in range(3))
        kernels.verify_pairs(
            block.data, block.offsets, left_at, other.data, other.offsets, right_at, *self._how, *room, inter, a, b
        )
        return inter, a, b


def _joined(parts: Sequence[NDArray[_N]], dtype: type[_N]) -> NDArray[_N]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def _table(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Open-addressed table of the hashes and how often each occurs."""
    slots = 1 << max(4, (2 * len(hashes)).bit_length())
    keys, counts = np.zeros(slots, _U64), np.zeros(slots, np.int32)
    kernels.insert_all(keys, counts, hashes)
    return keys, counts
