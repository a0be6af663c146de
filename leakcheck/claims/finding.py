"""What all findings about claims share: the subject of the sentence, the evidence, the severity of a draft."""

from __future__ import annotations

from typing import Any

from leakcheck.claims.facts import ClaimFacts, Stage
from leakcheck.findings import Severity, TraceStep


def subject(facts: ClaimFacts) -> str:
    """`claim 'ours-beats-baseline' ('ours' over 'baseline' in accuracy)`."""
    summary = facts.summary
    comparison = f"{summary.b!r} over {summary.a!r} in {summary.metric}"
    return f"claim {facts.claim.id!r} ({comparison})" if facts.declared else f"the comparison of {comparison}"


def severity(facts: ClaimFacts, usual: Severity) -> Severity:
    """In an exploratory comparison every finding is a note."""
    return Severity.NOTE if facts.claim.stage is Stage.EXPLORATORY else usual


def trace(facts: ClaimFacts) -> tuple[TraceStep, ...]:
    """The open findings that put the claim at risk."""
    return tuple(TraceStep(f"{risk.code} {risk.name}", risk.location) for risk in facts.risks)


def evidence(facts: ClaimFacts) -> dict[str, Any]:
    """The numbers behind the verdict."""
    summary = facts.summary
    intervals = (summary.t_interval, summary.bootstrap)
    return {
        "verdict": facts.verdict.value,
        "n": summary.n,
        "difference": summary.difference,
        "threshold": summary.threshold,
        "intervals": [
            {"method": interval.method, "level": interval.level, "low": interval.low, "high": interval.high}
            for interval in intervals
            if interval is not None
        ],
        "results": summary.source,
    }
