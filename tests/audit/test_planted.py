"""Each planted fault alone is found by its code; the same table without it is clean."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import leakcheck
from leakcheck.audit.result import AuditResult
from leakcheck.testing import assert_truncation_invariant

DECLARED = {
    "text": "note",
    "target": "outcome",
    "group": "patient",
    "time": "visited",
    "prediction_time": "admitted",
    "ids": "row_id",
}
WORDS = ["chest", "pain", "fever", "cough", "mild", "acute", "left", "right", "knee", "rash", "stable", "denies"] + [
    f"term{i}" for i in range(200)
]


def table(rows: int = 900, seed: int = 0) -> pd.DataFrame:
    """Visits of patients in time order, with an outcome that age and pressure say a little about."""
    rng = np.random.default_rng(seed)
    admitted = pd.date_range("2020-01-01", periods=rows, freq="6h")
    age, pressure = rng.normal(55, 15, rows), rng.normal(125, 18, rows)
    outcome = (age / 15 + pressure / 18 + rng.normal(0, 2.0, rows) > 55 / 15 + 125 / 18).astype(int)
    return pd.DataFrame(
        {
            "row_id": rng.permutation(rows) + 10_000,
            "patient": [f"p{i // 3}" for i in range(rows)],
            "visited": admitted,
            "admitted": admitted,
            "lab_time": admitted - pd.Timedelta("2h"),
            "age": age,
            "pressure": pressure,
            "ward": rng.choice(["north", "south", "east"], rows),
            "note": [" ".join(rng.choice(WORDS, 25)) for _ in range(rows)],
            "outcome": outcome,
        }
    )


def split(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return frame[:600].reset_index(drop=True), frame[600:].reset_index(drop=True)


def codes(result: AuditResult) -> set[str]:
    return {finding.code for finding in result.findings if finding.severity.value != "note"}


def audit(train: pd.DataFrame, test: pd.DataFrame, **changes: object) -> set[str]:
    return codes(leakcheck.audit(train=train, test=test, **{**DECLARED, **changes}))


def test_table_without_faults_is_clean() -> None:
    assert audit(*split(table())) == set()


def test_broken_time_order() -> None:
    train, test = split(table())
    train.loc[:4, ["visited", "admitted", "lab_time"]] += pd.Timedelta("400D")
    assert audit(train, test) == {"LK701"}
    message = leakcheck.audit(train=train, test=test, **DECLARED).findings[0].message
    assert re.search(r"at or after the first of test \(\d{4}-\d\d-\d\d", message)


def test_same_patient_on_both_sides() -> None:
    train, test = split(table())
    test.loc[:9, "patient"] = "p3"
    assert audit(train, test) == {"LK702"}


@pytest.mark.parametrize("seed", range(3))
def test_noisy_copy_of_the_target(seed: int) -> None:
    """An AUC of 0.92, beside honest features that together reach 0.73 to 0.79."""
    frame = table(seed=seed)
    frame["score"] = frame["outcome"] + np.random.default_rng(seed + 100).normal(0, 0.5, len(frame))
    assert audit(*split(frame)) == {"LK703"}


def test_categorical_copy_of_the_target() -> None:
    frame = table()
    frame["died"] = frame["outcome"].map({0: "no", 1: "yes"})
    assert audit(*split(frame)) == {"LK703"}


def test_proxy_that_is_not_monotone() -> None:
    frame = table()
    sign = np.random.default_rng(1).choice([-1, 1], len(frame))
    frame["deviation"] = sign * (frame["outcome"] * 3 + np.random.default_rng(2).uniform(0, 1.5, len(frame)))
    assert audit(*split(frame)) == {"LK703"}


def test_row_id_tied_to_the_target() -> None:
    frame = table()
    frame["row_id"] = frame["outcome"].to_numpy().argsort(kind="stable").argsort() + 10_000
    assert audit(*split(frame)) == {"LK704"}


def test_missing_value_that_tells_the_target() -> None:
    frame = table()
    frame["biopsy"] = np.random.default_rng(1).normal(size=len(frame))
    frame.loc[(frame["outcome"] == 0) & (np.random.default_rng(2).random(len(frame)) < 0.95), "biopsy"] = np.nan
    assert audit(*split(frame)) == {"LK703"}


def test_value_of_the_next_row() -> None:
    rng = np.random.default_rng(4)
    change = rng.normal(0, 1, 901)
    frame = pd.DataFrame({"volume": rng.normal(size=900), "change": change[:900], "smoothed": change[1:]})
    frame["rises"] = (change[1:] + rng.normal(0, 0.3, 900)) > 0
    assert codes(leakcheck.audit(train=frame[:600], test=frame[600:], target="rises")) == {"LK703"}


def test_copied_row_with_a_new_id() -> None:
    train, test = split(table())
    numbers = ["age", "pressure", "ward", "outcome"]
    plain = [*numbers, "row_id"]
    test.loc[5, numbers] = train.loc[50, numbers]
    found = codes(leakcheck.audit(train=train[plain], test=test[plain], target="outcome"))
    assert found == {"LK601"}


def test_jitter_of_a_thousandth() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(100, 20, (900, 6)), columns=list("abcdef"))
    train, test = split(frame)
    test.iloc[:10] = train.iloc[40:50].to_numpy() * (1 + rng.normal(0, 0.001, (10, 6)))
    result = leakcheck.audit(train=train, test=test)
    assert codes(result) == {"LK602"}
    assert result.facts.overlaps[0].touched == 10


def test_edited_note() -> None:
    train, test = split(table())
    for row in range(5):
        test.loc[row, "note"] = train.loc[row, "note"] + " seen again"
    assert audit(train, test) == {"LK602"}


def test_timestamp_of_the_outcome() -> None:
    train, test = split(table())
    train["discharged"], test["discharged"] = (one["admitted"] + pd.Timedelta("5D") for one in (train, test))
    assert audit(train, test) == {"LK707"}


def test_centred_mean_is_found_by_truncation_only() -> None:
    frame = table()[["visited", "age"]]

    def centred(rows: pd.DataFrame) -> pd.DataFrame:
        return rows[["age"]].rolling(5, center=True, min_periods=1).mean()

    def trailing(rows: pd.DataFrame) -> pd.DataFrame:
        return rows[["age"]].rolling(5, min_periods=1).mean()

    assert_truncation_invariant(trailing, frame)
    with pytest.raises(AssertionError, match="change when later rows are cut off"):
        assert_truncation_invariant(centred, frame)


@pytest.mark.parametrize("name", ["breast_cancer", "iris", "wine", "diabetes"])
def test_known_clean_tables(name: str) -> None:
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    train, test = train_test_split(frame, random_state=0)
    result = leakcheck.audit(train=train, test=test, target="target")
    # one wine differs from another by so little that it could be measured twice, in one split only
    assert codes(result) == set()


def honest(rows: int, columns: int, seed: int, share: float = 0.5) -> pd.DataFrame:
    """Numbers of which some say a little about the target."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, columns)), columns=[f"x{i}" for i in range(columns)])
    signal = frame.iloc[:, :4].sum(axis=1) + rng.normal(0, 2, rows)
    frame["target"] = (signal > np.quantile(signal, 1 - share)).astype(int)
    return frame


CLEAN = {
    "small": (honest(50, 4, 1), {}),
    "wide": (honest(150, 300, 2), {}),
    "imbalanced": (honest(600, 6, 3, share=0.05), {}),
    "with ids and dates": (
        honest(400, 5, 4).assign(
            id=range(400),
            code=[f"C{i * 7919 % 10_007:05}" for i in range(400)],
            seen=[f"{date:%d/%m/%Y}" for date in pd.date_range("2021-01-01", periods=400)],
            made=pd.date_range("2020-12-31", periods=400, tz="Europe/Madrid"),
        ),
        {"time": "seen", "ids": ["id", "code"]},
    ),
}


@pytest.mark.parametrize("name", sorted(CLEAN))
def test_clean_tables_give_no_finding(name: str) -> None:
    frame, options = CLEAN[name]
    cut = len(frame) * 2 // 3
    result = leakcheck.audit(train=frame[:cut], test=frame[cut:], target="target", **options)
    assert result.findings == ()
