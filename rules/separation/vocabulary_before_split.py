"""Vocabulary, document frequencies or category codes learned from all rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Learned, ProgramFacts
from leakcheck.rule import Rule


class VocabularyBeforeSplit(Rule[ProgramFacts]):
    code = "LK107"
    name = "vocabulary-before-split"
    leak_class = "L1.2"
    severity = Severity.NOTE
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Build the vocabulary from the training rows; unseen words and categories then meet the model as they"
        " will in use."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for leak in facts.learned:
            if leak.learned is Learned.VOCABULARY:
                yield self.finding(
                    leak.location,
                    f"{leak.learns} on all rows of `{leak.rows}`, which include {leak.held_out}",
                    trace=leak.trace,
                    severity=Severity.NOTE if leak.honest_test else None,
                    confidence=leak.confidence,
                )
