"""Time and memory of the paired bootstrap against scipy's, in one run.

Usage: python benchmarks/bootstrap.py
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from leakcheck.claims import bootstrap

RESAMPLES = 2000
REPEATS = 5


def main() -> None:
    print(f"{'n':>10}{'ours, ms':>12}{'scipy, ms':>12}{'ratio':>8}{'ours, peak MB':>16}   ({RESAMPLES} resamples)")
    for n in (200, 10_000):
        rng = np.random.default_rng(0)
        a = rng.normal(0.0, 1.0, n)
        b = a + rng.normal(0.1, 1.0, n)
        ours, theirs = [], []
        for _ in range(REPEATS):  # in turns, so that what else the machine does hits both
            ours.append(seconds(lambda a=a, b=b: bootstrap.distribution(b - a).interval(0.95)))
            theirs.append(seconds(lambda a=a, b=b: scipys(a, b)))
        peak = peak_megabytes(lambda a=a, b=b: bootstrap.distribution(b - a))
        print(f"{n:>10}{1e3 * min(ours):>12.2f}{1e3 * min(theirs):>12.2f}{min(theirs) / min(ours):>8.1f}{peak:>16.1f}")
    for n in (1_000_000, 5_000_000):
        d = np.random.default_rng(0).normal(0.0, 1.0, n)
        peak = peak_megabytes(lambda d=d: bootstrap.distribution(d, resamples=20))
        print(f"{n:>10}{'':>12}{'':>12}{'':>8}{peak:>16.1f}   (20 resamples; the differences themselves not counted)")
    d = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 1_000_000, p=[0.1, 0.75, 0.15])
    print(f"{len(d):>10}{1e3 * seconds(lambda: bootstrap.distribution(d)):>12.2f}   (three distinct differences)")


def scipys(a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    """The same interval by scipy: vectorized, in batches that keep its memory within reason."""
    scipy.stats.bootstrap(
        (b, a),
        lambda x, y, axis: (x - y).mean(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // len(a)),
        method="percentile",
    )


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak_megabytes(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


if __name__ == "__main__":
    main()
