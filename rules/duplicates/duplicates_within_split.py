"""A split repeats itself."""

from collections.abc import Iterator

from leakcheck.audit.describe import examples, trace
from leakcheck.audit.facts import BY_CHANCE, AuditFacts
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class DuplicatesWithinSplit(Rule[AuditFacts]):
    code = "LK605"
    name = "duplicates-within-split"
    leak_class = "L1.4"
    severity = Severity.NOTE
    since = "0.1.0"
    sources = ("Barz and Denzler 2020, Do we train on test data?",)
    help = "Repeats weigh some rows more than others; they leak only if a later split tears them apart."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for repeats in facts.repeats:
            if repeats.chance > BY_CHANCE:
                continue
            yield self.finding(
                repeats.examples[0].second.location,
                f"{repeats.rows} of {repeats.total} rows of {repeats.split} repeat an earlier row of it",
                trace=trace(repeats.examples, "stands here first", "and here again"),
                evidence={"columns": repeats.what, **examples(repeats.examples, repeats.rows)},
            )
