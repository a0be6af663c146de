"""The worked numbers of the specification, through the calls that people make."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import leakcheck
from leakcheck.claims import bootstrap
from leakcheck.claims.api import Comparison
from leakcheck.claims.facts import Verdict
from leakcheck.claims.family import bonferroni_level, family_error_bound, family_error_rate, sidak_level
from leakcheck.claims.ranking import critical_difference, nemenyi_quantile
from leakcheck.claims.selection import chance_of_gap, expected_best, inflation
from leakcheck.claims.significance import detectable_effect, runs_needed, t_test
from leakcheck.claims.wording import points

LAB_A = [0.80, 0.80, 0.81, 0.80, 0.81]
LAB_B = [0.83, 0.82, 0.85, 0.81, 0.84]
ROOT = Path(__file__).parents[2]


def lab(threshold: float | None, direction: str = "higher", level: float = 0.95) -> Comparison:
    return leakcheck.compare(
        LAB_A, LAB_B, direction=direction, threshold=threshold, unit="fraction", metric="accuracy", level=level
    )


def test_lab_mean_and_spread() -> None:
    summary = lab(0.01).facts.summary
    assert summary.difference == 0.026
    assert summary.sd == pytest.approx(0.0114018, abs=5e-8)
    assert summary.standard_error == pytest.approx(0.0050990, abs=5e-8)
    assert summary.unpaired_error == pytest.approx(0.007483, abs=5e-7)
    assert summary.effect_size == pytest.approx(2.2804, abs=5e-5)
    assert summary.correlation == pytest.approx(0.8660, abs=5e-5)


def test_lab_exact_bootstrap_interval() -> None:
    found = lab(0.01).facts.summary
    assert found.bootstrap is not None
    assert (found.bootstrap.low, found.bootstrap.high) == (0.016, 0.034)
    assert found.exact_bootstrap


def test_lab_probability_at_the_edge() -> None:
    differences = bootstrap.np.array([0.03, 0.02, 0.04, 0.01, 0.03])
    assert bootstrap.distribution(differences).at_most(0.016) == pytest.approx(0.02592, abs=1e-9)


def test_lab_t_interval() -> None:
    assert lab(0.01).interval == pytest.approx((0.011843, 0.040157), abs=5e-7)
    assert lab(0.01, level=0.90).interval == pytest.approx((0.015130, 0.036870), abs=5e-7)
    summary = lab(0.01).facts.summary
    assert summary.t_p == pytest.approx(0.006987, abs=5e-7)
    assert summary.wilcoxon_p == 0.0625


@pytest.mark.parametrize(
    ("threshold", "verdict"),
    [
        (0.01, Verdict.SUPPORTED),
        (0.03, Verdict.INCONCLUSIVE),
        (0.015, Verdict.METHOD_SENSITIVE),
        (0.016, Verdict.INCONCLUSIVE),
        (0.034, Verdict.INCONCLUSIVE),
        (0.05, Verdict.NOT_SUPPORTED),
    ],
)
def test_lab_verdict(threshold: float, verdict: Verdict) -> None:
    assert lab(threshold).verdict is verdict


def test_lab_with_the_direction_turned() -> None:
    turned = lab(0.01, direction="lower")
    summary = turned.facts.summary
    assert summary.difference == -0.026
    assert summary.bootstrap is not None
    assert (summary.bootstrap.low, summary.bootstrap.high) == (-0.034, -0.016)
    assert turned.verdict is Verdict.NOT_SUPPORTED


def test_same_mean_with_more_spread_is_inconclusive() -> None:
    differences = [-0.04, 0.09, 0.0, 0.06, 0.02]
    found = leakcheck.compare([0.5] * 5, [0.5 + d for d in differences], threshold=0.01)
    summary = found.facts.summary
    assert summary.difference == 0.026
    assert summary.sd == pytest.approx(0.050794, abs=5e-7)
    assert summary.bootstrap is not None
    assert (summary.bootstrap.low, summary.bootstrap.high) == (-0.012, 0.066)
    assert found.interval == pytest.approx((-0.037069, 0.089069), abs=5e-7)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_three_runs_in_percentage_points() -> None:
    found = leakcheck.compare([0.7, 0.7, 0.7], [0.72, 0.74, 0.73], threshold=0.0, unit="fraction")
    summary = found.facts.summary
    assert summary.difference == 0.03
    assert summary.bootstrap is not None
    assert (summary.bootstrap.low, summary.bootstrap.high) == (0.02, 0.04)
    assert found.interval == pytest.approx((0.005159, 0.054841), abs=5e-7)
    assert "0.03 (3 percentage points)" in str(found)
    assert "3 %" not in str(found).replace("93", "")


def test_chapter_wide_interval() -> None:
    found = t_test(0.30, 0.50, 10)
    assert (found.low, found.high) == pytest.approx((-0.057678, 0.657678), abs=5e-7)
    assert found.statistic == pytest.approx(1.8974, abs=5e-5)
    assert found.p == pytest.approx(0.0903, abs=5e-5)
    assert 0.50 / math.sqrt(10) == pytest.approx(0.158114, abs=5e-7)


def test_chapter_narrow_interval() -> None:
    found = t_test(0.80, 0.30, 10)
    assert (found.low, found.high) == pytest.approx((0.585393, 1.014607), abs=5e-7)
    assert found.p == pytest.approx(1.45e-5, abs=5e-8)


def test_chapter_lucky_gap() -> None:
    assert chance_of_gap(0.8, 0.3, 0.5) == pytest.approx(0.1587, abs=5e-5)
    assert chance_of_gap(0.8, 0.0, 0.5) == pytest.approx(0.0548, abs=5e-5)


def test_single_run_gap_in_points_is_exact() -> None:
    found = leakcheck.compare([91.0], [91.8], unit="points")
    assert found.facts.summary.difference == 0.8
    assert found.verdict is Verdict.INSUFFICIENT
    assert found.interval is None
    assert "0.8 percentage points" in str(found)


@pytest.mark.parametrize(("n", "effect"), [(3, 3.264), (5, 1.682), (8, 1.156), (10, 0.996), (20, 0.660), (50, 0.404)])
def test_detectable_effect(n: int, effect: float) -> None:
    assert detectable_effect(n) == pytest.approx(effect, abs=6e-4)


def test_runs_needed() -> None:
    assert runs_needed(0.6) == 24


@pytest.mark.parametrize(
    ("m", "rate"),
    [
        (1, 0.05),
        (2, 0.0975),
        (3, 0.1426),
        (5, 0.2262),
        (10, 0.4013),
        (14, 0.5123),
        (20, 0.6415),
        (50, 0.9231),
        (100, 0.9941),
    ],
)
def test_chance_of_a_false_positive_in_a_family(m: int, rate: float) -> None:
    assert family_error_rate(m) == pytest.approx(rate, abs=6e-5)


def test_levels_within_a_family() -> None:
    assert bonferroni_level(20) == pytest.approx(0.0025)
    assert family_error_rate(20, bonferroni_level(20)) == pytest.approx(0.04883, abs=5e-6)
    assert sidak_level(20) == pytest.approx(0.002561, abs=5e-7)
    assert family_error_bound(20) == 1.0


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.344), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_nemenyi_quantile(k: int, q: float) -> None:
    assert nemenyi_quantile(k) == pytest.approx(q, abs=6e-4)


def test_critical_difference() -> None:
    assert critical_difference(5, 10) == pytest.approx(1.929, abs=5e-4)


def test_gain_of_the_best_of_ten_and_of_a_hundred() -> None:
    assert 0.8 - inflation(10, 0.5).expected == pytest.approx(0.031, abs=5e-4)
    assert inflation(100, 0.5).expected == pytest.approx(1.254, abs=5e-4)
    assert (inflation(10, 1.0).bound, inflation(100, 1.0).bound) == pytest.approx((2.146, 3.035), abs=5e-4)


def test_expected_best_against_budget() -> None:
    trials = [0.70, 0.72, 0.75, 0.78, 0.80]
    assert expected_best(trials, unbiased=False) == pytest.approx([0.75, 0.7708, 0.7812, 0.78712, 0.7908], abs=5e-5)
    assert expected_best(trials) == pytest.approx([0.75, 0.776, 0.789, 0.796, 0.80], abs=5e-7)


def test_shipped_example_is_the_labs() -> None:
    lines = (ROOT / "fixtures" / "claims" / "lab.csv").read_text().split()
    assert lines[0] == "id,a,b"
    values = [line.split(",") for line in lines[1:]]
    assert [float(b) for _, _, b in values] == LAB_B
    assert [float(a) for _, a, _ in values] == LAB_A


def test_points_are_not_percent() -> None:
    assert points(1.0) == "1 percentage point"
    assert points(0.03 * 100) == "3 percentage points"
