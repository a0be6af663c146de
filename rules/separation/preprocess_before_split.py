"""Statistics learned from rows that are later held out."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import HoldOut, Learned, ProgramFacts
from leakcheck.rule import Rule


class PreprocessBeforeSplit(Rule[ProgramFacts]):
    code = "LK101"
    name = "preprocess-before-split"
    leak_class = "L1.2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Split first, fit the step on the training rows and apply it to the others; "
        "a Pipeline passed to the split or the cross-validation does this by itself."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.STATISTICS and leak.hold_out is HoldOut.SPLIT:
                yield self.finding(
                    leak.location,
                    f"{leak.learns} on all rows of `{leak.rows}`, which include {leak.held_out}",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
