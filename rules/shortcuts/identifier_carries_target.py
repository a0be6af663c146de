"""Row order, an identifier or a file name predicts the target."""

from collections.abc import Iterator

from leakcheck.audit.describe import score_evidence
from leakcheck.audit.facts import AuditFacts, Carrier
from leakcheck.findings import Confidence, Finding, Severity
from leakcheck.rule import Rule

ABOVE_CHANCE = {"AUC": 0.65, "R2": 0.3}  # the lower end of the interval


class IdentifierCarriesTarget(Rule[AuditFacts]):
    code = "LK704"
    name = "identifier-carries-target"
    leak_class = "L2"
    severity = Severity.WARNING
    since = "0.1.0"
    sources = ("Kaufman et al. 2012, Leakage in data mining",)
    help = "Leave it out of the features, and ask why it tells: rows collected by class differ in more than the class."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for single in facts.singles:
            if single.carrier in (Carrier.COLUMN, Carrier.ABSENCE):
                continue
            if single.score.interval.low < ABOVE_CHANCE[single.score.metric]:
                continue
            what = f"the identifier `{single.name}`" if single.carrier is Carrier.IDENTIFIER else f"the {single.name}"
            yield self.finding(
                single.place.location,
                f"{what} predicts the target with {single.score}",
                confidence=Confidence.LIKELY,
                evidence=score_evidence(
                    single.score, carrier=single.carrier.value, name=single.name, looks=single.looks
                ),
            )
