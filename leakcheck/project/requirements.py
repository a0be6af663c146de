"""The packages that a project says it needs, and which of them it pins to a version. Files are read, never run."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from leakcheck.errors import LeakcheckError
from leakcheck.project.paths import shown

# Written by tools, with the version of everything.
_LOCKS = re.compile(
    r"(?:poetry|uv|pdm|Pipfile|pixi|conda|flake)\.lock|conda-lock\.ya?ml|.*\.conda-lock\.ya?ml|pylock(?:\.[\w-]+)?\.toml"
)
_REQUIREMENTS = re.compile(r".*(?:requirements|constraints).*\.(?:txt|in|lock)")
_CONDA = re.compile(r"(?:.*environment.*|conda.*|env)\.ya?ml")
_FOLDERS = ("requirements", "constraints", "envs", "env", "environments", "conda", "docker", "binder", ".devcontainer")

_PIP = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<version>[^;#)]*)")
_CONDA_SPEC = re.compile(r"(?:[\w./-]+::)?(?P<name>[\w.-]+)\s*(?:\[[^\]]*\])?\s*(?P<version>.*)")
_INSTALL = re.compile(r"\b(?:pip3?|uv pip|conda|mamba|micromamba)\s+install\s+(?P<rest>[^&|;\n]*)")
_WITH_VALUE = frozenset(
    {"-r", "-c", "-i", "-f", "-e", "-n", "-p", "-t", "--requirement", "--constraint", "--index-url",
     "--extra-index-url", "--find-links", "--editable", "--name", "--prefix", "--channel", "--target", "--file"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Requirement:
    """One package that is asked for; `name` as package indexes compare names."""

    name: str
    pinned: bool
    file: str  # as shown to people
    line: int


@dataclass(frozen=True, slots=True)
class Requirements:
    """All that some folders ask for; `locked` where a tool has written down every version."""

    asked: tuple[Requirement, ...] = ()
    locked: bool = False


def normal(name: str) -> str:
    """The name of a package as indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_requirements(folders: list[Path]) -> Requirements:
    """Read what files in some folders (and in their usual subfolders for requirements) ask for.

    Raises
    ------
    LeakcheckError
        If a file can't be read or parsed.
    """
    asked: list[Requirement] = []
    seen: set[Path] = set()
    for folder in folders:
        for place in (folder, *(folder / name for name in _FOLDERS)):
            for file in sorted(place.iterdir()) if place.is_dir() else ():
                if _LOCKS.fullmatch(file.name):
                    return Requirements(locked=True)
                read = _reader(file, place.name)
                if read is not None and file.is_file():
                    asked += _read(file, read, seen)
    return Requirements(tuple(asked))


def load_toml(file: Path) -> dict[str, Any]:
    """What a TOML file says; nothing where there is no such file.

    Raises
    ------
    LeakcheckError
        If it can't be read or parsed.
    """
    return _guarded(tomllib.loads, file) if file.is_file() else {}


_T = TypeVar("_T")
_Found = tuple[str, bool, int]  # the name, whether it is pinned, the line


def _reader(file: Path, folder: str) -> Callable[[str], Iterator[_Found]] | None:
    name = file.name
    if name in _BY_NAME:
        return _BY_NAME[name]
    if _REQUIREMENTS.fullmatch(name) or (folder in ("requirements", "constraints") and name.endswith((".txt", ".in"))):
        return _pip_file
    if _CONDA.fullmatch(name):
        return _conda_file
    if name.startswith("Dockerfile") or name.endswith(".Dockerfile"):
        return _docker_file
    return None


def _read(file: Path, read: Callable[[str], Iterator[_Found]], seen: set[Path]) -> Iterator[Requirement]:
    if file in seen:
        return
    seen.add(file)
    for name, pinned, line in _guarded(lambda text: list(read(text)), file):
        yield Requirement(normal(name), pinned, shown(file), line)


def _guarded(read: Callable[[str], _T], file: Path) -> _T:
    """Read a file, and say what is wrong with it."""
    try:
        return read(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LeakcheckError(f"can't be read: {error.strerror}", file=shown(file)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, configparser.Error, SyntaxError, ValueError) as error:
        message = " ".join(str(error).split())
        raise LeakcheckError(f"the packages that it asks for can't be read: {message}", file=shown(file)) from None


def _is_exact(version: str) -> bool:
    """Whether a version specifier of pip lets one version through."""
    return any(re.fullmatch(r"\s*===?\s*[^*\s]+\s*", part) for part in version.split(","))


def _pip(line: str) -> tuple[str, bool] | None:
    """The package of a requirement of pip; None where there is none, or where it is a file of the project."""
    if re.match(r"\s*(?:git\+|https?:|\.|/)", line):
        egg = re.search(r"#egg=([\w.-]+)", line)
        return (egg[1], "@" in line.partition("+")[2]) if egg else None
    found = _PIP.match(line)
    if found is None:
        return None
    name, at, url = line.partition(" @ ")
    if at:
        bare = re.match(r"\s*([\w.-]+)", name)
        revision = not url.strip().startswith("git+") or "@" in url.partition("://")[2]
        return (bare[1], revision) if bare else None
    return found["name"], _is_exact(found["version"])


def _pip_file(text: str) -> Iterator[_Found]:
    continued = False
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        starts, continued = not continued, stripped.endswith("\\")
        if not starts or not stripped or stripped.startswith(("#", "-")):
            continue
        package = _pip(stripped.rstrip("\\"))
        if package is not None:
            yield *package, number


def _conda_file(text: str) -> Iterator[_Found]:
    """The items below `dependencies:` of an environment file, those of pip among them."""
    inside, pip = False, -1  # the indent of the items below `- pip:`
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r"[A-Za-z]", line):
            inside = line.startswith("dependencies:")
            continue
        item = re.match(r"(\s*)-\s+(.*)", line)
        if not inside or item is None:
            continue
        indent, value = len(item[1]), item[2].partition(" #")[0].strip().strip("\"'")
        if re.fullmatch(r"pip:", value):
            pip = indent
        elif pip >= 0 and indent > pip:
            package = _pip(value) if not value.startswith("-") else None
            if package is not None:
                yield *package, number
        elif found := _CONDA_SPEC.fullmatch(value):
            pip = -1
            yield found["name"], _is_exact_conda(found["version"]), number


def _is_exact_conda(version: str) -> bool:
    return bool(re.fullmatch(r"=?=?\s*\d[\w.+!]*(?:=[\w*.]+)?", version.strip()))


def _pyproject(text: str) -> Iterator[_Found]:
    table = tomllib.loads(text)
    project = _table(table, "project")
    groups = [project.get("dependencies", []), *_table(project, "optional-dependencies").values()]
    groups += _table(table, "dependency-groups").values()
    lines = _Lines(text)
    for group in groups:
        for entry in group if isinstance(group, list) else []:
            package = _pip(entry) if isinstance(entry, str) else None
            if package is not None:
                yield *package, lines.of(entry)
    tool = _table(table, "tool")
    poetry = _table(tool, "poetry")
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies"), _table(tool, "pixi").get("dependencies")]
    tables += [_table(group, "dependencies") for group in _table(poetry, "group").values() if isinstance(group, dict)]
    for of in tables:
        for name, version in of.items() if isinstance(of, dict) else ():
            if name != "python":
                yield name, _is_exact_entry(version, bare=True), lines.of(name)


def _pipfile(text: str) -> Iterator[_Found]:
    table, lines = tomllib.loads(text), _Lines(text)
    for section in ("packages", "dev-packages"):
        for name, version in _table(table, section).items():
            yield name, _is_exact_entry(version, bare=False), lines.of(name)


def _is_exact_entry(version: Any, *, bare: bool) -> bool:
    """Whether `name = version` pins; `bare` where a version without an operator means that version."""
    if isinstance(version, dict):
        if "git" in version:
            return "rev" in version or "ref" in version or "tag" in version
        return "url" in version or "path" in version or _is_exact_entry(version.get("version", ""), bare=bare)
    if not isinstance(version, str):
        return False
    return _is_exact(version) or (bare and bool(re.fullmatch(r"=?\s*\d[\w.+!-]*", version.strip())))


def _setup_cfg(text: str) -> Iterator[_Found]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    lines = _Lines(text)
    listed = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        listed += [value for _, value in parser.items("options.extras_require")]
    for value in listed:
        for entry in re.split(r"[\n]", value):
            package = _pip(entry) if entry.strip() else None
            if package is not None:
                yield *package, lines.of(entry.strip())


def _setup_py(text: str) -> Iterator[_Found]:
    """The literal lists of `install_requires` and `extras_require`; what is computed is not known."""
    tree = ast.parse(text)
    lists = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or getattr(call.func, "id", getattr(call.func, "attr", "")) != "setup":
            continue
        for keyword in call.keywords:
            if keyword.arg in ("install_requires", "extras_require"):
                value = keyword.value
                value = lists.get(value.id, value) if isinstance(value, ast.Name) else value
                for entry in ast.walk(value):
                    inner = lists.get(entry.id) if isinstance(entry, ast.Name) else entry
                    if isinstance(inner, ast.List | ast.Tuple):
                        yield from _entries(inner)


def _entries(listed: ast.List | ast.Tuple) -> Iterator[_Found]:
    for item in listed.elts:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            package = _pip(item.value)
            if package is not None:
                yield *package, item.lineno


def _docker_file(text: str) -> Iterator[_Found]:
    joined = re.sub(r"\\\n", lambda match: "  ", text)
    for found in _INSTALL.finditer(joined):
        conda = "pip" not in found[0].split("install")[0]
        line = joined.count("\n", 0, found.start()) + 1 + text[: found.start()].count("\\\n")
        words = shlex.split(found["rest"], comments=True)
        skip = False
        for word in words:
            if skip or word.startswith("-"):
                skip = not skip and word in _WITH_VALUE
                continue
            if conda:
                spec = _CONDA_SPEC.fullmatch(word)
                if spec is not None:
                    yield spec["name"], _is_exact_conda(spec["version"]), line
            else:
                package = _pip(word)
                if package is not None:
                    yield *package, line


_BY_NAME: dict[str, Callable[[str], Iterator[_Found]]] = {
    "pyproject.toml": _pyproject,
    "Pipfile": _pipfile,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
}


class _Lines:
    """Finds the line of an entry of a file whose parser doesn't tell."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def of(self, entry: str) -> int:
        return next((number for number, line in enumerate(self._lines, start=1) if entry in line), 1)


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}
