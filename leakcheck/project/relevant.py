"""Which files the analysis needs: those that name a library of the tables, or import a project module that does.

Most files of a project end after one read and one look at their bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leakcheck.flow.prefilter import imported_names, names_library
from leakcheck.project.discover import Found
from leakcheck.project.modules import Modules, read_bytes, unreadable_problem
from leakcheck.project.paths import shown
from leakcheck.project.source import Problem, Source
from leakcheck.project.suppress import MARK

_MARK = MARK.encode()


@dataclass
class Relevant:
    """What was read: `sources` for the analysis, `commented` with comments for leakcheck, and what went wrong."""

    sources: list[Source] = field(default_factory=list)
    commented: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_relevant(
    files: Sequence[Found], modules: Modules, libraries: frozenset[str], tell: Callable[[str, int, int], None]
) -> Relevant:
    """Read every file once and keep what the analysis needs.

    Files that can't be decoded are always reported; a notebook's JSON and a file's syntax are looked at where the file
    is needed or was named itself.

    Parameters
    ----------
    files : sequence of Found
    modules : Modules
        Reads the files and resolves their imports.
    libraries : frozenset of str
        The top-level modules that the library tables describe.
    tell : callable
        Is told how far the reading is: what is being done, files done, files in all.
    """
    result = Relevant()
    others: list[tuple[Found, bytes]] = []
    for number, found in enumerate(files):
        tell("reading", number, len(files))
        try:
            data = read_bytes(found.file)
        except OSError as error:
            result.problems.append(unreadable_problem(found.path, error))
            continue
        if not _worth_loading(found, data, libraries):
            others.append((found, data))
            continue
        source = modules.load(found, data).source
        result.problems += source.problems
        if _MARK in data:
            result.commented.append(source)
        if names_library(_text(source).encode("utf-8", "replace"), libraries):
            result.sources.append(source)
        else:
            others.append((found, data))
    graph = _ImportGraph(modules, libraries, {os.path.realpath(source.file) for source in result.sources})
    for found, data in others:
        if graph.reaches_library(str(found.file), data):
            source = modules.load(found, data).source
            result.sources.append(source)
            result.problems += source.problems
        elif found.named:
            result.problems += _syntax_problems(modules.load(found, data).source)
    result.problems = list(dict.fromkeys(result.problems))
    result.sources.sort(key=lambda source: source.path)
    return result


def _worth_loading(found: Found, data: bytes, libraries: frozenset[str]) -> bool:
    """Whether the bytes alone can't settle it."""
    if found.named or names_library(data, libraries) or _MARK in data:
        return True
    if found.path.endswith(".ipynb"):
        return False
    return not data.isascii() or b"\0" in data or b"coding" in data[:400]


def _text(source: Source) -> str:
    return "\n".join(chunk.text for chunk in source.chunks)


class _ImportGraph:
    """Answers whether a file reaches a library through project modules.

    Parameters
    ----------
    modules : Modules
    libraries : frozenset of str
    naming : set of str
        Real paths of the files that are known to name a library.
    """

    def __init__(self, modules: Modules, libraries: frozenset[str], naming: set[str]) -> None:
        self._modules = modules
        self._libraries = libraries
        self._reaches: dict[str, bool] = dict.fromkeys(naming, True)
        self._imports: dict[str, tuple[str, ...]] = {}

    def reaches_library(self, file: str, data: bytes) -> bool:
        """Follow the imports of a file that names no library itself."""
        self._read_imports(file, data)
        seen: set[str] = set()
        pending = [file]
        while pending:
            current = pending.pop()
            key = os.path.realpath(current)
            if key in seen:
                continue
            seen.add(key)
            if key not in self._reaches and current != file:
                self._look_into(current, key)
            if self._reaches.get(key):
                self._reaches[os.path.realpath(file)] = True
                return True
            if key not in self._reaches:
                pending += self._imports.get(key, ())
        self._reaches.update(dict.fromkeys(seen, False))
        return False

    def _look_into(self, file: str, key: str) -> None:
        """Read a module that was imported, once."""
        if key in self._imports:
            return
        try:
            data = read_bytes(Path(file))
        except OSError:
            data = b""
        if names_library(data, self._libraries):
            self._reaches[key] = True
        else:
            self._read_imports(file, data)

    def _read_imports(self, file: str, data: bytes) -> None:
        key = os.path.realpath(file)
        if key in self._imports or b"import" not in data:
            return
        if file.endswith(".ipynb"):
            text = _text(self._modules.load(Found(shown(file), Path(file), False), data).source)
        else:
            text = data.decode("utf-8", "replace")
        targets = []
        for name in imported_names(text):
            plain = name.lstrip(".")
            targets.append(self._modules.find_file(plain, len(name) - len(plain), file))
        self._imports[key] = tuple(target for target in targets if target is not None)


def _syntax_problems(source: Source) -> list[Problem]:
    """The syntax errors of a file that the analysis doesn't need but that was named itself."""
    import ast
    import warnings

    from leakcheck.findings import Location

    problems = []
    for chunk in source.chunks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ast.parse(chunk.text)
                continue
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass
        from leakcheck.flow.convert import SyntaxProblem, TooMuch, parse

        try:  # newer syntax than the running Python's may still be read
            parse(chunk.text)
        except SyntaxProblem as problem:
            line, column = problem.line, problem.column
            problems.append(Problem(problem.message, Location(source.path, chunk.cell, line, column, line, column)))
        except TooMuch:
            pass  # nothing in it concerns the analysis
    return problems
