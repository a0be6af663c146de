"""Candidates of a scikit-learn search (`cv_results_`), compared over its folds."""

from __future__ import annotations

import math
import re
from typing import Any

from leakcheck.claims.facts import Claim
from leakcheck.claims.paired import Paired, Row
from leakcheck.claims.tables import Table, to_decimal
from leakcheck.errors import LeakcheckError

_FOLD_SCORE = re.compile(r"split(\d+)_test_(.+)")


def cross_validation(claim: Claim, table: Table) -> Paired | None:
    """Two candidates of a search, paired by fold; None where the table has no scores of folds.

    Raises
    ------
    LeakcheckError
        If the metric or a candidate is not told apart.
    """
    matches = [(column, match) for column in table.columns if (match := _FOLD_SCORE.fullmatch(column))]
    if not matches:
        return None
    scorers = list(dict.fromkeys(match[2] for _, match in matches))
    wanted = [scorer for scorer in scorers if scorer == claim.metric] or scorers
    scorer = wanted[0]
    if len(wanted) > 1:
        raise LeakcheckError(
            "the search has several metrics; name one", file=table.path, place="header", found=", ".join(scorers)
        )
    a, b = _candidate(table, claim.a), _candidate(table, claim.b)
    folds = [(match[1], table.columns.index(column)) for column, match in matches if match[2] == scorer]
    rows = [
        Row(
            fold,
            table.number(a, index, f"{claim.a!r}, fold {fold}"),
            table.number(b, index, f"{claim.b!r}, fold {fold}"),
        )
        for fold, index in folds
    ]
    ratio = 1.0 / (len(folds) - 1) if len(folds) > 1 else 1.0
    rank = table.find(f"rank_test_{scorer}")
    first = rank is not None and table.text(b, rank) == "1"
    return Paired(
        rows=tuple(rows),
        source=table.path,
        shared="fold",
        metric=scorer,
        unit="fold",
        test_train_ratio=ratio,
        candidates=len(table.rows) if first and len(table.rows) > 1 else None,
        trial_scores=tuple(
            math.fsum(float(table.number(row, index, f"candidate {row}")) for _, index in folds) / len(folds)
            for row in range(len(table.rows))
        ),
        remarks=(
            f"Folds share most of their training rows, so their differences are correlated: the interval is the "
            f"corrected resampled t with {len(folds)} folds taken as one partition (test/train = {ratio:.3g}); "
            "the bootstrap and the rank tests, which need independent pairs, are left out.",
            "Folds differ in their rows only: initialisation, order of the data and hardware are not covered.",
        ),
    )


def _candidate(table: Table, name: str) -> int:
    """Row of a search's candidate: its `params` as written, `name=value` pairs, or its number from 0."""
    params = table.find("params")
    if params is not None:
        plain = name.replace('"', "'").replace(" ", "")
        same = [
            index
            for index, row in enumerate(table.rows)
            if str(row[params]).replace('"', "'").replace(" ", "") == plain
        ]
        if len(same) == 1:
            return same[0]
    settings = [part.partition("=") for part in name.split(",")]
    if all(sign for _, sign, _ in settings):
        wanted = [(table.require(f"param_{key.strip()}", "a parameter"), value.strip()) for key, _, value in settings]
        same = [i for i, row in enumerate(table.rows) if all(_same(row[column], value) for column, value in wanted)]
        if len(same) == 1:
            return same[0]
        if same:
            raise LeakcheckError(f"{name!r} names {len(same)} candidates of the search", file=table.path)
    if name.isdecimal() and int(name) < len(table.rows):
        return int(name)
    raise LeakcheckError(
        f"the search has no candidate {name!r}",
        file=table.path,
        expected=f"its params as written, 'name=value', or a row from 0 to {len(table.rows) - 1}",
    )


def _same(cell: Any, text: str) -> bool:
    """Whether a parameter has the value that was named; 1 and 1.0 are the same."""
    if str(cell).strip() == text:
        return True
    try:
        return to_decimal(cell) == to_decimal(text)
    except ValueError:
        return False
