"""A choice made by comparing scores on the reported test rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Choice, ProgramFacts
from leakcheck.rule import Rule


class TuneOnTest(Rule[ProgramFacts]):
    code = "LK202"
    name = "tune-on-test"
    leak_class = "S 4.2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Cawley and Talbot 2010, On over-fitting in model selection",)
    help = "Choose on validation rows or by cross-validation on the training rows, then score the test rows once."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.choices:
            if leak.choice is Choice.SETTING:
                rows = f"the test rows `{leak.rows}`"
                if leak.folds_of:
                    rows = f"folds of `{leak.folds_of}`, which hold {rows}"
                score = "the score on these" if leak.folds_of else "that score"
                yield self.finding(
                    leak.location,
                    f"the best is chosen by its score on {rows}, so {score} no longer estimates new data",
                    trace=leak.trace,
                    confidence=leak.confidence,
                )
