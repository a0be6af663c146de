"""Comparisons that are corrected together."""

from __future__ import annotations

from collections.abc import Sequence

from leakcheck.claims.facts import Claim, Correction, FamilyResult, Interval, Summary
from leakcheck.claims.significance import ALPHA, t_test

_STATSMODELS_NAMES = {Correction.HOLM: "holm", Correction.BONFERRONI: "bonferroni", Correction.FDR: "fdr_bh"}


def family_error_rate(m: int, alpha: float = ALPHA) -> float:
    """Chance of at least one false positive among `m` independent tests, ``1 - (1 - alpha)**m``.

    Examples
    --------
    >>> round(family_error_rate(20), 4)
    0.6415
    """
    return 1.0 - float((1.0 - alpha) ** m)


def family_error_bound(m: int, alpha: float = ALPHA) -> float:
    """The same without independence: at most ``m * alpha`` (Boole)."""
    return min(1.0, m * alpha)


def bonferroni_level(m: int, alpha: float = ALPHA) -> float:
    """Level of each of `m` tests so that the family stays at `alpha`, whatever their dependence."""
    return alpha / m


def sidak_level(m: int, alpha: float = ALPHA) -> float:
    """Level of each of `m` independent tests so that the family is exactly at `alpha`."""
    return 1.0 - float((1.0 - alpha) ** (1.0 / m))


def adjusted(p: Sequence[float | None], correction: Correction) -> list[float]:
    """Adjusted p values of a family.

    Parameters
    ----------
    p : sequence of float or None
        None where a comparison gave no p (too few runs): it counts in the family as p = 1.
    correction : Correction
        Holm and Bonferroni bound the chance of one false positive, FDR (Benjamini and Hochberg) their expected share.

    Returns
    -------
    list of float
        In the order given.
    """
    known = [1.0 if value is None else value for value in p]
    if correction is Correction.NONE or len(known) < 2:
        return known
    from statsmodels.stats.multitest import multipletests

    return [float(value) for value in multipletests(known, alpha=ALPHA, method=_STATSMODELS_NAMES[correction])[1]]


def families(claims: Sequence[Claim], summaries: Sequence[Summary]) -> list[FamilyResult | None]:
    """The family of each claim, in the order given; None where a claim stands alone.

    Claims that name no family are one family together: leaving the name out is no way around the correction. Where no
    correction is declared, Holm's is worked out to tell whether the claim would hold under it.
    """
    results: list[FamilyResult | None] = [None] * len(claims)
    for name in dict.fromkeys(claim.family for claim in claims):
        members = [index for index, claim in enumerate(claims) if claim.family == name]
        if len(members) < 2:
            continue
        p = [summaries[index].threshold_p if summaries[index].t_interval is not None else None for index in members]
        for place, index in enumerate(members):
            claim, summary, value = claims[index], summaries[index], p[place]
            if value is None or summary.sd is None:
                continue
            declared = claim.correction not in (None, Correction.NONE)
            correction = claim.correction if declared and claim.correction else Correction.HOLM
            adjusted_p = adjusted(p, correction)[place]
            level = 1.0 - bonferroni_level(len(members), 1.0 - summary.level)
            wide = t_test(
                summary.difference, summary.sd, summary.n, level=level, test_train_ratio=summary.test_train_ratio or 0.0
            )
            results[index] = FamilyResult(
                name=name or "claims without a family",
                size=len(members),
                correction=correction,
                declared=declared,
                p=value,
                adjusted_p=adjusted_p,
                clears=adjusted_p < ALPHA,
                widened=Interval("Bonferroni-widened t", level, wide.low, wide.high),
                error_rate=family_error_rate(len(members)),
                error_rate_bound=family_error_bound(len(members)),
            )
    return results
