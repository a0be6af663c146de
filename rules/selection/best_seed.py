"""Several seeds are run and only the best is reported."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Choice, ProgramFacts
from leakcheck.rule import Rule


class BestSeed(Rule[ProgramFacts]):
    code = "LK205"
    name = "best-seed"
    leak_class = "S 9.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Cawley and Talbot 2010, On over-fitting in model selection",)
    help = "Report the mean and the spread over all seeds that were run."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.choices:
            if leak.choice is Choice.SEED:
                yield self.finding(
                    leak.location,
                    f"several seeds are run and the best by its score on `{leak.rows}` is kept",
                    trace=leak.trace,
                    confidence=leak.confidence,
                )
