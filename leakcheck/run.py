"""One run of `scan`: from paths to findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakcheck.findings import Confidence, Finding, Location, Severity
from leakcheck.project.config import Config, find_config
from leakcheck.project.discover import Found, discover
from leakcheck.project.modules import Modules, read_bytes, unreadable_problem
from leakcheck.project.select import DRIVER_CODES, Selection, known_codes
from leakcheck.project.source import Problem, Source
from leakcheck.project.suppress import MARK, Comments, read_comments, unused

if TYPE_CHECKING:
    from pandas import DataFrame

    from leakcheck.flow.tables import Tables
    from leakcheck.rule import Rule

# The families whose rules read code; the rules of data and claims in them are told by their facts.
CODE_FAMILIES = ("separation", "selection", "time", "features", "hygiene")

Progress = Callable[[str, int, int], None]  # what is being done, files done, files in all


@dataclass(frozen=True)
class ScanResult:
    """What a scan found.

    Attributes
    ----------
    findings : tuple of Finding
        What is to be reported, in the order of output.
    errors : tuple of Problem
        What couldn't be read (LK001).
    notices : tuple of str
        What was passed over or cut short.
    suppressed : tuple of Finding
        What a comment silences; in no output.
    files : int
        Files looked at.
    skipped : int
        Files that couldn't be read or were passed over.
    sources : Modules
        The files that were read, for showing their lines.
    """

    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]
    notices: tuple[str, ...]
    suppressed: tuple[Finding, ...]
    files: int
    skipped: int
    sources: Modules

    @property
    def by_code(self) -> dict[str, int]:
        """Number of findings of each code."""
        counts: dict[str, int] = {}
        for finding in self.findings:
            counts[finding.code] = counts.get(finding.code, 0) + 1
        return dict(sorted(counts.items()))

    @property
    def exit_status(self) -> int:
        """0 nothing to report, 1 findings, 2 something couldn't be read."""
        return 2 if self.errors else 1 if self.findings else 0

    def to_dict(self) -> dict[str, Any]:
        """The result as `--output-format json` prints it."""
        from leakcheck.report.json import result_record

        return result_record(self)

    def to_frame(self) -> DataFrame:
        """The findings as a pandas frame, one a row."""
        from leakcheck.report.frame import findings_frame

        return findings_frame(self.findings)

    def _repr_html_(self) -> str:
        from leakcheck.report.notebook import findings_html

        return findings_html(self)


def scan(
    *paths: str | os.PathLike[str],
    config: Config | str | os.PathLike[str] | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    isolated: bool = False,
    progress: Progress | None = None,
) -> ScanResult:
    """Look for leaks in Python files and notebooks, without running them.

    Parameters
    ----------
    *paths : str or path-like
        Files and folders; the working folder where none is given.
    config : Config or path-like, optional
        A configuration, or its file; by default the nearest one at or above the paths.
    select, ignore : sequence of str, optional
        Codes, prefixes, names or ``"ALL"``; as the options of the command.
    isolated : bool
        Use no configuration file.
    progress : callable, optional
        Is told how far the run is.

    Raises
    ------
    LeakcheckError
        If a path doesn't exist, or the configuration can't be used.
    """
    places = [Path(path) for path in paths or (".",)]
    if not isinstance(config, Config):
        file = Path(config) if config is not None else None
        config = find_config([place.absolute() for place in places], file=file, isolated=isolated)
    config = config.with_options(select=select, ignore=ignore)
    selection = Selection.of(config)
    tell = progress or _silent
    discovered = discover(places, config)
    reading = _Reading(config, discovered.files, tell)
    problems = [*discovered.problems, *reading.problems]
    findings, more, notices, ran = _analyse(reading, config, tell)
    problems += more
    unreadable = {problem.location.path for problem in problems}
    kept, suppressed = _apply_comments(findings, reading, config, unreadable, ran)
    shown = sorted((finding for finding in kept if selection.shows(finding)), key=Finding.sort_key)
    from leakcheck.project.fingerprint import with_fingerprints

    marked = with_fingerprints(shown, reading.modules.text, lambda path: _path_in_project(path, config.root)) if shown else []
    errors = sorted(
        {problem for problem in problems if problem.error and not selection.ignores(problem.location.path, "LK001")},
        key=lambda problem: (problem.location.path, problem.location.cell or 0, problem.location.line, problem.message),
    )
    passed_over = [f"{problem.location.path}: {problem.message}" for problem in problems if not problem.error]
    asked = {found.path for found in discovered.files} | {problem.location.path for problem in discovered.problems}
    return ScanResult(
        findings=tuple(marked),
        errors=tuple(errors),
        notices=(*sorted(set(passed_over)), *notices),
        suppressed=tuple(suppressed),
        files=len(asked),
        skipped=len(unreadable & asked),
        sources=reading.modules,
    )


class _Reading:
    """Reads every file once and keeps those that the analysis needs."""

    def __init__(self, config: Config, files: Sequence[Found], tell: Progress) -> None:
        from leakcheck.flow.tables import load as load_tables

        self.modules = Modules(config)
        self.problems: list[Problem] = []
        self.tables: Tables = load_tables([config.root / name for name in config.apis])
        self.asked: set[str] = {found.path for found in files}
        self.commented: list[Source] = []
        self._libraries = self.tables.libraries
        self._folders_given = files
        naming: dict[str, Source] = {}
        others: list[tuple[Found, bytes]] = []
        for number, found in enumerate(files):
            tell("reading", number, len(files))
            try:
                data = read_bytes(found.file)
            except OSError as error:
                self.problems.append(unreadable_problem(found.path, error))
                continue
            if self._needs_loading(found, data):
                source = self.modules.load(found, data).source
                self.problems += source.problems
                if MARK.encode() in data:
                    self.commented.append(source)
                if self._names_library(source):
                    naming[found.path] = source
                    continue
                if found.named:
                    self.problems += _syntax_problems(source)
            others.append((found, data))
        self.sources = [*naming.values(), *self._importers(others, set(map(_real, (s.file for s in naming.values()))))]
        self.sources.sort(key=lambda source: source.path)

    def _needs_loading(self, found: Found, data: bytes) -> bool:
        """Whether more than the bytes is of interest: most files of a project end here."""
        from leakcheck.flow.prefilter import names_library

        if found.named or names_library(data, self._libraries) or MARK.encode() in data:
            return True
        if found.path.endswith(".ipynb"):
            return False
        return not data.isascii() or b"\0" in data or b"coding" in data[:400]

    def _names_library(self, source: Source) -> bool:
        from leakcheck.flow.prefilter import names_library

        text = "\n".join(chunk.text for chunk in source.chunks)
        return names_library(text.encode("utf-8", "replace"), self._libraries)

    def _importers(self, others: Sequence[tuple[Found, bytes]], naming: set[str]) -> list[Source]:
        """The files that name no library themselves but import, however indirectly, a project module that does."""
        graph = _ImportGraph(self.modules, self._libraries, naming)
        chosen = []
        for found, data in others:
            if graph.reaches_library(str(found.file), data):
                source = self.modules.load(found, data).source
                self.problems += source.problems if not found.named else ()
                chosen.append(source)
        return chosen


class _ImportGraph:
    """Answers whether a file reaches a library through project modules."""

    def __init__(self, modules: Modules, libraries: Iterable[str], naming: set[str]) -> None:
        self._modules = modules
        self._libraries = libraries
        self._answers: dict[str, bool] = dict.fromkeys(naming, True)
        self._imports: dict[str, tuple[str, ...]] = {}

    def reaches_library(self, file: str, data: bytes) -> bool:
        seen: set[str] = set()
        pending: list[tuple[str, bytes | None]] = [(file, data)]
        while pending:
            current, content = pending.pop()
            key = _real(current)
            if self._answers.get(key):
                self._answers[_real(file)] = True
                return True
            if key in seen or key in self._answers:
                continue
            seen.add(key)
            for imported in self._imported_files(current, key, content):
                pending.append((imported, None))
        self._answers.update(dict.fromkeys(seen, False))
        return False

    def _imported_files(self, file: str, key: str, content: bytes | None) -> tuple[str, ...]:
        if key not in self._imports:
            from leakcheck.flow.prefilter import imported_names, names_library

            if content is None:
                try:
                    content = read_bytes(Path(file))
                except OSError:
                    content = b""
                if names_library(content, self._libraries):
                    self._answers[key] = True
            text = content.decode("utf-8", "replace")
            found = (self._resolve(name, file) for name in imported_names(text))
            self._imports[key] = tuple(target for targets in found for target in targets)
            if self._answers.get(key):
                self._imports[key] = (file,)
        return self._imports[key]

    def _resolve(self, name: str, file: str) -> list[str]:
        """The files of an imported dotted name: the module, or the package that the last part stands in."""
        plain = name.lstrip(".")
        level = len(name) - len(plain)
        found = [self._modules.find_file(plain, level, file)]
        if "." in plain:
            found.append(self._modules.find_file(plain.rpartition(".")[0], level, file))
        elif level:
            found.append(self._modules.find_file("", level, file))
        return [target for target in found if target is not None]


def _syntax_problems(source: Source) -> list[Problem]:
    """The syntax errors of a file that was named but names no library, so that the engine won't parse it."""
    import ast
    import warnings

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
            place = Location(source.path, chunk.cell, line, column, line, column)
            problems.append(Problem(problem.message, place))
        except TooMuch:
            pass  # nothing in it concerns us
    return problems


def _analyse(reading: _Reading, config: Config, tell: Progress) -> tuple[list[Finding], list[Problem], list[str], set[str]]:
    """Run the engine and the rules of code; findings, problems, notices, and the codes looked for."""
    from leakcheck.rules import rules

    if not reading.sources:
        return [], [], [], {rule.code for rule in rules(CODE_FAMILIES)} if reading.commented else set()
    import leakcheck.flow as flow

    tell("following rows", 0, len(reading.sources))
    facts: Any = flow.analyse(reading.sources, reading.modules.find_module, reading.tables)
    code_rules: list[Rule[Any]] = [rule for rule in rules(CODE_FAMILIES) if issubclass(type(facts), rule.facts_type)]
    found = {finding for rule in code_rules for finding in rule.check(facts)}
    kept = [finding for finding in found if _leads_to(finding, reading.asked)]
    return kept, list(facts.problems), list(facts.notes), {rule.code for rule in code_rules}


def _leads_to(finding: Finding, asked: set[str]) -> bool:
    """Whether a finding stands in, or its trace passes through, a file that was asked for."""
    return finding.location.path in asked or any(step.location.path in asked for step in finding.trace)


def _apply_comments(
    findings: Sequence[Finding], reading: _Reading, config: Config, unreadable: set[str], ran: set[str]
) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those to report and those that comments silence; add LK002 for comments at fault."""
    by_path: dict[str, Comments] = {source.path: read_comments(source) for source in reading.commented}
    for finding in findings:
        path = finding.location.path
        if path not in by_path and (loaded := reading.modules.loaded(path)):  # a followed module
            by_path[path] = read_comments(loaded.source)
    exploratory = _exploratory(findings, by_path, config)
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        path = finding.location.path
        if path in exploratory and finding.code.startswith("LK2"):
            finding = replace(finding, severity=Severity.NOTE)
        reason = by_path[path].suppressed(finding) if path in by_path else None
        if reason is None:
            kept.append(finding)
        else:
            suppressed.append(replace(finding, suppressed=reason))
    if any(comments.suppressions or comments.mistakes for comments in by_path.values()):
        known = known_codes()
        for path, comments in by_path.items():
            if path in reading.asked and path not in unreadable:
                for place, message in unused(comments, known, ran, config.require_reason):
                    kept.append(_unused_suppression(place, message))
    return kept, sorted(suppressed, key=Finding.sort_key)


def _exploratory(findings: Iterable[Finding], comments: Mapping[str, Comments], config: Config) -> set[str]:
    """The files that call themselves exploratory, or that the configuration does."""
    from leakcheck.project.globs import Globs

    globs = Globs(config.exploratory, config.root)
    paths = {finding.location.path for finding in findings}
    return {path for path in paths if (path in comments and comments[path].exploratory) or globs.match(path)}


def _unused_suppression(place: Location, message: str) -> Finding:
    return Finding(
        code="LK002",
        name=DRIVER_CODES["LK002"],
        leak_class="",
        severity=Severity.WARNING,
        confidence=Confidence.SURE,
        message=message,
        help="remove the comment, or the code that no longer holds from its brackets",
        location=place,
    )


def _path_in_project(path: str, root: Path) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _real(file: str | Path) -> str:
    return os.path.realpath(file)


def _silent(what: str, done: int, total: int) -> None:
    """Shows nothing."""
