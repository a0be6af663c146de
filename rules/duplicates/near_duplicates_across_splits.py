"""Verified similarity at or above the threshold across two splits."""

from collections.abc import Iterator

from leakcheck.audit.describe import counted, evidence, first_place, from_files, trace
from leakcheck.audit.facts import AuditFacts, Kind
from leakcheck.findings import Confidence, Finding, Severity
from leakcheck.rule import Rule


class NearDuplicatesAcrossSplits(Rule[AuditFacts]):
    code = "LK602"
    name = "near-duplicates-across-splits"
    leak_class = "L1.4"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Lee et al. 2022, Deduplicating training data makes language models better",)
    help = "Keep near duplicates on one side of the split, or write it without them: `--write-clean`."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for overlap in facts.overlaps:
            if overlap.kind not in (Kind.NEAR_TEXT, Kind.NEAR_ROW):
                continue
            what = (
                f"a `{overlap.what}` like one"
                if overlap.kind is Kind.NEAR_TEXT
                else f"values ({overlap.what}) close to those"
            )
            best = overlap.examples[0].similarity
            yield self.finding(
                first_place(overlap),
                f"{counted(overlap)} have {what} in {overlap.training}{from_files(overlap)}; "
                f"the closest pair has similarity {best:.3f}; {overlap.method}"
                + ("; all of them differ in numbers only" if overlap.numbers_only else ""),
                severity=Severity.WARNING if overlap.numbers_only else None,
                trace=trace(overlap.examples, "this row", "is nearly the same as this one"),
                confidence=Confidence.SURE if overlap.kind is Kind.NEAR_TEXT else Confidence.LIKELY,
                evidence=evidence(overlap),
            )
