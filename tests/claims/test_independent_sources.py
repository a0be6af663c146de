"""Numbers of our own against scipy, statsmodels, enumeration and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from leakcheck.claims import bootstrap
from leakcheck.claims.facts import Correction, Direction
from leakcheck.claims.family import adjusted
from leakcheck.claims.nested import hierarchical_interval, spread_within
from leakcheck.claims.ranking import rank_methods
from leakcheck.claims.selection import expected_best
from leakcheck.claims.significance import (
    SignFlips,
    detectable_effect,
    runs_needed,
    sign_flip_test,
    t_test,
    wilcoxon_test,
)

hundredths = st.integers(-50, 50).map(lambda value: value / 100)


def sample(n: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.3, 1.0, n)


@pytest.mark.parametrize("n", [2, 5, 30])
def test_t_interval_is_scipys(n: int) -> None:
    values = sample(n)
    ours = t_test(float(values.mean()), float(values.std(ddof=1)), n)
    theirs = scipy.stats.ttest_1samp(values, 0.0)
    assert ours.p == pytest.approx(theirs.pvalue)
    interval = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high))


@given(st.lists(hundredths, min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_enumerated_bootstrap_is_the_brute_force_one(values: list[float]) -> None:
    means = sorted(sum(pick) / len(values) for pick in itertools.product(values, repeat=len(values)))
    found = bootstrap.distribution(np.array(values))
    low, high = found.interval(0.95)
    cut = int(np.ceil(0.025 * len(means) - 1e-9)) - 1
    assert (low, high) == pytest.approx((means[cut], means[-1 - cut]), abs=1e-12)
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("n", "multisets"), [(5, 126), (8, 6435)])
def test_number_of_multisets(n: int, multisets: int) -> None:
    assert len(bootstrap.distribution(np.arange(float(n))).values) == multisets


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_bootstrap_is_scipys_on_the_same_resamples(method: str) -> None:
    values = sample(25) ** 2
    ours = bootstrap.distribution(values, resamples=2000, seed=11)
    given_means = scipy.stats.bootstrap((values,), np.mean, n_resamples=2, method="percentile", rng=0)
    given_means.bootstrap_distribution = ours.values
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=0, bootstrap_result=given_means, method=method, vectorized=True
    ).confidence_interval
    interval = ours.interval(0.95) if method == "percentile" else bootstrap.bca_interval(values, ours, 0.95)
    assert interval is not None
    # scipy interpolates between neighbours; ours is one of the two.
    for end, other in zip(interval, (theirs.low, theirs.high), strict=True):
        place = np.searchsorted(ours.values, other)
        assert ours.values[place - 2] <= end <= ours.values[place + 1]


def test_few_distinct_values_have_the_same_distribution_as_drawn_indices() -> None:
    values = np.repeat([-1.0, 0.0, 1.0], [100, 700, 200])
    counted = bootstrap.distribution(values, resamples=20_000, seed=1)
    drawn = bootstrap._means_of_indices(values, 20_000, np.random.default_rng(2))
    assert scipy.stats.ks_2samp(counted.values, drawn).pvalue > 0.001


def test_blocks_of_a_long_sample_give_the_distribution_of_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    values = sample(5000)
    monkeypatch.setattr(bootstrap, "_BLOCK", 512)
    means = bootstrap.distribution(values, resamples=1000, seed=5).values
    assert means.std() == pytest.approx(values.std() / np.sqrt(len(values)), rel=0.1)
    assert means.mean() == pytest.approx(values.mean(), abs=4 * values.std() / np.sqrt(len(values) * 1000))


@given(st.lists(hundredths, min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_sign_flips_are_the_brute_force_ones(values: list[float]) -> None:
    seen = abs(sum(values))
    patterns = list(itertools.product((-1, 1), repeat=len(values)))
    hits = sum(abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= seen - 1e-9 for signs in patterns)
    p, how = sign_flip_test(np.array(values))
    assert how is SignFlips.COUNTED
    assert p == pytest.approx(hits / len(patterns))


def test_many_pairs_sample_the_sign_flips() -> None:
    values = sample(60)
    p, how = sign_flip_test(values, seed=1)
    assert how is SignFlips.SAMPLED
    assert p == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue, abs=0.02)


def test_very_many_pairs_use_the_normal_limit() -> None:
    values = np.random.default_rng(2).normal(0.02, 1.0, 5000)
    p, how = sign_flip_test(values)
    assert how is SignFlips.NORMAL
    assert p == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue, rel=0.02)


@pytest.mark.parametrize("n", [4, 7, 12, 25])
def test_wilcoxon_is_scipys(n: int) -> None:
    values = sample(n)
    assert wilcoxon_test(values)[0] == pytest.approx(scipy.stats.wilcoxon(values, method="exact").pvalue)


@pytest.mark.parametrize(("n", "smallest"), [(3, 0.25), (4, 0.125), (5, 0.0625), (6, 0.03125), (8, 0.0078125)])
def test_smallest_wilcoxon_p_is_reached(n: int, smallest: float) -> None:
    assert wilcoxon_test(np.arange(1.0, n + 1)) == (smallest, smallest)


@pytest.mark.parametrize("n", [3, 8, 50, 1000])
def test_power_is_statsmodels(n: int) -> None:
    theirs = TTestPower().solve_power(effect_size=None, nobs=n, alpha=0.05, power=0.8)
    assert detectable_effect(n) == pytest.approx(theirs, rel=1e-3)


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.2])
def test_runs_needed_is_statsmodels(effect: float) -> None:
    theirs = TTestPower().solve_power(effect_size=effect, nobs=None, alpha=0.05, power=0.8)
    assert runs_needed(effect) == int(np.ceil(theirs))


@pytest.mark.parametrize(
    ("correction", "name", "expected"),
    [
        (Correction.HOLM, "holm", [0.04, 0.06, 0.06, 0.06]),
        (Correction.FDR, "fdr_bh", [0.04, 0.04, 0.04, 0.04]),
        (Correction.BONFERRONI, "bonferroni", [0.04, 0.08, 0.12, 0.16]),
    ],
)
def test_adjusted_p(correction: Correction, name: str, expected: list[float]) -> None:
    p = [0.01, 0.02, 0.03, 0.04]
    assert adjusted(p, correction) == pytest.approx(expected)
    assert adjusted(p, correction) == pytest.approx(multipletests(p, method=name)[1])


def test_a_comparison_without_p_counts_in_the_family() -> None:
    assert adjusted([0.01, None], Correction.HOLM) == pytest.approx([0.02, 1.0])


def test_friedman_is_scipys() -> None:
    scores = np.random.default_rng(4).normal(size=(10, 4)) + np.array([0.0, 0.1, 0.2, 1.5])
    found = rank_methods(scores, ("a", "b", "c", "d"), Direction.HIGHER)
    theirs = scipy.stats.friedmanchisquare(*scores.T)
    assert (found.chi_square, found.chi_square_p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert min(range(4), key=lambda index: found.mean_ranks[index]) == 3
    nemenyi = {(pair.first, pair.second): pair.nemenyi_differs for pair in found.pairs}
    assert nemenyi["a", "d"]


def test_expected_best_of_uniform_trials_is_simulated() -> None:
    rng = np.random.default_rng(0)
    draws = rng.random((2000, 20))
    assert np.mean([expected_best(row)[-1] for row in draws.tolist()]) == pytest.approx(20 / 21, abs=0.004)
    assert np.mean([expected_best(row, unbiased=False)[-1] for row in draws.tolist()]) == pytest.approx(
        0.9268, abs=0.004
    )


def test_hierarchical_interval_is_as_wide_as_the_theory_says() -> None:
    rng = np.random.default_rng(8)
    groups = [rng.normal(mean, 1.0, 50) for mean in rng.normal(0, 0.5, 30)]
    low, high = hierarchical_interval(groups, 0.95, 2000, 1)
    means = np.array([group.mean() for group in groups])
    variance = means.var() / 30 + 1.0 / (30 * 50)
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.1)


def test_variance_between_and_within_runs() -> None:
    rng = np.random.default_rng(9)
    groups = [rng.normal(mean, 0.5, 40) for mean in rng.normal(0, 0.3, 400)]
    found = spread_within(groups)
    assert found.between_sd == pytest.approx(0.3, rel=0.1)
    assert found.within_sd == pytest.approx(0.5, rel=0.05)
