"""A category replaced by a statistic of the target of held-out rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Learned, ProgramFacts
from leakcheck.rule import Rule


class EncodeTargetBeforeSplit(Rule[ProgramFacts]):
    code = "LK104"
    name = "encode-target-before-split"
    leak_class = "L2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Compute the encoding from the training rows only, out of fold (sklearn.preprocessing.TargetEncoder "
        "inside a Pipeline; cross_val_predict for the predictions of a model)."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.TARGET:
                yield self.finding(
                    leak.location,
                    f"{leak.what} puts statistics of the target of all rows of `{leak.rows}` into a feature, "
                    f"among them {leak.held_out}",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
