"""A feature computed from the target of the same row."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class FeatureFromTarget(Rule[ProgramFacts]):
    code = "LK402"
    name = "feature-from-target"
    leak_class = "L2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kaufman et al. 2012, Leakage in data mining",)
    help = (
        "Drop the column: it is not known before the target is. A window over earlier rows ends before its row with "
        "`.shift(1)` in front of `.rolling(...)`."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.target_columns:
            if leak.feature != leak.target:
                yield self.finding(
                    leak.location,
                    f"the feature `{leak.feature}` is computed from the target `{leak.target}` of the same row",
                    trace=leak.trace,
                    confidence=leak.confidence,
                )
