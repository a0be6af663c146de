"""Assertions for people's own tests; `leakcheck.testing` offers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Severity

if TYPE_CHECKING:
    from numpy import bool_
    from numpy.typing import NDArray
    from pandas import DataFrame, Series

_CUTS = 10


def assert_no_leakage(train: Any, test: Any, **options: Any) -> None:
    """Fail where the audit of two splits gives an error or a warning.

    Parameters
    ----------
    train, test
        Tables or paths, as `leakcheck.audit` takes them.
    **options
        Those of `leakcheck.audit`, such as ``text="question"`` or ``group="patient"``.

    Raises
    ------
    AssertionError
        With every finding.

    Examples
    --------
    >>> from leakcheck.testing import assert_no_leakage
    >>> train = ["the cat sat on the mat", "all birds can sing in spring"]
    >>> assert_no_leakage(train, ["nobody is at home this evening"])
    >>> assert_no_leakage(train, ["The cat sat on the mat"])
    Traceback (most recent call last):
    AssertionError: 1 finding
    test:row 1: LK601 exact-duplicates-across-splits: 1 of 1 rows of test (100.0 %, 95 % interval 20.7 to 100.0 %) are \
in train too
    """
    from leakcheck.audit import audit

    found = [f for f in audit(train, test, **options).findings if f.severity is not Severity.NOTE]
    if found:
        lines = "\n".join(f"{f.location}: {f.code} {f.name}: {f.message}" for f in found)
        raise AssertionError(f"{len(found)} finding{'' if len(found) == 1 else 's'}\n{lines}")


def assert_truncation_invariant(
    make_features: Callable[[DataFrame], Any], frame: DataFrame, *, cuts: int = _CUTS
) -> None:
    """Fail where features of a row change when later rows are cut off: they look ahead.

    Your function is called on the first rows of the frame, again and again; nothing else of your code is run.

    Parameters
    ----------
    make_features : callable
        Takes rows in time order and returns one row of features for each, in the same order.
    frame : DataFrame
        At least two rows, in time order.
    cuts : int, default 10
        At how many places, evenly spread, the frame is cut.

    Raises
    ------
    AssertionError
        With the column, the row and the cut.
    LeakcheckError
        When there are fewer than two rows or no cuts.

    Examples
    --------
    >>> import pandas as pd
    >>> from leakcheck.testing import assert_truncation_invariant
    >>> prices = pd.DataFrame({"price": [3.0, 4.0, 8.0, 5.0]})
    >>> assert_truncation_invariant(lambda rows: rows.rolling(2, min_periods=1).mean(), prices)
    >>> assert_truncation_invariant(lambda rows: rows - rows.mean(), prices)
    Traceback (most recent call last):
    AssertionError: feature 'price' of row 0 changes: features of 1 rows change when later rows are cut off at row 1
    """
    import numpy as np
    import pandas as pd

    if len(frame) < 2 or cuts < 1:
        raise LeakcheckError(
            "nothing can be cut off", expected="2 rows and 1 cut at least", found=f"{len(frame)} rows, {cuts} cuts"
        )
    whole = pd.DataFrame(make_features(frame.copy()))
    _same_length(whole, len(frame))
    for cut in np.unique(np.linspace(1, len(frame) - 1, min(cuts, len(frame) - 1), dtype=int)).tolist():
        part = pd.DataFrame(make_features(frame.iloc[:cut].copy()))
        _same_length(part, cut)
        for column in whole.columns:
            if column not in part:
                raise AssertionError(f"feature {column!r} is missing when later rows are cut off at row {cut}")
            differs = _differ(whole[column].iloc[:cut], part[column])
            if differs.any():
                row = int(np.flatnonzero(differs)[0])
                raise AssertionError(
                    f"feature {column!r} of row {row} changes: features of {int(differs.sum())} rows "
                    f"change when later rows are cut off at row {cut}"
                )


def _same_length(features: DataFrame, rows: int) -> None:
    if len(features) != rows:
        raise AssertionError(f"{rows} rows give {len(features)} rows of features")


def _differ(before: Series, after: Series) -> NDArray[bool_]:
    import numpy as np
    import pandas as pd

    if pd.api.types.is_numeric_dtype(before) and pd.api.types.is_numeric_dtype(after):
        one, two = (values.to_numpy(np.float64, na_value=np.nan) for values in (before, after))
        return np.asarray(~np.isclose(one, two, equal_nan=True))
    return np.asarray(before.astype(str).to_numpy() != after.astype(str).to_numpy())
