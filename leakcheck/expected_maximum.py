"""How far the best of k equally good candidates stands above their mean, by luck alone.

Pure Python, so that both the code leg and the claims leg can use it at no cost.
"""

from __future__ import annotations

import math

_STEP = 0.01  # of the trapezoid rule, in standard deviations; the error is below 1e-12 for k up to 1e12
_LOWER = -10.0  # the standard normal density is below 1e-22 outside ten standard deviations


def expected_maximum(k: int) -> float:
    """Expected maximum of `k` independent standard normal draws, in standard deviations.

    Parameters
    ----------
    k : int
        Number of draws, at least 1.

    Returns
    -------
    float
        The integral of ``k x phi(x) Phi(x)**(k - 1)`` over the real line, by the trapezoid rule (which converges
        geometrically for such an integrand).

    Raises
    ------
    ValueError
        If `k` is below 1.

    Examples
    --------
    >>> round(expected_maximum(10), 6)
    1.538753
    >>> expected_maximum(1)
    0.0
    """
    if k < 1:
        raise ValueError(f"the number of draws must be at least 1, not {k}")
    if k == 1:
        return 0.0
    upper = 10.0 + math.sqrt(2.0 * math.log(k))
    scale = k * _STEP / math.sqrt(2.0 * math.pi)
    total = 0.0
    for index in range(round((upper - _LOWER) / _STEP) + 1):
        x = _LOWER + index * _STEP
        upper_tail = 0.5 * math.erfc(x / math.sqrt(2.0))
        if upper_tail < 1.0:  # elsewhere Phi(x) is zero within a rounding
            total += x * math.exp(-0.5 * x * x + (k - 1) * math.log1p(-upper_tail))
    return scale * total


def expected_maximum_bound(k: int) -> float:
    """Upper bound ``sqrt(2 ln k)`` on :func:`expected_maximum`, the usual textbook figure.

    Parameters
    ----------
    k : int
        Number of draws, at least 1.

    Returns
    -------
    float
        In standard deviations; 40 % above the exact value at ``k = 10``, 21 % at ``k = 100``.

    Raises
    ------
    ValueError
        If `k` is below 1.

    Examples
    --------
    >>> round(expected_maximum_bound(10), 4)
    2.146
    """
    if k < 1:
        raise ValueError(f"the number of draws must be at least 1, not {k}")
    return math.sqrt(2.0 * math.log(k))
