"""A claim as JSON: the inputs or their digest, every parameter, the results. The same input gives the same bytes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leakcheck.claims.facts import ClaimFacts, Pair, PseudoRuns, Stated
from leakcheck.claims.summary import Settings
from leakcheck.report.json import location_record

if TYPE_CHECKING:
    from leakcheck.claims.ablation import Ablation

MOST_PAIRS = 200  # shown; the digest covers all


def claim_json(facts: ClaimFacts, settings: Settings) -> dict[str, Any]:
    """All that is known about a claim, as plain JSON values.

    Parameters
    ----------
    facts : ClaimFacts
    settings : Settings
        With which the facts were computed.
    """
    claim, summary = facts.claim, facts.summary
    pairs = pairs_by_id(summary.pairs)
    return {
        "id": claim.id,
        "declared": facts.declared,
        "location": location_record(facts.location),
        "verdict": facts.verdict.value,
        "reason": facts.reason,
        "a": summary.a,
        "b": summary.b,
        "metric": summary.metric,
        "unit": summary.unit.value,
        "direction": summary.direction.value,
        "threshold": summary.threshold,
        "threshold_reason": claim.threshold_reason,
        "stage": claim.stage.value,
        "summary": _summary_json(facts),
        "family": None if facts.family is None else _plain(asdict(facts.family)),
        "selection": None if facts.inflation is None else asdict(facts.inflation),
        "order": None if facts.order is None else _plain(asdict(facts.order)),
        "stated": [_placed(stated) for stated in facts.stated],
        "pseudo_runs": None if facts.pseudo_runs is None else _placed(facts.pseudo_runs),
        "missing_runs": list(facts.missing_runs),
        "unplanned_runs": list(facts.unplanned_runs),
        "missing_parts": list(facts.missing),
        "caveats": list(facts.caveats),
        "risks": [
            {"code": risk.code, "name": risk.name, "message": risk.message, "location": location_record(risk.location)}
            for risk in facts.risks
        ],
        "declaration": {
            "text": claim.text,
            "pair": claim.pair,
            "preregistered": claim.preregistered,
            "trials": None if claim.trials is None else asdict(claim.trials),
            "seeds": list(claim.seeds),
            "search": dict(claim.search),
            "controls": dict(claim.controls),
            "baselines": dict(claim.baselines),
            "considered": list(claim.considered),
        },
        "inputs": {
            "results": summary.source,
            "sha256": summary.digest,
            "pairs": [asdict(pair) for pair in pairs[:MOST_PAIRS]],
            "pairs_total": len(pairs),
        },
        "parameters": _parameters(facts, settings),
    }


def ablation_json(ablation: Ablation, settings: Settings) -> dict[str, Any]:
    """An ablation table with its inputs, every parameter and the results, as plain JSON values."""
    return {
        "full": ablation.full,
        "knockouts": [
            {
                "component": one.component,
                "setting": one.setting,
                "adjusted_p": one.adjusted_p,
                "comparison": claim_json(one.facts, settings),
            }
            for one in ablation.knockouts
        ],
        "interactions": [
            {"component": one.component, "comparison": claim_json(one.facts, settings)} for one in ablation.interactions
        ],
        "unusable": list(ablation.unusable),
    }


def pairs_by_id(pairs: tuple[Pair, ...]) -> list[Pair]:
    """Pairs in the order of their ids, numbers by their value."""
    return sorted(
        pairs, key=lambda pair: (not pair.id.isdecimal(), len(pair.id) if pair.id.isdecimal() else 0, pair.id)
    )


def _summary_json(facts: ClaimFacts) -> dict[str, Any]:
    whole: dict[str, Any] = _plain(asdict(facts.summary))
    elsewhere = ("a", "b", "metric", "unit", "direction", "threshold", "pairs", "digest", "source", "remarks")
    return {key: value for key, value in whole.items() if key not in elsewhere}


def _parameters(facts: ClaimFacts, settings: Settings) -> dict[str, Any]:
    import numpy
    import scipy

    from leakcheck import __version__
    from leakcheck.claims import bootstrap

    return {
        "level": settings.level,
        "resamples": settings.resamples,
        "seed": settings.seed,
        "exact_bootstrap": facts.summary.exact_bootstrap,
        "quantile_rule": bootstrap.QUANTILE_RULE,
        "alpha": 0.05,
        "power": 0.8,
        "versions": {"leakcheck": __version__, "numpy": numpy.__version__, "scipy": scipy.__version__},
    }


def _placed(fact: Stated | PseudoRuns) -> dict[str, Any]:
    record: dict[str, Any] = _plain(asdict(fact))
    return {**record, "location": location_record(fact.location)}


def _plain(value: Any) -> Any:
    """Enums by their value, tuples as lists."""
    from enum import Enum

    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
