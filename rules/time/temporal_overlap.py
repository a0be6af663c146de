"""Training rows are dated at or after the first test row (plus the declared gap)."""

from collections.abc import Iterator
from dataclasses import asdict

from leakcheck.audit.facts import AuditFacts
from leakcheck.findings import Finding, Severity, TraceStep
from leakcheck.rule import Rule


class TemporalOverlap(Rule[AuditFacts]):
    code = "LK701"
    name = "temporal-overlap"
    leak_class = "L3.1"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis",)
    help = "Split by time: every training row before the first held-out row, less the gap."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for overlap in facts.times:
            gap = "" if overlap.gap in ("", "0s") else f" less the gap of {overlap.gap}"
            first, last = overlap.held_out_range[0], overlap.training_range[1]
            yield self.finding(
                overlap.example.second.location,
                f"{overlap.touched} of {overlap.total} rows of {overlap.training} "
                f"({100 * overlap.touched / overlap.total:.1f} %) have `{overlap.column}` at or after the first of "
                f"{overlap.held_out} ({first}){gap}; the last is {last}",
                trace=(TraceStep(f"{overlap.held_out} begins here", overlap.example.first.location),),
                evidence=asdict(overlap),
            )
