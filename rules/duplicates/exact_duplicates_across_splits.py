"""The same row, or the same text after normalisation, stands in two splits."""

from collections.abc import Iterator

from leakcheck.audit.describe import counted, evidence, first_place, from_files, trace
from leakcheck.audit.facts import BY_CHANCE, AuditFacts, Kind
from leakcheck.findings import Confidence, Finding, Severity, TraceStep
from leakcheck.rule import Rule


class ExactDuplicatesAcrossSplits(Rule[AuditFacts]):
    code = "LK601"
    name = "exact-duplicates-across-splits"
    leak_class = "L1.4"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Barz and Denzler 2020, Do we train on test data?", "Elangovan, He and Verspoor 2021")
    help = "Drop duplicates before the split, or write the split without them: `--write-clean`."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for pair in facts.identical:
            how = "are one file" if pair.same_path else "are identical, byte for byte: 100 % overlap"
            yield self.finding(
                pair.held_out.location,
                f"{pair.held_out.path} and {pair.training.path} {how}",
                trace=(TraceStep("the same content", pair.training.location),),
            )
        for overlap in facts.overlaps:
            if overlap.kind not in (Kind.ROW, Kind.TEXT, Kind.BOILERPLATE) or overlap.chance > BY_CHANCE:
                continue
            what = "are" if overlap.kind is Kind.ROW else f"have a `{overlap.what}` that stands"
            short = " (very short texts, expected in every split)" if overlap.kind is Kind.BOILERPLATE else ""
            yield self.finding(
                first_place(overlap),
                f"{counted(overlap)} {what} in {overlap.training} too{from_files(overlap)}{short}",
                trace=trace(overlap.examples, "this row", "stands here too"),
                severity=Severity.NOTE if overlap.kind is Kind.BOILERPLATE else None,
                confidence=Confidence.SURE,
                evidence=evidence(overlap),
            )
