"""With part of the input removed a simple model still scores far above chance."""

from collections.abc import Iterator
from dataclasses import asdict

from leakcheck.audit.describe import score_evidence
from leakcheck.audit.facts import AuditFacts
from leakcheck.findings import Confidence, Finding, Severity
from leakcheck.rule import Rule


class InputAblationShortcut(Rule[AuditFacts]):
    code = "LK705"
    name = "input-ablation-shortcut"
    leak_class = "S 6.2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Gururangan et al. 2018, Annotation artifacts in natural language inference data",)
    help = "Report the score of the ablated input as a baseline, and balance what gives the label away."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for ablation in facts.ablations:
            if ablation.score.interval.low <= ablation.score.chance + ablation.margin:
                continue
            yield self.finding(
                ablation.place.location,
                f"from `{ablation.kept}` alone, without {ablation.removed}, a simple model reaches {ablation.score}; "
                f"with all of the input {ablation.full}; the margin is {ablation.margin:g}",
                confidence=Confidence.LIKELY,
                evidence=score_evidence(
                    ablation.score, full=asdict(ablation.full), margin=ablation.margin, kept=ablation.kept
                ),
            )
