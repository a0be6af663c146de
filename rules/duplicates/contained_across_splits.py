"""An evaluation item is contained in a longer training document."""

from collections.abc import Iterator

from leakcheck.audit.describe import counted, evidence, first_place, from_files, trace
from leakcheck.audit.facts import AuditFacts, Kind
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class ContainedAcrossSplits(Rule[AuditFacts]):
    code = "LK603"
    name = "contained-across-splits"
    leak_class = "L1.4"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Brown et al. 2020, Language models are few-shot learners, appendix C",)
    help = "Take the items out of the evaluation split, or the documents out of training."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for overlap in facts.overlaps:
            if overlap.kind is not Kind.CONTAINED:
                continue
            yield self.finding(
                first_place(overlap),
                f"{counted(overlap)} have a `{overlap.what}` contained in a longer text of {overlap.training}"
                f"{from_files(overlap)}: {overlap.method}",
                trace=trace(overlap.examples, "this item", "is contained here"),
                evidence=evidence(overlap),
            )
