"""Examples nested in runs: a thousand examples of one run are one run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations between and within clusters, by one-way analysis of variance."""

    between_sd: float
    within_sd: float
    intraclass_correlation: float


def spread_within(groups: Sequence[Floats]) -> Spread:
    """Split the spread of values into its part between and its part within groups.

    Parameters
    ----------
    groups : sequence of arrays
        Values of each group; sizes may differ.

    Returns
    -------
    Spread
        Method-of-moments estimates (Searle, Casella and McCulloch, 1992, "Variance components"); a negative
        between-group variance is set to zero. All zero with a single group of one value.
    """
    sizes = np.array([len(group) for group in groups], dtype=float)
    means = np.array([group.mean() for group in groups])
    total, k = float(sizes.sum()), len(groups)
    within_df = total - k
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    within_variance = within / within_df if within_df else 0.0
    between_variance = 0.0
    if k > 1:
        grand = float((sizes * means).sum() / total)
        mean_square = float((sizes * (means - grand) ** 2).sum()) / (k - 1)
        typical_size = (total - float((sizes**2).sum()) / total) / (k - 1)
        between_variance = max(0.0, (mean_square - within_variance) / typical_size)
    whole = between_variance + within_variance
    share = between_variance / whole if whole else 0.0
    return Spread(math.sqrt(between_variance), math.sqrt(within_variance), share)


def hierarchical_interval(groups: Sequence[Floats], level: float, resamples: int, seed: int) -> tuple[float, float]:
    """Percentile interval of the mean of group means when groups, then values in them, are resampled.

    Parameters
    ----------
    groups : sequence of arrays
        Values of each group, two groups at least.
    level : float
        Nominal coverage.
    resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    tuple of float
    """
    from leakcheck.claims.bootstrap import Distribution

    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(groups), (resamples, len(groups)))
    totals = np.zeros(resamples)
    for index, group in enumerate(groups):
        # Each time a group is picked it gets a resample of its own.
        times = (picks == index).sum(axis=1)
        owners = np.repeat(np.arange(resamples), times)
        rows = max(1, _BLOCK // len(group))
        for start in range(0, len(owners), rows):
            batch = owners[start : start + rows]
            means = group[rng.integers(0, len(group), (len(batch), len(group)))].mean(axis=1)
            np.add.at(totals, batch, means)
    values = np.sort(totals / len(groups))
    return Distribution(values, np.full(resamples, 1.0 / resamples), exact=False).interval(level)
