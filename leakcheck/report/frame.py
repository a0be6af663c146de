"""Findings as a pandas frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    "code",
    "name",
    "class",
    "severity",
    "confidence",
    "path",
    "cell",
    "line",
    "column",
    "message",
    "help",
    "fingerprint",
)


def findings_frame(findings: Sequence[Finding]) -> DataFrame:
    """One row a finding.

    Raises
    ------
    LeakcheckError
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise LeakcheckError("to_frame() needs pandas: pip install 'leakcheck-lint[data]'") from None
    rows = [
        (f.code, f.name, f.leak_class, f.severity.value, f.confidence.value, f.location.path, f.location.cell,
         f.location.line, f.location.column, f.message, f.help, f.fingerprint)
        for f in findings
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"cell": "Int64"})
