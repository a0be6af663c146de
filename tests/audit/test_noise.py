"""LK703 to LK706 are silent on noise and find a giveaway under noise; every score has its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import leakcheck
from leakcheck.audit.facts import Score
from leakcheck.audit.result import AuditResult
from leakcheck.audit.scoring import Task

SHORTCUTS = {"LK703", "LK704", "LK705", "LK706"}
WORDS = [f"word{i}" for i in range(120)]
DECLARED: dict[str, Any] = {"target": "target", "ids": "number", "text": ["first", "second"]}


def noise(seed: int, rows: int = 240) -> pd.DataFrame:
    """Numbers, a category, a column with gaps, a number, two texts and a target that know nothing of each other."""
    rng = np.random.default_rng(seed)
    kinds = {
        0: lambda: rng.integers(0, 2, rows),
        1: lambda: rng.choice(["low", "middle", "high"], rows),
        2: lambda: rng.normal(size=rows),
        3: lambda: (rng.random(rows) < 0.15).astype(bool),
    }
    frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
    frame["kind"] = rng.choice(["x", "y", "z"], rows)
    frame["gaps"] = np.where(rng.random(rows) < 0.3, np.nan, rng.normal(size=rows))
    frame["number"] = rng.permutation(rows)
    for text in ("first", "second"):
        frame[text] = [" ".join(rng.choice(WORDS, 14)) for _ in range(rows)]
    frame["target"] = kinds[seed % 4]()
    return frame


def audit(frame: pd.DataFrame, **options: Any) -> AuditResult:
    cut = len(frame) * 2 // 3
    return leakcheck.audit(train=frame[:cut], test=frame[cut:], **{**DECLARED, **options})


@pytest.mark.parametrize("seed", range(20))
def test_no_finding_on_noise(seed: int) -> None:
    assert audit(noise(seed)).findings == ()


def scores(result: AuditResult) -> list[Score]:
    facts = result.facts
    return [
        *(one.score for one in facts.singles),
        *(one.others for one in facts.singles if one.others),
        *(score for one in facts.ablations for score in (one.score, one.full)),
        *(one.score for one in facts.distinguishable),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_every_score_has_an_interval_that_holds_it(seed: int) -> None:
    found = scores(audit(noise(seed)))
    assert len(found) > 5 or seed == 2  # R2 of noise is zero, and not worth a fact
    for score in found:
        assert 0.0 <= score.interval.low <= score.value <= score.interval.high <= 1.0
        assert score.interval.low < score.interval.high
        assert score.chance == {"AUC": 0.5, "R2": 0.0}[score.metric]


def copy_in_words(frame: pd.DataFrame) -> dict[str, Any]:
    frame["label"] = np.where(frame["target"] == 1, "yes", "no")
    return {}


def noisy_copy(frame: pd.DataFrame) -> dict[str, Any]:
    frame["score"] = frame["target"] + np.random.default_rng(9).normal(0, 0.35, len(frame))
    return {}


def telling_gap(frame: pd.DataFrame) -> dict[str, Any]:
    lost = (frame["target"] == 0) & (np.random.default_rng(9).random(len(frame)) < 0.98)
    frame.loc[lost, "gaps"] = np.nan
    return {}


def numbered_by_target(frame: pd.DataFrame) -> dict[str, Any]:
    order = (frame["target"] + np.random.default_rng(9).normal(0, 0.3, len(frame))).to_numpy().argsort().argsort()
    frame["number"] = order + 1_700_000_000  # more than single precision holds
    return {}


def sorted_by_target(frame: pd.DataFrame) -> dict[str, Any]:
    order = (frame["target"] + np.random.default_rng(9).normal(0, 0.4, len(frame))).to_numpy().argsort()
    train, test = order[order % 3 > 0], order[order % 3 == 0]
    return {"rows": np.concatenate([train, test])}


def telling_text(frame: pd.DataFrame) -> dict[str, Any]:
    told = np.where(frame["target"] == 1, " nobody", " somebody")
    frame["second"] += np.where(np.random.default_rng(9).random(len(frame)) < 0.85, told, "")
    return {}


def another_device(frame: pd.DataFrame) -> dict[str, Any]:
    frame.loc[len(frame) * 2 // 3 :, "a"] += 2.0
    return {}


PLANTS = {
    "LK703": [copy_in_words, noisy_copy, telling_gap],
    "LK704": [numbered_by_target, sorted_by_target],
    "LK705": [telling_text],
    "LK706": [another_device],
}


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize(("code", "plant"), [(code, plant) for code, plants in PLANTS.items() for plant in plants])
def test_a_giveaway_is_found_under_noise(code: str, plant: Any, seed: int) -> None:
    frame = noise(seed, rows=360)
    told = plant(frame)
    if "rows" in told:
        frame = frame.iloc[told["rows"]].reset_index(drop=True)
    assert set(audit(frame).by_code) == {code}


def test_intervals_hold_the_truth() -> None:
    """The intervals of a known AUC (of two normal distributions, 0.85) hold it at their level."""
    rng = np.random.default_rng(3)
    apart = norm.ppf(0.85) * np.sqrt(2)
    held, repeats = 0, 60
    for _ in range(repeats):
        y = rng.integers(0, 2, 300)
        x = rng.normal(size=300) + apart * y
        score = Task(np.arange(300), y, 2, None, False).score(x[:, None], looks=1)
        held += score.interval.low <= 0.85 <= score.interval.high
        assert score.value == pytest.approx(roc_auc_score(y, x), abs=0.03)
    assert held >= 0.9 * repeats  # 95 % less three standard errors of the count, and what cross-validation costs


def test_looks_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    task = Task(np.arange(200), y, 2, None, False)
    one, many = (task.score(rng.normal(size=(200, 1)) * 0 + y[:, None] + rng.normal(size=(200, 1)), k) for k in (1, 50))
    assert many.interval.high - many.interval.low > one.interval.high - one.interval.low


@pytest.mark.parametrize(("shift", "sampled"), [(0.0, 1_500), (2.0, 1_500), (0.25, 5_000)])
def test_large_splits_are_told_apart_on_as_many_rows_as_settle_it(shift: float, sampled: int) -> None:
    rng = np.random.default_rng(0)
    training, held_out = pd.DataFrame(rng.normal(size=(8_000, 2))), pd.DataFrame(rng.normal(shift, size=(6_000, 2)))
    result = leakcheck.audit(training, held_out)
    (told,) = result.facts.distinguishable
    truth = norm.cdf(shift)  # two columns, each moved by it: apart by shift times root 2, less by root 2 for the AUC
    assert told.sampled == sampled
    assert told.score.interval.low <= truth <= told.score.interval.high
    assert bool(result.findings) == (shift == 2.0)
    assert any(f"on a sample of {sampled:,} rows of a split" in check for check in result.facts.checks)
