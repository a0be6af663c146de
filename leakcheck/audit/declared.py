"""Data sets declared in the configuration, for `leakcheck scan`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakcheck.audit import require_packages
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Location
from leakcheck.project.nearest import nearest
from leakcheck.project.paths import shown
from leakcheck.project.source import Problem
from leakcheck.project.table_lines import table_lines

if TYPE_CHECKING:
    from leakcheck.audit.result import AuditResult

KEYS = {
    "id", "splits", "text", "target", "group", "time", "prediction-time", "gap", "id-columns", "threshold", "contained",
    "shingle", "method",
}  # fmt: skip

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class AuditedData:
    """What is known of one data set after its audit, as plain JSON values.

    Attributes
    ----------
    id : str
    parameters : mapping
        What was declared of it, beside its id and files.
    splits : list of mappings
        `name`, `rows` and `files` of each split; a file has its `path`, `rows` and `sha256`.
    checks, notes : list of str
        What was compared and how, and what was left out.
    """

    id: str
    parameters: Mapping[str, Any]
    splits: Sequence[Mapping[str, Any]]
    checks: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class DeclaredData:
    """What auditing the declared data sets gave: what was audited, what was found, what could not be audited."""

    audited: tuple[AuditedData, ...] = ()
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    failed: tuple[str, ...] = ()  # the data set of each problem


def audit_all(tables: Sequence[Mapping[str, Any]], root: Path, config: Path, progress: Progress) -> DeclaredData:
    """Audit every declared data set; one that can't be audited is a problem at its place, and the others go on.

    Parameters
    ----------
    tables : sequence of mappings
        The `datasets` tables of the configuration; their ids are known to be there and to differ.
    root : Path
        The configuration's folder.
    config : Path
        The configuration file.
    progress : callable
        Is told how far each audit is.

    Returns
    -------
    DeclaredData
        Each finding carries the id of its data set as `evidence["dataset"]`.
    """
    lines = table_lines(config, "datasets")
    audited: list[AuditedData] = []
    findings: list[Finding] = []
    problems: list[Problem] = []
    failed: list[str] = []
    for table in tables:
        name = table["id"]
        try:
            result = audit_declared(table, root, _named(progress, name))
        except Exception as error:  # a fault of ours in one data set must not cost the rest of the run
            line = lines.get(name, 1)
            place = Location(shown(config), None, line, 1, line, 1)
            problems.append(Problem(f"data set {name!r} cannot be audited: {_reason(error)}", place))
            failed.append(name)
            continue
        audited.append(audited_data(name, {key: table[key] for key in table if key not in ("id", "splits")}, result))
        findings += [replace(one, evidence={"dataset": name, **(one.evidence or {})}) for one in result.findings]
    return DeclaredData(tuple(audited), tuple(findings), tuple(problems), tuple(failed))


def audited_data(name: str, parameters: Mapping[str, Any], result: AuditResult) -> AuditedData:
    """What a report says of an audit, beside its findings."""
    record = result.to_dict()["audit"]
    return AuditedData(name, parameters, record["splits"], record["checks"], record["notes"])


def _named(progress: Progress, name: str) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)


def _reason(error: Exception) -> str:
    if isinstance(error, LeakcheckError):
        return str(error)
    return " ".join(f"leakcheck itself failed on it ({type(error).__name__}: {error}); please report it".split())


def audit_declared(table: Mapping[str, Any], root: Path, progress: Progress) -> AuditResult:
    """Audit one `[[tool.leakcheck.datasets]]` table; its paths are relative to `root`.

    Raises
    ------
    LeakcheckError
        When a key is unknown or has the wrong kind of value, a file can't be read, or the data extra is missing.
    """
    require_packages()
    from leakcheck.audit.run import audit_splits, make_options
    from leakcheck.audit.splits import read_splits

    for key in table:
        if key not in KEYS:
            raise LeakcheckError(f"unknown key {key!r}{nearest(key, sorted(KEYS))}")
    splits = table.get("splits")
    if not isinstance(splits, Mapping) or len(splits) < 2:
        raise LeakcheckError("`splits` names two splits at least", found=repr(splits))
    patterns = {name: _texts(splits, name, "splits.") for name in splits}
    options = make_options(
        text=_texts(table, "text"),
        target=_text(table, "target"),
        group=_texts(table, "group"),
        time=_text(table, "time"),
        prediction_time=_text(table, "prediction-time"),
        gap=_text(table, "gap") or "0s",
        ids=_texts(table, "id-columns"),
        contained=_truth(table, "contained"),
        threshold=_number(table, "threshold", 0.8),
        shingle=_text(table, "shingle"),
        method=_text(table, "method") or "auto",
    )
    return audit_splits(read_splits(patterns, root, options), options, progress)


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise LeakcheckError(f"`{key}` is not usable", expected="a text", found=repr(value))
    return value


def _texts(table: Mapping[str, Any], key: str, prefix: str = "") -> Sequence[str]:
    value = table.get(key, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, Sequence) or not all(isinstance(one, str) for one in values):
        raise LeakcheckError(f"`{prefix}{key}` is not usable", expected="a text or a list of texts", found=repr(value))
    return values


def _truth(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise LeakcheckError(f"`{key}` is not usable", expected="true or false", found=repr(value))
    return value


def _number(table: Mapping[str, Any], key: str, default: float) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LeakcheckError(f"`{key}` is not usable", expected="a number", found=repr(value))
    return float(value)
