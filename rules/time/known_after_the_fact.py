"""A feature's timestamp is later than the moment of prediction."""

from collections.abc import Iterator
from dataclasses import asdict

from leakcheck.audit.facts import AuditFacts
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class KnownAfterTheFact(Rule[AuditFacts]):
    code = "LK707"
    name = "known-after-the-fact"
    leak_class = "L3.1"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kaufman et al. 2012, Leakage in data mining",)
    help = "Drop the column, and whatever was recorded with it, or use its value as it stood at the prediction."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for late in facts.late:
            yield self.finding(
                late.places[0].location,
                f"{late.touched} of {late.total} rows of {late.split} have a `{late.column}` later than "
                f"`{late.prediction_time}`, the moment of prediction",
                evidence={**asdict(late), "left_out_of_places": late.touched - len(late.places)},
            )
