"""Numbers of a Hugging Face model card: the `model-index` of its YAML front matter. Each is one run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from leakcheck.claims.tables import read_text, to_decimal
from leakcheck.errors import LeakcheckError


def metric_value(file: Path, path: str, metric: str | None) -> Decimal:
    """The card's only value of `metric`."""
    values = named_values(file, path, metric)
    if len(values) != 1:
        raise LeakcheckError("one model in the model-index was expected", file=path, found=", ".join(values))
    return next(iter(values.values()))


def named_values(file: Path, path: str, metric: str | None) -> dict[str, Decimal]:
    """Value of `metric` for each model of the card.

    Raises
    ------
    LeakcheckError
        If there is no model-index, or it holds no or several values of the metric for one model.
    """
    values: dict[str, Decimal] = {}
    for model in _models(file, path):
        found = [
            (entry.get("type"), entry.get("value"))
            for result in _objects(model.get("results"))
            for entry in _objects(result.get("metrics"))
            if metric is None or metric in (entry.get("type"), entry.get("name"))
        ]
        name = str(model.get("name"))
        if len(found) != 1:
            what = f"the metric {metric!r}" if metric else "a metric"
            raise LeakcheckError(
                f"one value of {what} for the model {name!r} was expected",
                file=path,
                place="model-index",
                found=", ".join(f"{kind} = {value}" for kind, value in found) or "none",
            )
        try:
            values[name] = to_decimal(found[0][1])
        except ValueError as problem:
            raise LeakcheckError(
                f"the metric of {name!r} is not usable",
                file=path,
                place="model-index",
                expected="a finite number",
                found=str(problem),
            ) from None
    return values


def _models(file: Path, path: str) -> list[dict[str, Any]]:
    import yaml

    text = read_text(file, path)
    if file.suffix.lower() == ".md":
        lines = text.split("\n")
        ends = [index for index, line in enumerate(lines) if line.rstrip() == "---"]
        if len(ends) < 2 or ends[0] != 0:
            raise LeakcheckError("the Markdown file has no YAML front matter with a model-index", file=path)
        text = "\n".join(lines[1 : ends[1]])
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise LeakcheckError(f"not YAML: {str(problem).splitlines()[0]}", file=path) from None
    models = data.get("model-index") if isinstance(data, dict) else None
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise LeakcheckError("the file has no model-index", file=path)
    return models


def _objects(value: Any) -> list[dict[str, Any]]:
    """The mappings of a list; a card may hold anything."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
