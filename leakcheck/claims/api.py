"""`leakcheck.compare`: one comparison of values at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from leakcheck.claims.check import facts_of, results_location
from leakcheck.claims.export import claim_json, pairs_by_id
from leakcheck.claims.extra import require_libraries
from leakcheck.claims.facts import Claim, ClaimFacts, Direction, Stage, Unit, Verdict
from leakcheck.claims.paired import Paired, Row
from leakcheck.claims.rules import findings_of
from leakcheck.claims.summary import LEVEL, SEED, Settings
from leakcheck.claims.tables import to_decimal
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding

if TYPE_CHECKING:
    import pandas

Choice = TypeVar("Choice", Direction, Stage, Unit)

SOURCE = "values given in Python"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paired summary of one comparison; shows itself in notebooks."""

    facts: ClaimFacts
    settings: Settings

    @property
    def verdict(self) -> Verdict:
        """What may be said."""
        return self.facts.verdict

    @property
    def interval(self) -> tuple[float, float] | None:
        """Ends of the interval that decides, None where there is none."""
        found = self.facts.summary.t_interval
        return None if found is None else (found.low, found.high)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the claims rules."""
        return findings_of((self.facts,))

    def to_dict(self) -> dict[str, Any]:
        """Inputs, parameters and results as plain JSON values."""
        return claim_json(self.facts, self.settings)

    def to_frame(self) -> pandas.DataFrame:
        """The pairs: a row each, with columns `a`, `b` and `difference`, indexed by id."""
        import pandas

        ordered = pairs_by_id(self.facts.summary.pairs)
        return pandas.DataFrame(
            {
                "a": [pair.a for pair in ordered],
                "b": [pair.b for pair in ordered],
                "difference": [pair.difference for pair in ordered],
            },
            index=pandas.Index([pair.id for pair in ordered], name="id"),
        )

    def __str__(self) -> str:
        from leakcheck.claims.text import summary_text

        return summary_text(self.facts)

    def _repr_html_(self) -> str:
        from html import escape

        from leakcheck.claims.text import summary_lines

        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(label)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
            for label, value in summary_lines(self.facts)
        )
        head = f"<p><strong>{escape(self.verdict.value)}</strong>: {escape(self.facts.reason)}</p>"
        caveats = "".join(f"<li>{escape(caveat)}</li>" for caveat in self.facts.caveats)
        return f"{head}<table>{rows}</table><ul>{caveats}</ul>"


def compare(
    a: Any,
    b: Any,
    *,
    direction: str = "higher",
    threshold: float | str | Decimal | None = None,
    names: tuple[str, str] = ("a", "b"),
    metric: str = "value",
    unit: str = "raw",
    pair: str = "position",
    cluster: Sequence[Any] | None = None,
    best_of: int | None = None,
    stage: str = "confirmatory",
    level: float = LEVEL,
    resamples: int = 2000,
    seed: int = SEED,
    bca: bool = False,
) -> Comparison:
    """Compare two methods on the same runs.

    Parameters
    ----------
    a, b : sequence of float, mapping, or pandas Series
        One value a run of each method. Sequences are paired by position, mappings by key, Series by index.
    direction : {"higher", "lower"}, default "higher"
        Which way the metric improves.
    threshold : float, optional
        Smallest difference that matters, in the metric's units.
    names : tuple of str
        Of the methods.
    metric : str
        Name of the metric.
    unit : {"fraction", "points", "raw"}
        How the values are written.
    pair : str
        What the two values of a pair share.
    cluster : sequence, optional
        Run of each value, where the values are examples: they are averaged within it.
    best_of : int, optional
        `b` is the best of so many variants compared on these runs.
    stage : {"confirmatory", "exploratory"}
    level : float
        Of the intervals.
    resamples, seed : int
        Of the bootstrap, where it is not enumerated.
    bca : bool
        Show the BCa interval too.

    Returns
    -------
    Comparison

    Raises
    ------
    LeakcheckError
        For values that are not finite numbers, and for ids that do not match.

    Examples
    --------
    >>> summary = compare([0.80, 0.80, 0.81, 0.80, 0.81], [0.83, 0.82, 0.85, 0.81, 0.84], threshold=0.01)
    >>> summary.verdict.value
    'supported'
    """
    require_libraries()
    values_a, values_b = _by_id(a, "a"), _by_id(b, "b")
    for one, other, missing_in in ((values_a, values_b, "b"), (values_b, values_a, "a")):
        unmatched = [key for key in one if key not in other]
        if unmatched:
            raise LeakcheckError(
                f"{len(unmatched)} ids have no value in {missing_in!r}: {', '.join(unmatched[:5])}",
                expected="the same ids on both sides",
            )
    if not values_a:
        raise LeakcheckError("there are no values to compare")
    clusters = [None] * len(values_a) if cluster is None else [str(name) for name in cluster]
    if len(clusters) != len(values_a):
        raise LeakcheckError("'cluster' has another length", expected=str(len(values_a)), found=str(len(clusters)))
    rows = tuple(Row(key, values_a[key], values_b[key], of) for key, of in zip(values_a, clusters, strict=True))
    claim = Claim(
        id="comparison",
        a=names[0],
        b=names[1],
        results_a=(),
        location=results_location(SOURCE),
        metric=metric,
        unit=_choice("unit", unit, Unit),
        direction=_choice("direction", direction, Direction),
        threshold=None if threshold is None else _threshold(threshold),
        best_of=None if best_of is None else _positive("best_of", best_of, 1),
        stage=_choice("stage", stage, Stage),
    )
    settings = Settings(_level(level), _positive("resamples", resamples, 100), seed, bca)
    return Comparison(facts_of(claim, Paired(rows, SOURCE, pair, metric), settings), settings)


def _by_id(values: Any, name: str) -> dict[str, Decimal]:
    if isinstance(values, Mapping):
        items = list(values.items())
    elif hasattr(values, "index") and hasattr(values, "to_numpy"):
        items = list(zip(values.index, values.to_numpy(), strict=True))
    else:
        items = list(enumerate(values))
    found: dict[str, Decimal] = {}
    for key, value in items:
        if str(key) in found:
            raise LeakcheckError(f"the id {str(key)!r} stands twice in {name!r}")
        try:
            found[str(key)] = to_decimal(value)
        except ValueError as problem:
            raise LeakcheckError(
                f"the value of {name!r} for id {str(key)!r} is not usable",
                expected="a finite number",
                found=str(problem),
            ) from None
    return found


def _choice(name: str, value: str, kind: type[Choice]) -> Choice:
    try:
        return kind(value)
    except ValueError:
        known = " or ".join(repr(member.value) for member in kind)
        raise LeakcheckError(f"unknown {name}", expected=known, found=repr(value)) from None


def _threshold(value: float | str | Decimal) -> Decimal:
    try:
        number = to_decimal(value)
    except ValueError as problem:
        raise LeakcheckError(
            "the threshold is not usable", expected="a number, zero or above", found=str(problem)
        ) from None
    if number < 0:
        raise LeakcheckError("the threshold is not usable", expected="a number, zero or above", found=str(value))
    return number


def _level(value: float) -> float:
    if not 0.5 <= value < 1.0:
        raise LeakcheckError("the level is not usable", expected="a number from 0.5 up to 1", found=str(value))
    return value


def _positive(name: str, value: int, least: int) -> int:
    if value < least:
        raise LeakcheckError(f"{name!r} is not usable", expected=f"a whole number from {least}", found=str(value))
    return value
