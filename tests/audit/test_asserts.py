"""The assertions for people's own tests."""

from __future__ import annotations

import doctest
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import leakcheck.testing
from leakcheck.audit import asserts
from leakcheck.errors import LeakcheckError
from leakcheck.testing import assert_no_leakage, assert_truncation_invariant

TRAIN = pd.DataFrame({"text": ["the cat sat on the mat", "all birds can sing in spring"], "user": ["a", "b"]})
TEST = pd.DataFrame({"text": ["nobody is at home this evening"], "user": ["c"]})


def test_the_examples_of_the_docstrings_hold() -> None:
    assert doctest.testmod(asserts).failed == 0


def test_the_test_module_loads_no_data_library() -> None:
    code = "import sys, leakcheck.testing; print({'pandas', 'numpy', 'pyarrow', 'sklearn'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_unknown_names_of_the_test_module_stay_unknown() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'assert_everything'"):
        leakcheck.testing.assert_everything  # noqa: B018


def test_leakage_fails_with_every_finding() -> None:
    assert_no_leakage(TRAIN, TEST, text="text", group="user")
    with pytest.raises(AssertionError) as raised:
        assert_no_leakage(TRAIN, pd.concat([TEST, TRAIN[:1]]), text="text", group="user")
    first, *rest = str(raised.value).splitlines()
    assert first == "2 findings"
    assert [line.partition(": ")[2].split()[0] for line in rest] == ["LK601", "LK702"]


def test_notes_do_not_fail() -> None:
    assert_no_leakage(["yes .", "the cat sat on the mat"], ["yes .", "nobody is at home"], text="text")


def test_what_cannot_be_audited_is_no_failure_of_the_assertion() -> None:
    with pytest.raises(LeakcheckError, match="no column 'question'"):
        assert_no_leakage(TRAIN, TEST, text="question")


SERIES = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60), "k": list("abc") * 20})
AHEAD = {
    "centred mean": lambda rows: rows[["x"]].rolling(5, center=True, min_periods=1).mean(),
    "next value": lambda rows: rows[["x"]].shift(-1),
    "backward fill": lambda rows: rows[["x"]].where(rows["x"] > 0).bfill(),
    "mean of all": lambda rows: rows[["x"]] - rows["x"].mean(),
    "mean of the group": lambda rows: rows.groupby("k")["x"].transform("mean"),
    "rank": lambda rows: rows["x"].rank(),
    "bins of all": lambda rows: pd.qcut(rows["x"], 2, labels=False, duplicates="drop"),
    "most frequent later": lambda rows: rows["k"].where(rows.index < rows.index.max(), "last"),
    "columns of all": lambda rows: pd.get_dummies(rows["k"].where(rows.index < 3, "late")),
}
BEHIND = {
    "trailing mean": lambda rows: rows[["x"]].rolling(5, min_periods=1).mean(),
    "last value": lambda rows: rows[["x"]].shift(1),
    "forward fill": lambda rows: rows[["x"]].where(rows["x"] > 0).ffill(),
    "mean so far": lambda rows: rows["x"].expanding().mean(),
    "array": lambda rows: np.cumsum(rows["x"].to_numpy()),
    "words": lambda rows: rows["k"].str.upper(),
    "whole numbers with gaps": lambda rows: rows["x"].round().where(rows["x"] > 0).astype("Int64"),
}


@pytest.mark.parametrize("name", sorted(AHEAD))
def test_features_that_look_ahead_fail(name: str) -> None:
    with pytest.raises(AssertionError, match="when later rows are cut off at row"):
        assert_truncation_invariant(AHEAD[name], SERIES)


@pytest.mark.parametrize("name", sorted(BEHIND))
def test_features_that_look_back_pass(name: str) -> None:
    assert_truncation_invariant(BEHIND[name], SERIES)


def test_features_of_other_rows_fail() -> None:
    with pytest.raises(AssertionError, match="60 rows give 59 rows of features"):
        assert_truncation_invariant(lambda rows: rows.iloc[1:], SERIES)


@pytest.mark.parametrize(("rows", "cuts"), [(1, 10), (60, 0)])
def test_nothing_to_cut_is_said(rows: int, cuts: int) -> None:
    with pytest.raises(LeakcheckError, match="nothing can be cut off"):
        assert_truncation_invariant(lambda frame: frame, SERIES[:rows], cuts=cuts)


def test_the_frame_is_left_as_it_was() -> None:
    frame = SERIES.copy()

    def spoils(rows: pd.DataFrame) -> pd.DataFrame:
        rows["x"] = rows["x"].cumsum()
        return rows

    assert_truncation_invariant(spoils, frame)
    pd.testing.assert_frame_equal(frame, SERIES)
