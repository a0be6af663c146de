"""A model scored on rows it was trained on."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class OverlappingSplit(Rule[ProgramFacts]):
    code = "LK110"
    name = "overlapping-split"
    leak_class = "L1.4"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = "Train on the training part only; split each part further from what is left, never again from all rows."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.overlaps:
            yield self.finding(
                leak.location,
                f"{leak.what} is trained on `{leak.rows}`, which shares rows with "
                f"`{leak.scored}` on which it is scored",
                trace=leak.trace,
                confidence=leak.confidence,
            )
