"""LK503: a score is reported and no trivial or classical baseline is."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class NoBaseline(Rule[ProgramFacts]):
    code = "LK503"
    name = "no-baseline"
    leak_class = "S 3.1"
    severity = Severity.NOTE
    since = "0.1.0"
    sources = (
        "Ferrari Dacrema, Cremonesi and Jannach 2019, Are we really making much progress?",
        "Makridakis, Spiliotis and Assimakopoulos 2018, Statistical and machine learning forecasting methods",
    )
    help = (
        "Score a trivial predictor (DummyClassifier, DummyRegressor, the last value) and a simple one (a linear model) "
        "on the same rows, and report them beside the model."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for score in facts.unanchored:
            yield self.finding(
                score.location,
                f"{score.what} is scored on `{score.rows}` and nothing simple is scored beside it: nobody can tell "
                "what the number is worth",
                trace=score.trace,
                confidence=score.confidence,
            )
