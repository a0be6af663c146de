"""In which order the threshold, the plan and the results were committed, as far as git tells.

Only plumbing that runs no hook, filter or helper of the repository is called.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from leakcheck.claims.facts import Claim, Order

_PLAN_KEYS = ("metric", "direction", "a", "b", "pair", "unit_of_analysis", "results", "correction", "family", "stage")
_MOST_COMMITS = 500
_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class _Commit:
    name: str
    time: int


def declared_order(claim: Claim, root: Path, config: Path) -> Order | None:
    """Whether the threshold and the plan were declared before the first results.

    Returns
    -------
    Order, or None
        None outside a git repository, or where the results were never committed.
    """
    git = _Git(root)
    files = [file for pattern in (*claim.results_a, *claim.results_b) for file in _matching(root, pattern)]
    first_results = _earliest([commit for file in files if (commit := git.first_commit(file)) is not None])
    if first_results is None:
        return None
    day = datetime.fromtimestamp(first_results.time, UTC).date()
    late_plan = None if claim.preregistered is None else date.fromisoformat(claim.preregistered) > day
    versions = git.versions(config)
    if versions is None:
        return Order(
            None, preregistered_after_results=late_plan, explanation="the configuration's history is not known"
        )
    history = [(commit, _claim_table(text, claim.id)) for commit, text in versions]
    now = _claim_table(git.working_text(config), claim.id)
    declared = _since(history, now, "threshold")
    changed = tuple(
        key
        for key in _PLAN_KEYS
        if now is not None and key in now and _was_changed(git, history, now, key, first_results)
    )
    if claim.threshold is None:
        return Order(None, changed, late_plan, "no threshold is declared")
    if declared is None:
        return Order(True, changed, late_plan, f"the threshold is not committed; the results are, since {day}")
    if git.is_ancestor(first_results, declared) and declared.name != first_results.name:
        declared_day = datetime.fromtimestamp(declared.time, UTC).date()
        text = f"declared order: results first committed on {day}, this threshold on {declared_day}"
        return Order(True, changed, late_plan, text)
    if declared.name == first_results.name:
        return Order(None, changed, late_plan, "threshold and results came in the same commit")
    if git.is_ancestor(declared, first_results):
        return Order(False, changed, late_plan, f"declared order: threshold first, results on {day}")
    return Order(None, changed, late_plan, "threshold and results come from separate lines of history")


def _was_changed(
    git: _Git,
    history: Sequence[tuple[_Commit, Mapping[str, Any] | None]],
    now: Mapping[str, Any],
    key: str,
    first_results: _Commit,
) -> bool:
    """Whether an earlier version of the claim said something else, and the present words came after the results."""
    earlier = [table for _, table in history if table is not None and table.get(key) != now[key]]
    since = _since(history, now, key)
    if not earlier:
        return False
    return since is None or (since.name != first_results.name and git.is_ancestor(first_results, since))


def _since(
    history: Sequence[tuple[_Commit, Mapping[str, Any] | None]], now: Mapping[str, Any] | None, key: str
) -> _Commit | None:
    """The commit since which the key has its present value; `history` is newest first."""
    since = None
    for commit, table in history:
        if table is None or now is None or table.get(key) != now.get(key):
            break
        since = commit
    return since


def _claim_table(text: str | None, claim_id: str) -> Mapping[str, Any] | None:
    if text is None:
        return None
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    section = data.get("tool", {}).get("leakcheck", data) if isinstance(data.get("tool", {}), dict) else data
    claims = section.get("claims", []) if isinstance(section, dict) else []
    if not isinstance(claims, list):
        return None
    return next((table for table in claims if isinstance(table, dict) and table.get("id") == claim_id), None)


def _matching(root: Path, pattern: str) -> list[Path]:
    from glob import glob

    if (root / pattern).exists():
        return [root / pattern]
    return [root / match for match in sorted(glob(pattern, root_dir=root, recursive=True))]


def _earliest(commits: Sequence[_Commit]) -> _Commit | None:
    return min(commits, key=lambda commit: (commit.time, commit.name), default=None)


class _Git:
    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str) -> str | None:
        """Output of a git command, or None where it failed or there is no git."""
        safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
        command = ["git", "--no-optional-locks", "--no-pager", *safe, *arguments]
        try:
            done = subprocess.run(command, cwd=self.root, capture_output=True, timeout=_TIMEOUT, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None

    def first_commit(self, file: Path) -> _Commit | None:
        """The first commit that holds the file; None where it is not committed or the history is cut off."""
        if self.run("rev-parse", "--is-shallow-repository") != "false\n":
            return None
        commits = self._commits("--diff-filter=A", file=file)
        return commits[-1] if commits else None

    def versions(self, file: Path) -> list[tuple[_Commit, str]] | None:
        """The file in each commit that changed it, newest first."""
        found = []
        for commit in self._commits(file=file)[:_MOST_COMMITS]:
            text = self.run("cat-file", "blob", f"{commit.name}:./{file.relative_to(self.root).as_posix()}")
            if text is None:
                break
            found.append((commit, text))
        return found or None

    def working_text(self, file: Path) -> str | None:
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def is_ancestor(self, earlier: _Commit, later: _Commit) -> bool:
        return self.run("merge-base", "--is-ancestor", earlier.name, later.name) is not None

    def _commits(self, *options: str, file: Path) -> list[_Commit]:
        text = self.run("log", "--format=%H %ct", "--no-ext-diff", "--no-textconv", *options, "--", str(file))
        return [_Commit(name, int(time)) for name, time in (line.split() for line in (text or "").splitlines())]
