"""LK805: the reported score is the best of several and is reported as if it were one."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts
from leakcheck.claims.finding import severity, subject
from leakcheck.claims.wording import amount
from leakcheck.findings import Finding, Severity, TraceStep
from leakcheck.rule import Rule


class UncorrectedSelection(Rule[ClaimFacts]):
    code = "LK805"
    name = "uncorrected-selection"
    leak_class = "S 4.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = (
        "Cawley and Talbot 2010, On over-fitting in model selection",
        "Dodge et al. 2019, Show your work: improved reporting of experimental results",
    )
    help = "Choose on validation rows, then report the mean of fresh runs; or take the expected gain of the best off."

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        level = severity(facts, self.severity)
        for stated in facts.stated:
            if stated.best_run:
                message = f"{subject(facts)} states the best run, not the mean: {stated.explanation}"
                yield self.finding(
                    stated.location, message, trace=(TraceStep("the claim", facts.location),), severity=level
                )
        chosen = facts.inflation
        if chosen is None or not (facts.selected_away or facts.summary.difference <= chosen.expected):
            return
        yield self.finding(
            facts.location,
            f"{subject(facts)} reports the best of {chosen.k}; choosing alone gains about "
            f"{amount(chosen.expected, facts.summary, 4)} (exact; {amount(chosen.bound, facts.summary, 4)} by the "
            f"sqrt(2 ln k) bound) of the {amount(facts.summary.difference, facts.summary)} seen",
            severity=level,
            evidence={"k": chosen.k, "sigma": chosen.sigma, "expected": chosen.expected, "bound": chosen.bound},
        )
