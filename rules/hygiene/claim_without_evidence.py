"""LK504: prose says that one method beats another, and no declared claim covers it."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.claims.prose_facts import ProseFacts
from leakcheck.findings import Confidence, Finding, Severity
from leakcheck.rule import Rule

_SHOWN = 160


class ClaimWithoutEvidence(Rule[ProseFacts]):
    code = "LK504"
    name = "claim-without-evidence"
    leak_class = "S 7"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = (
        "Kapoor and Narayanan 2023, Leakage and the reproducibility crisis in machine-learning-based science",
        "Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical precipice",
    )
    help = "Declare the comparison with its runs in [[tool.leakcheck.claims]], so that the number is checked."

    def check(self, facts: ProseFacts) -> Iterator[Finding]:
        for comparison in facts.comparisons:
            if comparison.covered_by is not None:
                continue
            text = comparison.text if len(comparison.text) <= _SHOWN else comparison.text[: _SHOWN - 3] + "..."
            yield self.finding(
                comparison.location,
                f'{comparison.kind.value} claims a better score, and no declared claim covers it: "{text}"',
                confidence=Confidence.LIKELY,
            )
