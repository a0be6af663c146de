"""What choosing the best does to a score, and what tuning longer would give."""

from __future__ import annotations

import math
from collections.abc import Sequence

from leakcheck.claims.facts import Inflation
from leakcheck.expected_maximum import expected_maximum, expected_maximum_bound


def inflation(k: int, sigma: float) -> Inflation:
    """What the best of `k` equally good candidates gains by luck.

    Parameters
    ----------
    k : int
        Candidates that were compared on the reported rows.
    sigma : float
        Standard deviation of one candidate's score around its true value, in the metric's units.

    Examples
    --------
    >>> round(inflation(10, 0.5).expected, 3)
    0.769
    """
    return Inflation(k, sigma, sigma * expected_maximum(k), sigma * expected_maximum_bound(k))


def expected_best(scores: Sequence[float], *, unbiased: bool = True) -> list[float]:
    """Expected best score of n random trials, for n = 1 .. N.

    Parameters
    ----------
    scores : sequence of float
        Score of each of the N trials that were run; higher is better.
    unbiased : bool, default True
        Draw the n trials without replacement (Tang et al., 2020, "Showing your work doesn't always work"); with False
        with replacement, which is biased low (Dodge et al., 2019, "Show your work").

    Returns
    -------
    list of float
        Entry n - 1 is the expected best of n trials.

    Examples
    --------
    >>> [round(best, 4) for best in expected_best([0.70, 0.72, 0.75, 0.78, 0.80], unbiased=False)]
    [0.75, 0.7708, 0.7812, 0.7871, 0.7908]
    >>> [round(best, 4) for best in expected_best([0.70, 0.72, 0.75, 0.78, 0.80])]
    [0.75, 0.776, 0.789, 0.796, 0.8]
    """
    ordered = sorted(scores)
    total = len(ordered)
    curve = []
    for n in range(1, total + 1):
        if unbiased:
            ways = math.comb(total, n)
            curve.append(math.fsum(s * (math.comb(i, n - 1) / ways) for i, s in enumerate(ordered)))
        else:
            curve.append(math.fsum(s * (((i + 1) / total) ** n - (i / total) ** n) for i, s in enumerate(ordered)))
    return curve


def chance_of_gap(gap: float, mean: float, sd: float) -> float:
    """Probability that a single run shows a difference of at least `gap` under a normal distribution of differences.

    Examples
    --------
    >>> round(chance_of_gap(0.8, 0.3, 0.5), 4)
    0.1587
    """
    return 0.5 * math.erfc((gap - mean) / (sd * math.sqrt(2.0)))
