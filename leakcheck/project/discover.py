"""Which files a run looks at: folders walked in sorted order, ignored and excluded ones left out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Location, Within
from leakcheck.project.config import Config
from leakcheck.project.globs import Globs
from leakcheck.project.paths import shown
from leakcheck.project.source import Problem

SUFFIXES = (".py", ".pyw", ".ipynb")
PROSE_SUFFIXES = (".md", ".markdown")
DEFAULT_EXCLUDE = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", "__pypackages__",
     ".ipynb_checkpoints", "build", "_build", "dist", "site-packages", ".tox", ".nox", ".eggs", ".mypy_cache",
     ".pytest_cache", ".ruff_cache", ".leakcheck_cache", ".hypothesis", ".direnv", ".pixi", ".pyenv", ".vscode",
     ".idea", "buck-out", ".dvc")
)  # fmt: skip
_VIRTUAL_ENVIRONMENT_MARK = "pyvenv.cfg"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to look at: as shown to people, its real path on disk, and whether it was named itself."""

    path: str
    real: str
    named: bool


@dataclass
class Discovered:
    """The files of a run by their shown path, the real folders that were walked, and what couldn't be looked at.

    `left_out` holds what the configuration excludes: shown paths, and what excludes them.
    """

    files: list[Found] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def discover(paths: Sequence[Path], config: Config, unsaved: Collection[Path] = ()) -> Discovered:
    """Find the Python files and notebooks of some files and folders.

    A file named by itself is taken even if excluded, unless `config.force_exclude`. Links to folders are not followed;
    a file that is reached twice is taken once. Paths in `unsaved` need not exist.

    Raises
    ------
    LeakcheckError
        If a path doesn't exist.
    """
    for path in paths:
        if path not in unsaved and not os.path.lexists(path):
            raise LeakcheckError("no such file or folder", file=shown(path))
    walk = _Walk(config)
    result = Discovered()
    seen: dict[str, int] = {}
    for path in paths:
        if path not in unsaved and path.is_dir():
            folder = os.path.realpath(path)
            result.folders.append(folder)
            found: Iterator[Found] = walk.folder(folder, shown(path), result.problems)
        elif config.force_exclude and walk.excludes_named(str(path.absolute())):
            result.left_out[shown(path)] = "by the configuration or an option"
            continue
        else:
            found = _named(path, result.problems, path in unsaved)
        for entry in found:
            if entry.real not in seen:
                seen[entry.real] = len(result.files)
                result.files.append(entry)
            elif entry.named:  # named after its folder: still named
                result.files[seen[entry.real]] = entry
    result.files.sort(key=lambda entry: entry.path)
    result.left_out |= walk.left_out
    return result


def discover_prose(folders: Sequence[Path], config: Config) -> list[Found]:
    """Find the Markdown files of some folders; folders that can't be read are reported by `discover`."""
    walk = _Walk(config, PROSE_SUFFIXES)
    found = {
        entry.real: entry
        for folder in folders
        for entry in walk.folder(os.path.realpath(folder), shown(folder), problems=[])
    }
    return sorted(found.values(), key=lambda entry: entry.path)


def _named(path: Path, problems: list[Problem], is_unsaved: bool) -> Iterator[Found]:
    """A file that was named itself."""
    name = shown(path)
    place = Location(name, None, 1, 1, 1, 1)
    if path.suffix == ".pyi":
        problems.append(Problem("a stub file holds no code to check; skipped", place, error=False))
    elif _is_checkpoint(path):
        problems.append(Problem("an autosave copy of Jupyter; skipped", place, error=False))
    elif is_unsaved:
        yield Found(name, os.path.realpath(path), True)
    elif not path.is_file():
        what = "a broken link" if path.is_symlink() and not path.exists() else "not a regular file"
        problems.append(Problem(f"{what}: expected a Python file, notebook or folder", place))
    elif path.suffix in SUFFIXES or _has_python_shebang(path):
        yield Found(name, os.path.realpath(path), True)
    elif path.suffix in PROSE_SUFFIXES:
        problems.append(Problem("Markdown is read where its folder is scanned; name the folder", place))
    else:
        problems.append(
            Problem("neither a Python file (.py, .pyw, or a Python first line) nor a notebook (.ipynb)", place)
        )


def _is_checkpoint(path: Path) -> bool:
    """What Jupyter saves beside a notebook is nobody's source, even if a hook names it."""
    return path.parent.name.endswith(".ipynb_checkpoints") and path.stem.endswith("-checkpoint")


def _has_python_shebang(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


class _Walk:
    """Walks folders under one configuration."""

    def __init__(self, config: Config, suffixes: tuple[str, ...] = SUFFIXES) -> None:
        self._root = config.root
        self._suffixes = suffixes
        self._names = DEFAULT_EXCLUDE if config.exclude is None else frozenset()
        self._exclude = Globs((*(config.exclude or ()), *config.extend_exclude), config.root)
        self._respect_gitignore = config.respect_gitignore
        self.left_out: dict[str, str] = {}  # shown paths, and what leaves them out

    def folder(self, folder: str, prefix: str, problems: list[Problem]) -> Iterator[Found]:
        """Walk a real folder that people know as `prefix`."""
        ignores = self._ignores_above(folder) if self._respect_gitignore else []
        yield from self._walk(folder, "" if prefix == "." else prefix.rstrip("/") + "/", ignores, problems)

    def excludes_named(self, path: str) -> bool:
        """Whether a file named itself lies in an excluded folder or matches a pattern."""
        parts = Path(os.path.relpath(path, self._root)).parts
        if parts[:1] == ("..",):
            parts = Path(path).parts[-1:]
        return not self._names.isdisjoint(parts) or self._exclude.match(path)

    def _walk(self, folder: str, prefix: str, ignores: list[Globs], problems: list[Problem]) -> Iterator[Found]:
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            message = f"the folder can't be read: {error.strerror}"
            problems.append(Problem(message, Location(prefix.rstrip("/") or ".", None, 1, 1, 1, 1, Within.NOTHING)))
            return
        if self._respect_gitignore and any(entry.name == ".gitignore" for entry in entries):
            ignores = [*ignores, *_read_ignores(folder, ".gitignore")]
        for entry in entries:
            name = entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not name.endswith(self._suffixes):
                continue
            path = f"{prefix}{name}/" if is_folder else prefix + name
            why = self._why_out(entry, ignores, is_folder)
            if why:
                self.left_out[path] = why
            elif is_folder:
                yield from self._walk(entry.path, path, ignores, problems)
            elif entry.is_file():
                real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                yield Found(path, real, False)

    def _why_out(self, entry: os.DirEntry[str], ignores: list[Globs], is_folder: bool) -> str:
        """What leaves a file or folder out; empty where nothing does."""
        path = entry.path
        if entry.name in self._names:
            return "by default"
        if self._exclude.patterns and self._exclude.match(path, is_folder):
            return "by the configuration or an option"
        for globs in reversed(ignores):  # the nearest .gitignore has the last word
            decision = globs.decide(path, is_folder)
            if decision is not None:
                if decision:
                    return "by .gitignore"
                break
        # A virtual environment under any name.
        if is_folder and self._names and os.path.exists(os.path.join(path, _VIRTUAL_ENVIRONMENT_MARK)):
            return "as a virtual environment"
        return ""

    def _ignores_above(self, folder: str) -> list[Globs]:
        """The .gitignore files between the repository's root and a folder, the root's first."""
        found: list[Globs] = []
        above = [folder, *map(str, Path(folder).parents)]
        top = next((place for place in above if os.path.exists(os.path.join(place, ".git"))), str(self._root))
        if top not in above:
            return []
        for place in reversed(above[: above.index(top) + 1]):
            if place == top:
                found += _read_ignores(place, ".git/info/exclude")
            if place != folder:  # the walk reads the folder's own
                found += _read_ignores(place, ".gitignore")
        # A folder that was asked for is looked at even if it is ignored itself.
        return [globs for globs in found if not globs.match(folder, True)]


def _read_ignores(folder: str, name: str) -> list[Globs]:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            lines = [line for line in file.read().splitlines() if line.strip() and not line.startswith("#")]
    except OSError:
        return []
    return [Globs(lines, Path(folder))] if lines else []
