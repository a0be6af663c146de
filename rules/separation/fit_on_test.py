"""A transformer fitted on the held-out rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import HoldOut, Learned, ProgramFacts
from leakcheck.rule import Rule


class FitOnTest(Rule[ProgramFacts]):
    code = "LK106"
    name = "fit-on-test"
    leak_class = "L1.2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = "Call transform, not fit or fit_transform, on the held-out rows."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.STATISTICS and leak.hold_out is HoldOut.TEST_ONLY:
                yield self.finding(
                    leak.location,
                    f"{leak.learns} on the held-out rows `{leak.rows}`",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
