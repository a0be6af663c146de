"""The data leg: what the evaluation splits share with training, and shortcuts to the target."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leakcheck.audit.result import AuditResult

__all__ = ["audit"]

PACKAGES = ("numpy", "pandas", "pyarrow", "sklearn")


def audit(train: Any = None, test: Any = None, **options: Any) -> AuditResult:
    """Audit splits given as tables, or as paths.

    Parameters
    ----------
    train, test : DataFrame (pandas or polars), Arrow table, Hugging Face data set, array, list of texts, or path(s)
        The two splits. Instead, `train` alone may be a mapping that holds all of them by name. Levels of a pandas
        index that the options name count as columns.
    splits : mapping of str to the same, optional
        Any number of named splits.
    text, group, ids : str or list of str, optional
        Text columns, entity columns, identifier columns.
    target, time, prediction_time : str, optional
        Columns of the label, of each row's date, and of the moment of prediction.
    gap : str, default "0s"
        Time that must lie between training and held-out rows, such as ``"7d"``.
    contained : bool, default False
        Also look for evaluation items inside longer training documents.
    threshold : float, default 0.8
        Jaccard similarity from which texts are near duplicates.
    shingle : str, optional
        ``"words:3"`` or ``"chars:5"``.
    method : {"auto", "exact", "minhash"}
    redact : bool, default False
        Leave texts out of the evidence.
    max_evidence : int, default 10
        Examples kept of each finding.

    Returns
    -------
    AuditResult
        Findings, facts, and ``to_frame()``, ``to_dict()``, ``to_markdown()``.

    Raises
    ------
    LeakcheckError
        When a file can't be read, a split is empty or a declared column is missing.
    """
    require_packages()
    from leakcheck.audit.run import audit_tables

    return audit_tables(train, test, **options)


def require_packages() -> None:
    """Say in one line what to install where the extra is missing."""
    from importlib.util import find_spec

    from leakcheck.errors import LeakcheckError

    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise LeakcheckError(
            f"the audit needs {', '.join(missing)}: install them with `pip install 'leakcheck-lint[data]'`"
        )


class _CallableModule(ModuleType):
    """`leakcheck.audit(...)` must work also once this package, of the same name, has been imported."""

    def __call__(self, *args: Any, **options: Any) -> AuditResult:
        return audit(*args, **options)


sys.modules[__name__].__class__ = _CallableModule
