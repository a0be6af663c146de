"""One run of `scan`: from paths to findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from leakcheck.findings import Finding
from leakcheck.plugins import use_project_rules
from leakcheck.project.baseline import Applied, Baseline, Looked, apply_baseline, entry_maker, find_baseline
from leakcheck.project.beside import Beside, check_beside, check_environment
from leakcheck.project.cache import FOLDER, Cache, own_folder
from leakcheck.project.config import Config, find_config
from leakcheck.project.discover import discover
from leakcheck.project.modules import Modules
from leakcheck.project.paths import shown as as_shown
from leakcheck.project.relevant import Relevant, read_relevant
from leakcheck.project.select import Selection
from leakcheck.project.silence import apply_comments, comment_faults, exploratory_files, silence
from leakcheck.project.source import Problem, Source
from leakcheck.project.suppress import Comments

if TYPE_CHECKING:
    from pandas import DataFrame

    from leakcheck.audit.declared import AuditedData
    from leakcheck.claims.facts import ClaimFacts
    from leakcheck.flow import ProgramFacts
    from leakcheck.flow.facts import ReportedScore, Unknown
    from leakcheck.flow.tables import Tables
    from leakcheck.programs import Program
    from leakcheck.rule import Rule

# The families whose rules read code; the rules of data and claims in them are told by their facts.
CODE_FAMILIES = ("separation", "selection", "time", "features", "hygiene")

_MOST_NAMED = 4  # of what the limit of work cut short

Progress = Callable[[str, int, int], None]  # what is being done, files done, files in all


@dataclass(frozen=True)
class Course:
    """How a scan went, for whoever asks what was done with a file.

    Attributes
    ----------
    files : tuple of str
        Paths of the files that were to be looked at.
    programs : mapping of str to tuple of str
        The files that were followed as programs, and for each the modules that were followed from it.
    recalled : frozenset of str
        The programs that came from the cache.
    unreadable : mapping of str to str
        The files that couldn't be read or were passed over, and why.
    left_out : mapping of str to str
        Files and folders that the configuration leaves out, and what leaves them out.
    cache : str
        The cache that was used, or why there was none.
    jobs : int
        Number of processes.
    """

    files: tuple[str, ...] = ()
    programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recalled: frozenset[str] = frozenset()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    cache: str = "off"
    jobs: int = 1


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
        What a comment or the baseline silences; shown in SARIF only.
    files : int
        Files looked at.
    skipped : int
        Files that couldn't be read or were passed over.
    sources : Modules
        The files that were read, for showing their lines.
    code_files : int
        Python files and notebooks among them.
    data : tuple of AuditedData
        The declared data sets that could be audited.
    claims : tuple of ClaimFacts
        The declared claims that could be checked.
    baseline : Applied, optional
        What the baseline did, where there is one.
    unknown : tuple of Unknown
        What the engine didn't follow.
    course : Course
        How the scan went.
    """

    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]
    notices: tuple[str, ...]
    suppressed: tuple[Finding, ...]
    files: int
    skipped: int
    sources: Modules
    code_files: int = 0
    data: tuple[AuditedData, ...] = ()
    claims: tuple[ClaimFacts, ...] = ()
    baseline: Applied | None = None
    unknown: tuple[Unknown, ...] = ()
    course: Course = field(default_factory=Course)

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

    def __repr__(self) -> str:
        counts = {"findings": self.findings, "errors": self.errors, "suppressed": self.suppressed}
        told = ", ".join(f"{len(items)} {what}" for what, items in counts.items())
        return f"<ScanResult: {told}; {self.files} files>"

    def _repr_html_(self) -> str:
        from leakcheck.report.notebook import findings_html

        return findings_html(self)


def scan(
    *paths: str | os.PathLike[str],
    config: Config | str | os.PathLike[str] | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    isolated: bool = False,
    data: bool = True,
    claims: bool = True,
    baseline: Baseline | str | os.PathLike[str] | Literal[False] | None = None,
    cache: bool | str | os.PathLike[str] = False,
    jobs: int | None = 1,
    unsaved: Mapping[Path, bytes] | None = None,
    fingerprints: bool = True,
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
    data : bool
        Audit the declared data sets, where folders are scanned.
    claims : bool
        Check the declared claims against their runs, where folders are scanned.
    baseline : Baseline, path-like or False, optional
        Accepted findings, or their file, or False for none; by default that of the configuration, or
        ``.leakcheck-baseline.json`` at the project's root if it exists.
    cache : bool or path-like
        Keep results in ``.leakcheck_cache`` under the project's root, or in a folder of their own, and use those of
        earlier runs. What is found is the same.
    jobs : int, optional
        Number of processes; None for one a core where there is enough to do. What is found is the same.
    unsaved : mapping of Path to bytes, optional
        What some of the paths hold in place of what is on disk, such as the text of an editor.
    fingerprints : bool
        Give the findings their fingerprints, for which each file with a finding is parsed once more.
    progress : callable, optional
        Is told how far the run is.

    Raises
    ------
    LeakcheckError
        If a path doesn't exist, or the configuration, the baseline or the cache folder can't be used.
    """
    places = [Path(path) for path in paths or (".",)]
    if not isinstance(config, Config):
        file = Path(config) if config is not None else None
        config = find_config([place.absolute() for place in places], file=file, isolated=isolated)
        if isolated and baseline is None:
            baseline = False
    config = config.with_options(select=select, ignore=ignore)
    use_project_rules(config.root, config.rules)
    selection = Selection.of(config)
    accepted = find_baseline(config, baseline)
    from leakcheck.flow.tables import load as load_tables

    folder = _cache_folder(cache, config.root)
    apis = [config.root / name for name in config.apis]
    tables = load_tables(apis)
    unsaved = unsaved or {}
    discovered = discover(places, config, unsaved)
    modules = Modules(config, {os.path.realpath(path): data for path, data in unsaved.items()})
    tell = progress or _silent
    relevant = read_relevant(discovered, modules, tables.libraries, tell)
    asked = {found.path for found in discovered.files}
    store = None
    if folder is not None and relevant.sources and not unsaved:
        from leakcheck.programs import cache_stamp

        store = Cache(folder, cache_stamp(apis))
    analysed = _analyse(relevant, modules, tables, asked, store, jobs, tell)

    problems = [*discovered.problems, *relevant.problems, *analysed.problems]
    unreadable = {problem.location.path for problem in problems}
    silenced, comments = apply_comments(analysed.findings, relevant.commented, modules, config)
    beside = Beside()
    looked_for: tuple[str, ...] = ()
    if discovered.folders:
        code = {source.path for source in relevant.sources}
        exploratory = exploratory_files(comments, asked, config) if config.claims else ()
        beside = check_beside(
            places,
            discovered,
            code,
            config,
            list(filter(selection.shows, silenced.kept)),
            exploratory,
            selection.shows,
            tell,
            with_data=data,
            with_claims=claims,
        )
        environment = check_environment(analysed.scores, relevant.sources, tables.libraries, config, selection)
        if environment is not None:
            looked_for = ("LK505",)
            beside = replace(
                beside,
                findings=(*beside.findings, *environment.findings),
                problems=(*beside.problems, *environment.problems),
            )
    problems += beside.problems
    for path, found in beside.comments.items():
        comments.setdefault(path, Comments()).add(found)
    told = silence(beside.findings, comments, config)
    ran = analysed.ran | ({"LK504"} if discovered.folders else set())
    read = (asked | beside.comments.keys()) - unreadable
    checkable = {path: found for path, found in comments.items() if path in read}
    faults = comment_faults(checkable, ran, config.require_reason)
    everything = (*silenced.kept, *faults, *told.kept)
    shown = sorted(filter(selection.shows, everything), key=Finding.sort_key)
    looked_at = asked | {problem.location.path for problem in discovered.problems}
    looked_at |= {finding.location.path for finding in beside.findings}
    looked_at |= {file["path"] for one in beside.data for split in one.splits for file in split["files"]}
    commented = sorted((*silenced.suppressed, *told.suppressed), key=Finding.sort_key)
    marked = (*shown, *commented)
    if fingerprints:
        marked = _with_fingerprints(marked, modules, config.root, store)
    reported, suppressed = marked[: len(shown)], marked[len(shown) :]
    applied = None
    if accepted is not None:
        with_risks = claims and (data or not config.datasets)  # else a claim at risk may look sound
        looked_for += (*(("LK6", "LK7") if data else ()), *(("LK8",) if with_risks else ()))
        entry_of = entry_maker(modules.code, partial(_in_project, root=config.root), store)
        applied = apply_baseline(
            accepted,
            reported,
            [entry_of(finding) for finding in shown],
            [entry_of(finding) for finding in everything if not selection.shows(finding)],
            Looked(
                config.root,
                asked - unreadable,
                discovered.folders,
                looked_for if discovered.folders and not beside.problems else (),
            ),
        )
        reported = applied.reported
        suppressed = tuple(sorted((*suppressed, *applied.hidden), key=Finding.sort_key))
    if store is not None:
        store.tidy()
    return ScanResult(
        findings=reported,
        errors=tuple(
            problem
            for problem in sorted(set(problems), key=_problem_key)
            if problem.error and (problem in beside.problems or not selection.ignores(problem.location.path, "LK001"))
        ),
        notices=(*_passed_over(problems), *analysed.notes, *(applied.notices if applied else ())),
        suppressed=suppressed,
        files=len(looked_at),
        skipped=len(unreadable & looked_at),
        sources=modules,
        code_files=len(asked),
        data=beside.data,
        claims=beside.claims,
        baseline=applied,
        unknown=analysed.unknown,
        course=Course(
            files=tuple(found.path for found in discovered.files),
            programs=analysed.programs,
            recalled=frozenset(analysed.recalled),
            unreadable={problem.location.path: problem.message for problem in reversed(problems)},
            left_out=dict(discovered.left_out),
            cache=_cache_state(store),
            jobs=analysed.jobs,
        ),
    )


def _cache_folder(cache: bool | str | os.PathLike[str], root: Path) -> Path | None:
    if isinstance(cache, bool):
        return root / FOLDER if cache else None
    return own_folder(Path(cache))


def _cache_state(cache: Cache | None) -> str:
    if cache is None:
        return "off"
    return f"{as_shown(cache.folder)}: {cache.refusal}" if cache.refusal else as_shown(cache.folder)


@dataclass
class _Analysed:
    """What the engine and the rules of code say; `ran` are the codes that were looked for."""

    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    scores: tuple[ReportedScore, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    programs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    recalled: set[str] = field(default_factory=set)
    jobs: int = 1


def _analyse(
    relevant: Relevant,
    modules: Modules,
    tables: Tables,
    asked: set[str],
    cache: Cache | None,
    jobs: int | None,
    tell: Progress,
) -> _Analysed:
    """Follow rows through the files and ask the rules.

    A finding in a module that was only followed is kept where its trace leads through a file that was asked for.
    """
    result = _Analysed()
    if not relevant.sources and not relevant.commented:
        return result
    from leakcheck.flow import ProgramFacts
    from leakcheck.programs import follow_all
    from leakcheck.rules import rules

    code_rules = [rule for rule in rules(CODE_FAMILIES) if rule.facts_type is ProgramFacts]
    result.ran = {rule.code for rule in code_rules}
    followed = follow_all(relevant.sources, modules, tables, cache=cache, jobs=jobs, tell=tell)
    findings, faults, facts = _ask(code_rules, relevant.sources, followed.all)
    result.findings = [finding for finding in dict.fromkeys(findings) if _passes(finding, asked)]
    result.problems = faults
    result.unknown = facts.unknown
    result.scores = facts.scores
    notes = list(facts.notes)
    for problem in facts.problems:
        if problem.location.path in asked:
            result.problems.append(problem)
        else:
            notes.append(f"{problem.location}: an imported module can't be followed: {problem.message}")
    result.notes = list(dict.fromkeys((*notes, *_cut_short(facts.unknown))))
    result.programs = {
        source.path: program.followed for source, program in zip(relevant.sources, followed.all, strict=True)
    }
    result.recalled, result.jobs = followed.recalled, followed.jobs
    return result


def _ask(
    rules: Sequence[Rule[ProgramFacts]], sources: Sequence[Source], programs: Sequence[Program]
) -> tuple[list[Finding], list[Problem], ProgramFacts]:
    """Findings of all programs together, what failed, and the facts of the programs that didn't."""
    from leakcheck.flow import together
    from leakcheck.programs import own_fault

    faults = [program.fault for program in programs if program.fault is not None]
    whole = [(source, program.facts) for source, program in zip(sources, programs, strict=True) if not program.fault]
    facts = together([facts for _, facts in whole])
    try:
        findings, failures = _told(rules, facts)
    except Exception:  # a fault of ours on one file must not cost the others
        sound = []
        for source, own in whole:
            try:
                _told(rules, own)
                sound.append(own)
            except Exception as error:
                faults.append(own_fault(source, error))
        facts = together(sound)
        findings, failures = _told(rules, facts)
    return findings, [*faults, *failures], facts


def _told(rules: Sequence[Rule[ProgramFacts]], facts: ProgramFacts) -> tuple[list[Finding], list[Problem]]:
    """What the rules say, and which in-house rules failed."""
    from leakcheck.rules import RuleError, check

    findings: list[Finding] = []
    failures: list[Problem] = []
    for rule in rules:
        try:
            findings += check(rule, facts)
        except RuleError as failure:  # the others' findings are kept
            failures.append(Problem(failure.message, failure.location))
    return findings, failures


def _passes(finding: Finding, asked: set[str]) -> bool:
    """Whether a finding stands in, or its trace leads through, a file that was asked for."""
    return finding.location.path in asked or any(step.location.path in asked for step in finding.trace)


def _with_fingerprints(
    findings: Sequence[Finding], modules: Modules, root: Path, cache: Cache | None
) -> tuple[Finding, ...]:
    if not findings:
        return ()
    from leakcheck.flow import room_to_work
    from leakcheck.project.fingerprint import with_fingerprints

    with room_to_work():
        return with_fingerprints(findings, modules.code, partial(_in_project, root=root), cache)


def _in_project(path: str, root: Path) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _cut_short(unknown: Sequence[Unknown]) -> Iterator[str]:
    """One line for the whole run: programs that use the same modules are cut short at the same places."""
    from leakcheck.flow.facts import UnknownKind

    names = [one.name for one in unknown if one.kind is UnknownKind.LIMIT]
    if names:
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        named = ", ".join(names[:_MOST_NAMED])
        yield f"the limit of work was reached; not followed each time: {named}{more} (--show-unknown says where)"


def _passed_over(problems: Sequence[Problem]) -> list[str]:
    return sorted({f"{problem.location.path}: {problem.message}" for problem in problems if not problem.error})


def _problem_key(problem: Problem) -> tuple[str, int, int, str]:
    where = problem.location
    return (where.path, where.cell or 0, where.line, problem.message)


def _silent(what: str, done: int, total: int) -> None:
    """Shows nothing."""
