"""A decision threshold fitted on the reported test rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Choice, ProgramFacts
from leakcheck.rule import Rule


class ThresholdOnTest(Rule[ProgramFacts]):
    code = "LK204"
    name = "threshold-on-test"
    leak_class = "S 4.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Cawley and Talbot 2010, On over-fitting in model selection",)
    help = "Choose the threshold (or fit the calibration) on validation rows."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.choices:
            if leak.choice is Choice.THRESHOLD:
                yield self.finding(
                    leak.location,
                    f"the decision threshold (or calibration) is fitted on the test rows `{leak.rows}`",
                    trace=leak.trace,
                    confidence=leak.confidence,
                )
