"""Assertions for people's own tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from leakcheck.findings import Severity

if TYPE_CHECKING:
    from pandas import DataFrame

_CUTS = 10


def assert_no_leakage(train: Any, test: Any, **options: Any) -> None:
    """Fail where the audit of two splits gives an error or a warning.

    Parameters
    ----------
    train, test
        Tables or paths, as `leakcheck.audit` takes them; so are the options.

    Raises
    ------
    AssertionError
        With every finding.
    """
    from leakcheck.audit import audit

    found = [f for f in audit(train, test, **options).findings if f.severity is not Severity.NOTE]
    if found:
        lines = "\n".join(f"{f.location}: {f.code} {f.name}: {f.message}" for f in found)
        raise AssertionError(f"{len(found)} findings\n{lines}")


def assert_truncation_invariant(
    make_features: Callable[[DataFrame], DataFrame], frame: DataFrame, *, cuts: int = _CUTS
) -> None:
    """Fail where features of a row change when later rows are cut off: they look ahead.

    Parameters
    ----------
    make_features : callable
        Takes rows in time order and returns one row of features for each.
    frame : DataFrame
        Rows in time order.
    cuts : int, default 10
        At how many places, evenly spread, the frame is cut.

    Raises
    ------
    AssertionError
        With the column, the row and the cut.
    """
    import numpy as np
    import pandas as pd

    whole = pd.DataFrame(make_features(frame.copy()))
    for cut in np.unique(np.linspace(1, len(frame) - 1, min(cuts, len(frame) - 1), dtype=int)).tolist():
        part = pd.DataFrame(make_features(frame.iloc[:cut].copy()))
        if len(part) != cut:
            raise AssertionError(f"{cut} rows give {len(part)} rows of features")
        for column in whole.columns:
            if column not in part:
                raise AssertionError(f"feature {column!r} is missing when later rows are cut off at row {cut}")
            before, after = whole[column].iloc[:cut], part[column]
            if pd.api.types.is_numeric_dtype(before) and pd.api.types.is_numeric_dtype(after):
                differs = ~np.isclose(before.to_numpy(float), after.to_numpy(float), equal_nan=True)
            else:
                differs = before.astype(str).to_numpy() != after.astype(str).to_numpy()
            if differs.any():
                row = int(np.flatnonzero(differs)[0])
                raise AssertionError(
                    f"feature {column!r} of row {row} changes: features of {int(differs.sum())} rows "
                    f"change when later rows are cut off at row {cut}"
                )
