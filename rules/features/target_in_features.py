"""The column used as target is among the features."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class TargetInFeatures(Rule[ProgramFacts]):
    code = "LK401"
    name = "target-in-features"
    leak_class = "L2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kaufman et al. 2012, Leakage in data mining",)
    help = "Drop the target column, and what it is made from, from the features before training."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.target_columns:
            if leak.feature == leak.target:
                what = f"the target `{leak.target}` is still among the features"
                if leak.made_from_it:
                    what = (
                        f"`{leak.target}`, from which the target `{leak.made_from_it}` is made, is among the features"
                    )
                yield self.finding(
                    leak.location,
                    what,
                    trace=leak.trace,
                    confidence=leak.confidence,
                )
