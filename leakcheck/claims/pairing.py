"""From result files to pairs: which rows belong together, and what one independent observation is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from glob import glob
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leakcheck.claims.facts import AnalysisUnit, Claim, PseudoRuns
from leakcheck.claims.model_index import metric_value
from leakcheck.claims.paired import Paired, Row
from leakcheck.claims.searches import cross_validation
from leakcheck.claims.single_runs import metric_diff, model_index
from leakcheck.claims.tables import Table, read_table
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Location, Within

_PLAIN_IDS = ("id", "run", "run_id")  # which say nothing of what they identify
_ID_COLUMNS = ("id", "seed", "run", "run_id", "fold", "split")
_RUN_COLUMNS = ("run", "run_id", "runid", "run id", "seed", "trial", "checkpoint")
_NOT_RUNS = ("fold", "split", "cv", "task", "dataset", "data set", "benchmark")
_CHART_COLUMN = re.compile(r".+ - .+?(__MIN|__MAX)?$")
_SHOWN = 5


def read_pairs(claim: Claim, root: Path) -> Paired:
    """Read the results behind a claim and match the rows of its two methods.

    Raises
    ------
    LeakcheckError
        For a missing file or column, and for duplicate, missing or one-sided ids and values that are not finite
        numbers, with the file, the row and the id.
    """
    if claim.results_b:
        return _two_sides(claim, root)
    files = _expand(claim.results_a, root)
    if len(files) > 1:
        raise LeakcheckError(
            "one results file for both methods was expected, or one set of files for each",
            file=", ".join(claim.results_a),
            found=f"{len(files)} files",
        )
    path, file = files[0]
    if file.suffix.lower() in (".md", ".yaml", ".yml"):
        return model_index(claim, path, file)
    table = read_table(file, path)
    other = cross_validation(claim, table) or metric_diff(claim, table)
    if other is not None:
        return other
    if table.find(claim.a) is not None and table.find(claim.b) is not None:
        return _wide(claim, table)
    return _long(claim, table)


class NoSuchMethodError(LeakcheckError):
    """A table holds no column and no method of a name."""


def methods_beside(claim: Claim, root: Path) -> tuple[str, ...]:
    """The other methods of a long or wide table, in the order of the file."""
    path, file = _expand(claim.results_a, root)[0]
    table = read_table(file, path)
    if table.find(claim.a) is not None:
        used = {
            table.find(name)
            for name in (*_ID_COLUMNS, claim.a, claim.pair or "", claim.cluster or "", claim.task or "")
        }
        return tuple(column for index, column in enumerate(table.columns) if index not in used)
    column = _method_column(claim, table, (claim.a,))
    names = dict.fromkeys(table.text(row, column) for row in range(len(table.rows)))
    return tuple(name for name in names if name != claim.a)


def scores_by_task(claims: Sequence[Claim], root: Path) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Mean score of each method on each task.

    Parameters
    ----------
    claims : sequence of Claim
        All with the same method `a`.

    Returns
    -------
    array of shape (tasks, methods), and the names of the methods
        Method `a` first.
    """
    columns: dict[str, dict[str, float]] = {}
    for claim in claims:
        for pair in read_pairs(claim, root).pairs(claim.direction):
            columns.setdefault(claim.a, {})[pair.id] = pair.a
            columns.setdefault(claim.b, {})[pair.id] = pair.b
    tasks = sorted(columns[claims[0].a])
    return np.array([[column[task] for column in columns.values()] for task in tasks]), tuple(columns)


def runs_of(
    claim: Claim, method: str, factors: Sequence[str], root: Path
) -> tuple[NDArray[np.float64], dict[str, list[str]]]:
    """Scores of one method's runs, and the level of each factor in each run.

    Returns
    -------
    array of shape (runs,), and a mapping of each factor to its levels
    """
    path, file = _expand(claim.results_a, root)[0]
    table = read_table(file, path)
    columns = {factor: table.require(factor, "a factor") for factor in factors}
    value = table.find(method)
    rows = list(range(len(table.rows)))
    if value is None:
        value = _value_column(claim, table)
        names = _method_column(claim, table, (method,))
        rows = [row for row in rows if table.text(row, names) == method]
    scores = np.array([float(table.number(row, value, f"{method!r}")) for row in rows])
    return scores, {factor: [table.text(row, column) for row in rows] for factor, column in columns.items()}


def _wide(claim: Claim, table: Table) -> Paired:
    a, b = table.require(claim.a, "method a"), table.require(claim.b, "method b")
    id_column = _id_column(claim, table, taken=(a, b))
    cluster, pseudo = _cluster_column(claim, table, id_column, range(len(table.rows)))
    seen: dict[tuple[str | None, str], int] = {}
    rows = []
    for index in range(len(table.rows)):
        key = _key(table, index, id_column, cluster)
        _refuse_duplicate(table, seen, key, index)
        who = f"id {key[1]!r}"
        rows.append(Row(key[1], table.number(index, a, who), table.number(index, b, who), key[0]))
    return _with_units(claim, table, rows, id_column, cluster, pseudo, claim.metric or "value")


def _long(claim: Claim, table: Table) -> Paired:
    if all(column == "Step" or _CHART_COLUMN.fullmatch(column) for column in table.columns):
        raise LeakcheckError(
            "this is the export of a chart: its rows are steps of one run, not runs; export the table of runs",
            file=table.path,
        )
    method = _method_column(claim, table, (claim.a, claim.b))
    value = _value_column(claim, table)
    id_column = _id_column(claim, table, taken=(method, value))
    of_method: dict[str, list[int]] = {name: [] for name in (claim.a, claim.b)}
    for index in range(len(table.rows)):
        name = table.text(index, method)
        if name in of_method:
            of_method[name].append(index)
    cluster, pseudo = _cluster_column(claim, table, id_column, of_method[claim.a])
    values: dict[str, dict[tuple[str | None, str], Decimal]] = {}
    for name, indices in of_method.items():
        seen: dict[tuple[str | None, str], int] = {}
        for index in indices:
            key = _key(table, index, id_column, cluster)
            _refuse_duplicate(table, seen, key, index, name)
            values.setdefault(name, {})[key] = table.number(index, value, f"{name!r}, id {key[1]!r}")
    rows = _match(claim, table.path, values[claim.a], values[claim.b])
    return _with_units(claim, table, rows, id_column, cluster, pseudo, claim.metric or table.columns[value])


def _two_sides(claim: Claim, root: Path) -> Paired:
    sides = []
    for patterns in (claim.results_a, claim.results_b):
        files = _expand(patterns, root)
        names = _run_names([path for path, _ in files])
        values: dict[tuple[str | None, str], Decimal] = {}
        for name, (path, file) in zip(names, files, strict=True):
            for key, value in _scores(claim, path, file, name, several=len(files) > 1):
                if key in values:
                    raise LeakcheckError(f"the id {key[1]!r} stands twice", file=path)
                values[key] = value
        sides.append((", ".join(patterns), values))
    (source_a, a), (source_b, b) = sides
    rows = _match(claim, f"{source_a} and {source_b}", a, b)
    examples = any(row.cluster is not None for row in rows)
    return Paired(
        rows=tuple(rows),
        source=f"{source_a}; {source_b}",
        shared=claim.pair or ("run and document" if examples else "run"),
        metric=claim.metric or "value",
        example="example" if examples else "row",
    )


def _scores(
    claim: Claim, path: str, file: Path, run: str, *, several: bool
) -> Iterable[tuple[tuple[str | None, str], Decimal]]:
    """Values of one method's file: one number (a run), or a row an example or run."""
    if file.suffix.lower() in (".md", ".yaml", ".yml"):
        yield (None, run), metric_value(file, path, claim.metric)
        return
    table = read_table(file, path)
    documents = table.find("doc_id")
    if len(table.rows) == 1 and documents is None:
        value = table.require(claim.metric, "the metric") if claim.metric else _value_column(claim, table)
        yield (None, run), table.number(0, value, f"run {run!r}")
        return
    value = _value_column(claim, table)
    id_column = documents if documents is not None else _id_column(claim, table, taken=(value,))
    examples = documents is not None or several or claim.analysis_unit is AnalysisUnit.EXAMPLE
    seen: dict[tuple[str | None, str], int] = {}
    for index in range(len(table.rows)):
        key = (run if examples else None, table.text(index, id_column))
        _refuse_duplicate(table, seen, key, index)
        yield key, table.number(index, value, f"id {key[1]!r}")


def _with_units(
    claim: Claim,
    table: Table,
    rows: Sequence[Row],
    id_column: int,
    cluster: int | None,
    pseudo: PseudoRuns | None,
    metric: str,
) -> Paired:
    id_name = table.columns[id_column]
    remarks = []
    if pseudo is None and cluster is None and claim.analysis_unit is AnalysisUnit.EXAMPLE:
        # Nothing says which run an example came from: they count as one run.
        pseudo = PseudoRuns(len(rows), 1, None, _at(table.path))
        rows = [replace(row, cluster="the only run") for row in rows]
    if cluster is None and id_name.casefold() in ("fold", "split", "cv"):
        remarks.append(
            "Folds differ in their rows only: initialisation, order of the data and hardware are not covered."
        )
    unit = "task" if claim.task is not None else "run"
    example = "example" if claim.analysis_unit is AnalysisUnit.EXAMPLE else "row"
    return Paired(
        rows=tuple(rows),
        source=table.path,
        shared=claim.pair or id_name,
        metric=metric,
        unit=unit,
        example=example,
        pseudo_runs=pseudo,
        remarks=tuple(remarks),
    )


def _id_column(claim: Claim, table: Table, taken: Sequence[int]) -> int:
    for name in (claim.pair, *_PLAIN_IDS) if claim.pair else _ID_COLUMNS:
        if (index := table.find(name)) is not None and index not in taken:
            if name != claim.pair and index == table.find(claim.cluster or claim.task or ""):
                continue  # the cluster is not the id of a row inside it
            return index
    expected = repr(claim.pair) if claim.pair else "'id' (or name it with --pair)"
    raise LeakcheckError(
        "the column that pairs the rows is missing",
        file=table.path,
        place="header",
        expected=expected,
        found=table.header(),
    )


def _cluster_column(
    claim: Claim, table: Table, id_column: int, indices: Iterable[int]
) -> tuple[int | None, PseudoRuns | None]:
    """The declared cluster or task column; else a run column whose repeats show that rows are not runs."""
    if claim.task is not None:
        return table.require(claim.task, "the task of each row"), None
    if claim.cluster is not None:
        return table.require(claim.cluster, "the run of each row"), None
    if table.columns[id_column].casefold() in _NOT_RUNS:
        return None, None
    rows = list(indices)
    for index, column in enumerate(table.columns):
        if index == id_column or column.casefold() not in _RUN_COLUMNS:
            continue
        names = {str(table.rows[row][index]) for row in rows}
        if len(names) < len(rows):
            return index, PseudoRuns(len(rows), len(names), column, _at(table.path))
    return None, None


def _method_column(claim: Claim, table: Table, names: Sequence[str]) -> int:
    holding = [
        index
        for index in range(len(table.columns))
        if set(names) <= {str(row[index]).strip() for row in table.rows if row[index] is not None}
    ]
    named = table.find("method")
    if named in holding and named is not None:
        return named
    if len(holding) == 1:
        return holding[0]
    if holding:
        columns = ", ".join(repr(table.columns[index]) for index in holding)
        raise LeakcheckError(f"the names of the methods stand in several columns: {columns}", file=table.path)
    known = ""
    if named is not None:
        counts = Counter(str(row[named]) for row in table.rows)
        known = "methods " + ", ".join(repr(name) for name in list(counts)[:12])
        names = [name for name in names if name not in counts]
    missing = " and ".join(repr(name) for name in names if table.find(name) is None or named is not None)
    raise NoSuchMethodError(
        f"there is no column and no method {missing}",
        file=table.path,
        place="header" if named is None else f"column {table.columns[named]!r}",
        found=known or table.header(),
    )


def _value_column(claim: Claim, table: Table) -> int:
    if claim.metric is not None and (index := table.find(claim.metric)) is not None:
        return index
    if (index := table.find("value")) is not None:
        return index
    raise LeakcheckError(
        "the column with the values is missing",
        file=table.path,
        place="header",
        expected=f"{claim.metric!r} or 'value'" if claim.metric else "'value' (or name it with --metric)",
        found=table.header(),
    )


def _key(table: Table, row: int, id_column: int, cluster: int | None) -> tuple[str | None, str]:
    return (None if cluster is None else table.text(row, cluster)), table.text(row, id_column)


def _refuse_duplicate(
    table: Table,
    seen: dict[tuple[str | None, str], int],
    key: tuple[str | None, str],
    row: int,
    method: str | None = None,
) -> None:
    if key in seen:
        of_method = f" for {method!r}" if method else ""
        in_cluster = f" in {key[0]!r}" if key[0] is not None else ""
        raise LeakcheckError(
            f"the id {key[1]!r} stands twice{of_method}{in_cluster}",
            file=table.path,
            place=f"{table.places[seen[key]]} and {table.places[row]}",
        )
    seen[key] = row


def _match(
    claim: Claim,
    path: str,
    a: dict[tuple[str | None, str], Decimal],
    b: dict[tuple[str | None, str], Decimal],
) -> list[Row]:
    for method, missing in ((claim.b, a.keys() - b.keys()), (claim.a, b.keys() - a.keys())):
        if missing:
            names = sorted(f"{key[1]}" + (f" of {key[0]}" if key[0] is not None else "") for key in missing)
            shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
            other = claim.a if method == claim.b else claim.b
            raise LeakcheckError(
                f"{len(missing)} id{'s' if len(missing) > 1 else ''} of {other!r} "
                f"{'have' if len(missing) > 1 else 'has'} no row of {method!r}: {shown}",
                file=path,
            )
    return [Row(key[1], a[key], b[key], key[0]) for key in a]


def _expand(patterns: Sequence[str], root: Path) -> list[tuple[str, Path]]:
    """Files of the patterns, with the names shown to people; a folder stands for the result files in it."""
    found: dict[Path, str] = {}
    for pattern in patterns:
        matches = [pattern] if (root / pattern).exists() else sorted(glob(pattern, root_dir=root, recursive=True))
        if not matches:
            raise LeakcheckError("the results file does not exist", file=pattern)
        for match in matches:
            file = root / match
            inside = sorted(entry for entry in file.rglob("*.json*") if entry.is_file()) if file.is_dir() else [file]
            # The harness writes a summary beside its samples.
            samples = [entry for entry in inside if entry.name.startswith("samples_")]
            for entry in samples or inside:
                found[entry] = Path(match, entry.relative_to(file)).as_posix() if file.is_dir() else match
    if not found:
        raise LeakcheckError("the folder holds no result files", file=", ".join(patterns))
    return [(path, file) for file, path in found.items()]


def _run_names(paths: Sequence[str]) -> list[str]:
    """What tells the files of one method apart: the parts of their paths that differ, less time stamps."""
    if len(paths) == 1:
        return ["the only run"]
    parts = [Path(re.sub(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+", "", path)).with_suffix("").parts for path in paths]
    shared = 0
    while all(len(part) > shared + 1 for part in parts) and len({part[shared] for part in parts}) == 1:
        shared += 1
    names = ["/".join(part[shared:]) for part in parts]
    if len(set(names)) == len(names) and all(len(set(part)) for part in parts):
        varying = [part[shared:] for part in parts]
        if len({len(part) for part in varying}) == 1:
            differing = [i for i in range(len(varying[0])) if len({part[i] for part in varying}) > 1]
            names = ["/".join(part[i] for i in differing) for part in varying]
        return names
    return [str(index) for index in range(1, len(paths) + 1)]


def _at(path: str) -> Location:
    return Location(path, None, 1, 1, 1, 1, Within.NOTHING)
