"""What the joins share: the threshold as a ratio, bands, permutations, and the pairs they return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

MISS_AT_THRESHOLD = 0.01  # the largest probability that a pair at the threshold is missed
PERMUTATIONS = 128
SEED = 1
_SIGMAS = 5.0  # candidates whose signatures agree this far below the threshold are dropped (below 1e-6 of true pairs)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A threshold as whole numbers, so that 0.8 is reached by 4 of 5 and not missed by a rounding."""

    num: int
    den: int

    @classmethod
    def of(cls, value: float) -> Ratio:
        fraction = Fraction(str(value)).limit_denominator(10_000)
        return cls(fraction.numerator, fraction.denominator)

    @property
    def value(self) -> float:
        return self.num / self.den


@dataclass(frozen=True, slots=True)
class Bands:
    """`bands` bands of `rows` MinHash values each."""

    bands: int
    rows: int

    @property
    def permutations(self) -> int:
        return self.bands * self.rows

    def miss(self, similarity: float) -> float:
        """Probability that a pair of this similarity shares no band: (1 - s^rows)^bands.

        >>> round(Bands(16, 8).miss(0.8), 3)
        0.053
        """
        return float((1.0 - similarity**self.rows) ** self.bands)

    @classmethod
    def choose(cls, threshold: float, permutations: int = PERMUTATIONS, miss: float = MISS_AT_THRESHOLD) -> Bands:
        """The longest bands (fewest false candidates) that miss a pair at the threshold with probability <= `miss`.

        Of the bands of that length as few are taken as still keep to it.

        >>> Bands.choose(0.8)
        Bands(bands=18, rows=6)
        """
        for rows in range(permutations, 1, -1):
            for bands in range(1, permutations // rows + 1):
                if cls(bands, rows).miss(threshold) <= miss:
                    return cls(bands, rows)
        return cls(permutations, 1)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Documents of the left (held-out) and right (training) side and their similarity, as equal long arrays."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def none(cls) -> Pairs:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))

    @classmethod
    def joined(cls, parts: Sequence[Pairs]) -> Pairs:
        if not parts:
            return cls.none()
        return cls(
            np.concatenate([part.left for part in parts]).astype(np.int64),
            np.concatenate([part.right for part in parts]).astype(np.int64),
            np.concatenate([part.similarity for part in parts]).astype(np.float64),
        )

    def chosen(self, mask: NDArray[np.bool_]) -> Pairs:
        return Pairs(self.left[mask], self.right[mask], self.similarity[mask])

    def ordered(self) -> Pairs:
        """By left document, then right."""
        order = np.lexsort((self.right, self.left))
        return Pairs(self.left[order], self.right[order], self.similarity[order])


def agreement_needed(threshold: float, permutations: int) -> int:
    """Signature places in which a candidate must agree before its texts are compared."""
    spread = sqrt(threshold * (1.0 - threshold) / permutations)
    return max(1, ceil((threshold - _SIGMAS * spread) * permutations))


def permutations(count: int, seed: int, legacy: bool) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Multipliers and offsets of datasketch's permutations.

    `legacy` gives those of datasketch before 2.0 (modulo the Mersenne prime 2^61 - 1), else its "affine32" scheme.
    The first values do not depend on `count` in the legacy scheme; in "affine32" they are those of `PERMUTATIONS`
    where `count` is smaller, so that a short signature is the beginning of the usual one.
    """
    generator = np.random.RandomState(seed)
    if legacy:
        prime = (1 << 61) - 1
        drawn = [
            (generator.randint(1, prime, dtype=np.uint64), generator.randint(0, prime, dtype=np.uint64))
            for _ in range(count)
        ]
        pairs = np.array(drawn, np.uint64)
        return pairs[:, 0].copy(), pairs[:, 1].copy()
    full = max(count, PERMUTATIONS)
    a = generator.randint(0, 1 << 31, full, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    b = generator.randint(0, 1 << 32, full, dtype=np.uint32)
    return a[:count].astype(np.uint64), b[:count].astype(np.uint64)
