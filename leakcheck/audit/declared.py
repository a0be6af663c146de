"""Data sets declared in the configuration, for `leakcheck scan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leakcheck.audit import require_packages
from leakcheck.audit.result import AuditResult
from leakcheck.errors import LeakcheckError

KEYS = {
    "id", "splits", "text", "target", "group", "time", "prediction-time", "gap", "id-columns", "threshold", "contained",
    "shingle", "method",
}  # fmt: skip


def audit_declared(table: Mapping[str, Any], root: Path, file: str = "pyproject.toml") -> AuditResult:
    """Audit one `[[tool.leakcheck.datasets]]` table; its paths are relative to `root`.

    Raises
    ------
    LeakcheckError
        When a key is unknown or has the wrong kind of value, or a file can't be read.
    """
    require_packages()
    from leakcheck.audit.run import audit_splits, make_options
    from leakcheck.audit.splits import read_splits

    place = f"data set {table.get('id', '(no id)')!r}"
    for key in table:
        if key not in KEYS:
            raise LeakcheckError(f"unknown key {key!r}", file=file, place=place, expected=", ".join(sorted(KEYS)))
    splits = table.get("splits")
    if not isinstance(splits, Mapping) or len(splits) < 2:
        raise LeakcheckError("`splits` names two splits at least", file=file, place=place, found=repr(splits))
    patterns = {name: _texts(files, f"splits.{name}", file, place) for name, files in splits.items()}
    options = make_options(
        text=_texts(table.get("text", []), "text", file, place),
        target=_text(table, "target", file, place),
        group=_texts(table.get("group", []), "group", file, place),
        time=_text(table, "time", file, place),
        prediction_time=_text(table, "prediction-time", file, place),
        gap=_text(table, "gap", file, place) or "0s",
        ids=_texts(table.get("id-columns", []), "id-columns", file, place),
        contained=bool(table.get("contained", False)),
        threshold=float(table.get("threshold", 0.8)),
        shingle=_text(table, "shingle", file, place),
        method=_text(table, "method", file, place) or "auto",
    )
    return audit_splits(read_splits(patterns, root, options), options)


def _text(table: Mapping[str, Any], key: str, file: str, place: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise LeakcheckError(f"`{key}` is not text", file=file, place=place, expected="a string", found=repr(value))
    return value


def _texts(value: Any, key: str, file: str, place: str) -> Sequence[str]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, Sequence) or not all(isinstance(one, str) for one in values):
        raise LeakcheckError(
            f"`{key}` is not a list of strings", file=file, place=place, expected="strings", found=repr(value)
        )
    return values
