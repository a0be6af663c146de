"""Coverage of the interval that decides a claim's verdict, and how often a verdict is wrong.

Usage: python benchmarks/coverage.py [--sets 2000]

For each kind of data and number of pairs, many sets of paired differences with a known mean are summarised by the code
that `leakcheck compare` uses. Printed: how often each interval holds the true mean, and how often a comparison without
any true difference is called supported (at a threshold of zero).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from leakcheck.claims import bootstrap, significance
from leakcheck.claims.check import facts_of, results_location
from leakcheck.claims.facts import Claim, Verdict
from leakcheck.claims.paired import Paired, Row
from leakcheck.claims.summary import Settings

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

CLAIM = Claim(id="c", a="a", b="b", results_a=(), location=results_location("simulated"), threshold=Decimal(0))
# All have a mean of zero.
DATA: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(0.0, 1.0, n),
    "lognormal": lambda rng, n: rng.lognormal(0.0, 1.0, n) - np.exp(0.5),
    "t3": lambda rng, n: rng.standard_t(3, n),
    "mostly zero": lambda rng, n: rng.choice([0.0, 1.0, -1.0], n, p=[0.8, 0.15, 0.05]) - 0.1,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=2000, help="simulated sets a cell (default 2000)")
    sets = parser.parse_args().sets
    print(f"{'data':<12}{'n':>4}{'percentile':>12}{'paired t':>10}{'false supported':>17}   ({sets} sets a cell, %)")
    for name, draw in DATA.items():
        for n in (5, 10, 20):
            percentile, t, wrong = cell(draw, n, sets)
            print(f"{name:<12}{n:>4}{percentile:>12.1f}{t:>10.1f}{wrong:>17.2f}")
    print()
    print("supported among sets that can't be (must be 0):")
    for name, draw in (
        ("all equal, n = 10", equal),
        ("two pairs", DATA["normal"]),
        ("one pair", DATA["normal"]),
    ):
        n = {"all equal, n = 10": 10, "two pairs": 2, "one pair": 1}[name]
        rng = np.random.default_rng(1)
        supported = sum(verdict(draw(rng, n) + 5.0) is Verdict.SUPPORTED for _ in range(200))
        print(f"  {name:<20}{supported}")


def cell(draw: Draw, n: int, sets: int) -> tuple[float, float, float]:
    """Shares in percent: of percentile and t intervals that hold zero, and of verdicts that say supported."""
    rng = np.random.default_rng(n)
    held = np.zeros(2)
    wrong = 0
    for _ in range(sets):
        d = np.sort(draw(rng, n))
        low, high = bootstrap.distribution(d, seed=int(rng.integers(1 << 31))).interval(0.95)
        held[0] += low <= 0.0 <= high
        sd = float(d.std(ddof=1))
        t = significance.t_test(float(d.mean()), sd, n) if sd else None
        held[1] += t is not None and t.low <= 0.0 <= t.high
        # Verdicts cost more than intervals; most sets cannot be supported and need none.
        if t is not None and t.low > 0.0:
            wrong += verdict(d) is Verdict.SUPPORTED
    return 100.0 * held[0] / sets, 100.0 * held[1] / sets, 100.0 * wrong / sets


def equal(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Differences that are equal up to what binary arithmetic adds."""
    base = rng.normal(0.0, 1.0, n)
    return (base + 0.1) - base


def verdict(differences: NDArray[np.float64]) -> Verdict:
    """Verdict of the command on these differences."""
    rows = tuple(Row(str(i), Decimal(0), Decimal(repr(float(d)))) for i, d in enumerate(differences))
    return facts_of(replace(CLAIM), Paired(rows, "simulated", "id", "value"), Settings()).verdict


if __name__ == "__main__":
    main()
