"""The same entity stands in two splits."""

from collections.abc import Iterator

from leakcheck.audit.describe import counted, evidence, first_place, from_files, trace
from leakcheck.audit.facts import AuditFacts, Kind
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class EntityOverlap(Rule[AuditFacts]):
    code = "LK702"
    name = "entity-overlap"
    leak_class = "L3.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Saeb et al. 2017, The need to approximate the use-case in clinical machine learning",)
    help = "Split by entity, so that all rows of one stand on one side."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for overlap in facts.overlaps:
            if overlap.kind is not Kind.ENTITY:
                continue
            yield self.finding(
                first_place(overlap),
                f"{counted(overlap)} have a `{overlap.what}` that has rows in {overlap.training} too"
                f"{from_files(overlap)}; {overlap.distinct} of {overlap.distinct_total} distinct",
                trace=trace(overlap.examples, "this entity", "has rows here too"),
                evidence=evidence(overlap),
            )
