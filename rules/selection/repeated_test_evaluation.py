"""Several configurations scored on the same test rows."""

from collections.abc import Iterator

from leakcheck.expected_maximum import expected_maximum, expected_maximum_bound
from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class RepeatedTestEvaluation(Rule[ProgramFacts]):
    code = "LK201"
    name = "repeated-test-evaluation"
    leak_class = "S 4.2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = (
        "Dwork et al. 2015, The reusable holdout",
        "Recht et al. 2019, Do ImageNet classifiers generalize to ImageNet?",
    )
    help = (
        "Compare configurations on validation rows or by cross-validation on the training rows; score the "
        "test rows once, "
        "with the one that was chosen."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for reuse in facts.reuses:
            k = reuse.configurations
            if k is None:
                message = f"several configurations are scored on the same test rows `{reuse.rows}`"
                evidence = None
            else:
                exact, bound = expected_maximum(k), expected_maximum_bound(k)
                message = (
                    f"{k} configurations are scored on the same test rows `{reuse.rows}`: the best of {k} is expected "
                    f"{exact:.2f} standard errors too high by chance alone (bound sqrt(2 ln k): {bound:.2f})"
                )
                evidence = {
                    "k": k,
                    "expected_inflation": exact,
                    "bound": bound,
                    "unit": "standard deviations of a score",
                }
            yield self.finding(
                reuse.location,
                message,
                trace=reuse.trace,
                # Different methods scored one by one are a comparison to report, not yet a search.
                severity=None if reuse.side_by_side else Severity.NOTE,
                confidence=reuse.confidence,
                evidence=evidence,
            )
