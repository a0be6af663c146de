"""What must hold of every verdict."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import leakcheck
from leakcheck.claims.facts import Verdict
from leakcheck.errors import LeakcheckError

thousandths = st.integers(-80, 120).map(lambda value: value / 1000)
differences = st.lists(thousandths, min_size=3, max_size=12)
slow = settings(max_examples=60, deadline=None)

WORST_FIRST = (
    Verdict.NOT_SUPPORTED,
    Verdict.DEGENERATE,
    Verdict.INCONCLUSIVE,
    Verdict.METHOD_SENSITIVE,
    Verdict.SUPPORTED,
)


def compare(d: list[float], threshold: float | Decimal = 0.0) -> leakcheck.claims.api.Comparison:
    return leakcheck.compare([0.0] * len(d), d, threshold=threshold)


@given(differences, st.randoms())
@slow
def test_order_of_rows_changes_nothing(d: list[float], random) -> None:
    shuffled = dict(enumerate(d))
    keys = list(shuffled)
    random.shuffle(keys)
    one = leakcheck.compare(dict.fromkeys(shuffled, 0.0), shuffled, threshold=0.01).to_dict()
    two = leakcheck.compare(dict.fromkeys(keys, 0.0), {key: shuffled[key] for key in keys}, threshold=0.01).to_dict()
    assert one == two


@given(differences)
@slow
def test_exchanging_the_methods_mirrors_the_intervals(d: list[float]) -> None:
    one = compare(d).facts.summary
    two = leakcheck.compare(d, [0.0] * len(d), threshold=0.0).facts.summary
    assert two.difference == -one.difference
    if one.t_interval is not None and two.t_interval is not None and one.exact_bootstrap:
        assert (two.t_interval.low, two.t_interval.high) == (-one.t_interval.high, -one.t_interval.low)
        assert one.bootstrap is not None and two.bootstrap is not None
        assert (two.bootstrap.low, two.bootstrap.high) == (-one.bootstrap.high, -one.bootstrap.low)


@given(differences, st.floats(1.05, 5.0))
@slow
def test_more_spread_at_the_same_mean_never_helps(d: list[float], factor: float) -> None:
    mean = float(np.mean(d))
    wider = [mean + factor * (value - mean) for value in d]
    assume(mean > 0 and max(d) - min(d) > 0.001)
    if compare(wider).verdict is Verdict.SUPPORTED:
        assert compare(d).verdict is Verdict.SUPPORTED


@given(differences, thousandths.filter(lambda value: value >= 0))
@slow
def test_a_higher_threshold_never_helps(d: list[float], threshold: float) -> None:
    easy, hard = compare(d).verdict, compare(d, threshold).verdict
    if hard is Verdict.SUPPORTED:
        assert easy is Verdict.SUPPORTED


@given(differences)
@slow
def test_bootstrap_never_leaves_the_range_of_the_differences(d: list[float]) -> None:
    interval = compare(d).facts.summary.bootstrap
    if interval is not None:
        assert min(d) - 1e-12 <= interval.low <= interval.high <= max(d) + 1e-12


@given(thousandths, st.integers(1, 12), st.integers(-3, 3))
@slow
def test_equal_differences_are_never_supported(d: float, n: int, base: int) -> None:
    a = [base + 0.1 * i for i in range(n)]
    verdict = leakcheck.compare(a, [value + d for value in a], threshold=0.0).verdict
    assert verdict in (Verdict.DEGENERATE, Verdict.INSUFFICIENT)


@given(st.lists(thousandths, min_size=1, max_size=2))
@slow
def test_one_or_two_runs_are_insufficient(d: list[float]) -> None:
    found = compare(d)
    assert found.verdict is Verdict.INSUFFICIENT
    assert found.interval is None


@pytest.mark.parametrize(("n", "ceiling"), [(3, "75 %"), (4, "87.5 %"), (5, "93.75 %")])
def test_ceiling_of_the_percentile_interval_is_said(n: int, ceiling: str) -> None:
    d = [0.01 * (i + 1) for i in range(n)]
    assert any(f"(at most {ceiling})" in caveat for caveat in compare(d).facts.caveats)


def test_ceiling_is_what_enumeration_gives() -> None:
    # The interval misses a symmetric centre whenever all differences lie on one side of it: 2 ** (1 - n).
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(4000):
        interval = rng.normal(size=5)
        held += interval.min() < 0 < interval.max()
    assert held / 4000 == pytest.approx(0.9375, abs=0.015)


def test_touching_the_threshold_in_binary_arithmetic_is_not_clearing() -> None:
    # 0.83 - 0.814 is 0.016000000000000014 in floats.
    found = leakcheck.compare([0.80, 0.80, 0.81, 0.80, 0.81], [0.83, 0.82, 0.85, 0.81, 0.84], threshold=0.016)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_bootstrap_seed_matters_only_where_it_is_sampled() -> None:
    few, many = [0.01, 0.03, 0.02, 0.05], list(np.random.default_rng(1).normal(0.1, 1, 40).round(3))
    intervals = {
        (len(d), seed): leakcheck.compare([0.0] * len(d), d, threshold=0.0, seed=seed).facts.summary.bootstrap
        for d in (few, many)
        for seed in (1, 2)
    }
    assert intervals[4, 1] == intervals[4, 2]
    assert intervals[40, 1] != intervals[40, 2]


def test_pairing_tightens_the_interval_by_the_correlation() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, 400)
    a, b = shared + rng.normal(0, 0.5, 400), shared + rng.normal(0.1, 0.5, 400)
    summary = leakcheck.compare(a, b, threshold=0.0).facts.summary
    assert summary.correlation is not None and summary.standard_error is not None and summary.unpaired_error is not None
    ratio = summary.standard_error / summary.unpaired_error
    assert ratio == pytest.approx(np.sqrt(1 - summary.correlation), rel=0.02)


def test_pooling_examples_would_not_cover_and_run_means_do() -> None:
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(300):
        runs = rng.normal(0, 0.3, 5)
        d = (runs[:, None] + rng.normal(0, 1, (5, 40))).ravel().round(6)
        found = leakcheck.compare(np.zeros(200), d, threshold=0.0, cluster=np.repeat(range(5), 40))
        assert found.interval is not None
        held += found.interval[0] <= 0 <= found.interval[1]
    assert held / 300 == pytest.approx(0.95, abs=0.04)


# The Python call


def test_series_are_paired_by_index() -> None:
    a = pandas.Series([0.8, 0.7, 0.9], index=["x", "y", "z"])
    b = pandas.Series([1.0, 0.9, 0.75], index=["z", "x", "y"])
    frame = leakcheck.compare(a, b).to_frame()
    assert frame["difference"].to_dict() == {"x": 0.1, "y": 0.05, "z": 0.1}


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0, 2.0], [1.0], "1 ids have no value in 'b': 1"),
        ([1.0], [float("nan")], "the value of 'b' for id '0' is not usable (expected a finite number, found NaN)"),
        ({"x": 1.0}, {"y": 1.0}, "no value in 'b': x"),
        ([], [], "there are no values"),
    ],
)
def test_bad_values_are_one_message(a, b, message: str) -> None:
    with pytest.raises(LeakcheckError) as raised:
        leakcheck.compare(a, b)
    assert message in str(raised.value)


def test_unknown_direction() -> None:
    with pytest.raises(LeakcheckError, match="unknown direction"):
        leakcheck.compare([1.0], [2.0], direction="up")


def test_result_shows_itself_in_notebooks() -> None:
    html = leakcheck.compare([1.0], [2.0], names=("<a>", "b"))._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<a>" not in html
