"""The paired summary of one comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leakcheck.claims import bootstrap, significance
from leakcheck.claims.facts import BudgetPoint, Claim, Direction, Interval, Nesting, Summary
from leakcheck.claims.judge import FEWEST
from leakcheck.claims.paired import Paired
from leakcheck.claims.selection import expected_best

LEVEL = 0.95
SEED = 42
T_METHOD = "paired t"
FOLDS_METHOD = "corrected resampled t"
BOOTSTRAP_METHOD = "percentile bootstrap"

_DIGITS = 12  # kept of a result, relative to the largest value: below that stand the errors of binary arithmetic


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person may choose about the calculation."""

    level: float = LEVEL
    resamples: int = bootstrap.RESAMPLES
    seed: int = SEED
    bca: bool = False


def summarise(paired: Paired, claim: Claim, settings: Settings) -> Summary:
    """Compute the summary of matched runs.

    Parameters
    ----------
    paired : Paired
        Matched values of both methods.
    claim : Claim
        Gives the names, the direction and the threshold.
    settings : Settings
        Level, number of resamples, seed.

    Returns
    -------
    Summary
        With one observation, or with differences that are all equal, the parts that need a spread are None.
    """
    pairs = paired.pairs(claim.direction)
    a, b, d = (np.array([getattr(pair, name) for pair in pairs]) for name in ("a", "b", "difference"))
    scale = float(max(np.abs(a).max(), np.abs(b).max())) or 1.0
    n = len(pairs)
    tidy = _Tidy(scale)
    mean = tidy(math.fsum(d) / n)
    threshold = None if claim.threshold is None else float(claim.threshold)
    spread = n >= 2 and float(d.max() - d.min()) > scale * 10.0**-_DIGITS
    sd = float(d.std(ddof=1)) if spread else (0.0 if n >= 2 else None)
    basic = Summary(
        a=claim.a,
        b=claim.b,
        metric=paired.metric,
        unit=claim.unit,
        direction=claim.direction,
        threshold=threshold,
        level=settings.level,
        n=n,
        analysis_unit=paired.unit,
        mean_a=tidy(math.fsum(a) / n),
        mean_b=tidy(math.fsum(b) / n),
        sd_a=tidy(float(a.std(ddof=1))) if n >= 2 else None,
        sd_b=tidy(float(b.std(ddof=1))) if n >= 2 else None,
        difference=mean,
        sd=None if sd is None else tidy(sd),
        correlation=_correlation(a, b),
        degenerate=n >= FEWEST and not spread,
        test_train_ratio=paired.test_train_ratio,
        nesting=_nesting(paired, claim, settings, tidy),
        budget=_budget(paired.trial_scores, claim.direction, tidy),
        pairs=pairs,
        digest=paired.digest(),
        source=paired.source,
        shared=paired.shared,
        remarks=paired.remarks,
    )
    if not spread or sd is None:
        return basic
    return _with_spread(basic, d, sd, settings, tidy)


def _with_spread(basic: Summary, d: bootstrap.Floats, sd: float, settings: Settings, tidy: _Tidy) -> Summary:
    n, mean = basic.n, float(math.fsum(d) / len(d))
    ratio = basic.test_train_ratio or 0.0
    threshold = basic.threshold or 0.0
    against_zero = significance.t_test(mean, sd, n, level=settings.level, test_train_ratio=ratio)
    against_threshold = significance.t_test(mean, sd, n, against=threshold, test_train_ratio=ratio)
    enough = n >= FEWEST
    method = FOLDS_METHOD if ratio else T_METHOD
    assert basic.sd_a is not None and basic.sd_b is not None
    found = replace(
        basic,
        standard_error=tidy(sd * math.sqrt(1.0 / n + ratio)),
        unpaired_error=tidy(math.sqrt((basic.sd_a**2 + basic.sd_b**2) / n)),
        effect_size=_digits(mean / sd),
        t_interval=Interval(method, settings.level, tidy(against_zero.low), tidy(against_zero.high))
        if enough
        else None,
        t_p=_digits(against_zero.p),
        threshold_p=_digits(against_threshold.p),
        detectable=tidy(significance.detectable_effect(n) * sd * math.sqrt(1.0 + ratio * n)),
        runs_needed=significance.runs_needed(threshold / sd) if threshold > 0.0 and not ratio else None,
    )
    if ratio or not enough:
        return found
    means = bootstrap.distribution(d, settings.resamples, settings.seed)
    low, high = means.interval(settings.level)
    bca = bootstrap.bca_interval(d, means, settings.level) if settings.bca else None
    flip, how = significance.sign_flip_test(d, settings.seed)
    wilcoxon, smallest = significance.wilcoxon_test(d, settings.seed)
    return replace(
        found,
        bootstrap=Interval(BOOTSTRAP_METHOD, settings.level, tidy(low), tidy(high)),
        bca=None if bca is None else Interval("BCa bootstrap", settings.level, tidy(bca[0]), tidy(bca[1])),
        exact_bootstrap=means.exact,
        resamples=None if means.exact else settings.resamples,
        seed=None if means.exact and how is not significance.SignFlips.SAMPLED else settings.seed,
        sign_flip_p=_digits(flip) if n >= significance.SIGN_FLIP_FROM else None,
        sign_flip_how=how.value if n >= significance.SIGN_FLIP_FROM else None,
        wilcoxon_p=_digits(wilcoxon),
        wilcoxon_smallest_p=smallest,
    )


def _budget(scores: Sequence[float], direction: Direction, tidy: _Tidy) -> tuple[BudgetPoint, ...]:
    """Expected best score for 1, 2, 4, ... trials and for all of them."""
    if len(scores) < 2:
        return ()
    sign = 1.0 if direction is Direction.HIGHER else -1.0
    turned = [sign * score for score in scores]
    unbiased, biased = expected_best(turned), expected_best(turned, unbiased=False)
    sizes = sorted({1 << power for power in range(len(scores).bit_length())} | {len(scores)})
    return tuple(
        BudgetPoint(n, tidy(sign * unbiased[n - 1]), tidy(sign * biased[n - 1])) for n in sizes if n <= len(scores)
    )


def _nesting(paired: Paired, claim: Claim, settings: Settings, tidy: _Tidy) -> Nesting | None:
    """Spread between and within clusters, and the bootstrap that resamples both; None without clusters."""
    from leakcheck.claims.nested import hierarchical_interval, spread_within

    clusters: dict[str, list[float]] = {}
    for row in paired.rows:
        if row.cluster is None:
            return None
        difference = row.b - row.a if claim.direction.value == "higher" else row.a - row.b
        clusters.setdefault(row.cluster, []).append(float(difference))
    groups = [np.sort(np.array(values)) for _, values in sorted(clusters.items(), key=lambda item: sorted(item[1]))]
    spread = spread_within(groups)
    interval = None
    if len(groups) >= FEWEST:
        low, high = hierarchical_interval(groups, settings.level, settings.resamples, settings.seed)
        interval = Interval("hierarchical bootstrap", settings.level, tidy(low), tidy(high))
    return Nesting(
        runs=len(groups),
        examples=len(paired.rows),
        between_sd=tidy(spread.between_sd),
        within_sd=tidy(spread.within_sd),
        intraclass_correlation=_digits(spread.intraclass_correlation),
        hierarchical=interval,
    )


def _correlation(a: bootstrap.Floats, b: bootstrap.Floats) -> float | None:
    tie = 1e-12 * float(max(np.abs(a).max(), np.abs(b).max()))
    if len(a) < 3 or np.ptp(a) <= tie or np.ptp(b) <= tie:
        return None
    return _digits(float(np.corrcoef(a, b)[0, 1]))


@dataclass(frozen=True, slots=True)
class _Tidy:
    """Rounds away what binary arithmetic added, so that 0.016000000000000014 is the 0.016 it stands for."""

    scale: float

    def __call__(self, value: float) -> float:
        rounded = round(value, _DIGITS - 1 - math.floor(math.log10(self.scale)))
        return rounded + 0.0  # no negative zero


def _digits(value: float) -> float:
    return float(f"{value:.10g}")
