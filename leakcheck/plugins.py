"""Rules that leakcheck doesn't ship: of installed packages (by entry point) and of the project (by its configuration).

The code of such rules is run. It is the project's own tool code, like a `conftest.py`: whoever scans a project with its
configuration trusts it; `--isolated` runs without it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Severity
from leakcheck.project.paths import shown
from leakcheck.rule import Rule

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "leakcheck.rules"
BUILT_IN_PREFIX = "LK"

CODE = re.compile(r"(?!LK)[A-Z]{2,10}\d{3}")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TEXTS = ("code", "name", "leak_class", "since", "help")
_FACTS = {
    "leakcheck.flow.facts.ProgramFacts",
    "leakcheck.audit.facts.AuditFacts",
    "leakcheck.claims.facts.ClaimFacts",
    "leakcheck.claims.prose_facts.ProseFacts",
}

_of_project: tuple[Rule[Any], ...] = ()


def in_house_rules() -> tuple[Rule[Any], ...]:
    """The rules of installed packages and of the project in use.

    Raises
    ------
    LeakcheckError
        If an installed package's rules can't be loaded, or two rules share a code or a name.
    """
    found = (*_installed(), *_of_project)
    if found:
        _require_distinct(found)
    return found


def use_project_rules(root: Path, names: Sequence[str]) -> None:
    """Take the rules of some files and folders into use, in place of those of the project before.

    Parameters
    ----------
    root : Path
        The folder that the names are relative to.
    names : sequence of str
        Rule files, and folders of them. In a folder, files whose name starts with ``_`` or ``test_`` and
        ``conftest.py`` are no rule files.

    Raises
    ------
    LeakcheckError
        If a file is missing or broken, holds no rule, or its rule clashes with another.
    """
    global _of_project
    files = dict.fromkeys(file.resolve() for name in names for file in _files(root / name))
    _of_project = ()  # what is wrong with the new ones must not leave the old ones in use
    fresh = tuple(rule for file in files for rule in _rules_in(_load(file), shown(file)))
    if fresh:
        _require_distinct((*_installed(), *fresh))
    _of_project = fresh


def _files(place: Path) -> list[Path]:
    if place.is_dir():
        files = [file for file in sorted(place.glob("*.py")) if not _is_no_rule_file(file.name)]
        if not files:
            raise LeakcheckError("the folder holds no rule", file=shown(place), expected="a file such as my_rule.py")
        return files
    if place.suffix == ".py" and place.is_file():
        return [place]
    raise LeakcheckError(
        "no such rule file or folder" if not place.exists() else "not a rule file", file=shown(place),
        expected="a .py file, or a folder of them (the configuration names it in `rules`)",
    )  # fmt: skip


def _is_no_rule_file(name: str) -> bool:
    return name.startswith(("_", "test_")) or name == "conftest.py"


def _load(file: Path) -> ModuleType:
    """Run a rule file as a module of its own; nothing is written beside it."""
    name = f"rule file {file}"
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # where pickling, dataclasses and `page` look for it
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)
    except SyntaxError as error:
        where = f"line {error.lineno}" if error.filename == str(file) else None
        raise LeakcheckError(f"the rule file doesn't parse: {error.msg}", file=shown(file), place=where) from None
    except (Exception, SystemExit) as error:
        line = line_in(file, error)
        raise LeakcheckError(
            f"the rule file fails: {described(error)}", file=shown(file), place=f"line {line}" if line else None
        ) from None
    return module


@cache
def _installed() -> tuple[Rule[Any], ...]:
    if not _is_declared_anywhere():
        return ()
    from importlib.metadata import entry_points

    return tuple(rule for entry in sorted(entry_points(group=GROUP)) for rule in _rules_of_entry(entry))


def _is_declared_anywhere() -> bool:
    """Whether an installed package has entry points for us: `importlib.metadata` costs more than this look."""
    mark = f"[{GROUP}]".encode()
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if mark in file.read():
                            return True
                except OSError:
                    continue
    return False


def _rules_of_entry(entry: EntryPoint) -> list[Rule[Any]]:
    where = f"plugin {entry.name!r}" + (f" of {entry.dist.name}" if entry.dist else "")
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:
        raise LeakcheckError(f"{where}: {entry.value} can't be loaded: {described(error)}") from None
    if isinstance(loaded, ModuleType):
        return _rules_in(loaded, where)
    if isinstance(loaded, type) and issubclass(loaded, Rule):
        return [_checked(loaded, where)]
    raise LeakcheckError(
        f"{where}: {entry.value} is no rule", expected="a class derived from leakcheck.rule.Rule, or a module of them",
        found=type(loaded).__name__,
    )  # fmt: skip


def _rules_in(module: ModuleType, where: str) -> list[Rule[Any]]:
    """The rules that a module defines: classes with a code; others are helpers."""
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__
    ]
    found = [_checked(rule, where) for rule in classes if hasattr(rule, "code")]
    if not found:
        raise LeakcheckError(f"{where}: no rule", expected="a class derived from leakcheck.rule.Rule with a code")
    return found


def _checked(rule: type[Rule[Any]], where: str) -> Rule[Any]:
    """An instance of a rule that has all it needs."""

    def wrong(what: str, expected: str, found: object = None) -> LeakcheckError:
        said = None if found is None else repr(found)
        return LeakcheckError(f"{where}: rule {rule.__name__}: {what}", expected=expected, found=said)

    for field in _TEXTS:
        value = getattr(rule, field, None)
        if not isinstance(value, str) or not value:
            raise wrong(f"{field!r} is not usable", "a text", value)
    if rule.code.startswith(BUILT_IN_PREFIX):
        raise wrong(f"the code {rule.code!r} belongs to leakcheck", "a prefix of your own, as in ACME001")
    if not CODE.fullmatch(rule.code):
        raise wrong("the code is not usable", "2 to 10 capitals and 3 digits, as in ACME001", rule.code)
    if not NAME.fullmatch(rule.name):
        raise wrong("the name is not usable", "words joined by dashes, as in unit-before-split", rule.name)
    if not isinstance(getattr(rule, "severity", None), Severity):
        raise wrong("'severity' is not usable", "Severity.ERROR, WARNING or NOTE", getattr(rule, "severity", None))
    facts = getattr(rule, "facts_type", None)
    if f"{getattr(facts, '__module__', '')}.{getattr(facts, '__qualname__', '')}" not in _FACTS:
        known = ", ".join(sorted(name.rpartition(".")[2] for name in _FACTS))
        raise wrong("it doesn't say which facts it reads", f"class {rule.__name__}(Rule[FACTS]), FACTS one of {known}")
    try:
        return rule()
    except TypeError as error:
        raise wrong(f"it can't be made: {error}", "a method check(self, facts)") from None


def _require_distinct(found: Sequence[Rule[Any]]) -> None:
    from leakcheck.rules import built_in_rules

    names = {rule.name: rule for rule in built_in_rules()}
    codes: dict[str, Rule[Any]] = {}
    for rule in found:
        for what, key, known in (("code", rule.code, codes), ("name", rule.name, names)):
            other = known.setdefault(key, rule)
            if other is not rule:
                raise LeakcheckError(f"two rules have the {what} {key!r}: {_home(other)} and {_home(rule)}")


def _home(rule: Rule[Any]) -> str:
    file = sys.modules[type(rule).__module__].__file__
    return rule.code if rule.code.startswith(BUILT_IN_PREFIX) or file is None else shown(file)


def line_in(file: Path, error: BaseException) -> int | None:
    """The last line of a file that an error passed."""
    lines = [line for frame, line in _frames(error) if frame == str(file)]
    return lines[-1] if lines else None


def _frames(error: BaseException) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def described(error: BaseException) -> str:
    """An error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
