"""Where the spread of a score comes from, when the table of runs has the factors that were varied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Component:
    """Variance that one factor explains, and its share of the total."""

    factor: str
    levels: int
    variance: float
    share: float


def variance_components(values: Floats, factors: Mapping[str, Sequence[str]]) -> tuple[Component, ...]:
    """Split the variance of a score over crossed random factors (initialisation, order, hardware, data).

    Parameters
    ----------
    values : array of shape (runs,)
        The score of each run.
    factors : mapping of str to sequence of str
        The level of each factor in each run.

    Returns
    -------
    tuple of Component
        One a factor, and the rest last: method-of-moments estimates of a random-effects model without interactions
        (Searle, Casella and McCulloch, 1992, "Variance components"). Negative estimates are set to zero; shares add
        up to one.

    Raises
    ------
    ValueError
        If the design is not balanced, a factor has one level, or there is no run left to estimate the rest.
    """
    runs = len(values)
    grand = float(values.mean())
    rest_sum = float(((values - grand) ** 2).sum())
    rest_df = runs - 1
    squares: list[tuple[str, int, float]] = []
    for factor, levels in factors.items():
        names, places, counts = np.unique(np.asarray(levels), return_inverse=True, return_counts=True)
        if len(names) < 2:
            raise ValueError(f"the factor {factor!r} has one level only")
        if len(set(counts.tolist())) > 1:
            raise ValueError(f"the design is not balanced: the levels of {factor!r} do not occur equally often")
        means = np.bincount(places, values) / counts
        factor_sum = float((counts * (means - grand) ** 2).sum())
        squares.append((factor, len(names), factor_sum / (len(names) - 1)))
        rest_sum -= factor_sum
        rest_df -= len(names) - 1
    _require_crossed(factors, runs)
    if rest_df < 1:
        raise ValueError("there are too few runs for so many factors")
    rest = max(0.0, rest_sum / rest_df)
    found = [(factor, levels, max(0.0, (square - rest) * levels / runs)) for factor, levels, square in squares]
    found.append(("rest", runs, rest))
    total = math.fsum(variance for _, _, variance in found)
    return tuple(Component(name, levels, v, v / total if total else 0.0) for name, levels, v in found)


def accuracy_error(p: float, n: int) -> float:
    """Standard error of an accuracy `p` measured on `n` examples, ``sqrt(p (1 - p) / n)``.

    It shrinks only with more test examples, never with more seeds.

    Examples
    --------
    >>> round(100 * accuracy_error(0.91, 1000), 3)
    0.905
    """
    return math.sqrt(p * (1.0 - p) / n)


def _require_crossed(factors: Mapping[str, Sequence[str]], runs: int) -> None:
    """Each combination of levels must occur equally often, or the sums of squares do not add up."""
    rows = list(zip(*factors.values(), strict=True))
    combinations = math.prod(len(set(levels)) for levels in factors.values())
    if len(set(rows)) != combinations or runs % combinations:
        raise ValueError("the design is not crossed: each combination of the factors must occur equally often")
    if any(rows.count(row) != runs // combinations for row in set(rows)):
        raise ValueError("the design is not balanced: some combinations of the factors occur more often")
