"""Lists, tuples, dictionaries and constants: items, iteration, unpacking and methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import Score
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import arguments, hashable, no_args, node_at, scores_of
from leakcheck.flow.rows import CutKind, Site
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Choice,
    Const,
    Data,
    DictObject,
    Instance,
    Items,
    LibObject,
    ListObject,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args


class Containers(Operations):
    """Lists, tuples, dictionaries and constants."""

    def iterate(self, value: Value, site: Site) -> tuple[list[Value] | None, Value, str]:
        """What a loop over a value meets: the items where they are known, else any item; and what it repeats over."""
        held = self.heap.load(value)
        if isinstance(held, Items):
            return list(held.items), self.heap.join_all(list(held.items)) or UNKNOWN, "configurations"
        if isinstance(held, ListObject):
            if held.items is not None:
                return list(held.items), self.heap.join_all(list(held.items)) or UNKNOWN, "configurations"
            return None, held.any if held.any is not None else UNKNOWN, "items"
        if isinstance(held, DictObject):
            if held.any is None and held.items:
                return [Const(k) for k in held.items], UNKNOWN, "configurations"
            return None, Data(kind="scalar", number=self.heap.fresh()), "configurations"
        if isinstance(held, Const):
            if isinstance(held.value, str | bytes):
                return None, Data(kind="scalar", number=self.heap.fresh()), "items"
            return None, UNKNOWN, "items"
        if isinstance(held, Instance):
            for name in ("__iter__", "__next__"):
                got = self.i.call_method(value, name, no_args(), site)
                if got is not None:
                    return self.iterate(got, site) if name == "__iter__" and got != value else (None, got, "items")
            got = self.i.call_method(value, "__getitem__", arguments(UNKNOWN), site)
            return None, got if got is not None else UNKNOWN, "items"
        if isinstance(held, Choice):
            parts = [self.iterate(option, site) for option in held.options]
            return None, self.heap.join_all([p[1] for p in parts]), parts[0][2]
        if isinstance(held, LibObject):
            return self.i.objects.iterate(value, held, site)
        if isinstance(held, Data):
            if "folds" in held.flags and held.each:
                return None, held.each[0], "folds"
            return None, self.element(value), "items" if "range" not in held.flags else "configurations"
        return None, UNKNOWN, "items"

    def element(self, value: Value) -> Value:
        """Any item of a value."""
        held = self.heap.load(value)
        if isinstance(held, Items):
            return self.heap.join_all(list(held.items)) or UNKNOWN
        if isinstance(held, ListObject):
            return self.heap.join_all([*(held.items or ()), *([held.any] if held.any is not None else [])]) or UNKNOWN
        if isinstance(held, DictObject):
            return UNKNOWN
        if isinstance(held, Data):
            if held.kind == "groupby":
                inner = self.heap.data(held.each[0]) if held.each else UNKNOWN
                if inner.rows:
                    cut = self.i.data.cut(
                        ("group", held.number), CutKind.MASK, self.i.data.any_site(inner), explicit=False
                    )
                    self.i.data.groups.add(cut)
                    inner = self.i.data.narrowed(inner, cut, "one group")
                    inner = inner.but(number=self.heap.fresh(), flags=inner.flags | {"group"})
                return Items((Data(kind="scalar", number=self.heap.fresh()), inner))
            if held.each and "rowwise" in held.flags:
                return held.each[0]
            if held.kind in ("frame", "part") or (held.kind == "columns" and not held.marks):
                return Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"column"}))
            near = next((d for d in map(self.heap.data, held.each) if d.kind == "index-item" and d.keys), None)
            if "range" in held.flags and near is not None:
                return near.but(number=self.heap.fresh(), flags=near.flags | {"near"})
            if not held.rows:
                item = held.but(number=self.heap.fresh(), each=(), mask=(), flags=held.flags - {"range"})
                if "range" in held.flags:
                    self.i.series.counter(item, held.each)
                return item
            kind = "index-item" if held.kind == "index" else "row"
            flags = held.flags
            if "turned round" in flags:  # an item of a transposed table is one of its columns
                flags = flags - {"turned round"} | {"some column"}
            return held.but(kind=kind, number=self.heap.fresh(), columns=None, each=(), mask=(), flags=flags)
        if isinstance(held, LibObject):
            return self.i.objects.iterate(value, held, held.site)[1]
        if isinstance(held, Choice):
            return self.heap.join_all([self.element(option) for option in held.options])  # type: ignore[no-any-return]
        return UNKNOWN

    def length(self, value: Value) -> int | None:
        held = self.heap.load(value)
        if isinstance(held, Data) and "range" in held.flags and held.each:
            bounds = [self.heap.load(v) for v in held.each]
            if all(isinstance(b, Const) and isinstance(b.value, int) for b in bounds):
                return len(range(*[b.value for b in bounds]))
        if isinstance(held, DictObject) and held.any is None:
            return len(held.items)
        if isinstance(held, ListObject | Items) and held.items is not None:
            return len(held.items)
        return None

    def unpack(self, value: Value, count: int | None) -> list[Value] | None:
        held = self.heap.load(value)
        if isinstance(held, Items):
            return list(held.items)
        if isinstance(held, ListObject):
            return list(held.items) if held.items is not None else None
        if isinstance(held, DictObject) and held.any is None:
            return [Const(key) for key in held.items]
        if isinstance(held, Choice):
            several = [self.unpack(option, count) for option in held.options]
            known = [parts for parts in several if parts is not None and (count is None or len(parts) == count)]
            complete = count is not None or len(known) == len(several)
            if known and complete and len({len(parts) for parts in known}) == 1:
                return [self.heap.join_all(list(parts)) for parts in zip(*known, strict=True)]
        if isinstance(held, Data) and count is not None:
            if len(held.each) == count:
                return list(held.each)
            if "call" in held.flags:
                # What an unknown function returns together: each part as a whole, not an item.
                return [held.but(number=self.heap.number("part", held.number, n), each=()) for n in range(count)]
        return None

    def item_of_sequence(self, base: Value, held: Items | ListObject, index: s.Expr) -> Value:
        if isinstance(index, s.Slice):
            if held.items is not None:
                bounds = [self.i.subscripts.bound(part) for part in (index.lower, index.upper, index.step)]
                if all(
                    part is None or isinstance(b, int)
                    for part, b in zip((index.lower, index.upper, index.step), bounds, strict=True)
                ):
                    items = held.items[slice(*bounds)]
                    return Items(items) if isinstance(held, Items) else self.heap.new(ListObject(items))
            return self.rows_of(base, index)
        key = self.heap.load(self.i.eval(index))
        if isinstance(held, ListObject) and held.ranked and isinstance(key, Const) and key.value in (0, -1):
            self.i.choices.extremum(
                "last item" if key.value else "first item",
                [held.any if held.any is not None else base],
                self.i.site(index),
            )
        if isinstance(key, Const) and isinstance(key.value, int) and held.items is not None:
            if -len(held.items) <= key.value < len(held.items):
                return held.items[key.value]
            return UNKNOWN
        if isinstance(key, Data) and key.kind == "index":
            return self.i.subscripts.picked(self.heap.data(base), key)
        chosen = self.element(base)
        return self._chosen(chosen, key)

    def _chosen(self, item: Value, key: Any) -> Value:
        """An item picked by an index that scores decided carries those scores."""
        marks = frozenset(m for m in key.marks if isinstance(m, Score)) if isinstance(key, Data) else NO_MARKS
        held = self.heap.load(item)
        if marks and isinstance(held, Data):
            return held.but(marks=held.marks | marks)
        if isinstance(item, Data) and not item.rows:
            return item.but(number=self.heap.fresh())
        return item

    def rows_of(self, base: Value, index: s.Slice) -> Value:
        data = self.heap.data(base)
        return self.i.subscripts.sliced(data, index) if data.rows else data

    def item_of_dict(self, held: DictObject, key: Value, owner: Value | None = None) -> Value:
        known = self.heap.load(key)
        if isinstance(known, Const) and hashable(known.value):
            if known.value in held.items:
                return held.items[known.value]
            if held.any is not None:
                return held.any
            if held.default is None:
                return UNKNOWN
            made = self.heap.new(self._of_key(self.heap.load(held.default), known.value))
            if isinstance(owner, Ref):
                self.heap.set(owner.address, DictObject({**held.items, known.value: made}, held.any, held.default))
            return made
        options = [*held.items.values(), *([held.any] if held.any is not None else [])]
        if isinstance(known, Data) and known.rows and options:
            looked_up = self.heap.data(self.heap.join_all(options))
            if not looked_up.rows:
                return looked_up.but(rows=known.rows, kind="row", number=self.heap.fresh())
        return self._chosen(self.heap.join_all(options) or held.default or UNKNOWN, known)

    def _of_key(self, default: Any, key: object) -> Any:
        """What was put under keys that are not known, looked up by one of them: some of it."""
        if not isinstance(default, ListObject) or default.any is None:
            return default
        item = self.heap.data(default.any)
        return replace(default, any=self.i.data.some(item, ("key", key), self.i.statement_site()))

    def constant_method(self, held: Const, name: str, args: Args) -> Value:
        if isinstance(held.value, str):
            if name in ("lower", "upper", "strip", "title"):
                return Const(getattr(held.value, name)())
            if name == "split" and not args.pos:
                return Items(tuple(Const(part) for part in held.value.split()))
            if name == "join" and args.pos:
                return self.heap.data(args.pos[0]).but(number=self.heap.fresh())
        if name == "format":
            self.i.showing.meet(args.all(), self.i.statement_site())
        others = [self.heap.data(v) for v in args.all()]
        marks = NO_MARKS.union(*(d.marks for d in others)) if others else NO_MARKS
        return Data(kind="scalar", number=self.heap.fresh(), marks=scores_of(marks))

    def _with_noise(self, row: Data, other: Data) -> bool:
        """Whether a row goes into a list a second time, once with random numbers added to it."""
        if not row.rows or row.rows != other.rows:
            return False
        if "noise" in other.flags:
            return self.heap.made_from(other.number, row.number)
        # What joins several branches has a number of its own: there it may be the one or the other.
        return "noise" in row.flags and bool(self.heap.parts(row.number))

    def list_method(self, owner: Value, held: ListObject | Items, name: str, args: Args, site: Site) -> Value:
        if (
            name in ("append", "add", "insert", "appendleft")
            and args.pos
            and isinstance(owner, Ref)
            and isinstance(held, ListObject)
        ):
            value = args.pos[-1]
            if self.i.control and isinstance(self.heap.load(value), Data | Const):
                kept = self.heap.data(value)
                value = kept.but(marks=kept.marks | self.i.control)
            if site.bare() in self.i.repeated_appends and self.heap.data(value).rows:
                item = self.heap.data(value)
                value = self.i.data.marked(item, frozenset({self.i.data.draw("appending copies", item, site)}))
            elif held.any is not None and self._with_noise(self.heap.data(held.any), self.heap.data(value)):
                item = self.heap.data(value)
                value = self.i.data.marked(item, frozenset({self.i.data.draw("augmentation", item.but(name=""), site)}))
            if self.i.arms and self.i.loops and isinstance(self.heap.load(value), Data):
                value = self.i.data.some(self.heap.data(value), self.i.arms[-1], site)
            exact = all(loop.turn is not None for loop in self.i.loops)
            if held.items is not None and exact and len(held.items) < 64:
                self.heap.set(owner.address, ListObject((*held.items, value)))
                self.i.showing.meet((*held.items, value), site)
            else:
                parts = [*(held.items or ()), *([held.any] if held.any is not None else []), value]
                self.heap.set(owner.address, ListObject(None, self.heap.join_all(parts)))
            return NONE
        if name in ("extend", "update") and args.pos and isinstance(owner, Ref) and isinstance(held, ListObject):
            self.heap.set(owner.address, self.i._extended(held, args.pos[0]))
            return NONE
        if name == "remove" and isinstance(held, ListObject) and isinstance(owner, Ref):
            chosen = self.heap.data(args.pos[0] if args.pos else None)
            if chosen.marks:
                self.heap.set(owner.address, ListObject(None, self.heap.join_data(self.heap.data(owner), chosen)))
                return NONE
        if name == "remove" and isinstance(held, ListObject) and held.items is not None and isinstance(owner, Ref):
            gone = self.heap.load(args.pos[0]) if args.pos else None
            self.heap.set(owner.address, ListObject(tuple(i for i in held.items if self.heap.load(i) != gone)))
            return NONE
        if name == "copy":
            return self.heap.new(held) if isinstance(held, ListObject) else held
        if name in ("pop", "popleft"):
            if held.items and isinstance(owner, Ref) and not args.pos:
                self.heap.set(owner.address, ListObject(held.items[:-1]))
                return held.items[-1]
            return self.element(owner)
        if name in ("sort", "reverse", "index", "count", "clear"):
            return (
                NONE
                if name in ("sort", "reverse", "clear")
                else Data(kind="scalar", number=self.heap.fresh(), marks=scores_of(self.heap.data(owner).marks))
            )
        if name in ("_replace",) and isinstance(held, Items):
            return Items(
                tuple(args.kw.get(f, v) for f, v in zip(held.fields, held.items, strict=False)), held.fields, held.cls
            )
        if name == "_asdict" and isinstance(held, Items):
            return self.heap.new(DictObject(dict(zip(held.fields, held.items, strict=False))))
        return self.heap.data(owner).but(number=self.heap.fresh())

    def dict_method(self, owner: Value, held: DictObject, name: str, args: Args, site: Site) -> Value:
        if name == "items":
            if held.any is None:
                return Items(tuple(Items((Const(k), v)) for k, v in held.items.items()))
            joined = self.heap.join_all([*held.items.values(), held.any])
            return self.heap.new(ListObject(None, Items((Data(kind="scalar", number=self.heap.fresh()), joined))))
        if name == "values":
            if held.any is None:
                return self.heap.new(ListObject(tuple(held.items.values())))
            return self.heap.new(ListObject(None, self.heap.join_all([*held.items.values(), held.any])))
        if name == "keys":
            return self.heap.new(ListObject(tuple(Const(k) for k in held.items))) if held.any is None else UNKNOWN
        if name in ("get", "pop", "setdefault") and args.pos:
            found = self.item_of_dict(held, args.pos[0])
            if found is UNKNOWN and len(args.pos) > 1:
                found = args.pos[1]
                if name == "setdefault" and isinstance(owner, Ref):
                    key = self.heap.load(args.pos[0])
                    if isinstance(key, Const) and hashable(key.value):
                        self.heap.set(
                            owner.address, DictObject({**held.items, key.value: found}, held.any, held.default)
                        )
            return found
        if name == "update" and isinstance(owner, Ref):
            items = dict(held.items)
            rest = held.any
            for value in args.pos:
                other = self.heap.load(value)
                if isinstance(other, DictObject):
                    items.update(other.items)
                    rest = other.any if rest is None else rest
            items.update(args.kw)
            self.heap.set(owner.address, DictObject(items, rest, held.default))
            return NONE
        if name == "copy":
            return self.heap.new(DictObject(dict(held.items), held.any, held.default))
        if name == "train_test_split":
            return self.i.data.pass_through(args)
        if name in (
            "map",
            "filter",
            "remove_columns",
            "rename_column",
            "rename_columns",
            "with_format",
            "cast_column",
            "shuffle",
        ) and (held.items or held.any):
            # A dict of splits of a data set library: the method runs on each.
            return self.heap.new(
                DictObject(
                    {
                        k: self.i.call(self.i.get_attr(v, name, node_at(site)), args, site)
                        for k, v in held.items.items()
                    },
                    held.any,
                )
            )
        return UNKNOWN
