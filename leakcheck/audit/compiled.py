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
from leakcheck.audit.texts import Texts

_U64 = np.uint64
_Documents = NDArray[np.int64]
_T = TypeVar("_T")
_S = TypeVar("_S")
_N = TypeVar("_N", bound=np.generic)

PAIR_BUFFER = 1 << 16  # pairs a probe writes before it hands them over
FEWEST_PROBED = 1 << 8  # documents of a task that probes the index
VERIFY_CHUNK = 1 << 10  # candidates whose texts are gathered at once
BYTES_A_WORD = 6  # about, with the space after it
ROUNDS = 4  # of pruning, at most
WORTH_ANOTHER_ROUND = 0.9  # prune again while a round leaves less than this share
WORTH_COPYING = 0.2  # share of the bytes of a side that is copied once less is left of it
MOST_RARE = (1 << 16) - 1  # shingles more frequent than this are not told apart by how frequent they are


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
        hashes, words = np.empty(len(texts), _U64), np.empty(len(texts), np.int64)

        def work(documents: _Documents) -> None:
            piece = slice(documents[0], documents[-1] + 1)
            kernels.text_hashes(*texts.open(documents), *tables(), hashes[piece], words[piece])

        self.run(work, texts.tasks())
        return hashes, words

    def shingles(self, texts: Texts) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Distinct shingle hashes of all texts, one after another, and how many each has."""
        parts = self.run(lambda documents: self._distinct(texts, documents), texts.tasks())
        return _joined([h for h, _ in parts], _U64), _joined([n for _, n in parts], np.int64)

    def signatures(self, texts: Texts, count: int, seed: int, legacy: bool) -> NDArray[np.uint32]:
        """MinHash signatures, shape (documents, count), as datasketch makes them of the 32 low bits of the hashes."""
        a, b = permutations(count, seed, legacy)
        parts = self.run(lambda documents: self._sign(texts, documents, a, b, legacy)[0], texts.tasks())
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
        left_hashes, left_sizes = self._gather(left.texts, budget)
        right_hashes, right_sizes = self._gather(right.texts, budget - left_hashes.nbytes)
        pairs = self._prefix_join(left_hashes, left_sizes, right_hashes, right_sizes, threshold)
        return self._verified_of(left, right, pairs.left, pairs.right, threshold)

    def minhash(self, held_out: Texts, training: Texts, threshold: Ratio, bands: Bands, seed: int) -> Pairs:
        """Pairs that agree in one band of their signatures, verified."""
        if self.shingling.characters:  # nearly nothing can be pruned
            left, right = _Side.whole(held_out), _Side.whole(training)
        else:
            left, right = self._survivors(held_out, training, threshold)
        a, b = permutations(bands.permutations, seed, legacy=False)
        signed = self.run(lambda documents: self._sign(left.texts, documents, a, b, False), left.texts.tasks())
        counts = _joined([c for _, c in signed], np.int64)
        if not counts.any():
            return Pairs.none()
        present = np.flatnonzero(counts > 0)
        signatures = np.concatenate([s[c > 0] for s, c in signed])
        del signed
        index = _BandIndex.of(signatures, bands, self)
        agree = agreement_needed(threshold.value, bands.permutations)

        def work(documents: _Documents) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            other_signatures, other_counts = self._sign(right.texts, documents, a, b, False)
            keys = np.empty((bands.bands, len(documents)), _U64)
            kernels.band_keys(other_signatures, bands.bands, bands.rows, keys)
            found_left, found_right = [], []
            room = max(PAIR_BUFFER, len(present))
            lefts, rights = np.empty(room + len(present), np.int32), np.empty(room + len(present), np.int32)
            seen, done = np.zeros(len(present), np.int32), 0
            while done < len(documents):
                found, done = kernels.match_bands(
                    done, keys, other_counts, index.keys, index.orders, index.filters, index.shift, other_signatures,
                    signatures, agree, seen, lefts, rights,
                )  # fmt: skip
                found_left.append(present[lefts[:found]])
                found_right.append(documents[rights[:found]])
            return _joined(found_left, np.int64), _joined(found_right, np.int64)

        candidates = self.run(work, right.texts.tasks())
        lefts = _joined([found for found, _ in candidates], np.int64)
        rights = _joined([found for _, found in candidates], np.int64)
        return self._verified_of(left, right, lefts, rights, threshold)

    def contained(self, held_out: Texts, training: Texts, items: NDArray[np.int64], share: Ratio) -> Pairs:
        """For the given held-out items, the training texts that hold at least `share` of their shingles.

        The similarity of each pair is the covered share.
        """
        parts = self.run(lambda documents: self._distinct(held_out, documents), held_out.tasks(items))
        hashes, sizes = _joined([h for h, _ in parts], _U64), _joined([n for _, n in parts], np.int64)
        if not len(hashes):
            return Pairs.none()
        table, counts = _table(hashes)
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        postings = np.empty(len(hashes), np.int32)
        kernels.fill_postings(table, starts[:-1].copy(), hashes, _offsets(sizes), postings)

        def work(documents: _Documents) -> Pairs:
            opened = training.open(documents)
            tokens, scratch, keys, stamps = _room(*opened[1:])
            touched, hits = np.empty(len(sizes), np.int32), np.zeros(len(sizes), np.int32)
            room = PAIR_BUFFER + len(sizes)
            left, right, inter = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int32)
            found: list[Pairs] = []
            done = 0
            while done < len(documents):
                count, done = kernels.contain_documents(
                    done, *opened, *self._how, tokens, scratch, keys, stamps,
                    table, starts, postings, sizes, share.num, share.den, touched, hits, left, right, inter,
                )  # fmt: skip
                chosen = left[:count]
                found.append(Pairs(items[chosen], documents[right[:count]], inter[:count] / sizes[chosen]))
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

    def _verified_of(
        self, left: _Side, right: _Side, lefts: NDArray[np.int64], rights: NDArray[np.int64], threshold: Ratio
    ) -> Pairs:
        """The candidate pairs of two sides that reach the threshold, by their documents in the whole."""
        found = self.verified(left.texts, right.texts, lefts, rights, threshold)
        return Pairs(left.documents[found.left], right.documents[found.right], found.similarity)

    # -- parts of the joins ------------------------------------------------------------------------------------------

    def _most(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
        """Most shingles these texts can have: a word takes two bytes at least."""
        total = int((ends - starts).sum())
        return total if self.shingling.characters else total // 2 + len(starts)

    def _distinct(self, texts: Texts, documents: _Documents) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        data, starts, ends = texts.open(documents)
        tokens, scratch, keys, stamps = _room(starts, ends)
        out = np.empty(self._most(starts, ends), _U64)
        counts = np.empty(len(documents), np.int64)
        total = kernels.distinct_documents(data, starts, ends, *self._how, tokens, scratch, keys, stamps, out, counts)
        return out[:total].copy(), counts

    def _sign(
        self, texts: Texts, documents: _Documents, a: NDArray[np.uint64], b: NDArray[np.uint64], legacy: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Signatures, and the shingles of each document with repeats."""
        data, starts, ends = texts.open(documents)
        room = _longest(starts, ends)
        signatures = np.empty((len(documents), len(a)), np.uint32)
        counts = np.empty(len(documents), np.int64)
        kernels.sign_documents(
            data, starts, ends, *self._how, np.empty(room, _U64), np.empty(room, _U64),
            np.empty(room + kernels.LANES, np.uint32), a, b, legacy, signatures, counts,
        )  # fmt: skip
        return signatures, counts

    def _bitmap(self, texts: Texts) -> tuple[NDArray[np.uint8], np.uint64]:
        """About four bits a shingle, set where one of the texts has it."""
        bits = max(6, int(4 * texts.bytes / (1 if self.shingling.characters else BYTES_A_WORD)).bit_length())
        bitmap, shift = np.zeros((1 << bits) >> 3, np.uint8), _U64(64 - bits)
        lock = Lock()

        def work(documents: _Documents) -> None:
            data, starts, ends = texts.open(documents)
            out = np.empty(self._most(starts, ends), _U64)
            tokens = np.empty(_longest(starts, ends), _U64)
            total = kernels.shingle_documents(data, starts, ends, *self._how, tokens, out)
            with lock:  # two threads must not write one byte at a time
                kernels.set_bits(bitmap, shift, out, total)

        self.run(work, texts.tasks())
        return bitmap, shift

    def _kept(self, texts: Texts, bitmap: NDArray[np.uint8], shift: np.uint64, t: Ratio) -> _Documents:
        def work(documents: _Documents) -> _Documents:
            data, starts, ends = texts.open(documents)
            room = _longest(starts, ends)
            keep = np.empty(len(documents), np.bool_)
            kernels.keep_documents(
                data, starts, ends, *self._how, bitmap, shift, t.num, t.den,
                np.empty(room, _U64), np.empty((4 * room >> 6) + 1, _U64), keep,
            )  # fmt: skip
            return documents[keep]

        return _joined(self.run(work, texts.tasks()), np.int64)

    def _survivors(self, held_out: Texts, training: Texts, t: Ratio) -> tuple[_Side, _Side]:
        """The documents of both sides that can have a partner: J(A, B) >= t needs |A and B| >= t |A| and >= t |B|."""
        left, right = _Side.whole(held_out), _Side.whole(training)
        for _ in range(ROUNDS):
            before = len(left.texts) + len(right.texts)
            right = right.cut(self._kept(right.texts, *self._bitmap(left.texts), t))
            left = left.cut(self._kept(left.texts, *self._bitmap(right.texts), t))
            if len(left.texts) + len(right.texts) > WORTH_ANOTHER_ROUND * before:
                break
        return left, right

    def _gather(self, texts: Texts, budget: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        size = 0
        limit = Lock()

        def work(documents: _Documents) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            nonlocal size
            part = self._distinct(texts, documents)
            with limit:
                size += part[0].nbytes
                if 4 * size > budget:  # the hashes, their ranks, the table and the postings
                    raise OverBudget
            return part

        parts = self.run(work, texts.tasks())
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
        frequency = np.minimum(left_counts[slots].astype(np.int64) * right_counts[slots], MOST_RARE)
        order = np.argsort(frequency.astype(np.uint16), kind="stable")  # of so few values it is done by counting
        ranks = left_counts  # reused: one entry a slot
        ranks[slots[order]] = np.arange(len(slots), dtype=np.int32)

        def ranked(side: tuple[NDArray[np.uint64], NDArray[np.int64]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
            hashes, sizes = side
            found, known = np.empty(len(hashes), np.int32), np.empty(len(sizes), np.int64)
            total = kernels.to_ranks(table, ranks, hashes, _offsets(sizes), found, known)
            return found[:total], _offsets(known)

        sides = ((left_hashes, left_sizes), (right_hashes, right_sizes))
        (left_ranks, left_offsets), (right_ranks, right_offsets) = self.run(ranked, sides)
        prefixes = left_sizes - (t.num * left_sizes + t.den - 1) // t.den + 1
        owners = np.repeat(np.arange(len(left_sizes)), prefixes)
        within = np.arange(len(owners)) - np.repeat(_offsets(prefixes)[:-1], prefixes)
        counts = np.bincount(left_ranks[left_offsets[owners] + within], minlength=len(slots))
        starts = _offsets(counts)
        postings = np.empty(len(owners), np.int32)
        kernels.prefix_postings(left_ranks, left_offsets, prefixes, starts[:-1].copy(), postings)

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

        step = max(FEWEST_PROBED, len(right_sizes) // (4 * self.threads) + 1)
        pieces = [(low, min(low + step, len(right_sizes))) for low in range(0, len(right_sizes), step)]
        return Pairs.joined(self.run(work, pieces))

    def _compare(
        self, texts: Texts, documents: NDArray[np.int64], others: Texts, other_documents: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Common shingles and the distinct ones of either side, pair by pair."""
        left, left_at = np.unique(documents, return_inverse=True)
        right, right_at = np.unique(other_documents, return_inverse=True)
        opened, others_opened = texts.open(left), others.open(right)
        room = [
            buffer
            for side in (opened, others_opened)
            for longest in [_longest(*side[1:])]
            for buffer in (
                np.empty(longest, _U64),
                np.empty(longest, _U64),
                np.empty(longest, np.int64),
                np.empty(longest, np.int64),
                np.empty(_slots(longest), np.int32),
                np.empty(longest, np.int32),
            )
        ]
        inter, a, b = (np.zeros(len(documents), np.int64) for _ in range(3))
        kernels.verify_pairs(*opened, left_at, *others_opened, right_at, *self._how, *room, inter, a, b)
        return inter, a, b


@dataclass(frozen=True, slots=True)
class _Side:
    """What is left of one side of a join."""

    texts: Texts
    documents: NDArray[np.int64]  # the number of each in the whole, ascending

    @classmethod
    def whole(cls, texts: Texts) -> _Side:
        return cls(texts, np.arange(len(texts)))

    def cut(self, kept: _Documents) -> _Side:
        """Some of it; few are copied, since each would be read by itself in every pass from here on."""
        texts = self.texts.subset(kept)
        if texts.bytes < WORTH_COPYING * self.texts.bytes:
            texts = self.texts.copied(kept)
        return _Side(texts, self.documents[kept])


@dataclass(frozen=True, slots=True)
class _BandIndex:
    """The band keys of some signatures in order, and a bitmap of them."""

    keys: NDArray[np.uint64]  # shape (bands, documents), sorted
    orders: NDArray[np.int32]  # the document of each key
    filters: NDArray[np.uint8]
    shift: np.uint64

    @classmethod
    def of(cls, signatures: NDArray[np.uint32], bands: Bands, engine: Engine) -> _BandIndex:
        keys = np.empty((bands.bands, len(signatures)), _U64)
        kernels.band_keys(signatures, bands.bands, bands.rows, keys)
        orders = np.empty(keys.shape, np.int32)
        bits = max(6, (8 * len(signatures)).bit_length())
        filters, shift = np.zeros((bands.bands, (1 << bits) >> 3), np.uint8), _U64(64 - bits)

        def work(band: int) -> None:
            orders[band] = np.argsort(keys[band])
            keys[band] = keys[band][orders[band]]
            kernels.set_bits(filters[band], shift, keys[band], len(signatures))

        engine.run(work, range(bands.bands))
        return cls(keys, orders, filters, shift)


def _longest(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Room for the tokens of any of the texts."""
    return int((ends - starts).max(initial=0)) + 2


def _slots(longest: int) -> int:
    """Slots of a table for the shingles of the longest text: what `kernels.table_mask` asks for at most."""
    return 1 << (2 * longest + 2).bit_length()


def _room(
    starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
    """Room for the tokens and the shingles of the longest of the texts, and a set of them."""
    longest = _longest(starts, ends)
    slots = _slots(longest)
    return np.empty(longest, _U64), np.empty(longest, _U64), np.empty(slots, _U64), np.zeros(slots, np.int32)


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
