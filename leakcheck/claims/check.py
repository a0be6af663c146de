"""From claims to facts: read the runs, summarise, correct, compare with history and text, judge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path

from leakcheck.claims import judge
from leakcheck.claims.declaration import missing_parts
from leakcheck.claims.facts import Claim, ClaimFacts, FamilyResult, Inflation, Summary, names_file
from leakcheck.claims.family import families
from leakcheck.claims.paired import Paired
from leakcheck.claims.pairing import read_pairs
from leakcheck.claims.selection import inflation
from leakcheck.claims.summary import Settings, summarise
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Location, Severity, Within


@dataclass(frozen=True, slots=True)
class Failure:
    """A claim whose results could not be used."""

    claim: Claim
    error: LeakcheckError


@dataclass(frozen=True, slots=True)
class Checked:
    """The facts of each claim that could be worked out, and what failed."""

    facts: tuple[ClaimFacts, ...]
    failures: tuple[Failure, ...] = ()


def check_claims(
    claims: Sequence[Claim],
    root: Path,
    settings: Settings,
    *,
    config: Path | None = None,
    open_findings: Sequence[Finding] = (),
) -> Checked:
    """Work out the facts of claims.

    Parameters
    ----------
    claims : sequence of Claim
        All that are corrected together must be given together.
    root : Path
        Results and texts are relative to it.
    settings : Settings
        Of the calculation.
    config : Path, optional
        The file that declares the claims; without it they come from the command line or from Python.
    open_findings : sequence of Finding
        Of the other legs; suppressed ones are passed over.
    """
    read: list[tuple[Claim, Paired]] = []
    failures = []
    for claim in claims:
        try:
            _require_code(claim, root)
            read.append((claim, read_pairs(claim, root)))
        except LeakcheckError as error:
            failures.append(Failure(claim, error))
    summaries = [summarise(paired, claim, settings) for claim, paired in read]
    corrected = families([claim for claim, _ in read], summaries)
    facts = []
    for (claim, paired), summary, family in zip(read, summaries, corrected, strict=True):
        try:
            facts.append(_facts(claim, paired, summary, family, root, config, open_findings))
        except LeakcheckError as error:
            failures.append(Failure(claim, error))
    return Checked(tuple(facts), tuple(failures))


def _require_code(claim: Claim, root: Path) -> None:
    """Refuse a pattern of the claim's `code` that means no file: nothing would put the claim at risk."""
    for pattern in claim.code:
        place = root.joinpath(*takewhile(lambda part: not set(part) & set("*?["), Path(pattern).parts))
        there = chain([place] if place.exists() else [], place.rglob("*"))
        if not any(names_file(pattern, _seen_from(root, file)) for file in there):
            raise LeakcheckError(
                "its code matches no file",
                expected="files and patterns relative to the configuration",
                found=repr(pattern),
            )


def facts_of(claim: Claim, paired: Paired, settings: Settings) -> ClaimFacts:
    """The facts of one comparison given as values, without files."""
    return _facts(claim, paired, summarise(paired, claim, settings), None, None, None, ())


def _facts(
    claim: Claim,
    paired: Paired,
    summary: Summary,
    family: FamilyResult | None,
    root: Path | None,
    config: Path | None,
    open_findings: Sequence[Finding],
) -> ClaimFacts:
    from leakcheck.claims.history import declared_order
    from leakcheck.claims.stated import stated_numbers

    risks = _risks(claim, open_findings, root)
    selected = _inflation(claim, paired, summary)
    verdict, reason = judge.judge(claim, summary, family, selected, risks)
    found = {row.cluster or row.id for row in paired.rows}
    return ClaimFacts(
        claim=claim,
        summary=summary,
        verdict=verdict,
        reason=reason,
        location=claim.location,
        declared=config is not None,
        missing=missing_parts(claim),
        caveats=judge.caveats(summary),
        family=family,
        corrected_away=judge.corrected_away(summary, family),
        inflation=selected,
        selected_away=judge.selected_away(summary, selected),
        order=declared_order(claim, root, config) if root is not None and config is not None else None,
        stated=stated_numbers(claim, summary, root) if root is not None and claim.text is not None else (),
        pseudo_runs=paired.pseudo_runs,
        missing_runs=tuple(seed for seed in claim.seeds if seed not in found),
        unplanned_runs=tuple(sorted(found - set(claim.seeds))) if claim.seeds else (),
        risks=risks,
        clears=judge.clears(summary),
    )


def _inflation(claim: Claim, paired: Paired, summary: Summary) -> Inflation | None:
    """The gain of the best of k: k is declared, or counted in the search's table."""
    k = claim.best_of or paired.candidates
    if k is None or k < 2 or summary.sd_b is None or summary.sd_b == 0.0:
        return None
    # What was maximised is the mean over the runs.
    ratio = summary.test_train_ratio or 0.0
    return inflation(k, summary.sd_b * (1.0 / summary.n + ratio) ** 0.5)


def _risks(claim: Claim, open_findings: Sequence[Finding], root: Path | None) -> tuple[Finding, ...]:
    """Open errors in the code and data behind the claim; the findings about claims themselves are not among them."""
    return tuple(
        sorted(
            (
                finding
                for finding in open_findings
                if finding.severity is Severity.ERROR
                and finding.suppressed is None
                and not finding.code.startswith("LK8")
                and _is_behind(claim, finding, root)
            ),
            key=Finding.sort_key,
        )
    )


def _is_behind(claim: Claim, finding: Finding, root: Path | None) -> bool:
    if finding.code.startswith(("LK6", "LK7")):
        data_set = (finding.evidence or {}).get("dataset")
        return not claim.datasets or data_set is None or data_set in claim.datasets
    # A finding's path is that seen from the working folder; a claim's are those seen from its configuration.
    path = _seen_from(root, finding.location.path) if root else finding.location.path
    return not claim.code or claim.rests_on(path)


def _seen_from(root: Path, path: str | Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def results_location(path: str) -> Location:
    """Where a finding about a comparison stands that no configuration declares."""
    return Location(path, None, 1, 1, 1, 1, Within.NOTHING)
