"""LK501: a split, a sampler or a learner draws at random and gets no seed."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.flow.facts import Drawn, ProgramFacts
from leakcheck.rule import Rule

_EFFECT = {
    Drawn.SPLIT: "another run scores other rows",
    Drawn.SAMPLER: "another run makes other data",
    Drawn.LEARNER: "another run gives another score",
}


class UnseededRandomness(Rule[ProgramFacts]):
    code = "LK501"
    name = "unseeded-randomness"
    leak_class = "S 5.2"
    severity = Severity.NOTE
    since = "0.1.0"
    sources = (
        "Pineau et al. 2021, Improving reproducibility in machine learning research",
        "Bouthillier et al. 2021, Accounting for variance in machine learning benchmarks",
    )
    help = "Give every draw a seed, and report the spread over several seeds rather than one lucky run."

    def check(self, facts: ProgramFacts) -> Iterator[Finding]:
        for draw in facts.unseeded:
            names = list(dict.fromkeys(draw.what))
            verb = "draw at random and get" if len(names) > 1 else "draws at random and gets"
            parameter = f"`{draw.parameter}` or " if draw.parameter else ""
            yield self.finding(
                draw.location,
                f"{' and '.join(names)} {verb} no seed ({parameter}the global generator of {draw.generator}): "
                f"{_EFFECT[draw.drawn]}",
                trace=draw.trace,
            )
