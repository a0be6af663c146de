"""Turns the `[[tool.leakcheck.claims]]` tables into claims, and says what a claim leaves open."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar

from leakcheck.claims.facts import AnalysisUnit, Budget, Claim, Correction, Direction, Stage, Unit
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Location

Choice = TypeVar("Choice", bound=Enum)

CONTROLS = ("parameters", "compute", "data", "data_quality", "tokenisation", "search_budget", "framework")
BASELINE_TIERS = ("trivial", "classical", "published")
SEARCH_FIELDS = ("space", "rule")


def read_claims(
    tables: Sequence[Mapping[str, Any]], file: str, lines: Mapping[str, int] | None = None
) -> tuple[Claim, ...]:
    """Validate the claim tables of a configuration.

    Parameters
    ----------
    tables : sequence of mappings
        As they stand in the file.
    file : str
        The configuration's name, for errors and for the claims' places.
    lines : mapping of str to int, optional
        Line of each claim's table, by its id.

    Raises
    ------
    LeakcheckError
        For an unknown key (with the nearest known one), a missing or mistyped value, a repeated id.
    """
    claims: list[Claim] = []
    for number, table in enumerate(tables, start=1):
        claim = _Reader(table, file, number).claim(lines or {})
        if claim.id in {other.id for other in claims}:
            raise LeakcheckError(f"two claims have the id {claim.id!r}", file=file, place=f"claim {number}")
        claims.append(claim)
    return tuple(claims)


def missing_parts(claim: Claim) -> tuple[str, ...]:
    """What a testable hypothesis needs and the claim does not say."""
    missing = []
    if claim.metric is None:
        missing.append("metric: which score is compared")
    if claim.threshold is None:
        missing.append("comparison: the smallest difference that matters (threshold)")
    elif claim.threshold_reason is None:
        missing.append("comparison: why that threshold matters (threshold_reason)")
    if not claim.controls:
        missing.append("controls: what was held equal (parameters, data, compute)")
    if claim.trials is None:
        missing.append("controls: the tuning budget of each method (trials)")
    return tuple(missing)


class _Reader:
    """Reads one table; every error names the claim and the key."""

    def __init__(self, table: Mapping[str, Any], file: str, number: int) -> None:
        name = table.get("id")
        self.table = table
        self.file = file
        self.place = f"claim {name!r}" if isinstance(name, str) else f"claim {number}"

    def claim(self, lines: Mapping[str, int]) -> Claim:
        for key in self.table:
            if key not in _KEYS:
                near = difflib.get_close_matches(key, _KEYS, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise LeakcheckError(f"unknown key {key!r}{hint}", file=self.file, place=self.place)
        claim_id = self.text("id", required=True)
        results_a, results_b = self.results()
        line = lines.get(claim_id, 1)
        claim = Claim(
            id=claim_id,
            a=self.text("a", required=True),
            b=self.text("b", required=True),
            results_a=results_a,
            results_b=results_b,
            location=Location(self.file, None, line, 1, line, 1),
            text=self.text("text") or None,
            metric=self.text("metric") or None,
            unit=self.choice("unit", Unit, Unit.RAW),
            direction=self.choice("direction", Direction, Direction.HIGHER),
            threshold=self.threshold(),
            threshold_reason=self.text("threshold_reason") or None,
            pair=self.text("pair") or None,
            analysis_unit=self.choice("unit_of_analysis", AnalysisUnit, AnalysisUnit.RUN),
            cluster=self.text("cluster") or None,
            task=self.text("task") or None,
            stage=self.choice("stage", Stage, Stage.CONFIRMATORY),
            preregistered=self.date("preregistered"),
            family=self.text("family") or None,
            trials=self.trials(),
            best_of=self.count("best_of"),
            seeds=self.names("seeds"),
            correction=self.choice("correction", Correction, None),
            code=self.names("code"),
            datasets=self.names("datasets"),
            search=self.settings("search"),
            controls=self.settings("controls"),
            baselines=self.settings("baselines"),
            considered=self.names("considered"),
        )
        if claim.a == claim.b:
            raise self.error("b", "another method than 'a'", repr(claim.b))
        return claim

    def error(self, key: str, expected: str, found: str) -> LeakcheckError:
        return LeakcheckError(
            f"{key!r} is not usable", file=self.file, place=self.place, expected=expected, found=found
        )

    def text(self, key: str, *, required: bool = False) -> str:
        value = self.table.get(key)
        if value is None:
            if required:
                raise LeakcheckError(f"the key {key!r} is missing", file=self.file, place=self.place)
            return ""
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, "text", repr(value))
        return value

    def choice(self, key: str, kind: type[Choice], default: Any) -> Any:
        value = self.table.get(key)
        if value is None:
            return default
        try:
            return kind(value)
        except ValueError:
            raise self.error(key, " or ".join(repr(member.value) for member in kind), repr(value)) from None

    def threshold(self) -> Decimal | None:
        value = self.table.get("threshold")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise self.error("threshold", "a number in the metric's units", repr(value))
        number = Decimal(str(value))
        if not number.is_finite() or number < 0:
            raise self.error("threshold", "a finite number, zero or above", str(value))
        return number

    def count(self, key: str) -> int | None:
        value = self.table.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(key, "a whole number from 1", repr(value))
        return value

    def date(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is None:
            return None
        try:
            return (value if isinstance(value, date) else date.fromisoformat(str(value))).isoformat()[:10]
        except ValueError:
            raise self.error(key, "a date such as 2026-10-01", repr(value)) from None

    def names(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(
            isinstance(item, (str, int, float)) and not isinstance(item, bool) for item in value
        ):
            raise self.error(key, "a list", repr(value))
        return tuple(str(item) for item in value)

    def settings(self, key: str) -> tuple[tuple[str, str], ...]:
        value = self.table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, 'a table such as { data = "equal" }', repr(value))
        return tuple((str(name), str(setting)) for name, setting in value.items())

    def trials(self) -> Budget | None:
        value = self.table.get("trials")
        if value is None:
            return None
        if (
            not isinstance(value, dict)
            or set(value) != {"a", "b"}
            or not all(
                isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in value.values()
            )
        ):
            raise self.error("trials", "{ a = 20, b = 20 }", repr(value))
        return Budget(value["a"], value["b"])

    def results(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        value = self.table.get("results")
        if isinstance(value, str) and value.strip():
            return (value,), ()
        if isinstance(value, dict) and set(value) == {"a", "b"}:
            sides = [[side] if isinstance(side, str) else side for side in (value["a"], value["b"])]
            if all(isinstance(side, list) and side and all(isinstance(item, str) for item in side) for side in sides):
                return tuple(sides[0]), tuple(sides[1])
        if value is None:
            raise LeakcheckError("the key 'results' is missing", file=self.file, place=self.place)
        raise self.error("results", 'a file, or { a = "...", b = "..." }', repr(value))


_KEYS = (
    "id",
    "text",
    "results",
    "a",
    "b",
    "metric",
    "unit",
    "direction",
    "threshold",
    "threshold_reason",
    "pair",
    "unit_of_analysis",
    "cluster",
    "task",
    "stage",
    "preregistered",
    "family",
    "trials",
    "best_of",
    "seeds",
    "correction",
    "code",
    "datasets",
    "search",
    "controls",
    "baselines",
    "considered",
)
