"""Features chosen with the target of rows that are later held out."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Learned, ProgramFacts
from leakcheck.rule import Rule


class SelectBeforeSplit(Rule[ProgramFacts]):
    code = "LK102"
    name = "select-before-split"
    leak_class = "L1.3"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Choose features inside the training rows: put the selector into a Pipeline that is fitted after the split "
        "(or in each fold)."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.FEATURES:
                yield self.finding(
                    leak.location,
                    f"{leak.what} chooses features with the target of all rows of `{leak.rows}`, "
                    f"which include {leak.held_out}",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
