"""Finds the rules: one class a file, in the folders beside this one (or in the checkout's `rules/`)."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Location
from leakcheck.plugins import BUILT_IN_PREFIX, described, in_house_rules, line_in
from leakcheck.project.paths import shown
from leakcheck.rule import Rule

_here = Path(__file__).resolve().parent
_checkout = _here.parent.parent
# In a checkout (or `pip install -e`) the rules stand at the top level; a wheel carries them here.
if (_checkout / "pyproject.toml").is_file() and (_checkout / "rules").is_dir():
    __path__.append(str(_checkout / "rules"))

FAMILIES = ("separation", "selection", "time", "features", "hygiene", "duplicates", "shortcuts", "claims")


class RuleError(LeakcheckError):
    """An in-house rule that failed; `location` is the line of its file, the first where that is not known."""

    def __init__(self, message: str, file: str, line: int) -> None:
        super().__init__(message, file=file, place=f"line {line}")
        self.location = Location(file, None, line, 1, line, 1)


def folders() -> list[Path]:
    """The folders that hold rule families and library tables."""
    return [Path(entry) for entry in __path__]


def rules(families: tuple[str, ...] = FAMILIES) -> tuple[Rule[Any], ...]:
    """One instance of every rule of the families and of every in-house rule, by code.

    Raises
    ------
    LeakcheckError
        If an installed package's rules can't be used.
    """
    return tuple(sorted((*built_in_rules(families), *in_house_rules()), key=lambda rule: rule.code))


@cache
def built_in_rules(families: tuple[str, ...] = FAMILIES) -> tuple[Rule[Any], ...]:
    """One instance of every rule of the families."""
    found: list[Rule[Any]] = []
    for folder in folders():
        for family in families:
            for file in sorted((folder / family).glob("*.py")):
                module = import_module(f"leakcheck.rules.{family}.{file.stem}")
                for value in vars(module).values():
                    if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                        found.append(value())
    return tuple(found)


def check(rule: Rule[Any], facts: Any) -> list[Finding]:
    """What a rule says of facts of its type.

    Raises
    ------
    RuleError
        If an in-house rule raises an error, or yields what is no finding of it.
    """
    if rule.code.startswith(BUILT_IN_PREFIX):
        return list(rule.check(facts))
    file = source_file(rule)
    try:
        found = list(rule.check(facts))
    except Exception as error:
        message = f"the rule {rule.code} fails: {described(error)}"
        raise RuleError(message, shown(file), line_in(file, error) or 1) from None
    for finding in found:
        if not isinstance(finding, Finding) or finding.code != rule.code:
            raise RuleError(f"the rule {rule.code} yields what is no finding of it: {finding!r}", shown(file), 1)
    return found


def source_file(rule: Rule[Any]) -> Path:
    """The file that defines a rule."""
    file = sys.modules[type(rule).__module__].__file__
    assert file is not None
    return Path(file)


def page(rule: Rule[Any]) -> Path:
    """The Markdown page beside a rule's file."""
    return source_file(rule).with_suffix(".md")
