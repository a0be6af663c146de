"""A step learned once on all rows that are then cross-validated."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import HoldOut, Learned, ProgramFacts
from leakcheck.rule import Rule


class LearnOutsideCv(Rule[ProgramFacts]):
    code = "LK105"
    name = "learn-outside-cv"
    leak_class = "L1.2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Put the step into a Pipeline and pass the Pipeline to the cross-validation, so that it is fitted in each fold."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.STATISTICS and leak.hold_out is HoldOut.FOLDS:
                yield self.finding(
                    leak.location,
                    f"{leak.learns} once on all rows of `{leak.rows}`, which are then folded: each fold was seen",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
