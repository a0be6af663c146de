"""How often the target and split checks of `leakcheck audit` raise a false alarm: audits of tables of noise.

    python benchmarks/audit_noise.py [--tables 200]

Each table has 240 rows: four numbers, a category, a column with gaps, a running number, two texts, and a target that is
binary, of three classes, a number, or rare, in turn. All columns are independent, so each finding is false.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
import pandas as pd

import leakcheck
from leakcheck.audit.facts import wilson

ROWS, TRAINING = 240, 160
WORDS = [f"word{i}" for i in range(120)]


def noise(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=list("abcd"))
    frame["kind"] = rng.choice(["x", "y", "z"], ROWS)
    frame["gaps"] = np.where(rng.random(ROWS) < 0.3, np.nan, rng.normal(size=ROWS))
    frame["number"] = rng.permutation(ROWS)
    for text in ("first", "second"):
        frame[text] = [" ".join(rng.choice(WORDS, 14)) for _ in range(ROWS)]
    frame["target"] = [
        rng.integers(0, 2, ROWS),
        rng.choice(["low", "middle", "high"], ROWS),
        rng.normal(size=ROWS),
        rng.random(ROWS) < 0.15,
    ][seed % 4]
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    tables = parser.parse_args().tables
    alarms: Counter[str] = Counter()
    with_alarm = 0
    for seed in range(tables):
        frame = noise(seed)
        found = leakcheck.audit(
            frame[:TRAINING], frame[TRAINING:], target="target", ids="number", text=["first", "second"]
        ).by_code
        alarms.update(found)
        with_alarm += bool(found)
    interval = wilson(with_alarm, tables)
    print(f"{with_alarm} of {tables} tables with a finding, 95 % interval {interval.low:.2%} to {interval.high:.2%}")
    for code, count in sorted(alarms.items()):
        print(f"{code}: {count}")


if __name__ == "__main__":
    main()
