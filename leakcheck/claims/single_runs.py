"""Files that hold one number of each method: one run, which is not a result (LK802)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from leakcheck.claims.facts import Claim
from leakcheck.claims.model_index import named_values
from leakcheck.claims.paired import Paired, Row
from leakcheck.claims.tables import Table
from leakcheck.errors import LeakcheckError


def metric_diff(claim: Claim, table: Table) -> Paired | None:
    """Old and new value of `dvc metrics diff --json`; None for every other table."""
    if not claim.metric or len(table.rows) != 1:
        return None
    ends = {
        end: [i for i, column in enumerate(table.columns) if column.endswith(f"{claim.metric}.{end}")]
        for end in ("old", "new")
    }
    if any(len(columns) != 1 for columns in ends.values()):
        return None
    old, new = (table.number(0, ends[end][0], f"the {end} run") for end in ("old", "new"))
    return _one_run(claim, table.path, old, new)


def model_index(claim: Claim, path: str, file: Path) -> Paired:
    """Two models of one model card.

    Raises
    ------
    LeakcheckError
        If the card has no value of the metric for one of them.
    """
    values = named_values(file, path, claim.metric)
    missing = [name for name in (claim.a, claim.b) if name not in values]
    if missing:
        raise LeakcheckError(
            f"the model-index has no model {missing[0]!r}; give a file for each method",
            file=path,
            found=", ".join(repr(name) for name in values),
        )
    return _one_run(claim, path, values[claim.a], values[claim.b])


def _one_run(claim: Claim, path: str, a: Decimal, b: Decimal) -> Paired:
    return Paired((Row("the only run", a, b),), source=path, shared=claim.pair or "run", metric=claim.metric or "value")
