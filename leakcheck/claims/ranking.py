"""Several methods over several data sets: Friedman, Nemenyi, and Wilcoxon with Holm (Demsar, 2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leakcheck.claims.facts import Correction, Direction

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairRank:
    """Two methods compared over the data sets."""

    first: str
    second: str
    rank_difference: float
    nemenyi_differs: bool
    wilcoxon_p: float
    holm_p: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Mean ranks (1 is best), the test that they differ at all, and which pairs do."""

    methods: tuple[str, ...]
    data_sets: int
    mean_ranks: tuple[float, ...]
    chi_square: float
    chi_square_p: float
    f: float | None  # Iman and Davenport's statistic; None where the ranks agree on every data set
    f_p: float
    critical_difference: float
    pairs: tuple[PairRank, ...]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Runs of methods, in order of rank, within the critical difference: the bars of the usual picture."""
        order = sorted(range(len(self.methods)), key=lambda index: self.mean_ranks[index])
        found: list[tuple[int, ...]] = []
        for start in range(len(order)):
            inside = [
                index
                for index in order[start:]
                if self.mean_ranks[index] - self.mean_ranks[order[start]] < self.critical_difference
            ]
            if len(inside) > 1 and not any(set(inside) <= set(group) for group in found):
                found.append(tuple(inside))
        return tuple(tuple(self.methods[index] for index in group) for group in found)


def critical_difference(methods: int, data_sets: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks, ``q sqrt(k (k + 1) / (6 N))``.

    Examples
    --------
    >>> round(critical_difference(5, 10), 3)
    1.929
    """
    return nemenyi_quantile(methods, alpha) * math.sqrt(methods * (methods + 1) / (6.0 * data_sets))


def nemenyi_quantile(methods: int, alpha: float = 0.05) -> float:
    """Studentised range quantile with infinite degrees of freedom, over the square root of two."""
    from scipy.stats import studentized_range

    # The distribution is at its limit long before a million degrees of freedom.
    return float(studentized_range.ppf(1.0 - alpha, methods, 1e6)) / math.sqrt(2.0)


def rank_methods(scores: Floats, methods: Sequence[str], direction: Direction) -> Ranking:
    """Compare methods over data sets.

    Parameters
    ----------
    scores : array of shape (data sets, methods)
        One score a data set and method: the mean over runs.
    methods : sequence of str
        Names of the columns, three at least.
    direction : Direction
        Whether higher scores are better.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        With fewer than three methods or two data sets.
    """
    from scipy.stats import f as f_distribution
    from scipy.stats import friedmanchisquare, rankdata

    from leakcheck.claims.family import adjusted
    from leakcheck.claims.significance import wilcoxon_test

    n, k = scores.shape
    if k < 3 or n < 2:
        raise ValueError("ranking needs three methods and two data sets at least")
    sign = -1.0 if direction is Direction.HIGHER else 1.0
    ranks = np.apply_along_axis(rankdata, 1, sign * scores)
    mean_ranks = ranks.mean(axis=0)
    if np.ptp(ranks) == 0.0:
        chi_square, chi_square_p = 0.0, 1.0
    else:
        test = friedmanchisquare(*scores.T)
        chi_square, chi_square_p = float(test.statistic), float(test.pvalue)
    remainder = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / remainder if remainder > 1e-9 else None
    f_p = 0.0 if f is None else float(f_distribution.sf(f, k - 1, (k - 1) * (n - 1)))
    distance = critical_difference(k, n)
    indices = [(i, j) for i in range(k) for j in range(i + 1, k)]
    p = [wilcoxon_test(np.round(scores[:, i] - scores[:, j], 12))[0] for i, j in indices]
    holm = adjusted(p, Correction.HOLM)
    pairs = tuple(
        PairRank(
            methods[i],
            methods[j],
            float(mean_ranks[i] - mean_ranks[j]),
            bool(abs(mean_ranks[i] - mean_ranks[j]) >= distance),
            p[place],
            holm[place],
        )
        for place, (i, j) in enumerate(indices)
    )
    return Ranking(tuple(methods), n, tuple(map(float, mean_ranks)), chi_square, chi_square_p, f, f_p, distance, pairs)
