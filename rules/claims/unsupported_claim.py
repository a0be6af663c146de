"""LK801: the runs behind a claim do not support it."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts, Verdict
from leakcheck.claims.finding import evidence, severity, subject, trace
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule

_FAILING = (
    Verdict.INCONCLUSIVE,
    Verdict.NOT_SUPPORTED,
    Verdict.METHOD_SENSITIVE,
    Verdict.DEGENERATE,
    Verdict.AT_RISK,
)
_CORRECT = "State what the runs give, with its unit: percentage points for a difference of shares."


class UnsupportedClaim(Rule[ClaimFacts]):
    code = "LK801"
    name = "unsupported-claim"
    leak_class = "S 7.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Demsar 2006, Statistical comparisons of classifiers over multiple data sets",)
    help = "Say what the interval says, or run more seeds; the claim needs the whole interval above the threshold."

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        for stated in facts.stated:
            if not stated.matches and not stated.best_run:  # the best run's number is LK805
                message = f"{subject(facts)} states numbers that its runs do not give: {stated.explanation}"
                yield self.finding(stated.location, message, severity=severity(facts, self.severity), help=_CORRECT)
        if facts.corrected_away or facts.selected_away:
            return  # LK804 and LK805 name the reason
        exploratory = facts.verdict is Verdict.EXPLORATORY and not facts.clears
        if facts.verdict not in _FAILING and not exploratory:
            return
        yield self.finding(
            facts.location,
            f"{subject(facts)} is {facts.verdict.value}: {facts.reason}",
            trace=trace(facts),
            severity=severity(facts, self.severity),
            help=self._help(facts),
            evidence=evidence(facts),
        )

    def _help(self, facts: ClaimFacts) -> str:
        if facts.verdict is Verdict.AT_RISK:
            return "Mend the finding behind the results, run again, and compare the new runs."
        return self.help
