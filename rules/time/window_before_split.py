"""Overlapping windows are cut first and split at random after."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Blind, ProgramFacts
from leakcheck.rule import Rule


class WindowBeforeSplit(Rule[ProgramFacts]):
    code = "LK304"
    name = "window-before-split"
    leak_class = "L3.1"
    severity = Severity.WARNING
    since = "0.2.0"
    sources = ("Hammerla and Plötz 2015, Let's (not) stick together",)
    help = "Cut the series into training and test part first, then cut windows inside each part."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for split in facts.blind_splits:
            if split.to is Blind.WINDOWS:
                yield self.finding(
                    split.location,
                    f"{split.what} splits overlapping windows of `{split.rows}` at random: "
                    "most test windows share values with a training window",
                    trace=split.trace,
                    severity=Severity.NOTE if split.honest_test else None,
                    confidence=split.confidence,
                )
