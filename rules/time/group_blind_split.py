"""Rows of one entity come to both sides of a split."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Blind, ProgramFacts
from leakcheck.rule import Rule


class GroupBlindSplit(Rule[ProgramFacts]):
    code = "LK303"
    name = "group-blind-split"
    leak_class = "L3.2"
    severity = Severity.WARNING
    since = "0.2.0"
    sources = ("Saeb et al. 2017, The need to approximate the use-case in clinical machine learning",)
    help = "Split by the entity: GroupShuffleSplit, GroupKFold or a list of entities, so that each is on one side."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for split in facts.blind_splits:
            if split.to is Blind.ENTITIES:
                yield self.finding(
                    split.location,
                    f"{split.what} splits `{split.rows}` row by row, though the code groups these rows by "
                    f"{split.evidence}: one and the same can be on both sides",
                    trace=split.trace,
                    severity=Severity.NOTE if split.honest_test else None,
                    confidence=split.confidence,
                )
