"""The library tables: what each public callable of a library does to rows (`rules/apis/*.toml`).

The built-in tables are read from a generated module, `compiled_tables`, so that a scan parses no TOML. After a change
to a table, write it anew with `python -m leakcheck.flow.tables`. The format is described in `docs/library-tables.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from leakcheck.errors import LeakcheckError

PARTS = frozenset(
    {
        # classes
        *("transformer", "resampler", "estimator", "pipeline", "union", "search", "splitter", "network", "optimizer"),
        *("loss", "dataset", "loader", "sampler", "callback", "metric", "object"),
        # functions
        *("load", "make", "split", "random-split", "learn", "statistic", "select", "train", "fold-score"),
        *("fold-predict", "score", "row-wise", "filter", "reorder", "draw", "combine", "extremum", "seed"),
        *("structural", "constant", "silent"),
    }
)
LEARNS = frozenset(
    {
        *("scaling", "imputation", "projection", "binning", "encoding", "outliers", "clustering", "embedding"),
        *("vocabulary", "categories", "target-encoding", "selection", "resampling", "augmentation", "calibration"),
        "nothing",
    }
)
RECEIVERS = ("frame", "array", "tensor", "dataset", "groupby", "rolling")
"""Kinds of data values that have methods, the likelier first."""

_PLURAL = frozenset({"params", "fit", "apply", "fit_apply", "wraps", "held_out", "draws", "seeds"})
_FLAGS = frozenset({"supervised", "stops", "baseline", "classical", "relative"})
_PREDICT = ("predict", "predict_proba", "predict_log_proba", "decision_function")

# What an entry need not say, by part.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "transformer": {
        "fit": ("fit", "partial_fit"),
        "apply": ("transform", "inverse_transform", *_PREDICT, "score_samples"),
        "fit_apply": ("fit_transform", "fit_predict"),
    },
    "estimator": {
        "fit": ("fit", "partial_fit"),
        "apply": (*_PREDICT, "transform", "apply", "kneighbors", "staged_predict", "staged_predict_proba"),
        "fit_apply": ("fit_predict", "fit_transform"),
    },
    "resampler": {"fit": ("fit",), "fit_apply": ("fit_resample", "fit_sample")},
    "pipeline": {
        "fit": ("fit", "partial_fit"),
        "apply": ("transform", "inverse_transform", *_PREDICT, "score_samples"),
        "fit_apply": ("fit_transform", "fit_predict", "fit_resample", "fit_sample"),
    },
    "union": {"fit": ("fit", "partial_fit"), "apply": ("transform",), "fit_apply": ("fit_transform",)},
    "search": {"fit": ("fit",), "apply": (*_PREDICT, "transform", "inverse_transform", "score_samples")},
    "splitter": {"apply": ("split",)},
    "network": {
        "fit": ("fit", "fit_generator", "train_on_batch"),
        "apply": ("predict", "predict_on_batch", "predict_generator", "predict_classes", "predict_proba"),
    },
    "score": {"x": "y_pred", "y": "y_true"},
}  # fmt: skip


class Api(NamedTuple):
    """What one callable does to rows; the fields are those of `docs/library-tables.md`."""

    name: str
    part: str
    learns: str = ""
    supervised: bool = False
    params: tuple[str, ...] = ()
    x: str = "X"
    y: str = "y"
    fit: tuple[str, ...] = ()
    apply: tuple[str, ...] = ()
    fit_apply: tuple[str, ...] = ()
    learns_from: str = ""
    wraps: tuple[str, ...] = ()
    returns: str = ""
    held_out: tuple[str, ...] = ()
    stops: bool = False
    kind: str = ""
    split_param: str = ""
    baseline: bool = False
    direction: str = ""
    seed: str = ""
    groups: str = ""
    draws: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    classical: bool = False
    relative: bool = False


Facts: TypeAlias = tuple[tuple[str, Any], ...]
"""The fields that an entry states, in the order of `Api`."""


class _Content(NamedTuple):
    """The tables, merged. `names` and `methods` hold positions in `facts`, most of which many entries share."""

    facts: tuple[Facts, ...]
    names: Mapping[str, int]
    methods: Mapping[str, Mapping[str, int]]
    aliases: Mapping[str, str]  # prefix -> the prefix under which the tables know it
    libraries: frozenset[str]
    modules: frozenset[str]
    generators: Mapping[str, str]  # import name -> the global random generator that it draws from


class Tables:
    """Answers what a name stands for."""

    def __init__(self, content: _Content) -> None:
        self._content = content
        self._found: dict[str, Api | None] = {}
        self._methods: dict[tuple[str, str], Api | None] = {}
        self._short: dict[str, dict[str, str]] = {}
        self._stars: dict[str, Mapping[str, str]] = {}

    @property
    def libraries(self) -> frozenset[str]:
        """Import names (first components) that make a file worth parsing."""
        return self._content.libraries

    def generator(self, qualname: str) -> str:
        """The global random generator that a library draws from where it is given no seed; "" where none is known."""
        return self._content.generators.get(qualname.partition(".")[0], "")

    def lookup(self, qualname: str) -> Api | None:
        """Find a callable by its dotted name.

        Old and private homes are understood: a name that stands nowhere in the tables is taken for the public name of
        the same library that ends alike, if there is exactly one (`sklearn.preprocessing.data.StandardScaler`).
        """
        if qualname not in self._found:
            self._found[qualname] = self._lookup(qualname)
        return self._found[qualname]

    def _lookup(self, qualname: str) -> Api | None:
        names = self._content.names
        name = qualname if qualname in names else self._canonical(qualname)
        if name not in names:
            path = name.split(".")
            short = self._short_names(path[0]) if len(path) > 1 else {}
            name = short.get(".".join(path[-2:])) or short.get(path[-1], "")
            if not name:
                return None
        return _api(name, self._content.facts[names[name]])

    def star(self, module: str) -> Mapping[str, str]:
        """What `from module import *` binds, as far as the tables know: name -> dotted name."""
        if module not in self._stars:
            self._stars[module] = dict(self._star(self._canonical(module) + ".", module + "."))
        return self._stars[module]

    def _star(self, *prefixes: str) -> Iterator[tuple[str, str]]:
        content = self._content
        for prefix in prefixes:
            for name in (*content.modules, *content.aliases, *content.names):
                if name.startswith(prefix) and "." not in name[len(prefix) :]:
                    yield name[len(prefix) :], self._canonical(name)

    def method(self, kind: str, name: str) -> Api | None:
        """Find a method (or attribute) of a data value of one of the kinds `RECEIVERS`."""
        key = (kind, name)
        if key not in self._methods:
            index = self._content.methods.get(kind, {}).get(name)
            self._methods[key] = None if index is None else _api(f"{kind}.{name}", self._content.facts[index])
        return self._methods[key]

    def any_method(self, name: str) -> Api | None:
        """Find a method of a data value of unknown kind; where kinds differ, the likelier kind is taken."""
        return next((api for kind in RECEIVERS if (api := self.method(kind, name)) is not None), None)

    def submodule(self, qualname: str) -> bool:
        """Whether a dotted name is a module that the tables know something in."""
        return qualname in self._content.modules or self._canonical(qualname) in self._content.modules

    def _canonical(self, name: str) -> str:
        """Put the tables' own prefix in place of another home of it."""
        aliases = self._content.aliases
        for _ in aliases:  # an alias may lead to another; a circle ends
            head = name
            while head and head not in aliases:
                head = head.rpartition(".")[0]
            if not head:
                break
            name = aliases[head] + name[len(head) :]
        return name

    def _short_names(self, library: str) -> dict[str, str]:
        """Last components (class and member for members) that only one name of the library has."""
        if library not in self._short:
            names = self._content.names
            seen: dict[str, str] = {}
            for name in names:
                if name.startswith(library + "."):
                    owner, _, last = name.rpartition(".")
                    key = f"{owner.rpartition('.')[2]}.{last}" if owner in names else last
                    # Homes that say the same are one name.
                    same = key not in seen or (seen[key] and names[seen[key]] == names[name])
                    seen[key] = (seen.get(key) or name) if same else ""
            self._short[library] = {key: name for key, name in seen.items() if name}
        return self._short[library]


def load(extra: Sequence[Path] = ()) -> Tables:
    """Load the built-in tables and those of the project.

    Parameters
    ----------
    extra : sequence of Path
        TOML files of the project; what they say goes before the built-in tables.

    Raises
    ------
    LeakcheckError
        A file can't be read, or says something that a table can't say.
    """
    from leakcheck.flow import compiled_tables as built_in

    content = _Content(
        built_in.FACTS,
        built_in.NAMES,
        built_in.METHODS,
        built_in.ALIASES,
        built_in.LIBRARIES,
        built_in.MODULES,
        built_in.GENERATORS,
    )
    return Tables(_merge(content, [_read(file) for file in extra]) if extra else content)


def _api(name: str, facts: Facts) -> Api:
    stated = dict(facts)
    return Api(name=name, **{**_DEFAULTS.get(stated["part"], {}), **stated})


# --- reading TOML ----------------------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """One TOML file, checked."""

    libraries: tuple[str, ...]
    callables: dict[str, Facts]
    methods: dict[str, dict[str, Facts]]
    aliases: dict[str, str]
    generators: dict[str, str]


def _read(file: Path) -> _Table:
    import tomllib

    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise LeakcheckError(f"can't read the library table: {error.strerror}", file=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LeakcheckError("this is not TOML", file=str(file), expected="TOML in UTF-8", found=str(error)) from None
    check = _Check(str(file))
    check.keys("the table", raw, {"library", "callables", "methods", "aliases", "generators"})
    callables = check.mapping("callables", raw.get("callables", {}))
    methods = check.mapping("methods", raw.get("methods", {}))
    check.keys("methods", methods, set(RECEIVERS))
    aliases = {
        other: home
        for home, others in check.mapping("aliases", raw.get("aliases", {})).items()
        for other in check.strings(f'aliases."{home}"', others)
    }
    return _Table(
        check.strings("library", raw.get("library", [])),
        {name: check.entry(f'callables."{name}"', entry) for name, entry in callables.items()},
        {
            kind: {
                name: check.entry(f'methods.{kind}."{name}"', entry) for name, entry in check.mapping(kind, of).items()
            }
            for kind, of in methods.items()
        },
        aliases,
        {
            name: check.string(f'generators."{name}"', generator)
            for name, generator in check.mapping("generators", raw.get("generators", {})).items()
        },
    )


class _Check:
    """Refuses what a table can't say, and names the file and the key."""

    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, key: str, message: str, expected: str, found: object) -> LeakcheckError:
        return LeakcheckError(message, file=self.file, place=key, expected=expected, found=repr(found))

    def keys(self, key: str, value: Mapping[str, Any], known: Iterable[str]) -> None:
        for name in value:
            if name not in known:
                raise self.fail(key, "unknown key", _one_of(known), name)

    def mapping(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.fail(key, "not a table", "a table", value)
        return value

    def strings(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fail(key, "not a list of strings", "a list of strings", value)
        return tuple(value)

    def string(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.fail(key, "not a string", "a string", value)
        return value

    def entry(self, key: str, value: Any) -> Facts:
        entry = self.mapping(key, value)
        for field, item in entry.items():
            place = f"{key}.{field}"
            if field not in Api._fields or field == "name":
                raise self.fail(key, "unknown field", _one_of(set(Api._fields) - {"name"}), field)
            if field in _PLURAL:
                entry[field] = self.strings(place, item)
            elif field in _FLAGS:
                if not isinstance(item, bool):
                    raise self.fail(place, "not a truth value", "true or false", item)
            else:
                self.string(place, item)
        for field, known in (("part", PARTS), ("learns", LEARNS), ("direction", {"higher", "lower"})):
            if field in entry and entry[field] not in known:
                raise self.fail(f"{key}.{field}", f"unknown {field}", _one_of(known), entry[field])
        if "part" not in entry:
            raise self.fail(key, "an entry needs a part", _one_of(PARTS), entry)
        return tuple((field, entry[field]) for field in Api._fields if field in entry)


def _one_of(values: Iterable[str]) -> str:
    return "one of " + ", ".join(sorted(values))


# --- merging and compiling -------------------------------------------------------------------------------------------


def _merge(base: _Content, tables: Sequence[_Table]) -> _Content:
    """Put tables on top of what is known; later ones win."""
    facts = {fact: index for index, fact in enumerate(base.facts)}
    names = dict(base.names)
    methods = {kind: dict(base.methods.get(kind, {})) for kind in RECEIVERS}
    aliases = dict(base.aliases)
    libraries = set(base.libraries)
    generators = dict(base.generators)
    for table in tables:
        libraries.update(table.libraries)
        aliases.update(table.aliases)
        generators.update(table.generators)
        for name, entry in table.callables.items():
            names[name] = facts.setdefault(entry, len(facts))
        for kind, entries in table.methods.items():
            for name, entry in entries.items():
                methods[kind][name] = facts.setdefault(entry, len(facts))
    modules = {head for name in (*names, *aliases) for head in _heads(name) if head not in names}
    return _Content(tuple(facts), names, methods, aliases, frozenset(libraries), frozenset(modules), generators)


def _heads(name: str) -> Iterator[str]:
    head = name.rpartition(".")[0]
    while head:
        yield head
        head = head.rpartition(".")[0]


def table_files() -> list[Path]:
    """The built-in TOML files, by name."""
    from leakcheck.rules import folders

    return sorted(file for folder in folders() for file in (folder / "apis").glob("*.toml"))


def compiled() -> str:
    """The source of `compiled_tables` as the TOML files have it now."""
    content = _merge(_Content((), {}, {}, {}, frozenset(), frozenset(), {}), [_read(file) for file in table_files()])
    lines = ['"""Generated from rules/apis/*.toml by `python -m leakcheck.flow.tables`; do not edit."""', ""]
    lines += [
        "FACTS: tuple[tuple[tuple[str, object], ...], ...] = (",
        *(f"    {fact!r}," for fact in content.facts),
        ")",
        "",
    ]
    lines += [
        "NAMES: dict[str, int] = {",
        *(f"    {name!r}: {index}," for name, index in content.names.items()),
        "}",
        "",
    ]
    lines += ["METHODS: dict[str, dict[str, int]] = {"]
    for kind, entries in content.methods.items():
        lines += [f"    {kind!r}: {{", *(f"        {name!r}: {index}," for name, index in entries.items()), "    },"]
    lines += ["}", ""]
    for title, pairs in (("ALIASES", content.aliases), ("GENERATORS", content.generators)):
        lines += [f"{title}: dict[str, str] = {{", *(f"    {a!r}: {b!r}," for a, b in pairs.items()), "}", ""]
    for title, values in (("LIBRARIES", content.libraries), ("MODULES", content.modules)):
        lines += [f"{title}: frozenset[str] = frozenset((", *(f"    {value!r}," for value in sorted(values)), "))", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    target = Path(__file__).with_name("compiled_tables.py")
    target.write_text(compiled(), encoding="utf-8", newline="\n")
