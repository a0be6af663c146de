"""LK802: fewer runs than the claim needs."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts, Verdict
from leakcheck.claims.finding import evidence, severity, subject
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class TooFewRuns(Rule[ClaimFacts]):
    code = "LK802"
    name = "too-few-runs"
    leak_class = "S 7.1"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = (
        "Henderson et al. 2018, Deep reinforcement learning that matters",
        "Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical precipice",
    )
    help = "Run both methods on the same further seeds, and report all of them."

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        if reason := self._reason(facts):
            yield self.finding(
                facts.location,
                f"{subject(facts)} {reason}",
                severity=severity(facts, self.severity),
                evidence=evidence(facts),
            )

    def _reason(self, facts: ClaimFacts) -> str | None:
        summary = facts.summary
        runs = f"{summary.n} paired {summary.analysis_unit}{'' if summary.n == 1 else 's'}"
        if facts.verdict is Verdict.INSUFFICIENT:
            return f"rests on {runs}: {facts.reason}"
        if facts.missing_runs:
            planned = len(facts.claim.seeds)
            return f"rests on {runs}, but {planned} were planned; missing: {', '.join(facts.missing_runs)}"
        needed = summary.runs_needed
        if facts.clears:
            return None  # enough for its own interval; LK804 or LK805 say what else failed
        if facts.verdict is Verdict.INCONCLUSIVE and needed is not None and summary.n < needed:
            return (
                f"rests on {runs}; a true difference of the declared threshold would need about {needed} (80 % power)"
            )
        return None
