"""The expected best of k, against the table of the specification, its properties and a simulation."""

from __future__ import annotations

import doctest
import itertools

import numpy
import pytest

import leakcheck.expected_maximum as module
from leakcheck.expected_maximum import expected_maximum, expected_maximum_bound

EXACT = {
    1: 0.0,
    2: 0.564190,
    3: 0.846284,
    4: 1.029375,
    5: 1.162964,
    6: 1.267206,
    8: 1.423600,
    10: 1.538753,
    20: 1.867475,
    25: 1.965315,
    50: 2.249074,
    100: 2.507594,
    128: 2.594597,
    200: 2.746042,
    256: 2.826863,
    500: 3.036699,
    512: 3.043903,
    1000: 3.241436,
}
BOUND = {
    2: 1.1774,
    3: 1.4823,
    5: 1.7941,
    10: 2.1460,
    20: 2.4477,
    50: 2.7972,
    100: 3.0349,
    200: 3.2552,
    500: 3.5255,
    1000: 3.7169,
}


@pytest.mark.parametrize(("k", "expected"), EXACT.items())
def test_exact_value(k: int, expected: float) -> None:
    assert expected_maximum(k) == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize(("k", "expected"), BOUND.items())
def test_textbook_bound(k: int, expected: float) -> None:
    assert expected_maximum_bound(k) == pytest.approx(expected, abs=6e-5)


def test_grows_with_every_further_candidate_and_stays_below_the_bound() -> None:
    values = [expected_maximum(k) for k in range(1, 201)]
    assert values[0] == 0.0
    assert all(later > earlier for earlier, later in itertools.pairwise(values))
    assert all(value <= expected_maximum_bound(k) for k, value in enumerate(values, start=1))


@pytest.mark.parametrize(("k", "ratio"), [(2, 2.087), (10, 1.395), (100, 1.210), (1000, 1.147)])
def test_how_far_the_bound_overstates(k: int, ratio: float) -> None:
    assert expected_maximum_bound(k) / expected_maximum(k) == pytest.approx(ratio, abs=6e-4)


def test_agrees_with_simulation() -> None:
    draws = numpy.random.default_rng(7).standard_normal((200_000, 10)).max(axis=1)
    standard_error = draws.std(ddof=1) / numpy.sqrt(len(draws))
    assert abs(draws.mean() - expected_maximum(10)) < 4 * standard_error


def test_very_many_candidates() -> None:
    # Blom's approximation of the expected largest order statistic: Phi^-1((k - 0.375) / (k + 0.25)).
    assert expected_maximum(10**9) == pytest.approx(6.06, abs=0.05)


def test_no_candidates_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        expected_maximum(0)


def test_doctests() -> None:
    assert doctest.testmod(module).failed == 0
