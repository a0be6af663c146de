"""What is known about a claimed comparison: declared, measured and judged. Plain data, light to import."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import TYPE_CHECKING

from leakcheck.findings import Finding, Location

if TYPE_CHECKING:
    from decimal import Decimal


class Direction(Enum):
    """Which way the metric improves."""

    HIGHER = "higher"
    LOWER = "lower"


class Unit(Enum):
    """How the values of the metric are written: 0.91, 91.0, or in units of their own."""

    FRACTION = "fraction"
    POINTS = "points"
    RAW = "raw"


class Stage(Enum):
    """Whether the comparison was planned before the results were seen."""

    CONFIRMATORY = "confirmatory"
    EXPLORATORY = "exploratory"


class AnalysisUnit(Enum):
    """What counts as one independent observation of the difference."""

    RUN = "run"
    EXAMPLE = "example"


class Correction(Enum):
    """How a family of comparisons is corrected."""

    HOLM = "holm"
    BONFERRONI = "bonferroni"
    FDR = "fdr"
    NONE = "none"


class Verdict(Enum):
    """What may be said of a claim."""

    SUPPORTED = "supported"
    INCONCLUSIVE = "inconclusive"
    NOT_SUPPORTED = "not-supported"
    METHOD_SENSITIVE = "method-sensitive"
    EXPLORATORY = "exploratory"
    AT_RISK = "at-risk"
    DEGENERATE = "degenerate"
    INSUFFICIENT = "insufficient"


@dataclass(frozen=True, slots=True)
class Budget:
    """Tuning trials that each method was given."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Claim:
    """One declared comparison: method `b` beats method `a` in `metric`.

    `results_a` and `results_b` are path patterns; `results_b` is empty where one table holds both methods.
    """

    id: str
    a: str
    b: str
    results_a: tuple[str, ...]
    location: Location
    results_b: tuple[str, ...] = ()
    text: str | None = None
    metric: str | None = None
    unit: Unit = Unit.RAW
    direction: Direction = Direction.HIGHER
    threshold: Decimal | None = None
    threshold_reason: str | None = None
    pair: str | None = None
    analysis_unit: AnalysisUnit = AnalysisUnit.RUN
    cluster: str | None = None
    task: str | None = None
    stage: Stage = Stage.CONFIRMATORY
    preregistered: str | None = None  # an ISO date
    family: str | None = None
    trials: Budget | None = None
    best_of: int | None = None
    seeds: tuple[str, ...] = ()
    correction: Correction | None = None
    code: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    search: tuple[tuple[str, str], ...] = ()
    controls: tuple[tuple[str, str], ...] = ()
    baselines: tuple[tuple[str, str], ...] = ()
    considered: tuple[str, ...] = ()

    def rests_on(self, path: str) -> bool:
        """Whether `code` names a file, given relative to the configuration."""
        return any(names_file(pattern, path) for pattern in self.code)


def names_file(pattern: str, path: str) -> bool:
    """Whether a pattern of `code` names a file, or a folder around it; both are relative to the configuration."""
    plain = normpath(pattern)
    if plain == ".":
        return not path.startswith("../")
    ways = (plain, plain.replace("**/", ""))  # `**/` may stand for no folder
    return any(fnmatchcase(path, way) for way in ways) or path.startswith(plain + "/")


@dataclass(frozen=True, slots=True)
class Pair:
    """One observation of both methods; `difference` is turned so that positive means `b` is better."""

    id: str
    a: float
    b: float
    difference: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of the mean difference."""

    method: str
    level: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Nesting:
    """Examples inside runs: how much of the spread lies between runs."""

    runs: int
    examples: int
    between_sd: float
    within_sd: float
    intraclass_correlation: float
    hierarchical: Interval | None


@dataclass(frozen=True, slots=True)
class Inflation:
    """What the best of `k` equally good candidates gains by luck."""

    k: int
    sigma: float
    expected: float  # exact, in units of the metric
    bound: float  # sigma * sqrt(2 ln k)


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """The claim's place among the comparisons corrected together."""

    name: str
    size: int
    correction: Correction
    declared: bool
    p: float
    adjusted_p: float
    clears: bool  # once corrected
    widened: Interval  # the paired t interval at level 1 - alpha / size
    error_rate: float  # chance of a false positive among `size` independent tests at alpha
    error_rate_bound: float  # the same without independence


@dataclass(frozen=True, slots=True)
class Order:
    """When the threshold and the plan were declared, against the results, by the history in git."""

    threshold_after_results: bool | None  # None: the history does not tell
    plan_changed_after_results: tuple[str, ...] = ()
    preregistered_after_results: bool | None = None
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """A number that the claim's text states, against the runs."""

    location: Location
    text: str
    matches: bool
    explanation: str
    best_run: bool = False  # the number is the best run's, not the mean


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """Expected best score of so many random trials."""

    trials: int
    expected: float  # drawn without replacement, unbiased
    with_replacement: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What the runs say. Values are in the metric's units; `nan` never appears, absent is None."""

    a: str
    b: str
    metric: str
    unit: Unit
    direction: Direction
    threshold: float | None
    level: float
    n: int
    analysis_unit: str
    mean_a: float
    mean_b: float
    sd_a: float | None
    sd_b: float | None
    difference: float
    sd: float | None = None
    standard_error: float | None = None
    unpaired_error: float | None = None
    correlation: float | None = None
    effect_size: float | None = None  # d_z: mean difference over its standard deviation
    t_interval: Interval | None = None
    bootstrap: Interval | None = None
    bca: Interval | None = None
    t_p: float | None = None  # two-sided, against no difference
    threshold_p: float | None = None  # two-sided, against a difference equal to the threshold
    sign_flip_p: float | None = None
    sign_flip_how: str | None = None  # counted, sampled, or by the normal limit
    wilcoxon_p: float | None = None
    wilcoxon_smallest_p: float | None = None
    detectable: float | None = None  # smallest difference found with 80 % power
    runs_needed: int | None = None  # for the declared threshold
    resamples: int | None = None
    seed: int | None = None
    exact_bootstrap: bool = False
    test_train_ratio: float | None = None  # of correlated folds
    nesting: Nesting | None = None
    budget: tuple[BudgetPoint, ...] = ()  # of a search, where all its candidates are known
    degenerate: bool = False
    pairs: tuple[Pair, ...] = field(default=(), repr=False)
    digest: str = ""
    source: str = ""
    shared: str = ""  # what a pair shares
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PseudoRuns:
    """Rows that came from the same runs but stood as independent ones."""

    rows: int
    runs: int
    column: str | None
    location: Location


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """All that the rules of the claims family look at, for one claim."""

    claim: Claim
    summary: Summary
    verdict: Verdict
    reason: str
    location: Location
    declared: bool = True  # in the configuration; False: on the command line or in Python
    missing: tuple[str, ...] = ()  # parts of the hypothesis form that the claim lacks
    caveats: tuple[str, ...] = ()
    family: FamilyResult | None = None
    corrected_away: bool = False  # the interval clears, no correction is declared, and under one it would not
    inflation: Inflation | None = None
    selected_away: bool = False  # the interval clears, but not once the gain of the best of k is taken off
    order: Order | None = None
    stated: tuple[Stated, ...] = ()
    pseudo_runs: PseudoRuns | None = None
    missing_runs: tuple[str, ...] = ()
    unplanned_runs: tuple[str, ...] = ()
    risks: tuple[Finding, ...] = ()
    clears: bool = False  # the deciding interval lies above the threshold
