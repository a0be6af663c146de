"""Paired t, exact sign-flip and Wilcoxon tests, and the power of the paired t test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POWER = 0.8
ALPHA = 0.05
SIGN_FLIP_FROM = 6  # below six pairs no two-sided sign-flip test can reach 0.05
_ENUMERATED_UP_TO = 40  # two halves of a million sums each
_SAMPLED_UP_TO = 2_000  # ten million signs in all
_SAMPLED_FLIPS = 9_999
_TIE = 1e-12
_MOST_RUNS = 10_000_000


@dataclass(frozen=True, slots=True)
class TTest:
    """Paired t interval and two-sided p."""

    low: float
    high: float
    p: float
    statistic: float


def t_test(
    mean: float, sd: float, n: int, *, against: float = 0.0, level: float = 1 - ALPHA, test_train_ratio: float = 0.0
) -> TTest:
    """Paired t test from the summary of the differences.

    Parameters
    ----------
    mean, sd : float
        Of the paired differences; `sd` with n - 1 in the denominator, above zero.
    n : int
        Number of pairs, at least 2.
    against : float, default 0.0
        The mean difference under the null hypothesis.
    level : float, default 0.95
        Coverage of the interval.
    test_train_ratio : float, default 0.0
        Rows tested over rows trained on, for resampled splits of one data set. The variance of the mean is then
        ``sd**2 (1 / n + ratio)`` (Nadeau and Bengio, 2003, "Inference for the generalization error").

    Returns
    -------
    TTest

    Examples
    --------
    >>> worked = t_test(0.30, 0.50, 10)
    >>> round(worked.low, 6), round(worked.high, 6), round(worked.p, 4)
    (-0.057678, 0.657678, 0.0903)
    """
    from scipy.special import stdtr, stdtrit

    error = sd * math.sqrt(1.0 / n + test_train_ratio)
    half = float(stdtrit(n - 1, 0.5 + level / 2.0)) * error
    statistic = (mean - against) / error
    return TTest(mean - half, mean + half, 2.0 * float(stdtr(n - 1, -abs(statistic))), statistic)


class SignFlips(Enum):
    """How the sign patterns were gone through."""

    COUNTED = "all sign patterns counted"
    SAMPLED = "sampled sign patterns"
    NORMAL = "normal limit of the sign patterns"


def sign_flip_test(differences: Floats, seed: int = 0) -> tuple[float, SignFlips]:
    """Two-sided sign-flip test of a distribution that is symmetric around zero.

    Parameters
    ----------
    differences : array of shape (n,)
        Paired differences, n >= 1.
    seed : int, default 0
        Of the sampled patterns.

    Returns
    -------
    tuple of float and SignFlips
        The share of the 2**n sign patterns whose sum is at least as far from zero as the one seen, and how it was
        found: counted up to 40 non-zero differences, sampled up to 2,000 ((hits + 1) / (samples + 1)), and beyond that
        by the normal limit of the sum.
    """
    nonzero = differences[differences != 0.0]
    n = len(nonzero)
    if n == 0:
        return 1.0, SignFlips.COUNTED
    tie = _TIE * float(np.abs(nonzero).sum())
    seen = abs(math.fsum(nonzero)) - tie
    if n > _SAMPLED_UP_TO:
        return math.erfc(max(seen, 0.0) / math.sqrt(2.0 * math.fsum(nonzero**2))), SignFlips.NORMAL
    if n > _ENUMERATED_UP_TO:
        return _sampled_flips(nonzero, seen, seed), SignFlips.SAMPLED
    left, right = _signed_sums(nonzero[: n // 2]), np.sort(_signed_sums(nonzero[n // 2 :]))
    above = len(right) - np.searchsorted(right, seen - left, side="left")
    below = np.searchsorted(right, -seen - left, side="right")
    hits = len(left) * len(right) if seen <= 0.0 else int(above.sum()) + int(below.sum())
    return hits / 2.0**n, SignFlips.COUNTED


def wilcoxon_test(differences: Floats, seed: int = 0) -> tuple[float, float]:
    """Two-sided Wilcoxon signed-rank test, zeros left out, ties at their mean rank.

    Parameters
    ----------
    differences : array of shape (n,)
        Paired differences.
    seed : int, default 0
        Not used up to 40 non-zero differences.

    Returns
    -------
    tuple of float
        p, and the smallest p that so many differences can give. Exact up to 40 non-zero differences (the sign flips
        of the ranks), else scipy's normal approximation.
    """
    from scipy.stats import rankdata, wilcoxon

    nonzero = differences[differences != 0.0]
    n = len(nonzero)
    if n == 0:
        return 1.0, 1.0
    smallest = 2.0 ** (1 - n)
    if n > _ENUMERATED_UP_TO:
        return float(wilcoxon(nonzero, method="asymptotic").pvalue), smallest
    ranks = np.asarray(rankdata(np.abs(nonzero)), dtype=np.float64)
    return sign_flip_test(np.copysign(ranks, nonzero), seed)[0], smallest


def detectable_effect(n: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """Smallest d_z that a two-sided paired t test of `n` pairs finds with the given power.

    Examples
    --------
    >>> round(detectable_effect(10), 3)
    0.996
    """
    from scipy.optimize import brentq

    high = 0.5
    while _power(high, n, alpha) < power:
        high *= 2.0
    return float(brentq(lambda effect: _power(effect, n, alpha) - power, 0.0, high))


def runs_needed(effect: float, alpha: float = ALPHA, power: float = POWER) -> int:
    """Pairs that a two-sided paired t test needs to find an effect `effect` (d_z > 0) with the given power.

    Returns at most ten million.

    Examples
    --------
    >>> runs_needed(0.6)
    24
    """
    low, high = 1, 2
    while high < _MOST_RUNS and _power(effect, high, alpha) < power:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if _power(effect, middle, alpha) < power:
            low = middle
        else:
            high = middle
    return min(high, _MOST_RUNS)


def _power(effect: float, n: int, alpha: float) -> float:
    from scipy.special import nctdtr, stdtrit

    critical = float(stdtrit(n - 1, 1.0 - alpha / 2.0))
    shift = effect * math.sqrt(n)
    # scipy gives nan for a tail that is too small to hold.
    missed, wrong_side = np.nan_to_num(nctdtr(n - 1, shift, [critical, -critical]))
    return 1.0 - float(missed) + float(wrong_side)


def _signed_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _sampled_flips(values: Floats, seen: float, seed: int) -> float:
    rng = np.random.default_rng(seed)
    hits = 0
    rows = max(1, (1 << 20) // len(values))
    for start in range(0, _SAMPLED_FLIPS, rows):
        signs = rng.integers(0, 2, (min(rows, _SAMPLED_FLIPS - start), len(values)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ values) >= seen).sum())
    return (hits + 1) / (_SAMPLED_FLIPS + 1)
