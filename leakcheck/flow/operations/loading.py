"""Callables that bring rows in: files, loaders, data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leakcheck.flow.facts import UnknownKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import arguments, last_part, no_args, role_of_word, words_of
from leakcheck.flow.rows import Site, union
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Const,
    Data,
    DictObject,
    Function,
    Instance,
    Items,
    LibObject,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args


class Loading(Operations):
    """Callables that bring rows in."""

    def p_load(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        first = args.pos[0] if args.pos else next(iter(values.values()), NONE)
        path = self.heap.load(first)
        saved = self.i.callables.saved.get(str(path.value)) if isinstance(path, Const) else None
        if saved is not None:
            return saved
        given = self.heap.data(first)
        if given.rows:
            # Read from a value that holds rows already (a buffer): the same rows.
            return given
        role, part = self.role_of_load(api, values, path)
        constant = isinstance(path, Const) and isinstance(path.value, str)
        repeated = any(loop.turn is None for loop in self.i.loops)
        several = repeated and not constant and bool(args.pos)
        key = self._same_data(api, args, first)
        loaded = self.loaded(
            api.returns or "frame", last_part(api.name), site, role, key, record=several, part=part, args=values
        )
        return self.i.series.loaded(loaded, api, values, site)

    def _same_data(self, api: Api, args: Args, first: Value) -> object:
        """What makes two loads the same data: a file's name; of a data set also its loader and its other names."""
        path = self.heap.load(first)
        constant = isinstance(path, Const) and isinstance(path.value, str)
        if api.returns in ("frame", "array", ""):
            if constant:
                return ("path", path.value)
            number = self.heap.data(first).number
            in_turns = bool(self.i.loops) and all(loop.turn is not None for loop in self.i.loops)
            return ("path of this turn", number) if number and in_turns else None
        if api.returns not in ("dataset", "dict") or self.i.loops:
            return None
        given = self.heap.data(first)
        if not constant and (not given.number or "call" in given.flags):
            return None
        return ("data set", api.name, *(self.heap.data(value).number for value in args.pos[:2]), given.number)

    def role_of_load(self, api: Api, values: dict[str, Value], path: Any) -> tuple[str, str]:
        if api.split_param and api.split_param in values:
            held = self.heap.load(values[api.split_param])
            if isinstance(held, Const):
                if isinstance(held.value, bool):
                    return ("train" if held.value else "test"), str(held.value)
                word = str(held.value)
                return next((role_of_word(p) for p in words_of(word) if role_of_word(p)), ""), word
        if api.kind == "split-argument" and api.split_param == "train":
            return "train", "True"
        if isinstance(path, Const) and isinstance(path.value, str):
            name = path.value.replace("\\", "/").rsplit("/", 1)[-1]
            roles = {role_of_word(w) for w in words_of(name)} - {""}
            return (roles.pop() if len(roles) == 1 else ""), ""
        return "", ""

    def loaded(
        self,
        returns: str,
        what: str,
        site: Site,
        role: str,
        key: object,
        *,
        record: bool = False,
        part: str = "",
        args: dict[str, Value] | None = None,
        made: bool = False,
    ) -> Value:
        """A data set as a loader returns it."""
        where = Site("", None, (0, 0, 0, 0)) if key is not None else site
        if key is not None:
            where = site.bare()
            first = self.i.loop_of.get(("load", key))
            where = first if isinstance(first, Site) else where
            self.i.loop_of[("load", key)] = where  # type: ignore[assignment]

        def rows(kind: str, role: str, suffix: str = "") -> Data:
            source = "made" if made else "loader"
            data = self.i.new_rows(what + suffix, where, source, kind, role=role, key=(key, part, suffix))
            return data.but(flags=data.flags | {"record"}) if record else data

        if returns == "xy":
            return self._xy(rows("array", role))
        if returns == "bunch":
            if args and self.i.library.is_true(args.get("return_X_y")):
                return self._xy(rows("array", role))
            return rows("bunch", role)
        if returns == "train-test":
            return Items((self._xy(rows("array", "train", " train")), self._xy(rows("array", "test", " test"))))
        if returns == "train-test-frames":
            return Items((rows("frame", "train", " train"), rows("frame", "test", " test")))
        if returns == "dict":
            if part:
                return rows("dataset", role)
            splits = {
                n: rows("dataset", r, " " + n)
                for n, r in (("train", "train"), ("validation", "validation"), ("test", "test"))
            }
            return self.heap.new(DictObject(dict(splits)))
        if returns == "object":
            self.i.note_unknown(UnknownKind.VALUE, f"what {what} returns", site)
            return UNKNOWN
        return rows(returns if returns in ("frame", "array", "dataset") else "unknown", role)

    def _xy(self, data: Data) -> Items:
        y = data.but(
            kind="series", sources=frozenset({(data.number, "target")}), number=self.heap.number("y", data.number)
        )
        return Items((data.but(columns=None, sources=frozenset({(data.number, "data")})), y))

    def p_make(self, api: Api, args: Args, site: Site) -> Value:
        return self.loaded(api.returns or "xy", last_part(api.name), site, "", None, made=True)

    def p_dataset(self, api: Api, args: Args, site: Site) -> Value:
        """Arrays wrapped as a data set: the rows of what it is given."""
        if (api.returns or api.split_param) and not any(self.heap.data(v).rows for v in args.all()):
            return self.p_load(api, args, site)
        values = self.i.library.named(api, args)
        data = [self.content(v) for v in args.all()]
        data = [d for d in data if d.rows]
        if not data:
            role = next((r for r in (role_of_word(w) for v in args.all() for w in self.i.library.words_of(v)) if r), "")
            return self.i.new_rows(last_part(api.name), site, "loader", "dataset", role=role)
        x = self.heap.data(values.get(api.x)) if api.x in values else data[0]
        x = x if x.rows else data[0]
        marks = NO_MARKS.union(*(d.marks for d in data))
        y = values.get(api.y)
        return x.but(
            kind="dataset",
            marks=marks,
            each=(x, y) if y is not None else (),
            number=self.heap.fresh(),
            mask=(),
            flags=x.flags | ({"window"} if api.kind == "window" else frozenset()),
        )

    def from_module(self, values: list[Value], name: str, site: Site) -> Data:
        """The rows of a Lightning data module (or model) among the values, by its method `name`."""
        for value in values:
            held = self.heap.load(value)
            if not isinstance(held, Instance) or not isinstance(self.i.class_attr(held.cls, name), Function):
                continue
            if isinstance(self.i.class_attr(held.cls, "setup"), Function):
                self.i.call_method(value, "setup", arguments(NONE), site)
            loader = self.i.call_method(value, name, no_args(), site)
            return self.content(loader) if loader is not None else UNKNOWN
        return UNKNOWN

    def content(self, value: Value, depth: int = 0) -> Data:
        """The rows that a value holds, also those in the attributes of a project's data set object."""
        held = self.heap.load(value)
        if isinstance(held, Instance):
            parts = [self.content(v, depth + 1) for v in held.attrs.values()] if depth < 3 else []
            parts = [p for p in parts if p.rows]
            if parts:
                marks = NO_MARKS.union(*(p.marks for p in parts))
                return Data(
                    rows=union(*(p.rows for p in parts)),
                    marks=marks,
                    kind="dataset",
                    number=self.heap.number("content", *(p.number for p in parts)),
                    name=parts[0].name,
                )
            if depth == 0 and held.site is not None:
                role = next(
                    (
                        role_of_word(w)
                        for v in held.attrs.values()
                        for w in self.i.library.words_of(v)
                        if role_of_word(w)
                    ),
                    "",
                )
                return self.i.new_rows(held.cls.name, held.site, "loader", "dataset", role=role)
            return UNKNOWN
        if isinstance(held, LibObject):
            parts = [self.content(v, depth + 1) for v in held.args.values()] if depth < 3 else []
            parts = [p for p in parts if p.rows]
            if parts:
                return parts[0].but(
                    marks=NO_MARKS.union(*(p.marks for p in parts)), rows=union(*(p.rows for p in parts))
                )
            return UNKNOWN
        return self.heap.data(value)

    def p_loader(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        first = (
            args.pos[0] if args.pos else values.get(api.x) or values.get("dataset") or next(iter(values.values()), NONE)
        )
        data = self.content(first)
        sampler = values.get("sampler")
        if sampler is not None:
            picker = self.content(sampler)
            if picker.rows or picker.keys is not None:
                data = self.i.subscripts.picked(data, picker.but(kind="index"))
        return data.but(kind="loader", number=self.heap.fresh(), each=(), columns=None)

    def p_sampler(self, api: Api, args: Args, site: Site) -> Value:
        return self.heap.data(args.pos[0]) if args.pos else UNKNOWN
