"""Duplicates carry different labels."""

from collections.abc import Iterator

from leakcheck.audit.describe import examples, trace
from leakcheck.audit.facts import AuditFacts
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class ConflictingLabels(Rule[AuditFacts]):
    code = "LK604"
    name = "conflicting-labels"
    leak_class = "L1.4"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Northcutt, Athalye and Mueller 2021, Pervasive label errors in test sets",)
    help = "Look at these rows: one of the labels is wrong, or the input does not determine it."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for conflict in facts.conflicts:
            inputs = conflict.what if conflict.what.count(",") < 3 else "inputs"  # a wide table's are in the evidence
            groups = "1 group" if conflict.groups == 1 else f"{conflict.groups} groups"
            yield self.finding(
                conflict.examples[0].first.location,
                f"{groups} of rows with equal {inputs} and different `{conflict.target}` ({conflict.rows} rows)",
                trace=trace(conflict.examples, "this row", "has the same input and another label"),
                evidence={"columns": conflict.what, **examples(conflict.examples, conflict.groups)},
            )
