"""The similarity joins in plain Python: for small data, where loading numba takes longer, and where it is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from leakcheck.audit.pairs import Pairs, Ratio
from leakcheck.audit.shingles import Shingling, normalise, shingles, words
from leakcheck.audit.texts import Texts


def text_hashes(texts: Texts) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Hash of each normalised text (0 where empty) and its number of words."""
    hashes, counts = np.zeros(len(texts), np.uint64), np.zeros(len(texts), np.int64)
    for i in range(len(texts)):
        text = texts.text(i)
        if normal := normalise(text):
            hashes[i] = int.from_bytes(blake2b(normal.encode(), digest_size=8).digest(), "little") | 1
        counts[i] = len(words(text))
    return hashes, counts


def exact(held_out: Texts, training: Texts, shingling: Shingling, threshold: Ratio) -> Pairs:
    """All pairs at or above the threshold, by prefix filter with the rarest shingle first."""
    left = [shingles(held_out.text(i), shingling) for i in range(len(held_out))]
    right = [shingles(training.text(i), shingling) for i in range(len(training))]
    rarity: Counter[tuple[str, ...]] = Counter(shingle for side in (left, right) for one in side for shingle in one)
    index: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, one in enumerate(left):
        for shingle in _prefix(one, rarity, threshold):
            index[shingle].append(i)
    found: list[tuple[int, int, float]] = []
    for j, other in enumerate(right):
        candidates = {i for shingle in _prefix(other, rarity, threshold) for i in index.get(shingle, ())}
        for i in candidates:
            inter = len(left[i] & other)
            union = len(left[i]) + len(other) - inter
            if inter * threshold.den >= threshold.num * union:
                found.append((i, j, inter / union))
    return _pairs(found)


def contained(held_out: Texts, training: Texts, shingling: Shingling, items: Sequence[int], share: Ratio) -> Pairs:
    """For the items, the training texts that hold at least `share` of their shingles, with the covered share."""
    wanted = {i: shingles(held_out.text(i), shingling) for i in items}
    index: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, one in wanted.items():
        for shingle in one:
            index[shingle].append(i)
    found: list[tuple[int, int, float]] = []
    for j in range(len(training)):
        hits = Counter(i for shingle in shingles(training.text(j), shingling) for i in index.get(shingle, ()))
        found += [
            (i, j, hit / len(wanted[i])) for i, hit in hits.items() if hit * share.den >= share.num * len(wanted[i])
        ]
    return _pairs(found)


def _prefix(
    one: frozenset[tuple[str, ...]], rarity: Counter[tuple[str, ...]], threshold: Ratio
) -> list[tuple[str, ...]]:
    """The rarest n - ceil(t n) + 1 shingles: two sets at the threshold share one of them."""
    n = len(one)
    keep = n - (threshold.num * n + threshold.den - 1) // threshold.den + 1
    return sorted(one, key=lambda shingle: (rarity[shingle], shingle))[:keep]


def _pairs(found: Sequence[tuple[int, int, float]]) -> Pairs:
    if not found:
        return Pairs.none()
    left, right, similarity = zip(*sorted(found), strict=True)
    return Pairs(np.array(left, np.int64), np.array(right, np.int64), np.array(similarity, np.float64))
