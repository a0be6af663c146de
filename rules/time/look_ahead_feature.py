"""A feature is computed from later rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class LookAheadFeature(Rule[ProgramFacts]):
    code = "LK302"
    name = "look-ahead-feature"
    leak_class = "L3.1"
    severity = Severity.ERROR
    since = "0.2.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Let a feature look back only: a positive shift, a trailing window, a forward fill, "
        "a filter that runs forwards or is applied to the past alone."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for ahead in facts.look_aheads:
            feature = f"the feature `{ahead.feature}`" if ahead.feature else "a feature"
            yield self.finding(
                ahead.location,
                f"{feature} of {ahead.train} is computed from later rows by {ahead.what}: "
                "they are not known when it has to predict",
                trace=ahead.trace,
                confidence=ahead.confidence,
            )
