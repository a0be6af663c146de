"""Python's builtins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import Learn, Score
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import arguments, node_at, selecting
from leakcheck.flow.rows import Rows, Site
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    NONE,
    UNKNOWN,
    Const,
    Data,
    DictObject,
    Function,
    Items,
    ListObject,
    Method,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

_FILE = Api("builtins.open", "load")


class Builtins(Operations):
    """Python's builtins."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.counted: dict[int, Rows] = {}  # the rows whose number a length is

    def builtin(self, name: str, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else None
        if name == "len":
            data = self.heap.data(first)
            length = (
                self.i.containers.length(first)
                if first is not None and not isinstance(self.heap.load(first), Data)
                else None
            )
            if length is not None:
                return Const(length)
            number = self.heap.number("len", data.number)
            self.counted[number] = data.rows
            return Data(kind="scalar", number=number)
        if name == "range":
            flags = frozenset({"range", "varies", "item", *(["spaced"] if len(args.pos) > 2 else [])})
            if any(self.counted.get(self.heap.data(v).number) for v in args.pos):
                flags |= {"by row"}
            numbers = [self.heap.data(v).number for v in args.pos]
            return Data(kind="index", number=self.heap.number("range", *numbers), flags=flags, each=tuple(args.pos))
        if name in ("max", "min"):
            best = self.i.choices.extremum(name, self._compared(args), site)
            if "key" in args.kw and len(args.pos) == 1:
                picked = self.i.containers.element(args.pos[0])
                if not isinstance(self.heap.load(picked), Data | Const):
                    return picked  # one of the models, not its score
            return best
        if name == "sorted":
            return self._sorted(args, site)
        if name in ("list", "tuple", "set", "frozenset", "iter", "reversed"):
            return self._sequence(name, first)
        if name == "dict":
            held = self.heap.load(first) if first is not None else None
            if isinstance(held, Data) and held.kind in ("series", "table"):
                return held.but(kind="table")
            entries: dict[Any, Value] = dict(held.items) if isinstance(held, DictObject) else {}
            if isinstance(held, Items | ListObject) and held.items is not None:
                for pair in held.items:
                    parts = self.i.containers.unpack(pair, 2)
                    key = self.heap.load(parts[0]) if parts else None
                    if parts and isinstance(key, Const):
                        entries[key.value] = parts[1]
            return self.heap.new(DictObject({**entries, **args.kw}, held.any if isinstance(held, DictObject) else None))
        if name in ("zip", "enumerate"):
            return self._zipped(name, args, site)
        if name in ("map", "filter") and first is not None and len(args.pos) > 1:
            items, element, _ = self.i.containers.iterate(args.pos[1], site)
            if name == "filter":
                return args.pos[1]
            if items is not None and len(items) <= 12:
                return self.heap.new(ListObject(tuple(self.i.call(first, arguments(item), site) for item in items)))
            return self.heap.new(ListObject(None, self.i.call(first, arguments(element), site)))
        if name == "next" and first is not None:
            data = self.heap.load(first)
            if isinstance(data, Data) and "folds" in data.flags and data.each:
                return data.each[0]
            return self.i.containers.element(first)
        if name == "sum" and first is not None:
            data = self.heap.data(first)
            return Data(
                kind="scalar",
                number=self.heap.number("sum", data.number),
                marks=frozenset(m for m in data.marks if not isinstance(m, Learn)),
            )
        if (
            name in ("float", "int", "round", "abs", "str", "repr", "format", "bool", "pow", "divmod")
            and first is not None
        ):
            held = self.heap.load(first)
            if isinstance(held, Const):
                if name == "int" and isinstance(held.value, int | float) and abs(held.value) < 1e15:
                    return Const(int(held.value))
                return (
                    held
                    if name in ("float",)
                    else Data(kind="scalar", number=self.heap.number(name, self.heap.data(first).number))
                )
            data = self.heap.data(first)
            return data.but(number=self.heap.number(name, data.number), each=(), mask=())
        if name == "open" and first is not None:
            mode = self.heap.load(args.get(1, "mode") or NONE)
            if isinstance(mode, Const) and isinstance(mode.value, str) and "r" not in mode.value:
                return UNKNOWN
            path = self.heap.load(first)
            role, _ = self.i.loading.role_of_load(_FILE, {}, path)
            key = ("path", path.value) if isinstance(path, Const) and isinstance(path.value, str) else None
            return self.i.loading.loaded("unknown", "open", site, role, key, record=bool(self.i.loops) and key is None)
        if name == "getattr" and len(args.pos) >= 2:
            key = self.heap.load(args.pos[1])
            return (
                self.i.get_attr(args.pos[0], key.value, node_at(site))
                if isinstance(key, Const) and isinstance(key.value, str)
                else UNKNOWN
            )
        if name == "setattr" and len(args.pos) >= 3:
            key = self.heap.load(args.pos[1])
            if isinstance(key, Const) and isinstance(key.value, str):
                self.i.set_attr(args.pos[0], key.value, self.i.boxed(args.pos[2], key.value))
            return NONE
        if name == "print":
            self.i.showing.printed(args.pos, site)
        if name in (
            "isinstance",
            "issubclass",
            "hasattr",
            "callable",
            "id",
            "hash",
            "type",
            "input",
            "print",
            "display",
            "vars",
            "locals",
            "any",
            "all",
        ):
            return NONE if name in ("print", "display") else Data(kind="scalar", number=self.heap.fresh())
        return UNKNOWN

    def _compared(self, args: Args) -> list[Value]:
        values = list(args.pos)
        key = args.kw.get("key")
        if key is not None and len(values) == 1:
            # max(scores, key=scores.get): what the key gives is compared.
            if isinstance(key, Method):
                values.append(self.heap.data(key.owner))
            elif isinstance(key, Function):
                element = self.i.containers.element(values[0])
                values.append(self.i.call(key, arguments(element), Site(self.i.unit.path, self.i.cell, (1, 1, 1, 1))))
        return values

    def _sorted(self, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else NONE
        held = self.heap.load(first)
        if isinstance(held, DictObject) or (isinstance(held, Data) and held.kind == "columns"):
            # Names in the order of what a test of each says.
            decided = selecting(m for by in self._compared(args)[1:] for m in self.heap.data(by).marks)
            if decided:
                return Data(kind="columns", marks=decided, number=self.heap.fresh())
        if isinstance(held, ListObject | Items):
            element = self.i.containers.element(first)
            scored = any(isinstance(m, Score) for m in self.heap.data(element).marks)
            if scored and held.items is not None and len(held.items) > 1:
                element = self.heap.join_all(list(held.items))
            return self.heap.new(ListObject(None, element, ranked=scored))
        return first

    def _sequence(self, name: str, first: Value | None) -> Value:
        if first is None:
            return self.heap.new(ListObject(())) if name in ("list", "set") else Items(())
        held = self.heap.load(first)
        if isinstance(held, Items | ListObject):
            if held.items is not None:
                items = tuple(reversed(held.items)) if name == "reversed" else held.items
                return Items(items) if name == "tuple" else self.heap.new(ListObject(items))
            return first
        if isinstance(held, DictObject):
            return self.heap.new(ListObject(tuple(Const(k) for k in held.items))) if held.any is None else UNKNOWN
        if isinstance(held, Data):
            if name in ("set", "frozenset") and held.kind == "series":
                return held.but(flags=held.flags | {"distinct"})
            if held.kind == "columns" and name == "list":
                return self.heap.new(held)
            if held.kind == "frame" and name == "list":
                return self.i.get_attr(first, "columns", s.Node((1, 1, 1, 1)))
            return held.but(flags=held.flags - {"varies", "item"} if held.kind == "index" else held.flags)
        return first

    def _zipped(self, name: str, args: Args, site: Site) -> Value:
        over = [self.i.containers.iterate(value, site) for value in args.pos]
        if name == "enumerate":
            if over and over[0][0] is not None:
                return Items(tuple(Items((Const(n), item)) for n, item in enumerate(over[0][0])))
            counter = Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"varies", "item"}))
            pair = Items((counter, over[0][1] if over else UNKNOWN))
            folds = over and over[0][2] == "folds"
            return (
                Data(flags=frozenset({"folds"}), each=(pair,), number=self.heap.fresh())
                if folds
                else self.heap.new(ListObject(None, pair))
            )
        if over and all(items is not None for items, _, _ in over):
            return Items(
                tuple(
                    Items(tuple(row))
                    for row in zip(*(items for items, _, _ in over if items is not None), strict=False)
                )
            )
        known = [len(items) for items, _, _ in over if items is not None]
        pair = Items(tuple(element for _, element, _ in over))
        if any(what == "folds" for _, _, what in over):
            return Data(flags=frozenset({"folds"}), each=(pair,), number=self.heap.fresh())
        if known:
            least = min(known)
            rows = [[items[n] if items is not None else element for items, element, _ in over] for n in range(least)]
            return Items(tuple(Items(tuple(row)) for row in rows))
        return self.heap.new(ListObject(None, pair))
