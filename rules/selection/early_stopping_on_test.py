"""The reported test rows decide when training stops."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Choice, ProgramFacts
from leakcheck.rule import Rule


class EarlyStoppingOnTest(Rule[ProgramFacts]):
    code = "LK203"
    name = "early-stopping-on-test"
    leak_class = "S 4.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Cawley and Talbot 2010, On over-fitting in model selection",)
    help = "Hold out a validation part of the training rows for stopping and checkpoints."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.choices:
            if leak.choice is Choice.STOPPING:
                rows = "the rows of the fold that it is scored on," if leak.each_fold else "the test rows"
                yield self.finding(
                    leak.location,
                    f"training stops, or its best state is kept, by {rows} `{leak.rows}`",
                    trace=leak.trace,
                    confidence=leak.confidence,
                )
