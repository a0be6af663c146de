"""The summary of a comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leakcheck.claims.ablation import Ablation
from leakcheck.claims.facts import ClaimFacts, Interval, Summary, Unit
from leakcheck.claims.ranking import Ranking
from leakcheck.claims.variance import Component, accuracy_error
from leakcheck.claims.wording import amount, interval_text, p_value, plain

Line = tuple[str, str]

_LABEL_WIDTH = 23
_HARDLY_A_LIMIT = 1e-4  # a smallest p below this keeps no test from being significant


def summary_text(facts: ClaimFacts) -> str:
    """Verdict, reason, numbers and caveats, a line each."""
    summary = facts.summary
    name = f"{facts.claim.id}: " if facts.declared else ""
    lines = [
        f"{name}{summary.b} over {summary.a}, {summary.metric}, {summary.direction.value} is better: "
        + facts.verdict.value,
        f"  {facts.reason}",
        "",
    ]
    lines += [f"  {label:<{_LABEL_WIDTH}} {value}" for label, value in summary_lines(facts)]
    lines.append("")
    lines += [f"  - {caveat}" for caveat in facts.caveats]
    if facts.missing:
        lines += ["", "  The claim does not say"]
        lines += [f"  - {part}" for part in facts.missing]
    return "\n".join(lines)


def ranking_text(ranking: Ranking) -> str:
    """Mean ranks of several methods over several data sets, and which differ."""
    order = sorted(range(len(ranking.methods)), key=lambda index: ranking.mean_ranks[index])
    lines = [
        f"{len(ranking.methods)} methods over {ranking.data_sets} data sets (Friedman chi-square "
        f"{plain(ranking.chi_square, 4)}, p = {plain(ranking.chi_square_p, 3)}; Iman-Davenport "
        + (f"F {plain(ranking.f, 4)}, p = {plain(ranking.f_p, 3)})" if ranking.f is not None else "F unbounded)"),
        f"  critical difference of mean ranks (Nemenyi, 0.05): {plain(ranking.critical_difference, 4)}",
    ]
    lines += [f"  {plain(ranking.mean_ranks[index], 4):<8}{ranking.methods[index]}" for index in order]
    for pair in ranking.pairs:
        verdict = "differ" if pair.nemenyi_differs else "are not told apart"
        lines.append(
            f"  {pair.first} and {pair.second} {verdict} by Nemenyi; Wilcoxon p = {plain(pair.wilcoxon_p, 3)}, "
            f"Holm {plain(pair.holm_p, 3)}"
        )
    return "\n".join(lines)


def ablation_text(ablation: Ablation) -> str:
    """A line for each component: what the full method gains by it, with interval and Holm's p over the table."""
    lines = [f"ablation of {ablation.full} ({len(ablation.knockouts)} cells, Holm over the table)"]
    for knockout in ablation.knockouts:
        adjusted = "" if knockout.adjusted_p is None else f", Holm p = {plain(knockout.adjusted_p, 3)}"
        changed = f"{knockout.component}={knockout.setting}"
        lines.append(f"  {changed:<24}{_effect(knockout.facts.summary)}{adjusted}: {knockout.facts.verdict.value}")
    for interaction in ablation.interactions:
        label = f"interaction of {interaction.component}"
        lines.append(f"  {label:<24}{_effect(interaction.facts.summary)} (cost of removing less gain of adding)")
    lines += [f"  not used: {reason}" for reason in ablation.unusable]
    return "\n".join(lines)


def variance_text(components: Sequence[Component]) -> str:
    """Variance components and their shares, largest concern first as given."""
    lines = ["where the spread comes from (random effects, no interactions)"]
    lines += [
        f"  {part.factor:<24}sd {plain(part.variance**0.5, 3)}, {100 * part.share:.0f} % of the variance"
        for part in components
    ]
    return "\n".join(lines)


def _effect(summary: Summary) -> str:
    interval = summary.t_interval
    shown = "no interval" if interval is None else interval_text(interval, summary)
    return f"{amount(summary.difference, summary)} {shown}"


def summary_lines(facts: ClaimFacts) -> list[Line]:
    """Label and value of each number that a summary says; the report shows the same."""
    return [*_basic(facts.summary), *_intervals(facts.summary), *_tests(facts.summary), *_planning(facts)]


def _basic(summary: Summary) -> Iterator[Line]:
    unit = summary.analysis_unit
    yield "n", f"{summary.n} paired {unit}{'' if summary.n == 1 else 's'}, paired by {summary.shared}"
    nesting = summary.nesting
    if nesting is not None:
        yield (
            "rows",
            f"{nesting.examples} in {nesting.runs} {unit}s; sd between {plain(nesting.between_sd, 3)}, within "
            f"{plain(nesting.within_sd, 3)}, intraclass correlation {plain(nesting.intraclass_correlation, 3)}",
        )
        if summary.unit is Unit.FRACTION and 0.0 <= summary.mean_b <= 1.0:
            size = nesting.examples // nesting.runs
            error = accuracy_error(summary.mean_b, size)
            yield (
                "finite test set",
                f"standard error {plain(error, 3)} with {size} examples; more seeds do not shrink it",
            )
    for name, mean, sd in ((summary.a, summary.mean_a, summary.sd_a), (summary.b, summary.mean_b, summary.sd_b)):
        yield f"mean of {name}", plain(mean) + (f", sd {plain(sd, 3)}" if sd is not None else ", no sd from one run")
    spread = f", sd {plain(summary.sd, 3)}" if summary.sd is not None else ""
    yield "mean difference", amount(summary.difference, summary) + spread


def _intervals(summary: Summary) -> Iterator[Line]:
    if summary.t_interval is not None:
        yield summary.t_interval.method + " interval", _interval(summary.t_interval, summary, "decides")
    if summary.bootstrap is not None:
        how = "exact, all resamples counted" if summary.exact_bootstrap else f"{summary.resamples} resamples"
        yield summary.bootstrap.method, _interval(summary.bootstrap, summary, how)
    if summary.bca is not None:
        yield summary.bca.method, _interval(summary.bca, summary, "shown on request, never decides")
    if summary.nesting is not None and summary.nesting.hierarchical is not None:
        hierarchical = summary.nesting.hierarchical
        yield hierarchical.method, _interval(hierarchical, summary, "runs, then rows in them")


def _tests(summary: Summary) -> Iterator[Line]:
    if summary.effect_size is not None:
        yield "d_z", plain(summary.effect_size, 4)
    if summary.correlation is not None and summary.unpaired_error and summary.standard_error is not None:
        yield (
            "correlation of pairs",
            f"{plain(summary.correlation, 4)}; standard error {plain(summary.standard_error, 4)}, "
            f"without pairing {plain(summary.unpaired_error, 4)}",
        )
    if summary.t_interval is not None and summary.t_p is not None:
        yield "p of the t test", f"{p_value(summary.t_p)} (no difference)"
    if summary.sign_flip_p is not None:
        yield "p of the sign flips", f"{p_value(summary.sign_flip_p)} ({summary.sign_flip_how})"
    if summary.wilcoxon_p is not None and summary.wilcoxon_smallest_p is not None:
        smallest = f" (these runs cannot give less than {p_value(summary.wilcoxon_smallest_p)})"
        few = summary.wilcoxon_smallest_p > _HARDLY_A_LIMIT
        yield "p of Wilcoxon's test", p_value(summary.wilcoxon_p) + (smallest if few else "")


def _planning(facts: ClaimFacts) -> Iterator[Line]:
    summary = facts.summary
    if summary.detectable is not None and summary.t_interval is not None:
        yield "detectable difference", f"{amount(summary.detectable, summary, 4)} with 80 % power"
    if summary.runs_needed is not None and summary.threshold is not None:
        yield "runs needed", f"{summary.runs_needed} to find a difference of {amount(summary.threshold, summary)}"
    if facts.family is not None:
        family = facts.family
        state = family.correction.value if family.declared else f"none declared; under {family.correction.value}"
        yield (
            "family",
            f"{family.size} comparisons, {state}: p = {p_value(family.p)} becomes {p_value(family.adjusted_p)}; "
            f"chance of a false positive {100 * family.error_rate:.1f} % if independent, "
            f"at most {100 * family.error_rate_bound:.0f} %",
        )
        yield family.widened.method, _interval(family.widened, summary, "over the family")
    if facts.inflation is not None:
        chosen = facts.inflation
        yield (
            f"best of {chosen.k}",
            f"gains {amount(chosen.expected, summary, 4)} by luck (exact; {plain(chosen.bound, 4)} by sqrt(2 ln k)); "
            f"less that, the difference is {amount(summary.difference - chosen.expected, summary, 4)}",
        )
    for point in summary.budget:
        yield (
            f"best of {point.trials} trials",
            f"expected {plain(point.expected, 4)} (with replacement, biased low: {plain(point.with_replacement, 4)})",
        )
    trials = facts.claim.trials
    yield "tuning budget", "not stated" if trials is None else f"{trials.a} trials for a, {trials.b} for b"
    if facts.order is not None:
        yield "declared order", facts.order.explanation
    for stated in facts.stated:
        yield "stated", f"{stated.text} - {stated.explanation}"


def _interval(interval: Interval, summary: Summary, how: str) -> str:
    return f"{interval_text(interval, summary)} ({100 * interval.level:.4g} %, {how})"
