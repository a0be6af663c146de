"""LK505: the project pins no versions of the libraries behind its scores."""

from __future__ import annotations

from collections.abc import Iterator

from leakcheck.findings import Finding, Severity
from leakcheck.project.facts import ProjectFacts
from leakcheck.rule import Rule

_SHOWN = 5


class UnpinnedEnvironment(Rule[ProjectFacts]):
    code = "LK505"
    name = "unpinned-environment"
    leak_class = "S 5.2"
    severity = Severity.NOTE
    since = "0.1.0"
    sources = (
        "Pimentel et al. 2019, A large-scale study about quality and reproducibility of Jupyter notebooks",
        "Pineau et al. 2021, Improving reproducibility in machine learning research",
    )
    help = "Commit a lock file (uv lock, poetry lock, pip freeze, conda-lock), or pin the versions with ==."

    def check(self, facts: ProjectFacts) -> Iterator[Finding]:
        names = ", ".join(facts.unpinned[:_SHOWN])
        more = f" and {len(facts.unpinned) - _SHOWN} more" if len(facts.unpinned) > _SHOWN else ""
        where = "asked for without an exact version" if facts.declared else "taken in whatever version is there"
        yield self.finding(
            facts.location, f"scores are reported and no file pins what they were made with: {names}{more}, {where}"
        )
