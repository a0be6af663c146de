"""LK807: the methods were not tuned with the same effort, or nobody says."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts
from leakcheck.claims.finding import severity, subject
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class UnequalBudget(Rule[ClaimFacts]):
    code = "LK807"
    name = "unequal-budget"
    leak_class = "S 8"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = (
        "Dodge et al. 2019, Show your work: improved reporting of experimental results",
        "Melis et al. 2018, On the state of the art of evaluation in neural language models",
    )
    help = "Tune both methods with the same number of trials, or state the numbers: trials = { a = 20, b = 20 }."

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        if reason := self._reason(facts):
            yield self.finding(facts.location, f"{subject(facts)} {reason}", severity=severity(facts, self.severity))

    def _reason(self, facts: ClaimFacts) -> str | None:
        trials, summary = facts.claim.trials, facts.summary
        if trials is None:
            # On the command line there is often no budget to speak of; the summary says that it is not stated.
            return "states no tuning budget" if facts.declared else None
        if trials.a == trials.b:
            return None
        more, less = sorted((trials.a, trials.b), reverse=True)
        ratio = f" ({more / less:.3g} times)" if less else ""
        return f"tuned {summary.b!r} with {trials.b} trials and {summary.a!r} with {trials.a}{ratio}"
