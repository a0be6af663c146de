"""The only score is on the training rows."""

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class NoHeldOutRows(Rule[ProgramFacts]):
    code = "LK111"
    name = "no-held-out-rows"
    leak_class = "L1.1"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",)
    help = (
        "Hold rows out before training, or cross-validate; a score on the training rows says how well the "
        "model remembers."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for score in facts.training_scores:
            yield self.finding(
                score.location,
                f"the only score of {score.what} is on `{score.rows}`, the rows it was trained on",
                trace=score.trace,
            )
