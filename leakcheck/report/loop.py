"""The empirical loop as a checklist: what a sound experiment does, and what is known of this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leakcheck.findings import Finding

if TYPE_CHECKING:
    from leakcheck.claims.ablation import Ablation
    from leakcheck.claims.facts import ClaimFacts

Stage = dict[str, str]

DONE, FAILED, UNKNOWN = "done", "failed", "no evidence"
_SEPARATION = ("LK1", "LK3", "LK4", "LK6", "LK7")
_SELECTION = ("LK201", "LK202", "LK203", "LK204", "LK205")


def empirical_loop(
    findings: Sequence[Finding],
    claims: Sequence[ClaimFacts],
    *,
    files: int | None,
    datasets: Sequence[str],
    ablation: Ablation | None = None,
) -> list[Stage]:
    """Each stage with its state and the reason; a failed stage sends the experiment back to its start.

    Parameters
    ----------
    findings : sequence of Finding
        Open findings of all legs.
    claims : sequence of ClaimFacts
    files : int or None
        Code files looked at, None where no code was.
    datasets : sequence of str
        Data sets audited.
    ablation : Ablation, optional
        The table of components.
    """
    scanned = f"nothing found in {files} code files" if files else ""
    return [
        _hypothesis(claims),
        _judged("Strong, matched baselines", findings, ("LK503", "LK807"), _baselines(claims)),
        _judged("Several seeds", findings, ("LK502", "LK802", "LK803", "LK205"), _seeds(claims)),
        _judged("Choose on validation rows", findings, (*_SELECTION, "LK805"), scanned),
        _ablations(ablation),
        _judged("Evaluate once on held-out rows", findings, _SEPARATION, _held_out(scanned, datasets)),
        _judged("Uncertainty and effect size", findings, ("LK504", "LK804"), _intervals(claims)),
        _decision(claims),
        _judged("Report with code, seeds and settings", findings, ("LK501", "LK505"), _reported(claims)),
    ]


def chances_survived(loop: Sequence[Stage]) -> dict[str, object]:
    """Of five chances to be wrong, those that the result has been through and survived."""
    states = {stage["name"]: stage["state"] for stage in loop}
    chances = {
        "comparison": states["Strong, matched baselines"],
        "attribution": states["Ablations"],
        "held-out rows": states["Evaluate once on held-out rows"],
        "chance": states["Uncertainty and effect size"],
        "independent scrutiny": UNKNOWN,
    }
    return {"survived": sum(state == DONE for state in chances.values()), "of": len(chances), "states": chances}


def _hypothesis(claims: Sequence[ClaimFacts]) -> Stage:
    name = "A hypothesis that can fail"
    if not claims:
        return _stage(name, UNKNOWN, "no claim is declared")
    open_parts = [f"{facts.claim.id} lacks {part.partition(':')[0]}" for facts in claims for part in facts.missing]
    late = [facts.claim.id for facts in claims if facts.order is not None and facts.order.threshold_after_results]
    if late:
        return _stage(name, FAILED, f"threshold declared after the results: {', '.join(late)}")
    if open_parts:
        return _stage(name, UNKNOWN, "; ".join(dict.fromkeys(open_parts)))
    return _stage(name, DONE, "method, metric, threshold and controls are declared")


def _baselines(claims: Sequence[ClaimFacts]) -> str:
    tiers = ("trivial", "classical", "published")
    complete = [facts for facts in claims if {tier for tier, _ in facts.claim.baselines} >= set(tiers)]
    equal = [facts for facts in claims if facts.claim.trials is not None]
    shown = claims and len(complete) == len(equal) == len(claims)
    return "baselines of all three kinds, equal budgets" if shown else ""


def _seeds(claims: Sequence[ClaimFacts]) -> str:
    fewest = min((facts.summary.n for facts in claims), default=0)
    return f"{fewest} paired runs or more" if fewest >= 3 else ""


def _ablations(ablation: Ablation | None) -> Stage:
    name = "Ablations"
    if ablation is None:
        return _stage(name, UNKNOWN, "no ablation table was given")
    if not ablation.knockouts:
        return _stage(name, UNKNOWN, "no cell of the table lacks one component and has the runs of the full method")
    components = dict.fromkeys(one.component for one in ablation.knockouts)
    return _stage(name, DONE, f"each with its interval: {', '.join(components)}")


def _held_out(scanned: str, datasets: Sequence[str]) -> str:
    audited = f"no overlap found in {', '.join(datasets)}" if datasets else ""
    return "; ".join(part for part in (scanned, audited) if part)


def _intervals(claims: Sequence[ClaimFacts]) -> str:
    whole = claims and all(facts.summary.t_interval is not None for facts in claims)
    return "each claim has its difference, interval and threshold" if whole else ""


def _reported(claims: Sequence[ClaimFacts]) -> str:
    whole = claims and all(facts.claim.code and facts.claim.seeds for facts in claims)
    return "code and seeds are declared with each claim" if whole else ""


def _decision(claims: Sequence[ClaimFacts]) -> Stage:
    name = "Decision on the claim"
    if not claims:
        return _stage(name, UNKNOWN, "no claim is declared")
    failing = [f"{facts.claim.id} is {facts.verdict.value}" for facts in claims if facts.verdict.value != "supported"]
    return _stage(name, FAILED if failing else DONE, "; ".join(failing) or "supported")


def _judged(name: str, findings: Sequence[Finding], codes: tuple[str, ...], evidence: str) -> Stage:
    """Failed by a finding of the codes, done where there is evidence, else unknown."""
    against = sorted({finding.code for finding in findings if finding.code.startswith(codes)})
    if against:
        return _stage(name, FAILED, f"open findings: {', '.join(against)}")
    return _stage(name, DONE, evidence) if evidence else _stage(name, UNKNOWN, "")


def _stage(name: str, state: str, reason: str) -> Stage:
    return {"name": name, "state": state, "reason": reason}
