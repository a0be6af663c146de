"""The claims that a configuration declares, for `scan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leakcheck.claims.facts import Claim, ClaimFacts, Stage
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding
from leakcheck.project.globs import Globs
from leakcheck.project.source import Problem


@dataclass(frozen=True, slots=True)
class Declared:
    """What checking the declared claims gave.

    Attributes
    ----------
    facts : tuple of ClaimFacts
        One a claim whose results could be used.
    findings : tuple of Finding
        LK801 to LK807, in order of output.
    errors : tuple of Problem
        Claims whose results could not be used, at their places; the run ends with status 2.
    """

    facts: tuple[ClaimFacts, ...]
    findings: tuple[Finding, ...]
    errors: tuple[Problem, ...]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Each claim with its inputs, parameters and results, as plain JSON values."""
        from leakcheck.claims.export import claim_json
        from leakcheck.claims.summary import Settings

        return [claim_json(facts, Settings()) for facts in self.facts]


def declared(
    config_tables: Sequence[Mapping[str, Any]],
    root: Path,
    open_findings: Sequence[Finding] = (),
    *,
    config: Path | None = None,
    exploratory: Sequence[str] = (),
) -> Declared:
    """Check the declared claims against their runs.

    Parameters
    ----------
    config_tables : sequence of mappings
        The `claims` tables of the configuration.
    root : Path
        The configuration's folder; paths in the tables are relative to it.
    open_findings : sequence of Finding
        Of the code and data legs; an open error behind a claim puts it at risk.
    config : Path, optional
        The configuration file, by default `pyproject.toml` or `leakcheck.toml` in `root`.
    exploratory : sequence of str
        Exploratory files, or patterns of them; a claim that names one in its `code` or `text` cannot be confirmatory.

    Raises
    ------
    LeakcheckError
        If a table is not a valid claim.
    """
    if not config_tables:
        return Declared((), (), ())
    file = config or next(
        (root / name for name in ("leakcheck.toml", "pyproject.toml") if (root / name).is_file()), root
    )
    return check_declared(declared_claims(config_tables, root, file, exploratory), root, file, open_findings)


def check_declared(
    claims: Sequence[Claim], root: Path, config: Path, open_findings: Sequence[Finding] = ()
) -> Declared:
    """Check claims that were read already; a missing claims extra is one problem."""
    from leakcheck.claims.extra import require_libraries

    try:
        require_libraries()
    except LeakcheckError as error:
        return Declared((), (), (Problem(str(error), claims[0].location),))

    from leakcheck.claims.check import check_claims
    from leakcheck.claims.rules import findings_of
    from leakcheck.claims.summary import Settings

    checked = check_claims(claims, root, Settings(), config=config, open_findings=open_findings)
    errors = tuple(
        Problem(f"claim {failure.claim.id!r} cannot be checked: {failure.error}", failure.claim.location)
        for failure in checked.failures
    )
    return Declared(checked.facts, findings_of(checked.facts), errors)


def declared_claims(
    config_tables: Sequence[Mapping[str, Any]], root: Path, config: Path, exploratory: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """The validated claims, with their places in the configuration file. Needs no library."""
    from leakcheck.claims.declaration import read_claims
    from leakcheck.project.paths import shown
    from leakcheck.project.table_lines import table_lines

    claims = read_claims(config_tables, shown(config), table_lines(config, "claims"))
    return tuple(_demoted(claim, exploratory, root.absolute()) for claim in claims)


def _demoted(claim: Claim, exploratory: Sequence[str], root: Path) -> Claim:
    """A claim that an exploratory file states, or that rests on one, is no more than exploratory itself."""
    named = [*claim.code, *([claim.text] if claim.text else [])]
    files = Globs(exploratory, root)
    if any(files.match(str(root / path)) for path in named) or any(map(claim.rests_on, exploratory)):
        return replace(claim, stage=Stage.EXPLORATORY)
    return claim
