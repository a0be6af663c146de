"""The configuration: `[tool.leakcheck]` in pyproject.toml, or leakcheck.toml; every value typed and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leakcheck.errors import LeakcheckError
from leakcheck.project.nearest import nearest
from leakcheck.project.paths import shown

FILE_NAMES = ("leakcheck.toml", "pyproject.toml")
# What marks the root of a project that has no configuration.
ROOT_MARKS = ("pyproject.toml", ".git", ".hg", "setup.py", "setup.cfg", "requirements.txt", "environment.yml")


@dataclass(frozen=True)
class Config:
    """What holds for one run; paths and patterns are relative to `root`."""

    root: Path
    file: Path | None = None
    from_file: frozenset[str] = frozenset()  # keys whose value the file gives
    from_overrides: frozenset[str] = frozenset()  # keys that `--config KEY=VALUE` gives in its place
    from_options: frozenset[str] = frozenset()  # keys that options of their own replace or add to
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    src: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    require_reason: bool = False
    baseline: str | None = None
    exploratory: tuple[str, ...] = ()
    datasets: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    claims: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    force_exclude: bool = False  # of the command line only

    def with_options(
        self,
        *,
        select: Sequence[str] | None = None,
        extend_select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        per_file_ignores: Sequence[tuple[str, tuple[str, ...]]] = (),
        exclude: Sequence[str] = (),
        force_exclude: bool = False,
        require_reason: bool = False,
    ) -> Config:
        """The configuration under the options of a command.

        `select` starts afresh: what the file says about selecting and ignoring codes is dropped. All other options add.
        """
        fresh = self
        if select is not None:
            dropped = {"select", "extend-select", "ignore"}
            fresh = replace(
                self,
                from_file=self.from_file - dropped,
                from_overrides=self.from_overrides - dropped,
                select=tuple(select),
                extend_select=(),
                ignore=(),
            )
        given = {
            "select": select is not None,
            "extend-select": bool(extend_select),
            "ignore": bool(ignore),
            "per-file-ignores": bool(per_file_ignores),
            "extend-exclude": bool(exclude),
            "require-reason": require_reason,
        }
        return replace(
            fresh,
            from_options=fresh.from_options | {key for key, is_given in given.items() if is_given},
            extend_select=(*fresh.extend_select, *extend_select),
            ignore=(*fresh.ignore, *ignore),
            per_file_ignores=(*fresh.per_file_ignores, *per_file_ignores),
            extend_exclude=(*fresh.extend_exclude, *(_from_working_folder(pattern, self.root) for pattern in exclude)),
            force_exclude=force_exclude or self.force_exclude,
            require_reason=require_reason or self.require_reason,
        )


def _from_working_folder(pattern: str, root: Path) -> str:
    """A pattern of the command line, relative to the working folder, made relative to `root`."""
    import os

    if os.path.isabs(pattern) and pattern.startswith(f"{root}{os.sep}"):
        return pattern[len(str(root)) :].replace(os.sep, "/")
    plain = pattern.removeprefix("./")
    here = os.path.relpath(os.curdir, root).replace(os.sep, "/")
    if "/" not in plain.rstrip("/") or here == "." or here.startswith(".."):
        return plain
    return f"/{here}/{plain.lstrip('/')}"


def find_config(
    paths: Sequence[Path], *, file: Path | None = None, isolated: bool = False, overrides: Sequence[str] = ()
) -> Config:
    """The configuration for a run on some paths.

    Parameters
    ----------
    paths : sequence of Path
        Absolute; the nearest configuration at or above their common parent holds.
    file : Path, optional
        Use this file instead of looking for one.
    isolated : bool
        Use no file at all.
    overrides : sequence of str
        ``KEY=VALUE`` in TOML; each stands in place of what the file says of its key.

    Raises
    ------
    LeakcheckError
        If the file can't be read, or a key is unknown or of the wrong type.
    """
    config = _from_file(_common_folder(paths), file, isolated)
    if not overrides:
        return config
    values = _values(_override_table(overrides), _OVERRIDES)
    keys = frozenset(key.replace("_", "-") for key in values)
    return replace(config, from_file=config.from_file - keys, from_overrides=keys, **values)


def _from_file(start: Path, file: Path | None, isolated: bool) -> Config:
    if isolated:
        return Config(_project_root(start))
    if file is not None:
        table = _table(file, required=True)
        return _build({} if table is None else table, file)
    for folder in (start, *start.parents):
        for name in FILE_NAMES:
            candidate = folder / name
            table = _table(candidate, required=False)
            if table is not None:
                return _build(table, candidate)
    return Config(_project_root(start))


_OVERRIDES = Path("--config")  # stands for the file in messages about what the command line says


def _override_table(texts: Sequence[str]) -> dict[str, Any]:
    import tomllib

    merged: dict[str, Any] = {}
    for text in texts:
        try:
            merged |= tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise LeakcheckError(
                f"--config {text}: not TOML: {error}", expected="a file, or KEY=VALUE such as 'ignore = [\"LK101\"]'"
            ) from None
    return merged


def _common_folder(paths: Sequence[Path]) -> Path:
    import os

    if not paths:
        return Path.cwd()
    try:
        common = Path(os.path.commonpath(paths))
    except ValueError:  # different drives
        return Path.cwd()
    return common if common.is_dir() else common.parent


def _project_root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in ROOT_MARKS):
            return folder
    return start


def _table(file: Path, required: bool) -> Mapping[str, Any] | None:
    """The table of our keys in a file; None where there is none."""
    try:
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise LeakcheckError("no such configuration file", file=shown(file)) from None
        return None
    except OSError as error:
        raise LeakcheckError(f"the configuration can't be read: {error.strerror}", file=shown(file)) from None
    is_pyproject = file.name == "pyproject.toml"
    if is_pyproject and b"leakcheck" not in data:
        return None
    import tomllib

    try:
        content = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise LeakcheckError(
            "the configuration is not UTF-8 text", file=shown(file), place=f"byte {error.start}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise LeakcheckError(f"the configuration is not valid TOML: {error}", file=shown(file)) from None
    tool = content.get("tool")
    own = tool.get("leakcheck") if isinstance(tool, dict) else None
    if is_pyproject:
        if own is not None and not isinstance(own, dict):
            raise LeakcheckError("tool.leakcheck", file=shown(file), expected="a table", found=_kind(own))
        return own
    if isinstance(own, dict) and set(content) == {"tool"}:  # the pyproject form in a file of its own
        return own
    return content


def _build(table: Mapping[str, Any], file: Path) -> Config:
    return Config(root=file.absolute().parent, file=file, from_file=frozenset(table), **_values(table, file))


def _values(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Fields of `Config` by the keys of a table, each checked."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        check = KEYS.get(key)
        if check is None:
            raise LeakcheckError(f"unknown key {key!r}{nearest(key, KEYS)}", file=shown(file))
        values[key.replace("-", "_")] = check(_Place(file, key), value)
    return values


@dataclass(frozen=True, slots=True)
class _Place:
    file: Path
    key: str

    def wrong(self, expected: str, value: object, key: str = "") -> LeakcheckError:
        return LeakcheckError(
            "wrong type of value", file=shown(self.file), place=f"key {key or self.key!r}", expected=expected,
            found=_kind(value),
        )  # fmt: skip


def _truth(place: _Place, value: object) -> bool:
    if not isinstance(value, bool):
        raise place.wrong("true or false", value)
    return value


def _text(place: _Place, value: object) -> str:
    if not isinstance(value, str):
        raise place.wrong("a text", value)
    return value


def _texts(place: _Place, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise place.wrong("a list of texts", value)
    for entry in value:
        if not isinstance(entry, str):
            raise place.wrong("a list of texts", entry)
    return tuple(value)


def _ignores(place: _Place, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise place.wrong('a table such as { "tests/*" = ["LK501"] }', value)
    return tuple(
        (pattern, _texts(_Place(place.file, f"{place.key}.{pattern}"), codes)) for pattern, codes in value.items()
    )


def _tables(place: _Place, value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise place.wrong(f"tables, written [[{_prefix(place)}{place.key}]]", value)
    seen: set[str] = set()
    for number, entry in enumerate(value, 1):
        identifier = entry.get("id")
        where = f"{place.key} {number}"
        if identifier is None:
            raise LeakcheckError("a table without an id", file=shown(place.file), place=where, expected="the key 'id'")
        if not isinstance(identifier, str) or not identifier:
            raise LeakcheckError(
                "wrong type of value", file=shown(place.file), place=f"{where}, key 'id'", expected="a text",
                found=_kind(identifier),
            )  # fmt: skip
        if identifier in seen:
            raise LeakcheckError(f"the id {identifier!r} is given twice", file=shown(place.file), place=where)
        seen.add(identifier)
    return tuple(value)


def _prefix(place: _Place) -> str:
    return "tool.leakcheck." if place.file.name == "pyproject.toml" else ""


KEYS: dict[str, Callable[[_Place, Any], Any]] = {
    "select": _texts,
    "extend-select": _texts,
    "ignore": _texts,
    "per-file-ignores": _ignores,
    "exclude": _texts,
    "extend-exclude": _texts,
    "respect-gitignore": _truth,
    "src": _texts,
    "apis": _texts,
    "rules": _texts,
    "require-reason": _truth,
    "baseline": _text,
    "exploratory": _texts,
    "datasets": _tables,
    "claims": _tables,
}


def _kind(value: object) -> str:
    """What a TOML value is, in words."""
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else f"a {type(value).__name__}"
