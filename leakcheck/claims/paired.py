"""Matched values of two methods, whatever file they came from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from leakcheck.claims.facts import Direction, Pair, PseudoRuns


@dataclass(frozen=True, slots=True)
class Row:
    """One value of each method, with the run, task or other cluster that it belongs to."""

    id: str
    a: Decimal
    b: Decimal
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Paired:
    """Rows of both methods, matched; nothing was dropped."""

    rows: tuple[Row, ...]
    source: str
    shared: str
    metric: str
    unit: str = "run"
    example: str = "row"  # what a row is, where rows are averaged within a cluster
    test_train_ratio: float | None = None
    candidates: int | None = None  # of the search in which `b` came first
    trial_scores: tuple[float, ...] = ()  # of all candidates of a search
    pseudo_runs: PseudoRuns | None = None
    remarks: tuple[str, ...] = ()

    def pairs(self, direction: Direction) -> tuple[Pair, ...]:
        """One pair an independent observation: rows of a cluster are averaged. Ordered by value, not by file."""
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.id if row.cluster is None else row.cluster, []).append(row)
        made = []
        for name, rows in groups.items():
            a, b = _mean([row.a for row in rows]), _mean([row.b for row in rows])
            difference = b - a if direction is Direction.HIGHER else a - b
            made.append(Pair(name, float(a), float(b), float(difference)))
        return tuple(sorted(made, key=lambda pair: (pair.difference, pair.a, pair.id)))

    def digest(self) -> str:
        """SHA-256 of the matched values, in an order that does not depend on the file's."""
        lines = sorted(
            f"{row.cluster or ''}\t{row.id}\t{row.a.normalize():f}\t{row.b.normalize():f}" for row in self.rows
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _mean(values: Sequence[Decimal]) -> Decimal:
    if len(values) == 1:
        return values[0]
    # The correctly rounded sum does not depend on the order.
    return Decimal(repr(math.fsum(float(value) for value in values) / len(values)))
