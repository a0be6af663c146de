"""Bootstrap distribution of a mean of paired differences, exact where that is cheap.

Whole pairs are resampled, so only the differences matter. The quantile rule is the inverted distribution function,
mirrored for the upper end: the smallest value with P(mean* <= value) >= alpha / 2, and the largest with
P(mean* >= value) >= alpha / 2. Exchanging the two methods mirrors the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000
EXACT_UP_TO = 8  # 6,435 multisets; ten pairs would be 92,378
QUANTILE_RULE = "inverted distribution function, mirrored for the upper end"

_BLOCK = 1 << 18  # indices drawn at once: the block, and what it picks, stay in cache and under 4 MB
_DISTINCT_SHARE = 32  # a multinomial draw of one count costs as much as about 32 drawn indices
_MOST_DISTINCT = 1 << 17
_TIE = 1e-12  # sums that differ by less, relative to the largest difference, are one value


@dataclass(frozen=True, slots=True)
class Distribution:
    """Resampled means in ascending order, with the probability of each.

    `values` and `weights` have the shape (number of means,).
    """

    values: Floats
    weights: Floats
    exact: bool

    def at_most(self, value: float) -> float:
        """Probability of a mean of at most `value`, ties within rounding included."""
        return float(self.weights[self.values <= value + self._tie()].sum())

    def interval(self, level: float) -> tuple[float, float]:
        """Percentile interval at `level`."""
        return self.quantiles((1.0 - level) / 2.0, (1.0 - level) / 2.0)

    def quantiles(self, below: float, above: float) -> tuple[float, float]:
        """Values that cut off probability `below` from the low end and `above` from the high end."""
        low = np.searchsorted(np.cumsum(self.weights), below - _TIE)
        high = np.searchsorted(np.cumsum(self.weights[::-1]), above - _TIE)
        last = len(self.values) - 1
        return float(self.values[min(int(low), last)]), float(self.values[last - min(int(high), last)])

    def _tie(self) -> float:
        return _TIE * float(np.abs(self.values).max(initial=0.0))


def distribution(differences: Floats, resamples: int = RESAMPLES, seed: int = 0) -> Distribution:
    """Bootstrap distribution of the mean.

    Parameters
    ----------
    differences : array of shape (n,)
        Paired differences, n >= 1.
    resamples : int, default 2000
        Number of random resamples, where the distribution is not enumerated.
    seed : int, default 0
        Of NumPy's default generator. Not used where the distribution is enumerated.

    Returns
    -------
    Distribution
        Enumerated up to eight pairs. Beyond that `resamples` means, drawn through the counts of the distinct
        differences where there are few of those, else through indices; never more than 64 MB at a time.
    """
    n = len(differences)
    if n <= EXACT_UP_TO:
        counts, weights = _multisets(n)
        means = counts @ differences / n
        order = np.argsort(means, kind="stable")
        return Distribution(means[order], weights[order], exact=True)
    rng = np.random.default_rng(seed)
    counted = _few_distinct(differences)
    if counted is not None:
        distinct, repeats = counted
        means = _means_of_counts(distinct, repeats / n, n, resamples, rng)
    else:
        means = _means_of_indices(differences, resamples, rng)
    means.sort()
    return Distribution(means, np.full(resamples, 1.0 / resamples), exact=False)


def bca_interval(differences: Floats, means: Distribution, level: float) -> tuple[float, float] | None:
    """Bias-corrected and accelerated interval (Efron 1987), or None where it is not defined.

    Parameters
    ----------
    differences : array of shape (n,)
        Paired differences, n >= 2.
    means : Distribution
        Their bootstrap distribution.
    level : float
        Nominal coverage.

    Returns
    -------
    tuple of float, or None
        None where all differences, or all resampled means on one side, coincide.
    """
    from scipy.special import ndtr, ndtri

    n = len(differences)
    centre = float(differences.mean())
    tie = _TIE * float(np.abs(differences).max())
    below = float(means.weights[means.values < centre - tie].sum())
    equal = float(means.weights[np.abs(means.values - centre) <= tie].sum())
    share = below + equal / 2.0
    # The jackknife means deviate from their mean by (centre - difference) / (n - 1).
    deviations = (differences - centre) / (n - 1)
    spread = float((deviations**2).sum())
    if not 0.0 < share < 1.0 or spread == 0.0:
        return None
    acceleration = float((deviations**3).sum()) / (6.0 * spread**1.5)
    bias = float(ndtri(share))
    tail = float(ndtri((1.0 - level) / 2.0))

    def shifted(z: float) -> float:
        return float(ndtr(bias + (bias + z) / (1.0 - acceleration * (bias + z))))

    return means.quantiles(shifted(tail), 1.0 - shifted(-tail))


@cache
def _multisets(n: int) -> tuple[Floats, Floats]:
    """Counts of each of n items in every multiset of size n, and the probability of each multiset."""
    picks = np.array(list(combinations_with_replacement(range(n), n)))
    counts = np.zeros((len(picks), n))
    for column in range(n):
        counts[np.arange(len(picks)), picks[:, column]] += 1
    factorials = np.array([factorial(count) for count in range(n + 1)], dtype=float)
    ways = factorial(n) / factorials[counts.astype(int)].prod(axis=1)
    return counts, ways / float(n) ** n


def _few_distinct(differences: Floats) -> tuple[Floats, NDArray[np.int64]] | None:
    """The distinct differences and how often each occurs, or None where there are too many to gain by it."""
    most = min(len(differences) // _DISTINCT_SHARE, _MOST_DISTINCT)
    distinct: Floats = np.empty(0)
    repeats = np.empty(0, dtype=np.int64)
    for start in range(0, len(differences), _BLOCK):
        values, counts = np.unique(differences[start : start + _BLOCK], return_counts=True)
        distinct, places = np.unique(np.concatenate([distinct, values]), return_inverse=True)
        repeats = np.bincount(places, np.concatenate([repeats, counts]), len(distinct)).astype(np.int64)
        if len(distinct) > most:
            return None
    return distinct, repeats


def _means_of_counts(
    distinct: Floats, probabilities: Floats, n: int, resamples: int, rng: np.random.Generator
) -> Floats:
    rows = max(1, _BLOCK // len(distinct))
    means = np.empty(resamples)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        means[start : start + size] = rng.multinomial(n, probabilities, size=size) @ distinct / n
    return means


def _means_of_indices(differences: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    n = len(differences)
    # Small index types are drawn several at a time.
    kind = np.uint16 if n <= 1 << 16 else np.uint32 if n <= 1 << 32 else np.uint64
    means = np.empty(resamples)
    if n <= _BLOCK:
        rows = max(1, _BLOCK // n)
        for start in range(0, resamples, rows):
            size = min(rows, resamples - start)
            means[start : start + size] = differences[rng.integers(0, n, (size, n), dtype=kind)].mean(axis=1)
        return means
    for row in range(resamples):
        means[row] = sum(
            float(differences[rng.integers(0, n, min(_BLOCK, n - start), dtype=kind)].sum())
            for start in range(0, n, _BLOCK)
        )
    means /= n
    return means
