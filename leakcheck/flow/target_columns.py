"""The target among the features, as it is or in a column made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from leakcheck.findings import TraceStep
from leakcheck.flow.events import Column, Learn, Tie, TieKind, Train
from leakcheck.flow.facts import TargetColumn
from leakcheck.flow.operations.common import last_part
from leakcheck.flow.rows import Rows, Site

if TYPE_CHECKING:
    from leakcheck.flow.leaks import Joiner
    from leakcheck.flow.values import Data

# A statistic over rows that the target is part of, which other rules speak of.
_OVER_ROWS = frozenset({"group-statistic", "target-encoding", "statistic"})
# Learners of a number whose names don't end in Regressor.
_REGRESSORS = frozenset(
    [
        "BayesianRidge",
        "ElasticNet",
        "ElasticNetCV",
        "KernelRidge",
        "Lars",
        "LarsCV",
        "Lasso",
        "LassoCV",
        "LassoLars",
        "LassoLarsCV",
        "LinearRegression",
        "LinearSVR",
        "NuSVR",
        "Ridge",
        "RidgeCV",
        "SVR",
    ]
)

Place: TypeAlias = tuple[Site, str]  # a line and the feature made there


def target_columns(joiner: Joiner) -> Iterator[TargetColumn]:
    """What gives the target away, each column once for a place."""
    seen: set[Place] = set()
    for train in joiner.trains:
        x, y = train.x, train.y
        if x is None or y is None or x.columns is None or train.selects_columns or len(y.sources) != 1:
            continue
        if _of_other_rows(y) or "window" in x.flags or ("numeric" in x.flags and not _predicts_number(train)):
            continue
        target = next(iter(y.sources))
        frame, name = target
        if x.columns.frame != frame or name.startswith(("#", "*")):
            continue
        if name in x.columns.named or (x.columns.open and name not in x.columns.dropped):
            found = list(_itself(joiner, train, x, target))
        else:
            found = [*_made_from_it(joiner, train, x, target), *_windows_over_it(joiner, train, x, y, target)]
        for places, leak in found:
            if places[0] not in seen:
                seen.update(places)
                yield leak


def _itself(joiner: Joiner, train: Train, x: Data, target: Column) -> Iterator[tuple[list[Place], TargetColumn]]:
    """The target, where nothing else was written into its column."""
    frame, name = target
    named = x.columns.named.get(name) if x.columns is not None else None
    if named is not None and (target not in named.sources or _of_other_rows(named)):
        return
    steps = [joiner.step(f"{train.what} is trained on `{name}` among the features here", train.site)]
    made, site = _made_target(joiner, x, target)
    if site is not None:
        steps.append(joiner.step(f"the target `{made}` is made from `{name}` here", site))
    steps += _made_features(joiner, frame, name, x.rows)
    places, leak = _leak(joiner, name, [(name, train.site)], steps, x.rows)
    yield places, replace(leak, made_from_it=made)


def _made_target(joiner: Joiner, x: Data, source: Column) -> tuple[str, Site | None]:
    """The column that was made from one that is still a feature, and that is itself not among them: the target."""
    for (frame, name), (made_from, site) in joiner.program.made_columns.items():
        if made_from == source and frame == source[0] and x.columns is not None and x.columns.has(name) is False:
            return name, site
    return "", None


def _made_from_it(joiner: Joiner, train: Train, x: Data, target: Column) -> Iterator[tuple[list[Place], TargetColumn]]:
    """Columns computed from the target of the same row."""
    for name, column, site in _from(x, target):
        if _of_other_rows(column) or any(isinstance(m, Learn) and m.category in _OVER_ROWS for m in column.marks):
            continue
        steps = [joiner.step(f"`{name}` is made from the target `{target[1]}` here", site)]
        steps.append(joiner.step(f"{train.what} is trained on it here", train.site))
        yield _leak(joiner, target[1], [(name, site)], steps, x.rows)


def _windows_over_it(
    joiner: Joiner, train: Train, x: Data, y: Data, target: Column
) -> Iterator[tuple[list[Place], TargetColumn]]:
    """Columns computed over a window that ends with the target of the same row, told together."""
    found = [
        (name, site)
        for name, column, site in _from(x, target)
        if _of_other_rows(column) and "own" in column.flags and x.rows == y.rows
    ]
    if found:
        steps = [joiner.step(f"`{name}` takes in the row's own `{target[1]}` here", site) for name, site in found]
        steps.append(joiner.step(f"{train.what} is trained on it here", train.site))
        yield _leak(joiner, target[1], found, steps, x.rows)


def _from(x: Data, target: Column) -> Iterator[tuple[str, Data, Site]]:
    """The columns into which the target went, and where they were made."""
    for name, column in x.columns.named.items() if x.columns is not None else ():
        if target in column.sources and column.made_at is not None:
            yield name, column, column.made_at


def _leak(
    joiner: Joiner, target: str, made: list[tuple[str, Site]], steps: list[TraceStep], rows: Rows
) -> tuple[list[Place], TargetColumn]:
    """The leak of the first of some features, and the places of all."""
    feature, site = made[0]
    leak = TargetColumn(target, feature, joiner.location(site), joiner.unique(steps), joiner.confidence(rows))
    return [(site.bare(), name) for name, site in made], leak


def _made_features(joiner: Joiner, frame: int, target: str, rows: Rows) -> list[TraceStep]:
    """Where the features were put together before they were split."""
    steps: list[TraceStep] = []
    for split in joiner.splits:
        if not any(cut is split.cut for _, cuts in rows for cut, _ in cuts):
            continue
        for data in split.data:
            columns = data.columns
            if columns is not None and columns.frame == frame and target not in columns.dropped and data.made_at:
                steps.append(joiner.step(f"`{data.name}` still holds `{target}` here", data.made_at))
    return steps


def _predicts_number(train: Train) -> bool:
    """Whether the target is a number: columns picked by their type keep it then."""
    name = last_part(train.predictor.name) if train.predictor is not None else ""
    return name in _REGRESSORS or name.endswith("Regressor")


def _of_other_rows(data: Data) -> bool:
    """Whether a value was shifted or taken over a window: it is not that of the same row."""
    shifted = (TieKind.EARLIER, TieKind.LATER)
    return "lag" in data.flags or any(isinstance(m, Tie) and m.kind in shifted for m in data.marks)
