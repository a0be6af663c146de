"""The evidence of a finding as a report shows it: single values, tables, and pairs of examples side by side; capped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST_ROWS = 20  # of a table, and pairs of examples
MOST_CHARACTERS = 500  # of one cell
_RUNNING_TEXT = 24  # characters

# What the keys of the legs mean to a reader; the others are shown as they are.
_LABELS = {
    "dataset": "data set",
    "training": "training split",
    "held_out": "held-out split",
    "what": "compared",
    "touched": "rows touched",
    "total": "of rows",
    "distinct": "distinct values",
    "expected": "rows expected by chance",
    "chance": "probability by chance",
    "by_file": "by training file",
    "left_out": "identifiers left out",
    "left_out_of_examples": "examples not shown",
    "looks": "things looked at",
}
_TOLD_BY_EXAMPLES = ("examples", "example", "picture")


def evidence_record(evidence: Mapping[str, Any] | None) -> dict[str, Any]:
    """`values`, `tables` and `examples` of at most 20 rows, with how many there are; whether the path is a picture."""
    given = evidence or {}
    values: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    for key, value in given.items():
        if key in _TOLD_BY_EXAMPLES:
            continue
        name = _LABELS.get(key, key.replace("_", " "))
        if isinstance(value, (list, tuple)) and value and all(isinstance(row, Mapping) for row in value):
            tables.append(_table(name, value))
        elif not (value is None or value == () or value == [] or (key in _LABELS and value == 0)):
            values.append({"name": name, "value": _value(value)})
    return {"values": values, "tables": tables, "examples": _examples(given), "picture": bool(given.get("picture"))}


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    shown = rows[:MOST_ROWS]
    columns = list(dict.fromkeys(column for row in shown for column in row))
    cells = [[_value(row.get(column)) for column in columns] for row in shown]
    # Columns of running text share the width, so that two texts can be read side by side.
    texts = [
        place
        for place in range(len(columns))
        if any(isinstance(row[place], str) and len(row[place]) > _RUNNING_TEXT for row in cells)
    ]
    names = [str(column).replace("_", " ") for column in columns]
    return {"name": name, "columns": names, "texts": texts, "rows": cells, "total": len(rows)}


def _examples(evidence: Mapping[str, Any]) -> dict[str, Any] | None:
    """Pairs of data rows: where each stands and what it says, under the names of their splits."""
    found = list(evidence.get("examples") or ([evidence["example"]] if "example" in evidence else []))
    pairs = [
        {
            "sides": [_side(one, side) for side in ("first", "second")],
            "similarity": cell(one.get("similarity")),
        }
        for one in found[:MOST_ROWS]
    ]
    if not pairs:
        return None
    columns = [str(evidence.get("held_out", "one row")), str(evidence.get("training", "the other"))]
    return {"columns": columns, "pairs": pairs, "total": len(found) + int(evidence.get("left_out_of_examples", 0))}


def _side(example: Mapping[str, Any], side: str) -> dict[str, Any]:
    """One row of a pair: its place with its identifiers, and its text with what only it has."""
    place, key = _value(example[side]), example.get(f"{side}_key")
    text, only = cell(example.get(f"{side}_text")), example.get(f"only_{side}")
    return {"place": f"{place} ({key})" if key else place, "text": f"{text} [only here: {only}]" if only else text}


def _value(value: Any) -> Any:
    """A single value, a short list or a small record in one cell."""
    if isinstance(value, Mapping):
        return cell(_record(value))
    if isinstance(value, (list, tuple)):
        shown = [_pair(item) for item in value[:MOST_ROWS]]
        more = f" and {len(value) - MOST_ROWS} more" if len(value) > MOST_ROWS else ""
        return cell(", ".join(shown) + more)
    return cell(value)


def _pair(item: Any) -> str:
    """`train.csv: 3` for a name with its number."""
    if isinstance(item, (list, tuple)):
        return ": ".join(str(cell(part)) for part in item)
    return str(cell(item))


def _record(value: Mapping[str, Any]) -> str:
    if value.keys() == {"path", "row"}:
        return f"{value['path']} row {value['row']}"
    if value.keys() == {"low", "high"}:
        return f"{value['low']:.4g} to {value['high']:.4g}"
    return "; ".join(_parts(value))


def _parts(value: Mapping[str, Any]) -> Iterator[str]:
    for key, part in value.items():
        if part is not None:
            yield f"{str(key).replace('_', ' ')}: {_value(part)}"


def cell(value: Any) -> Any:
    """A value as JSON knows it; long text is cut and says so."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if value == value and abs(value) != float("inf") else str(value)
    item = getattr(value, "item", None)
    if callable(item):
        return cell(item())
    text = str(value)
    if len(text) > MOST_CHARACTERS:
        return f"{text[:MOST_CHARACTERS]} ... ({len(text):,} characters)"
    return text
