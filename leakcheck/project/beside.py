"""What a scan of folders checks beside code: comparisons in prose, and the data sets and claims that are declared."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Location
from leakcheck.project.config import Config
from leakcheck.project.discover import Discovered, discover_prose
from leakcheck.project.nearest import nearest
from leakcheck.project.paths import shown
from leakcheck.project.select import Selection
from leakcheck.project.source import Problem, Source
from leakcheck.project.suppress import Comments

if TYPE_CHECKING:
    from leakcheck.audit.declared import AuditedData
    from leakcheck.claims.facts import Claim, ClaimFacts
    from leakcheck.flow.facts import ReportedScore

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Beside:
    """Findings of prose, data and claims, what couldn't be checked, and what is known of the rest.

    `comments` are those of Markdown, by shown path.
    """

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    data: tuple[AuditedData, ...] = ()
    claims: tuple[ClaimFacts, ...] = ()
    comments: dict[str, Comments] = field(default_factory=dict)


def check_beside(
    places: Sequence[Path],
    discovered: Discovered,
    code: Collection[str],
    config: Config,
    open_findings: Sequence[Finding],
    exploratory: Sequence[str],
    shows: Callable[[Finding], bool],
    progress: Progress,
    *,
    with_data: bool = True,
    with_claims: bool = True,
) -> Beside:
    """Check prose against the declared claims, audit the declared data sets, and check the claims against their runs.

    Parameters
    ----------
    places : sequence of Path
        What was to be scanned; prose is looked for in its folders.
    discovered : Discovered
        The code files found there.
    code : collection of str
        Paths of the Python files that are about machine learning: the docstrings of others are not read.
    config : Config
        Declares the data sets and claims.
    open_findings : sequence of Finding
        Of code; an open error puts a claim at risk, and so does one of the data.
    exploratory : sequence of str
        The exploratory files, relative to the configuration: claims that rest on them are exploratory too.
    shows : callable
        Whether a finding is selected: what is not shown is not open.
    progress : callable
        Is told how far the audits are.
    with_data : bool, default True
        Whether the data sets are audited.
    with_claims : bool, default True
        Whether the claims are checked against their runs; prose always needs to know them.

    Raises
    ------
    LeakcheckError
        If a declared claim can't be used.
    """
    from leakcheck.claims.configured import check_declared, declared_claims

    file = config.file or config.root / "pyproject.toml"
    exploratory = (*config.exploratory, *exploratory)
    claims = declared_claims(config.claims, config.root, file, exploratory) if config.claims else ()
    _require_known_data(claims, config, file)
    problems: list[Problem] = []
    comments: dict[str, Comments] = {}
    findings = _prose_findings(places, discovered, code, config, claims, problems, comments)
    data: tuple[AuditedData, ...] = ()
    unaudited: list[tuple[Problem, str]] = []
    if with_data and config.datasets:
        from leakcheck.audit.declared import audit_all

        audits = audit_all(config.datasets, config.root, file, progress)
        data = audits.audited
        findings += audits.findings
        unaudited = list(zip(audits.problems, audits.failed, strict=True))
    if not with_claims or not claims:
        left = (*problems, *(problem for problem, _ in unaudited))
        return Beside(tuple(findings), left, data, comments=comments)
    checked = check_declared(claims, config.root, file, [*open_findings, *filter(shows, findings)])
    judged = [facts.claim for facts in checked.facts]
    problems += [_judged_without(problem, name, judged) for problem, name in unaudited]
    return Beside((*findings, *checked.findings), (*problems, *checked.errors), data, checked.facts, comments)


def _judged_without(problem: Problem, data_set: str, claims: Sequence[Claim]) -> Problem:
    """The problem of a data set, with the claims that name it, or none, and have a verdict all the same."""
    names = [repr(claim.id) for claim in claims if not claim.datasets or data_set in claim.datasets]
    said = f"; judged without it: {', '.join(names)}" if names else ""
    return replace(problem, message=problem.message + said)


def _require_known_data(claims: Sequence[Claim], config: Config, file: Path) -> None:
    known = [table["id"] for table in config.datasets]
    for claim in claims:
        for name in claim.datasets:
            if name not in known:
                raise LeakcheckError(
                    f"the data set {name!r} is not declared{nearest(name, known)}",
                    file=shown(file),
                    place=f"claim {claim.id!r}",
                )


def check_environment(
    scores: Sequence[ReportedScore],
    sources: Sequence[Source],
    libraries: frozenset[str],
    config: Config,
    selection: Selection,
) -> Beside | None:
    """Check whether the project pins the libraries behind its scores; None where no rule is selected that asks."""
    from leakcheck.project.facts import ProjectFacts
    from leakcheck.rules import RuleError, check, rules

    checks = [rule for rule in rules(("hygiene",)) if rule.facts_type is ProjectFacts and selection.looks_for(rule)]
    if not checks:
        return None
    if not scores:
        return Beside()
    from leakcheck.project.environment import project_facts

    try:
        facts = project_facts(scores, sources, libraries, config.root)
    except LeakcheckError as error:
        place = Location(error.file or shown(config.root), None, 1, 1, 1, 1)
        return Beside(problems=(Problem(str(error), place),))
    findings: list[Finding] = []
    problems: list[Problem] = []
    for rule in checks if facts is not None else ():
        try:
            findings += check(rule, facts)
        except RuleError as failure:
            problems.append(Problem(failure.message, failure.location))
    return Beside(tuple(findings), tuple(problems))


def _prose_findings(
    places: Sequence[Path],
    discovered: Discovered,
    code: Collection[str],
    config: Config,
    claims: Sequence[Claim],
    problems: list[Problem],
    comments: dict[str, Comments],
) -> list[Finding]:
    """The findings; what went wrong is added to `problems`, the comments in Markdown to `comments`."""
    from leakcheck.claims.prose import read_prose
    from leakcheck.claims.prose_facts import ProseFacts
    from leakcheck.rules import RuleError, check, rules

    markdown = discover_prose([place for place in places if place.is_dir()], config)
    files = [*markdown, *(f for f in discovered.files if f.path.endswith(".ipynb") or f.path in code)]
    named = [(_below(found.real, config.root) or found.path, found.path, Path(found.real)) for found in files]
    checks = [rule for rule in rules(("hygiene",)) if rule.facts_type is ProseFacts]
    facts = read_prose(named, claims)
    findings: list[Finding] = []
    for one in facts:
        comments[one.path] = one.comments
        for rule in checks:
            try:
                findings += check(rule, one)
            except RuleError as failure:
                problems.append(Problem(failure.message, failure.location))
    return findings


def _below(real: str, root: Path) -> str | None:
    """The path inside the project, as the configuration names its texts."""
    inside = os.path.relpath(real, os.path.realpath(root))
    return None if inside.startswith("..") else Path(inside).as_posix()
