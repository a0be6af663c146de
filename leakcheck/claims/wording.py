"""How numbers are written for people, in the units of the metric."""

from __future__ import annotations

from decimal import Decimal

from leakcheck.claims.facts import Interval, Summary, Unit


def plain(value: float | None, digits: int = 6) -> str:
    """A number without exponent noise: 0.026, not 0.026000000000000002."""
    if value is None:
        return "not available"
    text = f"{value:.{digits}g}"
    return f"{Decimal(text):f}" if "e" in text and abs(value) >= 1e-4 else text


def p_value(p: float) -> str:
    """Four digits; below what the arithmetic can tell, a bound."""
    return "below 1e-15" if p < 1e-15 else f"{p:.4g}"


def amount(value: float, summary: Summary, digits: int = 6) -> str:
    """A difference with its unit: 0.03 of a fraction is 3 percentage points."""
    if summary.unit is Unit.FRACTION:
        return f"{plain(value, digits)} ({points(value * 100)})"
    if summary.unit is Unit.POINTS:
        return points(value)
    return plain(value, digits)


def points(value: float) -> str:
    shown = plain(value, 4)
    return f"{shown} percentage point{'' if shown in ('1', '-1') else 's'}"


def interval_text(interval: Interval, summary: Summary) -> str:
    """`[0.0118, 0.0402]`, with the unit where it is not plain."""
    shown = f"[{plain(interval.low, 4)}, {plain(interval.high, 4)}]"
    return f"{shown} points" if summary.unit is Unit.POINTS else shown
