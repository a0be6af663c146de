"""Follows each file of a run as a program: from the cache where nothing changed, else here or in worker processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from leakcheck import __version__
from leakcheck.findings import Location
from leakcheck.flow import Parser, ProgramFacts, room_to_work
from leakcheck.flow.record import from_json, to_json
from leakcheck.flow.tables import Tables
from leakcheck.project.cache import Cache, digest
from leakcheck.project.modules import Modules
from leakcheck.project.source import Problem, Source
from leakcheck.project.workers import Died, in_workers, worker_count

_ABSENT = -1


@dataclass(frozen=True, slots=True)
class _Lookup:
    """One question for a module, and what it led to: numbers of `Program.files`, or `_ABSENT`."""

    importer: int
    module: str
    level: int
    found: int


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a program: its shown path and the hash of its bytes."""

    path: str
    digest: str


@dataclass(frozen=True, slots=True)
class Program:
    """What is known of one program, and all that it depends on.

    Attributes
    ----------
    facts : ProgramFacts
    files : tuple of _File
        The file it starts from, then the modules it follows.
    lookups : tuple of _Lookup
        Every question for a module that was asked: a file that appears later changes the answer.
    fault : Problem, optional
        Why it couldn't be followed.
    """

    facts: ProgramFacts = field(default_factory=ProgramFacts)
    files: tuple[_File, ...] = ()
    lookups: tuple[_Lookup, ...] = ()
    fault: Problem | None = None

    @property
    def followed(self) -> tuple[str, ...]:
        """Shown paths of the modules that it imports."""
        return tuple(file.path for file in self.files[1:])


@dataclass
class Programs:
    """The programs of a run in the order of their files; `recalled` are the paths of those from the cache."""

    all: list[Program]
    recalled: set[str] = field(default_factory=set)
    jobs: int = 1


@room_to_work()
def follow_all(
    sources: Sequence[Source],
    modules: Modules,
    tables: Tables,
    *,
    cache: Cache | None,
    jobs: int | None,
    tell: Callable[[str, int, int], None],
) -> Programs:
    """Follow rows through every file as a program of its own.

    Parameters
    ----------
    sources : sequence of Source
        The files.
    modules : Modules
        Resolves their imports.
    tables : Tables
        What library callables do.
    cache : Cache, optional
        Where programs are looked up and stored.
    jobs : int, optional
        Processes to use at most; by default as many as it is worth.
    tell : callable
        Is told how far the work is: what is being done, files done, files in all.

    Returns
    -------
    Programs
        The same, whatever comes from the cache and however many processes there are.
    """
    known: dict[int, Program] = {}
    if cache is not None:
        for number, source in enumerate(sources):
            program = _recall(cache, source, modules)
            if program is not None:
                known[number] = program
    recalled = {sources[number].path for number in known}
    waiting = [number for number in range(len(sources)) if number not in known]
    work = _Work(sources, modules, tables)
    workers = worker_count(len(waiting), jobs)

    def take(number: int, program: Program) -> None:
        known[number] = program
        tell("following rows", len(known), len(sources))
        if cache is not None and program.fault is None:
            cache.put(to_json(program), *_key(sources[number].path, program.files[0].digest))

    tell("following rows", len(known), len(sources))
    if workers > 1:
        import leakcheck.flow.interpret
        import leakcheck.flow.leaks  # noqa: F401  (forked processes share what is loaded)

        with closing(in_workers(work, waiting, workers)) as results:
            for number, result in results:
                program = _of_worker(sources[number], result)
                _holds(program, sources[number], modules)  # this process, too, has to know the modules' texts
                take(number, program)
    else:
        for number in waiting:
            take(number, work.follow(number))
    return Programs([known[number] for number in range(len(sources))], recalled, workers)


class _Work:
    """Follows the program of a file by its number."""

    def __init__(self, sources: Sequence[Source], modules: Modules, tables: Tables) -> None:
        self._sources = sources
        self._modules = modules
        self._tables = tables
        self._parser = Parser()

    def __call__(self, number: int) -> bytes:
        """As `follow`, for another process."""
        return to_json(self.follow(number))

    def follow(self, number: int) -> Program:
        """Follow one program; a fault of ours must not cost the others."""
        from leakcheck import flow

        source = self._sources[number]
        trail = _Trail(source, self._modules)
        try:
            facts = flow.follow(source, trail.find_module, self._tables, self._parser)
        except Exception as error:
            return Program(fault=own_fault(source, error))
        return Program(facts, trail.files(), tuple(trail.lookups.values()))


class _Trail:
    """Remembers which modules a program asked for."""

    def __init__(self, source: Source, modules: Modules) -> None:
        self._modules = modules
        self._numbers = {source.path: 0}
        self.lookups: dict[tuple[str, str, int], _Lookup] = {}

    def find_module(self, module: str, level: int, importer: Source) -> Source | None:
        found = self._modules.find_module(module, level, importer)
        number = self._number(found.path) if found is not None else _ABSENT
        self.lookups[importer.path, module, level] = _Lookup(self._number(importer.path), module, level, number)
        return found

    def files(self) -> tuple[_File, ...]:
        return tuple(_File(path, self._modules.digest(path)) for path in self._numbers)

    def _number(self, path: str) -> int:
        return self._numbers.setdefault(path, len(self._numbers))


def _recall(cache: Cache, source: Source, modules: Modules) -> Program | None:
    """The program as stored, if every question for a module still has the same answer."""
    data = cache.get(*_key(source.path, modules.digest(source.path)))
    if data is None:
        return None
    try:
        program = from_json(data, Program)
    except ValueError:
        return None
    return program if _holds(program, source, modules) else None


def _holds(program: Program, source: Source, modules: Modules) -> bool:
    """Whether every question for a module still has the answer that the program got; reads the modules."""
    found: dict[int, Source] = {0: source}
    for lookup in program.lookups:  # in the order in which they were asked: an importer is known before its imports
        if lookup.importer not in found:
            return False
        answer = modules.find_module(lookup.module, lookup.level, found[lookup.importer])
        if answer is None:
            if lookup.found != _ABSENT:
                return False
            continue
        if not 0 <= lookup.found < len(program.files):
            return False
        if program.files[lookup.found] != _File(answer.path, modules.digest(answer.path)):
            return False
        found[lookup.found] = answer
    return True


def _key(path: str, content: str) -> tuple[bytes, bytes]:
    return os.fsencode(path), content.encode()


def _of_worker(source: Source, result: bytes | Died) -> Program:
    if isinstance(result, Died):
        message = f"the process that analysed this file ended ({result.how}), twice; too little memory?"
        return Program(fault=Problem(message, _start_of(source)))
    return from_json(result, Program)


def own_fault(source: Source, error: Exception) -> Problem:
    """The problem of a file on which the analysis failed."""
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    message = f"leakcheck itself failed on this file ({type(error).__name__}: {error}, {where}); please report it"
    return Problem(" ".join(message.split()), _start_of(source))


def _start_of(source: Source) -> Location:
    return Location(source.path, None, 1, 1, 1, 1)


def cache_stamp(apis: Sequence[Path]) -> bytes:
    """What every program depends on besides its files: this program, its parser, Python, and the project's tables.

    The code of the engine counts, not only its version, so that whoever changes it sees the change.
    """
    from importlib.util import find_spec

    here = Path(__file__).parent
    own = [*(here / "flow").rglob("*.py"), *(here / "project").glob("*.py"), here / "findings.py", here / "programs.py"]
    parser = find_spec("libcst")
    if parser is not None and parser.origin is not None:
        own.append(Path(parser.origin).with_name("_version.py"))
    contents = [file.read_bytes() for file in (*sorted(own), *apis) if file.is_file()]
    return digest(__version__.encode(), sys.version.encode(), *contents).encode()
