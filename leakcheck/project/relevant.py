"""Which files the analysis needs: those that name a library of the tables, or import a project module that does.

Most files of a project end after one read and one look at their bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from leakcheck.flow.prefilter import imported_names, names_library
from leakcheck.project.discover import Discovered, Found
from leakcheck.project.modules import Modules, unreadable_problem
from leakcheck.project.read import declared_encoding
from leakcheck.project.source import Problem, Source
from leakcheck.project.suppress import MARK

_MARK = MARK.encode()
_WORD = re.compile(rb"\w+")
_DOTS = b"."  # stands for a relative import of the package itself


@dataclass
class Relevant:
    """What was read: `sources` for the analysis, `commented` with comments for leakcheck, and what went wrong."""

    sources: list[Source] = field(default_factory=list)
    commented: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_relevant(
    discovered: Discovered, modules: Modules, libraries: frozenset[str], tell: Callable[[str, int, int], None]
) -> Relevant:
    """Read every file once and keep what the analysis needs.

    Files that can't be decoded are always reported; a notebook's JSON and a file's syntax are looked at where the file
    is needed or was named itself.

    Parameters
    ----------
    discovered : Discovered
    modules : Modules
        Reads the files and resolves their imports.
    libraries : frozenset of str
        The top-level modules that the library tables describe.
    tell : callable
        Is told how far the reading is: what is being done, files done, files in all.
    """
    result = Relevant()
    modules.name(discovered.files)
    naming: set[str] = set()
    others: list[Found] = []  # their bytes are let go: a project may be large
    for number, found in enumerate(discovered.files):
        tell("reading", number, len(discovered.files))
        try:
            data = modules.read(found.real)
        except OSError as error:
            result.problems.append(unreadable_problem(found.path, error))
            continue
        if _worth_loading(found, data, libraries):
            source = modules.load(found, data).source
            result.problems += source.problems
            if _MARK in data:
                result.commented.append(source)
            if names_library(_text(source).encode("utf-8", "replace"), libraries):
                result.sources.append(source)
                naming.add(found.real)
                continue
        others.append(found)
    importing = _importing(others, _ImportGraph(modules, libraries, naming), _outside_names(discovered, modules))
    for found in others:
        if found.real in importing:
            source = modules.load(found).source
            result.sources.append(source)
            result.problems += source.problems
        elif found.named:
            result.problems += _syntax_problems(modules.load(found).source)
    result.problems = list(dict.fromkeys(result.problems))
    result.sources.sort(key=lambda source: source.path)
    return result


def _worth_loading(found: Found, data: bytes, libraries: frozenset[str]) -> bool:
    """Whether the bytes alone can't settle it."""
    if found.named or names_library(data, libraries) or _MARK in data:
        return True
    if found.path.endswith(".ipynb"):
        return False
    if b"\0" in data or declared_encoding(data) != "utf-8":
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _text(source: Source) -> str:
    return "\n".join(chunk.text for chunk in source.chunks)


def _importing(others: Sequence[Found], graph: _ImportGraph, outside: Iterable[str]) -> set[str]:
    """The real paths of files that reach a library through others.

    A file can only do so if an import of it holds the name of a module that does; only the imports of such files
    are resolved.
    """
    names = {word for file in graph.reaching for word in _names_of(file)} | set(map(os.fsencode, outside))
    importing: set[str] = set()
    if not names:
        return importing
    words = {found.real: _import_words(graph.read(found.real)) for found in others}
    waiting = list(others)
    while True:
        fresh = [found for found in waiting if not names.isdisjoint(words[found.real]) and graph.reaches(found.real)]
        if not fresh:
            return importing
        importing.update(found.real for found in fresh)
        names = {word for found in fresh for word in _names_of(found.real)}  # older names brought nothing more
        waiting = [found for found in waiting if found.real not in importing]


def _names_of(file: str) -> tuple[bytes, ...]:
    """The words by which an import can mean a file."""
    path = PurePath(file)
    if path.stem == "__init__":
        return (os.fsencode(path.parent.name), _DOTS)
    return (os.fsencode(path.stem),)


def _import_words(data: bytes) -> set[bytes]:
    """All words of the lines that import something."""
    words: set[bytes] = set()
    start = data.find(b"import")
    while start >= 0:
        begin = data.rfind(b"\n", 0, start) + 1
        end = data.find(b"\n", start)
        if data.find(b"(", start, end) >= 0:
            end = data.find(b")", start)
        while end > 0 and data[end - 1 : end] == b"\\":
            end = data.find(b"\n", end + 1)
        line = data[begin : end if end >= 0 else len(data)]
        words.update(_WORD.findall(line))
        if b"from ." in line:
            words.add(_DOTS)
        start = data.find(b"import", end) if end >= 0 else -1
    return words


def _outside_names(discovered: Discovered, modules: Modules) -> set[str]:
    """What can be imported from folders of the project that the run doesn't look at."""
    names: set[str] = set()
    homes = {os.path.dirname(found.real) for found in discovered.files}
    for root in {root for home in homes for root in modules.import_roots(home)}:
        if not any(root == folder or root.startswith(folder + os.sep) for folder in discovered.folders):
            names |= modules.names(root)
    return names


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
        self.reaching = naming
        self._imports: dict[str, tuple[str, ...]] = {}

    def read(self, file: str) -> bytes:
        """The bytes of a file; none where it can't be read (it is reported where it matters)."""
        try:
            return self._modules.read(file)
        except OSError:
            return b""

    def reaches(self, file: str) -> bool:
        """Follow the imports of a file that names no library itself."""
        self._read_imports(file, self.read(file))
        seen: set[str] = set()
        pending = [file]
        while pending:
            current = pending.pop()
            if current in seen:
                continue
            seen.add(current)
            if current not in self._imports and current not in self.reaching:
                self._look_into(current)
            if current in self.reaching:
                self.reaching.add(file)
                return True
            pending += self._imports[current]
        return False

    def _look_into(self, file: str) -> None:
        """Read a module that was imported."""
        data = self.read(file)
        if names_library(data, self._libraries):
            self.reaching.add(file)
        else:
            self._read_imports(file, data)

    def _read_imports(self, file: str, data: bytes) -> None:
        if file in self._imports:
            return
        if file.endswith(".ipynb"):
            text = _text(self._modules.load(Found(self._modules.shown(file), file, False), data).source)
        else:
            text = data.decode("utf-8", "replace")
        targets = set()
        for name in imported_names(text):
            plain = name.lstrip(".")
            target = self._modules.find_file(plain, len(name) - len(plain), file)
            if target is not None:
                targets.add(os.path.realpath(target))
        self._imports[file] = tuple(targets)


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
