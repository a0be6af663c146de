"""The code leg: from sources to facts about rows."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from leakcheck.findings import Confidence, Location
from leakcheck.flow.facts import ProgramFacts, Unknown, UnknownKind
from leakcheck.project.source import Chunk, Problem, Source

if TYPE_CHECKING:
    from leakcheck.flow.steps import Block
    from leakcheck.flow.tables import Tables

__all__ = ["Parser", "ProgramFacts", "follow", "room_to_work", "together"]


def follow(
    source: Source,
    find_module: Callable[[str, int, Source], Source | None],
    tables: Tables,
    parser: Parser,
) -> ProgramFacts:
    """Follow rows through a file as a program of its own, and through the project modules it imports.

    What it says depends on nothing but the texts of these files, what `find_module` answers, and the tables.

    Parameters
    ----------
    source : Source
        The file where the program starts.
    find_module : callable
        ``find_module(module, level, importer)`` gives the project file behind an import, or None.
    tables : Tables
        What library callables do.
    parser : Parser
        Parses the files; keep it for the next program.

    Returns
    -------
    ProgramFacts
        Leaks, syntax problems and what was left out.
    """
    from leakcheck.flow.interpret import Interpreter
    from leakcheck.flow.leaks import find_leaks

    with room_to_work():
        program = Interpreter(tables, find_module, parser.blocks)
        try:
            program.run(source)
            facts = find_leaks(program)
            parsed = [parser.parsed[path] for path in program.units]
        finally:
            program.forget()
    return replace(
        facts,
        problems=tuple(problem for file in parsed for problem in file.problems),
        notes=tuple(note for file in parsed for note in file.notes),
    )


_DEEPEST = 40_000  # Python frames: the interpreter takes about a hundred for each call it follows


@contextmanager
def room_to_work() -> Iterator[None]:
    """Deep calls, and no garbage collection for a while: programs make very many objects and next to no garbage."""
    collects, deepest = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(deepest, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(deepest)
        if collects:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A file's statements by chunk, its syntax problems, and what was left out of it."""

    blocks: list[tuple[int | None, Block]]
    problems: list[Problem]
    notes: list[str]


class Parser:
    """Parses each file once, however many programs use it."""

    def __init__(self) -> None:
        self.parsed: dict[str, _Parsed] = {}  # by shown path

    def blocks(self, source: Source) -> list[tuple[int | None, Block]]:
        """The statements of each chunk of a file, with the chunk's cell."""
        parsed = self.parsed.get(source.path)
        if parsed is None:
            parsed = _Parsed([], [], [])
            parsed.blocks.extend((chunk.cell, _block(source, chunk, parsed)) for chunk in source.chunks)
            self.parsed[source.path] = parsed
        return parsed.blocks


def _block(source: Source, chunk: Chunk, parsed: _Parsed) -> Block:
    """The statements of one chunk; what is wrong with it is added to what is known of the file."""
    from leakcheck.flow.convert import Cut, SyntaxProblem, TooMuch, parse, parse_prefix

    def report(message: str, line: int, column: int) -> None:
        parsed.problems.append(Problem(message, Location(source.path, chunk.cell, line, column, line, column + 1)))

    cuts: list[Cut] = []
    block: Block = ()
    try:
        if chunk.cell is None:
            block = parse(chunk.text, cuts)
        else:
            block, problem = parse_prefix(chunk.text, cuts)
            if problem is not None:
                report(problem.message, problem.line, problem.column)
    except SyntaxProblem as problem:
        report(problem.message, problem.line, problem.column)
    except TooMuch as problem:
        report(problem.message, problem.line, 1)
    where = source.path if chunk.cell is None else f"{source.path}: cell {chunk.cell}"
    parsed.notes.extend(f"{where}, line {cut.line}: {cut.message}" for cut in cuts)
    return block


def together(found: Sequence[ProgramFacts]) -> ProgramFacts:
    """The facts of several programs; what two programs show at one place is said once, by the surer one."""
    merged: dict[str, tuple[object, ...]] = {}
    for field in fields(ProgramFacts):
        if field.name in ("problems", "unknown", "notes"):
            continue
        best: dict[tuple[object, ...], object] = {}
        for facts in found:
            for fact in getattr(facts, field.name):
                key = (fact.location, *(getattr(fact, name, None) for name in ("what", "feature", "program")))
                old = best.get(key)
                if old is None or (_sure(fact) and not _sure(old)):
                    best[key] = fact
        merged[field.name] = tuple(best.values())
    whole = ProgramFacts(
        problems=tuple(dict.fromkeys(problem for facts in found for problem in facts.problems)),
        notes=tuple(dict.fromkeys(note for facts in found for note in facts.notes)),
        unknown=_all_unknown(found),
    )
    return replace(whole, **merged)  # type: ignore[arg-type]


def _all_unknown(found: Sequence[ProgramFacts]) -> tuple[Unknown, ...]:
    places: dict[tuple[UnknownKind, str], dict[Location, None]] = {}
    for facts in found:
        for unknown in facts.unknown:
            places.setdefault((unknown.kind, unknown.name), {}).update(dict.fromkeys(unknown.places))
    return tuple(Unknown(kind, name, tuple(where)) for (kind, name), where in places.items())


def _sure(fact: object) -> bool:
    return getattr(fact, "confidence", Confidence.SURE) is Confidence.SURE
