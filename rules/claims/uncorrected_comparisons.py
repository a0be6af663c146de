"""LK804: one of several comparisons holds only without a correction."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts
from leakcheck.claims.finding import severity, subject
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class UncorrectedComparisons(Rule[ClaimFacts]):
    code = "LK804"
    name = "uncorrected-comparisons"
    leak_class = "S 7.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = (
        "Demsar 2006, Statistical comparisons of classifiers over multiple data sets",
        "Holm 1979, A simple sequentially rejective multiple test procedure",
    )
    help = 'Declare the correction (correction = "holm") and claim only what holds under it.'

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        family = facts.family
        if family is None or not facts.corrected_away:
            return
        yield self.finding(
            facts.location,
            f"{subject(facts)} is one of {family.size} comparisons without a correction, and fails under Holm's: "
            f"p = {family.p:.3g} becomes {family.adjusted_p:.3g} (chance of a false positive among "
            f"{family.size} independent tests: {100 * family.error_rate:.1f} %)",
            severity=severity(facts, self.severity),
            evidence={"family": family.name, "size": family.size, "p": family.p, "adjusted_p": family.adjusted_p},
        )
