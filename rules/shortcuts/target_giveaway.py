"""A column is (nearly) one to one with the target, or predicts it alone far above all others together."""

from collections.abc import Iterator
from dataclasses import asdict

from leakcheck.audit.describe import score_evidence
from leakcheck.audit.facts import AuditFacts, Carrier, SingleScore
from leakcheck.findings import Confidence, Finding, Severity
from leakcheck.rule import Rule

FAR_ABOVE_CHANCE = {"AUC": 0.85, "R2": 0.8}  # the lower end of the interval
FAR_ABOVE_OTHERS = {"AUC": 0.1, "R2": 0.3}  # between the scores, whose intervals must not touch either
ABSENCE_ABOVE_CHANCE = {"AUC": 0.7, "R2": 0.5}


class TargetGiveaway(Rule[AuditFacts]):
    code = "LK703"
    name = "target-giveaway"
    leak_class = "L2"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kaufman et al. 2012, Leakage in data mining",)
    help = "Ask how and when the column is recorded: if after the outcome or from it, leave it out."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for single in facts.singles:
            if single.carrier not in (Carrier.COLUMN, Carrier.ABSENCE):
                continue
            record = score_evidence(
                single.score,
                column=single.name,
                others=asdict(single.others) if single.others else None,
                looks=single.looks,
            )
            if single.one_to_one:
                yield self.finding(
                    single.place.location,
                    f"column `{single.name}` is one to one with the target: {single.score}",
                    evidence=record,
                )
            elif _stands_out(single):
                what = "a missing value in" if single.carrier is Carrier.ABSENCE else "column"
                rest = f"; all other columns together reach {single.others}" if single.others else ""
                yield self.finding(
                    single.place.location,
                    f"{what} `{single.name}` alone predicts the target with {single.score}{rest}",
                    severity=Severity.WARNING,
                    confidence=Confidence.LIKELY,
                    evidence=record,
                )


def _stands_out(single: SingleScore) -> bool:
    metric = single.score.metric
    needed = ABSENCE_ABOVE_CHANCE if single.carrier is Carrier.ABSENCE else FAR_ABOVE_CHANCE
    if single.score.interval.low < needed[metric] or single.others is None:
        return False
    if single.score.interval.low <= single.others.interval.high:
        return False
    return single.carrier is Carrier.ABSENCE or (single.score.value - single.others.value > FAR_ABOVE_OTHERS[metric])
