"""A simple model tells train rows from test rows."""

from collections.abc import Iterator

from leakcheck.audit.describe import score_evidence
from leakcheck.audit.facts import AuditFacts
from leakcheck.findings import Confidence, Finding, Severity
from leakcheck.rule import Rule


class DistinguishableSplits(Rule[AuditFacts]):
    code = "LK706"
    name = "distinguishable-splits"
    leak_class = "L3.3"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Rabanser, Guennemann and Lipton 2019, Failing loudly",)
    help = "Say for which rows the score holds; if the split was meant to be random, look at how it was drawn."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for told in facts.distinguishable:
            if told.score.interval.low <= told.score.chance + told.margin:
                continue
            columns = ", ".join(f"`{name}` ({value:.2f})" for name, value in told.columns)
            yield self.finding(
                told.place.location,
                f"a simple model tells rows of {told.held_out} from {told.training} with {told.score}, "
                f"margin {told.margin:g}{told.sample}" + (f"; alone: {columns}" if columns else ""),
                confidence=Confidence.LIKELY,
                evidence=score_evidence(
                    told.score,
                    margin=told.margin,
                    columns=[list(one) for one in told.columns],
                    sampled=told.sampled or None,
                ),
            )
