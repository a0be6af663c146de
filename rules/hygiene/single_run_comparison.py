"""LK502: two methods are compared on one run each."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class SingleRunComparison(Rule[ProgramFacts]):
    code = "LK502"
    name = "single-run-comparison"
    leak_class = "S 7.1"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = (
        "Dietterich 1998, Approximate statistical tests for comparing supervised classification learning algorithms",
        "Bouthillier et al. 2021, Accounting for variance in machine learning benchmarks",
    )
    help = (
        "Run each method on several seeds, splits or folds and compare the pairs (`leakcheck compare`), or give an "
        "interval of the difference by a paired bootstrap of the test rows."
    )

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for comparison in facts.comparisons:
            *others, last = dict.fromkeys(comparison.methods)
            methods = f"{', '.join(others)} and {last}" if others else f"settings of {last}"
            yield self.finding(
                comparison.location,
                f"{methods} are compared on one run each, scored on `{comparison.rows}`: nothing tells their "
                "difference from the luck of this split and these seeds",
                trace=comparison.trace,
                confidence=comparison.confidence,
            )
