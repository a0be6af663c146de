"""The code leg: from sources to facts about rows."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from leakcheck.findings import Confidence, Location
from leakcheck.flow.facts import ProgramFacts
from leakcheck.project.source import Chunk, Problem, Source

if TYPE_CHECKING:
    from leakcheck.flow.steps import Block
    from leakcheck.flow.tables import Tables

__all__ = ["ProgramFacts", "analyse"]


def analyse(
    sources: Sequence[Source],
    find_module: Callable[[str, int, Source], Source | None],
    tables: Tables,
) -> ProgramFacts:
    """Follow rows through each file as a program of its own, and through the project modules it imports.

    Parameters
    ----------
    sources : sequence of Source
        The files to analyse.
    find_module : callable
        ``find_module(module, level, importer)`` gives the project file behind an import, or None.
    tables : Tables
        What library callables do.

    Returns
    -------
    ProgramFacts
        Leaks, syntax problems and what was left out, in the order of the files.
    """
    from leakcheck.flow.interpret import Interpreter
    from leakcheck.flow.leaks import find_leaks

    parser = _Parser()
    found = []
    for source in sources:
        with _room_to_work():
            program = Interpreter(tables, find_module, parser.chunks)
            program.run(source)
            found.append(find_leaks(program))
    return _together(found, parser.problems, parser.notes)


_DEEPEST = 40_000  # Python frames: the interpreter takes about a hundred for each call it follows


@contextmanager
def _room_to_work() -> Iterator[None]:
    """No garbage collection for a while (one program makes little garbage and very many objects), and deep calls."""
    collects, deepest = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(deepest, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(deepest)
        if collects:
            gc.enable()


class _Parser:
    """Parses each file once, however many programs use it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._parsed: dict[str, list[tuple[int | None, Block]]] = {}

    def chunks(self, source: Source) -> list[tuple[int | None, Block]]:
        if source.path not in self._parsed:
            self._parsed[source.path] = [(chunk.cell, self._block(source, chunk)) for chunk in source.chunks]
        return self._parsed[source.path]

    def _block(self, source: Source, chunk: Chunk) -> Block:
        from leakcheck.flow.convert import Cut, SyntaxProblem, TooMuch, parse, parse_prefix

        cuts: list[Cut] = []
        block: Block = ()
        try:
            if chunk.cell is None:
                block = parse(chunk.text, cuts)
            else:
                block, problem = parse_prefix(chunk.text, cuts)
                if problem is not None:
                    self._report(source, chunk, problem.message, problem.line, problem.column)
        except SyntaxProblem as problem:
            self._report(source, chunk, problem.message, problem.line, problem.column)
        except TooMuch as problem:
            self._report(source, chunk, problem.message, problem.line, 1)
        where = source.path if chunk.cell is None else f"{source.path}: cell {chunk.cell}"
        self.notes += [f"{where}, line {cut.line}: {cut.message}" for cut in cuts]
        return block

    def _report(self, source: Source, chunk: Chunk, message: str, line: int, column: int) -> None:
        where = Location(source.path, chunk.cell, line, column, line, column + 1)
        self.problems.append(Problem(message, where))


def _together(found: Sequence[ProgramFacts], problems: list[Problem], notes: list[str]) -> ProgramFacts:
    """The facts of several programs; what two programs show at one place is said once, by the surer one."""
    merged: dict[str, tuple[object, ...]] = {}
    for field in fields(ProgramFacts):
        if field.name in ("problems", "unknown_calls", "notes"):
            continue
        best: dict[tuple[object, ...], object] = {}
        for facts in found:
            for fact in getattr(facts, field.name):
                key = (fact.location, *(getattr(fact, name, None) for name in ("what", "feature", "program")))
                old = best.get(key)
                if old is None or (_sure(fact) and not _sure(old)):
                    best[key] = fact
        merged[field.name] = tuple(best.values())
    unknown: dict[str, int] = {}
    for facts in found:
        for name, count in facts.unknown_calls:
            unknown[name] = unknown.get(name, 0) + count
    all_notes = dict.fromkeys([*notes, *(note for facts in found for note in facts.notes)])
    whole = ProgramFacts(problems=tuple(problems), notes=tuple(all_notes), unknown_calls=tuple(sorted(unknown.items())))
    return replace(whole, **merged)  # type: ignore[arg-type]


def _sure(fact: object) -> bool:
    return getattr(fact, "confidence", Confidence.SURE) is Confidence.SURE
