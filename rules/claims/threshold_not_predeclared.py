"""LK806: no practical threshold, or one that came after the results."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts
from leakcheck.claims.finding import severity, subject
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class ThresholdNotPredeclared(Rule[ClaimFacts]):
    code = "LK806"
    name = "threshold-not-predeclared"
    leak_class = "S 9.3"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Gelman and Loken 2013, The garden of forking paths",)
    help = "Declare the smallest difference that matters, and why, before the runs; commit it first."

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        for reason in self._reasons(facts):
            yield self.finding(facts.location, f"{subject(facts)} {reason}", severity=severity(facts, self.severity))

    def _reasons(self, facts: ClaimFacts) -> Iterator[str]:
        order = facts.order
        if facts.claim.threshold is None:
            yield "declares no practical threshold, so any difference above zero would do"
        elif order is not None and order.threshold_after_results:
            yield f"has its threshold after its results ({order.explanation})"
        if order is not None and order.plan_changed_after_results:
            yield f"changed its plan after the results: {', '.join(order.plan_changed_after_results)}"
        if order is not None and order.preregistered_after_results:
            yield f"names {facts.claim.preregistered} as its registration, after the first committed results"
