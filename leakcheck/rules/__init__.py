"""Finds the rules: one class a file, in the folders beside this one (or in the checkout's `rules/`)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from leakcheck.rule import Rule

_here = Path(__file__).resolve().parent
_checkout = _here.parent.parent
# In a checkout (or `pip install -e`) the rules stand at the top level; a wheel carries them here.
if (_checkout / "pyproject.toml").is_file() and (_checkout / "rules").is_dir():
    __path__.append(str(_checkout / "rules"))

FAMILIES = ("separation", "selection", "time", "features", "hygiene", "duplicates", "shortcuts", "claims")


def folders() -> list[Path]:
    """The folders that hold rule families and library tables."""
    return [Path(entry) for entry in __path__]


@cache
def rules(families: tuple[str, ...] = FAMILIES) -> tuple[Rule[Any], ...]:
    """One instance of every rule of the families, by code."""
    found: dict[str, Rule[Any]] = {}
    for folder in folders():
        for family in families:
            for file in sorted((folder / family).glob("*.py")):
                module = import_module(f"leakcheck.rules.{family}.{file.stem}")
                for value in vars(module).values():
                    if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                        found[value.code] = value()
    return tuple(found[code] for code in sorted(found))


def page(rule: Rule[Any]) -> Path:
    """The Markdown page beside a rule's file."""
    module = import_module(type(rule).__module__)
    assert module.__file__ is not None
    return Path(module.__file__).with_suffix(".md")
