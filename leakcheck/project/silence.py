"""What comments do to the findings of a run: silence them, or be at fault themselves (LK002)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from leakcheck.findings import Confidence, Finding, Location, Severity, Suppressed
from leakcheck.project.config import Config
from leakcheck.project.globs import Globs
from leakcheck.project.modules import Modules
from leakcheck.project.select import DRIVER_CODES, known_codes
from leakcheck.project.source import Source
from leakcheck.project.suppress import Comments, read_comments, unused

_SELECTION = ("LK2", "LK502")  # what was selected, and what is compared


@dataclass
class Silenced:
    """Findings to report and those that a comment silences."""

    kept: list[Finding] = field(default_factory=list)
    suppressed: list[Finding] = field(default_factory=list)


def apply_comments(
    findings: Sequence[Finding], commented: Iterable[Source], modules: Modules, config: Config
) -> tuple[Silenced, dict[str, Comments]]:
    """Offer every finding to the comments of its file.

    In a file that calls itself exploratory, or that the configuration does, findings about selection and comparison are
    notes.

    Parameters
    ----------
    findings : sequence of Finding
        All findings, before codes are selected: a comment is of use even where its code is not shown.
    commented : iterable of Source
        The files with comments for leakcheck.
    modules : Modules
        Knows the files that were followed.
    config : Config

    Returns
    -------
    tuple of (Silenced, dict)
        The findings, and the comments by path, which now know what they silenced.
    """
    by_path = {source.path: read_comments(source) for source in commented}
    for path in sorted({finding.location.path for finding in findings} - by_path.keys()):
        loaded = modules.loaded(path)
        by_path[path] = read_comments(loaded.source) if loaded else Comments()
    return silence(findings, by_path, config), by_path


def silence(findings: Iterable[Finding], by_path: dict[str, Comments], config: Config) -> Silenced:
    """Offer every finding to the comments of its file."""
    exploratory = Globs(config.exploratory, config.root)
    result = Silenced()
    for finding in findings:
        path = finding.location.path
        comments = by_path.get(path) or Comments()
        if finding.code.startswith(_SELECTION) and (comments.exploratory or exploratory.match(path)):
            finding = replace(finding, severity=Severity.NOTE)
        reason = comments.suppressed_by(finding)
        if reason is None:
            result.kept.append(finding)
        else:
            result.suppressed.append(replace(finding, suppressed=Suppressed("comment", reason)))
    return result


def exploratory_files(by_path: dict[str, Comments], asked: Iterable[str], config: Config) -> tuple[str, ...]:
    """The files that call themselves exploratory, or that the configuration does, relative to its folder."""
    named = Globs(config.exploratory, config.root)
    marked = {path for path, comments in by_path.items() if comments.exploratory} | set(filter(named.match, asked))
    return tuple(sorted(os.path.relpath(path, config.root).replace(os.sep, "/") for path in marked))


def comment_faults(by_path: dict[str, Comments], ran: Iterable[str], require_reason: bool) -> list[Finding]:
    """One LK002 for each comment that silences nothing, names no rule, or gives no reason though it must.

    Parameters
    ----------
    by_path : dict
        Comments by shown path, after every finding was offered to them.
    ran : iterable of str
        The codes that were looked for.
    require_reason : bool
    """
    if not any(comments.suppressions or comments.mistakes for comments in by_path.values()):
        return []
    known, looked_for = known_codes(), frozenset(ran)
    return [
        _unused_suppression(place, message)
        for comments in by_path.values()
        for place, message in unused(comments, known, looked_for, require_reason)
    ]


def _unused_suppression(place: Location, message: str) -> Finding:
    return Finding(
        code="LK002",
        name=DRIVER_CODES["LK002"],
        leak_class="",
        severity=Severity.WARNING,
        confidence=Confidence.SURE,
        message=message,
        help="mend or remove the comment, so that it doesn't silence the next fault here",
        location=place,
    )
