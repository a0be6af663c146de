"""LK803: rows of one run stand as independent runs."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.facts import ClaimFacts
from leakcheck.claims.finding import severity, subject
from leakcheck.findings import Finding, Severity, TraceStep
from leakcheck.rule import Rule


class BrokenPairing(Rule[ClaimFacts]):
    code = "LK803"
    name = "broken-pairing"
    leak_class = "S 7.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical precipice",)
    help = "Declare the run of each row (cluster), so that rows of one run count as one observation."

    def check(self, facts: ClaimFacts) -> Iterator[Finding]:
        pseudo = facts.pseudo_runs
        if pseudo is None:
            return
        known = (
            f"the column {pseudo.column!r} shows" if pseudo.column else "no column tells their runs, so they count as"
        )
        runs = f"{pseudo.runs} run{'' if pseudo.runs == 1 else 's'}"
        yield self.finding(
            facts.location,
            f"{subject(facts)} gives {pseudo.rows} rows as independent; {known} {runs}",
            trace=(TraceStep("the rows", pseudo.location),),
            severity=severity(facts, self.severity),
            evidence={"rows": pseudo.rows, "runs": pseudo.runs, "column": pseudo.column},
        )
