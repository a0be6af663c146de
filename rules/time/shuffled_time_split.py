"""Rows that follow each other in time are split at random."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Blind, ProgramFacts
from leakcheck.rule import Rule


class ShuffledTimeSplit(Rule[ProgramFacts]):
    code = "LK301"
    name = "shuffled-time-split"
    leak_class = "L3.1"
    severity = Severity.WARNING
    since = "0.2.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = "Cut at a moment in time (a date, a position, shuffle=False) or use TimeSeriesSplit: train on the past only."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for split in facts.blind_splits:
            if split.to is Blind.TIME:
                yield self.finding(
                    split.location,
                    f"{split.what} splits rows at random that follow each other in time: "
                    f"`{split.rows}` has {split.evidence}",
                    trace=split.trace,
                    severity=Severity.NOTE if split.weak or split.honest_test else None,
                    confidence=split.confidence,
                )
