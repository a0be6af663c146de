"""Ablation tables: each row differs from the full method in one component, and has its own interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leakcheck.claims.check import facts_of
from leakcheck.claims.facts import Claim, ClaimFacts, Correction
from leakcheck.claims.family import adjusted
from leakcheck.claims.paired import Paired, Row
from leakcheck.claims.summary import Settings
from leakcheck.claims.tables import Table
from leakcheck.errors import LeakcheckError

Cell = tuple[str, ...]  # the setting of each component, in their order


@dataclass(frozen=True, slots=True)
class Knockout:
    """The full method against the method with one component changed; `adjusted_p` is Holm's over the table."""

    component: str
    setting: str
    facts: ClaimFacts
    adjusted_p: float | None


@dataclass(frozen=True, slots=True)
class Interaction:
    """What removing a component costs less what adding it alone gains, run by run.

    Zero means that the component does the same in either company.
    """

    component: str
    facts: ClaimFacts


@dataclass(frozen=True, slots=True)
class Ablation:
    """A table of cells read as an ablation; `unusable` says of each other cell why it tells nothing."""

    full: str
    knockouts: tuple[Knockout, ...]
    interactions: tuple[Interaction, ...]
    unusable: tuple[str, ...]


def read_ablation(
    table: Table, components: Sequence[str], full: Mapping[str, str], claim: Claim, settings: Settings
) -> Ablation:
    """Compare the full method with each cell that lacks one component.

    Parameters
    ----------
    table : Table
        A row a run, with a column for each component, one for the value and one for the id.
    components : sequence of str
        The columns of the components.
    full : mapping of str to str
        The setting of each component in the full method.
    claim : Claim
        Names the metric, the direction, the threshold and the column of ids.
    settings : Settings
        Of the intervals.

    Returns
    -------
    Ablation
        With the interaction of each component for which the table has the four cells: full, without it, with it alone,
        and with none.

    Raises
    ------
    LeakcheckError
        If a column is missing, an id stands twice in a cell, or there is no full cell.
    """
    columns = [table.require(component, "a component") for component in components]
    value = table.require(claim.metric or "value", "the score")
    ids = table.require(claim.pair or "id", "what pairs the runs")
    cells: dict[Cell, dict[str, Row]] = {}
    for index in range(len(table.rows)):
        cell = cells.setdefault(tuple(table.text(index, column) for column in columns), {})
        key = table.text(index, ids)
        if key in cell:
            raise LeakcheckError(
                f"the id {key!r} stands twice in one cell of the ablation", file=table.path, place=table.places[index]
            )
        number = table.number(index, value, f"id {key!r}")
        cell[key] = Row(key, number, number)
    whole = tuple(full[component] for component in components)
    if whole not in cells:
        raise LeakcheckError(
            "the table has no run of the full method", file=table.path, expected=_name(components, whole)
        )
    knockouts: list[Knockout] = []
    unusable: list[str] = []
    for cell_settings, cell in cells.items():
        changed = [place for place in range(len(components)) if cell_settings[place] != whole[place]]
        if not changed:
            continue
        name = _name(components, cell_settings)
        if len(cell) < 2:
            unusable.append(f"{name}: one run has no spread")
        elif len(changed) > 1:
            unusable.append(f"{name}: {len(changed)} components differ from the full method")
        elif cell.keys() != cells[whole].keys():
            unusable.append(f"{name}: its ids are not those of the full method")
        else:
            component = components[changed[0]]
            facts = _compare(cell, cells[whole], claim, (f"without {component}", "full"), settings, table.path)
            knockouts.append(Knockout(component, cell_settings[changed[0]], facts, None))
    holm = adjusted([one.facts.summary.threshold_p for one in knockouts], Correction.HOLM)
    knockouts = [replace(one, adjusted_p=p) for one, p in zip(knockouts, holm, strict=True)]
    interactions = _interactions(cells, whole, components, claim, settings, table.path)
    return Ablation(_name(components, whole), tuple(knockouts), tuple(interactions), tuple(unusable))


def _interactions(
    cells: Mapping[Cell, dict[str, Row]],
    whole: Cell,
    components: Sequence[str],
    claim: Claim,
    settings: Settings,
    path: str,
) -> list[Interaction]:
    found: list[Interaction] = []
    # The bare method differs from the full one everywhere; with several of them none can be told to be the base.
    bare = [cell for cell in cells if all(one != other for one, other in zip(cell, whole, strict=True))]
    if len(bare) != 1 or len(components) < 2:
        return found
    base = bare[0]
    for place, component in enumerate(components):
        without = (*whole[:place], base[place], *whole[place + 1 :])
        alone = (*base[:place], whole[place], *base[place + 1 :])
        four = [cells.get(key) for key in (whole, without, alone, base)]
        if any(cell is None or cell.keys() != cells[whole].keys() or len(cell) < 2 for cell in four):
            continue
        full_cell, without_cell, alone_cell, base_cell = (cell for cell in four if cell is not None)
        rows = {
            key: Row(key, alone_cell[key].a - base_cell[key].a, full_cell[key].a - without_cell[key].a)
            for key in full_cell
        }
        facts = _facts(
            tuple(rows.values()), claim, (f"{component} added alone", f"{component} removed"), settings, path
        )
        found.append(Interaction(component, facts))
    return found


def _compare(
    a: Mapping[str, Row], b: Mapping[str, Row], claim: Claim, names: tuple[str, str], settings: Settings, path: str
) -> ClaimFacts:
    return _facts(tuple(Row(key, a[key].a, b[key].a) for key in a), claim, names, settings, path)


def _facts(rows: tuple[Row, ...], claim: Claim, names: tuple[str, str], settings: Settings, path: str) -> ClaimFacts:
    paired = Paired(rows, source=path, shared=claim.pair or "id", metric=claim.metric or "value")
    return facts_of(replace(claim, a=names[0], b=names[1]), paired, settings)


def _name(components: Sequence[str], settings: Cell) -> str:
    return ", ".join(f"{component}={setting}" for component, setting in zip(components, settings, strict=True))
