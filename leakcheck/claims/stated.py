"""Checks the numbers that a claim's text states against the runs. Percentage points are not percent."""

from __future__ import annotations

import re
from pathlib import Path

from leakcheck.claims.facts import Claim, Direction, Stated, Summary, Unit
from leakcheck.claims.prose import NUMBER, prose_facts
from leakcheck.claims.prose_facts import Comparison
from leakcheck.claims.tables import read_text
from leakcheck.claims.wording import plain
from leakcheck.errors import LeakcheckError
from leakcheck.project.paths import shown


def stated_numbers(claim: Claim, summary: Summary, root: Path) -> tuple[Stated, ...]:
    """Each sentence of the claim's text that states it, with what its numbers say about the runs.

    Raises
    ------
    LeakcheckError
        If the text cannot be read.
    """
    assert claim.text is not None
    file = root / claim.text
    if not file.is_file():
        raise LeakcheckError("the text of the claim does not exist", file=claim.text)
    facts = prose_facts(read_text(file, claim.text), shown(file), (claim,), claim.text)
    return tuple(_check(comparison, summary) for comparison in facts.comparisons if comparison.covered_by == claim.id)


def _check(comparison: Comparison, summary: Summary) -> Stated:
    problems, best = [], False
    for match in NUMBER.finditer(comparison.text):
        problem = _problem(match[0].strip(), comparison.text[match.end() : match.end() + 24], summary)
        if problem is not None:
            problems.append(problem[0])
            best = best or problem[1]
    explanation = "; ".join(problems) if problems else "agrees with the runs"
    return Stated(comparison.location, comparison.text, not problems, explanation, best)


def _problem(number: str, after: str, summary: Summary) -> tuple[str, bool] | None:
    """What is wrong with one number, and whether it is the best run's; None where the runs bear it out."""
    digits = re.sub(r"[^\d.,]", "", number).replace(",", ".").rstrip(".")
    value = float(digits)
    step = 10.0 ** -len(digits.partition(".")[2])
    percent = number.endswith(("%", "percent"))
    in_points = re.match(r"\s*(?:-\s*)?(?:absolute\s+)?(?:percentage\s+points?|points?|pp\b|pts?\b)", after) is not None
    if not (percent or in_points or "." in digits):
        return None  # a bare whole number is a year, a count of classes, a layer
    # Values and stated numbers meet on the scale of points, or of the metric itself.
    factor = 100.0 if summary.unit is Unit.FRACTION and (percent or in_points or value > 1.0) else 1.0

    def fits(actual: float) -> bool:
        return abs(abs(actual) * factor - value) <= step / 2 * (1 + 1e-9)

    better = max if summary.direction is Direction.HIGHER else min
    best_b = better((pair.b for pair in summary.pairs), default=summary.mean_b)
    relative = abs(summary.difference / summary.mean_a) * 100.0 if summary.mean_a else None
    in_percent_units = summary.unit is not Unit.RAW
    difference = abs(summary.difference) * factor
    if fits(summary.mean_a) or fits(summary.mean_b):
        return None
    if percent and relative is not None and abs(relative - value) <= step / 2:
        return None
    if fits(summary.difference):
        if percent and in_percent_units:
            share = f"{plain(relative, 3)} % of the score of {summary.a!r}"
            return f"{number} is stated, the runs differ by {plain(difference, 4)} percentage points, {share}", False
        return None
    if fits(best_b) and summary.n > 1:
        mean = plain(summary.mean_b * factor, 5)
        return f"{number} is the best of {summary.n} runs of {summary.b!r}; their mean is {mean}", True
    on_points_scale = summary.unit is Unit.POINTS or factor == 100.0
    unit = " percentage points" if on_points_scale else ""
    means = f"{plain(summary.mean_a * factor, 5)} and {plain(summary.mean_b * factor, 5)}"
    return f"{number} is stated; the runs give {means}, a difference of {plain(difference, 4)}{unit}", False
