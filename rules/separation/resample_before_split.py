"""Rows repeated or made up before the split."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Learned, ProgramFacts
from leakcheck.rule import Rule


class ResampleBeforeSplit(Rule[ProgramFacts]):
    code = "LK103"
    name = "resample-before-split"
    leak_class = "L1.4"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = "Split first and resample the training rows only (an imblearn Pipeline resamples inside each fold)."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.ROWS:
                yield self.finding(
                    leak.location,
                    f"{leak.what} repeats or makes up rows from all of `{leak.rows}`, so that "
                    f"copies fall among {leak.held_out}",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
