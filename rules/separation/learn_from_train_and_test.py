"""Statistics learned from train and test put together."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import HoldOut, Learned, ProgramFacts
from leakcheck.rule import Rule


class LearnFromTrainAndTest(Rule[ProgramFacts]):
    code = "LK108"
    name = "learn-from-train-and-test"
    leak_class = "L1.2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = "Fit the step on the training rows alone, then apply it to both."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.STATISTICS and leak.hold_out is HoldOut.TOGETHER:
                yield self.finding(
                    leak.location,
                    f"{leak.learns} on train and test rows put together in `{leak.rows}`",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
