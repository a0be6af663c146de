"""With part of the input removed a simple model still scores far above chance."""

from collections.abc import Iterator
from dataclasses import asdict

from leakcheck.audit.describe import named, score_evidence
from leakcheck.audit.facts import Ablation, AuditFacts, Part, SingleScore
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
        far_above = [a for a in facts.ablations if a.judged and a.score.interval.low > a.score.chance + a.margin]
        for ablation in far_above:
            if any(set(less.kept) < set(ablation.kept) for less in far_above):
                continue  # what it keeps beyond the other is not needed
            if ablation.part is Part.OTHERS and any(_does_as_well(single, ablation) for single in facts.singles):
                continue  # one column of them gives the target away: that is LK703's to say
            yield self.finding(
                ablation.place.location,
                f"from {named(ablation.part, ablation.kept)} alone, without {named(Part.TEXTS, ablation.removed)}, "
                f"a simple model reaches {ablation.score}; with all of the input {ablation.full}; "
                f"the margin is {ablation.margin:g}",
                confidence=Confidence.LIKELY,
                evidence=score_evidence(
                    ablation.score,
                    full=asdict(ablation.full),
                    margin=ablation.margin,
                    kept=list(ablation.kept),
                    removed=list(ablation.removed),
                    looks=ablation.looks,
                ),
            )


def _does_as_well(single: SingleScore, ablation: Ablation) -> bool:
    return single.name in ablation.kept and single.score.interval.high >= ablation.score.interval.low
