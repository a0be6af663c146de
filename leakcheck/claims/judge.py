"""The verdict of a claim, and the sentences that go with it."""

from __future__ import annotations

from decimal import Decimal
from enum import Enum

from leakcheck.claims.facts import Claim, FamilyResult, Inflation, Interval, Stage, Summary, Verdict
from leakcheck.claims.wording import amount, interval_text
from leakcheck.findings import Finding

FEWEST = 3  # pairs below which there is no verdict
NORMALITY_UP_TO = 5
UNDERCOVERAGE_BELOW = 20
CEILING_UP_TO = 5

ALWAYS = (
    "A narrow interval is no protection against leakage, correlated seeds, benchmark selection or an unfair budget.",
    "Ids alone do not make a pairing meaningful: the two methods must really share what the id names.",
    "The interval is evidence under its sampling assumptions, not a causal statement.",
    "This checks the numbers given; it is not a reproduction certificate.",
)


class Position(Enum):
    """Where an interval lies; touching counts as crossing."""

    ABOVE = "above"
    BELOW = "below"
    CROSSES = "crosses"


def position(interval: Interval, threshold: float) -> Position:
    """Compare in decimals: the ends are rounded results, the threshold is what was written."""
    bar = Decimal(repr(threshold))
    if Decimal(repr(interval.low)) > bar:
        return Position.ABOVE
    return Position.BELOW if Decimal(repr(interval.high)) < bar else Position.CROSSES


def judge(
    claim: Claim,
    summary: Summary,
    family: FamilyResult | None = None,
    inflation: Inflation | None = None,
    risks: tuple[Finding, ...] = (),
) -> tuple[Verdict, str]:
    """The verdict and one sentence why. The first that holds, in the order of the specification."""
    what = f"paired {summary.analysis_unit}s"
    if summary.n < FEWEST:
        found = "one run is not a result" if summary.n == 1 else f"{summary.n} {what} are too few for an interval"
        return Verdict.INSUFFICIENT, f"{found}; at least {FEWEST} {what} are needed"
    interval = summary.t_interval
    if summary.degenerate or interval is None:
        return (
            Verdict.DEGENERATE,
            f"all {summary.n} differences are {amount(summary.difference, summary)}: "
            "without spread no interval means anything",
        )
    measured = _measured(summary, interval, family, inflation)
    if risks:
        first = risks[0]
        more = f" and {len(risks) - 1} more" if len(risks) > 1 else ""
        return (
            Verdict.AT_RISK,
            f"open finding {first.code} ({first.name}) at {first.location}{more} behind the results; {measured[1]}",
        )
    if claim.stage is Stage.EXPLORATORY:
        return Verdict.EXPLORATORY, f"an exploratory comparison is a hypothesis, not a confirmed result; {measured[1]}"
    return measured


def corrected_away(summary: Summary, family: FamilyResult | None) -> bool:
    """Whether the interval clears the threshold but, with no correction declared, would not under Holm's."""
    return family is not None and not family.declared and not family.clears and clears(summary)


def selected_away(summary: Summary, inflation: Inflation | None) -> bool:
    """Whether the interval clears the threshold only by what the best of k gains by luck."""
    if inflation is None or summary.t_interval is None or not clears(summary):
        return False
    return summary.t_interval.low - inflation.expected <= (summary.threshold or 0.0)


def clears(summary: Summary) -> bool:
    """Whether the deciding interval lies strictly above the threshold."""
    interval = summary.t_interval
    return interval is not None and position(interval, summary.threshold or 0.0) is Position.ABOVE


def _measured(
    summary: Summary, interval: Interval, family: FamilyResult | None, inflation: Inflation | None
) -> tuple[Verdict, str]:
    threshold = summary.threshold or 0.0
    bar = "the threshold " + amount(threshold, summary) if summary.threshold is not None else "zero"
    place = position(interval, threshold)
    shown = f"the {interval.method} interval {interval_text(interval, summary)}"
    if summary.bootstrap is not None and position(summary.bootstrap, threshold) is not place:
        other = summary.bootstrap
        return (
            Verdict.METHOD_SENSITIVE,
            f"{shown} and the {other.method} interval {interval_text(other, summary)} disagree about {bar}",
        )
    if family is not None and place is not Position.CROSSES and not family.clears:
        return (
            Verdict.INCONCLUSIVE,
            f"{shown} clears {bar}, but not once the {family.size} comparisons of the family are corrected "
            f"({family.correction.value}: adjusted p = {family.adjusted_p:.3g})",
        )
    if inflation is not None and selected_away(summary, inflation):
        return (
            Verdict.INCONCLUSIVE,
            f"{shown} clears {bar}, but not once the gain of the best of {inflation.k} "
            f"({amount(inflation.expected, summary, 4)}) is taken off",
        )
    if place is Position.ABOVE:
        return Verdict.SUPPORTED, f"{shown} lies above {bar}"
    if place is Position.BELOW:
        return Verdict.NOT_SUPPORTED, f"{shown} lies below {bar}"
    return Verdict.INCONCLUSIVE, f"{shown} does not clear {bar}"


def caveats(summary: Summary) -> tuple[str, ...]:
    """What limits this summary, then what limits every one."""
    return (*summary.remarks, *_small_sample(summary), *ALWAYS)


def _small_sample(summary: Summary) -> list[str]:
    found: list[str] = []
    if summary.t_interval is None:
        return found
    if summary.n <= NORMALITY_UP_TO:
        found.append(f"With {summary.n} pairs the t interval rests on normality of the differences.")
    if summary.bootstrap is None:
        return found
    if summary.n <= CEILING_UP_TO:
        ceiling = 1.0 - 2.0 ** (1 - summary.n)
        found.append(
            f"With {summary.n} pairs no percentile interval reaches 95 % for symmetric differences "
            f"(at most {100 * ceiling:.4g} %), since resampled means never leave the range of the differences."
        )
    elif summary.n < UNDERCOVERAGE_BELOW:
        found.append(f"With {summary.n} pairs the percentile interval covers less than its nominal 95 %.")
    if summary.wilcoxon_smallest_p is not None and summary.wilcoxon_smallest_p > 0.05:
        found.append(
            f"With {summary.n} pairs the Wilcoxon test cannot give less than p = {summary.wilcoxon_smallest_p:.4g}."
        )
    return found
