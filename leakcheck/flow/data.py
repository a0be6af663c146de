"""What subscripts, attributes, operators and methods of frames, arrays and tensors do to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import Choose, Column, Draw, Learn, Mark, Predict, Score
from leakcheck.flow.rows import NO_ROWS, Cut, CutKind, Overlap, Rows, Site, apply_steps, narrow, overlap, union
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Choice,
    Columns,
    Const,
    Data,
    DictObject,
    Function,
    Instance,
    Items,
    Lib,
    LibObject,
    ListObject,
    Method,
    Partial,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

_ORDERINGS = frozenset({"<", ">", "<=", ">="})
_COMPARISONS = _ORDERINGS | {"==", "!="}
# Statistics that shape the data they are mixed into; counts and sums of missing values are not among them.
STATISTICS = frozenset(
    [
        "mean",
        "median",
        "std",
        "var",
        "quantile",
        "percentile",
        "min",
        "max",
        "mode",
        "ptp",
        "average",
        "nanmean",
        "nanmedian",
        "nanstd",
        "nanvar",
        "nanpercentile",
        "nanquantile",
        "nanmin",
        "nanmax",
        "amin",
        "amax",
        "skew",
        "kurt",
        "mad",
        "describe",
        "corr",
        "cov",
        "corrwith",
        "corrcoef",
    ]
)
_RELATIONS = frozenset({"corr", "cov", "corrwith", "corrcoef"})
_BOUNDS = frozenset(
    [
        "mean",
        "median",
        "std",
        "var",
        "quantile",
        "percentile",
        "nanpercentile",
        "nanquantile",
        "describe",
        "mad",
        "iqr",
        "zscore",
    ]
)
_EXTREMA = frozenset({"max", "min", "idxmax", "idxmin", "argmax", "argmin", "nlargest", "nsmallest"})
_GROUP_NOTHING = frozenset(
    [
        "count",
        "size",
        "cumcount",
        "nunique",
        "ngroup",
        "shift",
        "diff",
        "cumsum",
        "cumprod",
        "cummax",
        "cummin",
        "ffill",
        "bfill",
        "head",
        "tail",
        "first",
        "last",
        "nth",
        "rolling",
        "expanding",
        "ewm",
        "rank",
        "groups",
        "indices",
        "get_group",
        "pct_change",
    ]
)
_ROLE_WORDS = {
    "train": "train",
    "training": "train",
    "tr": "train",
    "trn": "train",
    "te": "test",
    "tst": "test",
    "unseen": "test",
    "heldout": "test",
    "va": "validation",
    "test": "test",
    "testing": "test",
    "holdout": "test",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "dev": "validation",
    "eval": "validation",
}


_LEARNER_METHODS = frozenset(
    ["fit", "fit_transform", "transform", "predict", "predict_proba", "decision_function", "score", "evaluate"]
)
_LIMITS = frozenset(
    [
        "ylim",
        "xlim",
        "set_ylim",
        "set_xlim",
        "set",
        "axis",
        "axhline",
        "axvline",
        "hlines",
        "vlines",
        "annotate",
        "text",
        "fill_between",
        "linspace",
        "arange",
        "max",
        "min",
        "yticks",
        "xticks",
        "set_yticks",
        "set_xticks",
        "scatter",
        "plot",
    ]
)
# Methods and functions that search settings with a function to be made small or large.
SEARCH_CALLS = frozenset(
    [
        "optimize",
        "fmin",
        "minimize",
        "maximize",
        "gp_minimize",
        "forest_minimize",
        "dummy_minimize",
        "differential_evolution",
    ]
)
# Words in the name of a function that brings data in.
_LOADING = frozenset(
    [
        "load",
        "loads",
        "read",
        "fetch",
        "get",
        "query",
        "import",
        "open",
        "data",
        "dataset",
        "datasets",
        "frame",
        "items",
        "generate",
    ]
)


def role_of_word(word: object) -> str:
    """The role that a split's name says: "test" is the test part."""
    if not isinstance(word, str):
        return ""
    word = word.lower()
    # `dtest`, `xtrain`, `yval`: what it is, written in front without a break.
    return _ROLE_WORDS.get(word) or (_ROLE_WORDS.get(word[1:], "") if word[:1] in "xyd" and len(word) > 3 else "")


@dataclass(slots=True, eq=False)
class Evaluated(s.Node):
    """An index whose value is known already."""

    value: Value


class DataOperations:
    """Row flow through data values; `i` is the interpreter whose heap and events are used."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.i = interpreter
        self.heap = interpreter.heap
        self._cuts: dict[object, Cut] = {}
        self._groups: set[Cut] = set()  # cuts into groups, each met in turn by a loop

    # --- cuts ----------------------------------------------------------------------------------------------------

    def cut(self, key: object, kind: CutKind, site: Site, **more: Any) -> Cut:
        """The cut with this identity: equal keys are the same cut."""
        known = self._cuts.get(key)
        if known is None:
            known = self._cuts[key] = Cut(kind, site, loops=self.loop_ids(), **more)
        return known

    def loop_ids(self) -> tuple[int, ...]:
        return tuple(id(loop) for loop in self.i.loops)

    def narrowed(self, data: Data, cut: Cut, part: object) -> Data:
        self.i.cuts_used.add((cut, part))
        number = self.heap.number("part", data.number, id(cut), part)
        keys = narrow(data.keys, cut, part) if data.keys is not None else None
        return data.but(rows=narrow(data.rows, cut, part), number=number, keys=keys, each=())

    # --- learning ------------------------------------------------------------------------------------------------

    def learn(
        self,
        what: str,
        category: str,
        data: Data,
        site: Site,
        *,
        supervised: bool = False,
        columns: frozenset[Column] | None = None,
        fitted: bool = False,
        cut: Cut | None = None,
        by_name: bool = False,
    ) -> Learn:
        columns = self.columns_of(data) if columns is None else columns
        inherited = frozenset(m for m in data.marks if isinstance(m, Learn))
        key = (site, what, category, data.rows, supervised, columns, inherited, cut)
        event = Learn(
            what,
            category,
            data.rows,
            site,
            supervised,
            columns,
            fitted,
            self.i.loops,
            self.called(data),
            inherited,
            by_name,
            cut,
        )
        return self.i.emit(key, event)  # type: ignore[no-any-return]

    def columns_of(self, data: Data) -> frozenset[Column]:
        if data.columns is None:
            if data.sources or data.kind not in ("frame", "part", "unknown"):
                return data.sources
            return frozenset({(self.heap.number("frame", data.number), "*")})
        found = set(data.sources)
        for name, column in data.columns.named.items():
            found |= column.sources or {(data.columns.frame, name)}
        if data.columns.open:
            found.add((data.columns.frame, "*"))
            found |= {(data.columns.frame, f"-{name}") for name in data.columns.dropped}
        return frozenset(found)

    def called(self, data: Data) -> str:
        """How the code names these rows."""
        if data.name:
            return data.name
        names = self.i.names.get(data.rows)
        if names:
            return min(names, key=len)
        for root, _ in data.rows:
            return self.i.root_names.get(root, root.name)
        return "the data"

    def marked(self, data: Data, marks: frozenset[Mark]) -> Data:
        """The data with marks on all that it holds."""
        if not marks or marks <= data.marks:
            return data
        columns = data.columns
        if columns is not None:
            named = {name: c.but(marks=c.marks | marks) for name, c in columns.named.items()}
            columns = replace(columns, named=named, rest=columns.rest | marks)
        return data.but(marks=data.marks | marks, columns=columns)

    # --- sequences -----------------------------------------------------------------------------------------------

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
                got = self.i.call_method(value, name, _no_args(), site)
                if got is not None:
                    return self.iterate(got, site) if name == "__iter__" and got != value else (None, got, "items")
            got = self.i.call_method(value, "__getitem__", _args(UNKNOWN), site)
            return None, got if got is not None else UNKNOWN, "items"
        if isinstance(held, Choice):
            parts = [self.iterate(option, site) for option in held.options]
            return None, self.heap.join_all([p[1] for p in parts]), parts[0][2]
        if isinstance(held, LibObject):
            return self.i.library.iterate(value, held, site)
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
                    cut = self.cut(("group", held.number), CutKind.MASK, self._any_site(inner), explicit=False)
                    self._groups.add(cut)
                    inner = self.narrowed(inner, cut, "one group")
                    inner = inner.but(number=self.heap.fresh(), flags=inner.flags | {"group"})
                return Items((Data(kind="scalar", number=self.heap.fresh()), inner))
            if held.each and "rowwise" in held.flags:
                return held.each[0]
            if held.kind in ("frame", "part") or (held.kind == "columns" and not held.marks):
                return Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"column"}))
            if not held.rows:
                return held.but(number=self.heap.fresh(), each=(), mask=(), flags=held.flags - {"range"})
            kind = "index-item" if held.kind == "index" else "row"
            return held.but(kind=kind, number=self.heap.fresh(), columns=None, each=(), mask=())
        if isinstance(held, LibObject):
            return self.i.library.iterate(value, held, held.site)[1]
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
            if known and len({len(parts) for parts in known}) == 1:
                return [self.heap.join_all(list(parts)) for parts in zip(*known, strict=True)]
        if isinstance(held, Data) and count is not None:
            if len(held.each) == count:
                return list(held.each)
            if "call" in held.flags:
                # What an unknown function returns together: each part as a whole, not an item.
                return [held.but(number=self.heap.number("part", held.number, n), each=()) for n in range(count)]
        return None

    # --- subscripts: reading -------------------------------------------------------------------------------------

    def get_item(self, base: Value, index: s.Expr, node: s.Node) -> Value:
        if not isinstance(index, s.Slice | s.Const | Evaluated) and not (
            isinstance(index, s.Seq) and index.kind == "tuple"
        ):
            index = Evaluated(index.span, self.i.eval(index))  # type: ignore[assignment]
        if isinstance(base, Lib):
            value = self.i.eval(index)
            if base.name in ("numpy.c_", "numpy.r_", "numpy.s_"):
                return self.combined([value], columns=base.name == "numpy.c_")
            return base if "." not in base.name or base.name.startswith("typing") else UNKNOWN
        held = self.heap.load(base)
        if isinstance(held, Choice):
            return self.heap.join_all([self.get_item(option, index, node) for option in held.options])  # type: ignore[no-any-return]
        if isinstance(held, Items | ListObject):
            return self._item_of_sequence(base, held, index)
        if isinstance(held, DictObject):
            return self._item_of_dict(held, self.i.eval(index), base)
        if isinstance(held, Instance):
            got = self.i.call_method(base, "__getitem__", _args(self.i.eval(index)), self.i.site(node))
            if got is not None:
                return got
            return self.i.library.instance_item(base, held, self.i.eval(index))
        if isinstance(held, LibObject):
            return self.i.library.get_item(base, held, self._index_value(index), self.i.site(node))
        if isinstance(held, Data):
            return self._item_of_data(base, held, index, node)
        return UNKNOWN

    def _index_value(self, index: s.Expr) -> Value:
        return self.i.eval(index) if not isinstance(index, s.Slice) else UNKNOWN

    def _item_of_sequence(self, base: Value, held: Items | ListObject, index: s.Expr) -> Value:
        if isinstance(index, s.Slice):
            if held.items is not None:
                bounds = [self._bound(part) for part in (index.lower, index.upper, index.step)]
                if all(
                    part is None or isinstance(b, int)
                    for part, b in zip((index.lower, index.upper, index.step), bounds, strict=True)
                ):
                    items = held.items[slice(*bounds)]
                    return Items(items) if isinstance(held, Items) else self.heap.new(ListObject(items))
            return self.rows_of(base, index)
        key = self.heap.load(self.i.eval(index))
        if isinstance(held, ListObject) and held.ranked and isinstance(key, Const) and key.value in (0, -1):
            self.extremum("first", [held.any if held.any is not None else base], self.i.site(index))
        if isinstance(key, Const) and isinstance(key.value, int) and held.items is not None:
            if -len(held.items) <= key.value < len(held.items):
                return held.items[key.value]
            return UNKNOWN
        if isinstance(key, Data) and key.kind == "index":
            return self._picked(self.heap.data(base), key)
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
        return self._sliced(data, index) if data.rows else data

    def _bound(self, node: s.Expr | None) -> Any:
        if node is None:
            return None
        value = self.heap.load(self.i.eval(node))
        return value.value if isinstance(value, Const) else value

    def _item_of_dict(self, held: DictObject, key: Value, owner: Value | None = None) -> Value:
        known = self.heap.load(key)
        if isinstance(known, Const) and _hashable(known.value):
            if known.value in held.items:
                return held.items[known.value]
            if held.any is not None:
                return held.any
            if held.default is None:
                return UNKNOWN
            made = self.heap.new(self.heap.load(held.default))
            if isinstance(owner, Ref):
                self.heap.set(owner.address, DictObject({**held.items, known.value: made}, held.any, held.default))
            return made
        options = [*held.items.values(), *([held.any] if held.any is not None else [])]
        if isinstance(known, Data) and known.rows and options:
            looked_up = self.heap.data(self.heap.join_all(options))
            if not looked_up.rows:
                return looked_up.but(rows=known.rows, kind="row", number=self.heap.fresh())
        return self._chosen(self.heap.join_all(options) or held.default or UNKNOWN, known)

    def _item_of_data(self, base: Value, held: Data, index: s.Expr, node: s.Node) -> Value:
        if held.kind in ("loc", "iloc") and held.each:
            owner = held.each[0]
            data = self.heap.data(owner)
            if (
                "sorted" in data.flags
                and not data.rows
                and isinstance(index, s.Const | Evaluated)
                and _scores(data.marks)
            ):
                return self.extremum("first", [data], self.i.site(node))
            if isinstance(index, s.Seq) and index.kind == "tuple" and len(index.items) >= 2:
                data = self._select_rows(data, index.items[0], labels=held.kind == "loc")
                return self._select_columns(data, index.items[1], positions=held.kind == "iloc")
            return self._select_rows(data, index, labels=held.kind == "loc")
        if held.kind == "groupby":
            names = self._column_names(index)
            inner = self.heap.data(held.each[0]) if held.each else UNKNOWN
            frame = inner.columns.frame if inner.columns is not None else 0
            picked = frozenset((frame, name) for name in names) if names is not None else frozenset()
            return held.but(sources=held.sources | picked, flags=held.flags | {"picked"})
        if isinstance(index, s.Seq) and index.kind == "tuple":
            return self._item_by_tuple(held, index)
        if isinstance(index, s.Slice):
            return self._sliced(held, index)
        names = self._column_names(index)
        if names is not None and held.kind not in ("series", "columns", "index", "mask", "array", "tensor"):
            return self._columns_by_name(held, names, single=isinstance(self.heap.load(self.i.eval(index)), Const))
        return self._select_rows(held, index, labels=held.kind in ("series",), subscript=True)

    def _item_by_tuple(self, held: Data, index: s.Seq) -> Value:
        if not index.items:
            return held
        first = index.items[0]
        names = [self.heap.load(self.i.eval(i)) for i in index.items] if held.kind == "frame" else []
        if names and all(isinstance(n, Const) for n in names):
            return self._column(held, str(tuple(n.value for n in names)))
        data = held
        if not (isinstance(first, s.Const) and first.value in (None, ...)):
            data = self._select_rows(held, first, labels=False, subscript=True)
        for part in index.items[1:2]:
            data = self._select_columns(data, part, positions=True)
        return data

    def _column_names(self, index: s.Expr) -> list[str] | None:
        """The names in a subscript, where all are known."""
        value = self.heap.load(self.i.eval(index)) if not isinstance(index, s.Slice) else None
        if isinstance(value, Const):
            return [value.value] if isinstance(value.value, str) else None
        return self.names_in(value)

    def names_in(self, value: Any) -> list[str] | None:
        if isinstance(value, Const):
            return [value.value] if isinstance(value.value, str) else None
        if isinstance(value, ListObject | Items) and value.items is not None:
            held = [self.heap.load(item) for item in value.items]
            if held and all(isinstance(h, Const) and isinstance(h.value, str) for h in held):
                return [h.value for h in held]
        return None

    def _columns_by_name(self, held: Data, names: list[str], *, single: bool) -> Data:
        if single:
            return self._column(held, names[0])
        columns = held.columns or Columns(self.heap.number("frame", held.number))
        named = {name: self._column(held, name) for name in names}
        picked = Columns(columns.frame, named, open=False)
        number = self.heap.number("columns", held.number, tuple(names))
        return held.but(kind="frame", columns=picked, marks=picked.marks(), number=number, each=(), sources=frozenset())

    def _column(self, held: Data, name: str) -> Data:
        columns = held.columns
        if columns is None:
            # Not known to be a frame: a field of a record, a split of a dict of splits.
            number = self.heap.number("column", held.number, name)
            frame = self.heap.number("frame", held.number)
            sources = held.sources or frozenset({(frame, name)})
            role = next((r for r in (role_of_word(w) for w in split_words(name)) if r), "")
            if role and held.kind in ("unknown", "dataset", "array") and held.rows:
                return self.part_named(held, held.but(number=number, sources=sources), role).but(name=name)
            return held.but(kind="series", number=number, sources=sources, each=(), flags=held.flags | {"picked"})
        known = columns.named.get(name)
        if known is not None:
            return known.but(rows=held.rows, name=held.name, keys=None)
        number = self.heap.number("column", columns.frame, name)
        return Data(
            rows=held.rows,
            marks=columns.rest if columns.open else held.marks & columns.extra,
            kind="series",
            sources=frozenset({(columns.frame, name)}),
            number=number,
            name=held.name,
            flags=held.flags - {"reset"} | (held.flags & {"reset", "sorted", "record"}),
        )

    def part_named(self, whole: Data, part: Value, role: str) -> Data:
        """The part of a data set that its name says: the train or the test part."""
        data = self.heap.data(part)
        if not role or not whole.rows:
            return data
        cut = self.cut(("named", whole.rows), CutKind.MASK, self._root_site(whole), explicit=True)
        return self.narrowed(data, cut, ("is", role)).but(kind="unknown" if data.kind == "row" else data.kind)

    def _root_site(self, data: Data) -> Site:
        return next(root.site for root, _ in data.rows)

    def _select_columns(self, data: Data, index: s.Expr, *, positions: bool) -> Data:
        if isinstance(index, s.Slice):
            if index.lower is None and index.upper is None:
                return data
            # Which columns a slice keeps is not known; what is marked may be among them.
            number = self.heap.number(
                "columns", data.number, str(self._bound(index.lower)), str(self._bound(index.upper))
            )
            return data.but(columns=None, number=number, kind="array" if data.kind == "array" else "part")
        value = self.heap.load(self.i.eval(index))
        names = self.names_in(value)
        if names is not None and data.kind not in ("array", "tensor"):
            return self._columns_by_name(data, names, single=isinstance(value, Const))
        number = self.heap.number("columns", data.number, self.heap.data(value).number)
        if isinstance(value, Const):
            frame = data.columns.frame if data.columns else self.heap.number("frame", data.number)
            return data.but(columns=None, number=number, kind="series", sources=frozenset({(frame, f"#{value.value}")}))
        return self.selected_by(data.but(number=number), self.heap.data(value))

    def selected_by(self, data: Data, chooser: Data) -> Data:
        """Columns picked by a computed list: what decided the list marks what is picked."""
        marks: set[Mark] = set()
        for mark in chooser.marks:
            if isinstance(mark, Learn):
                if mark.category in ("selection", "target-encoding") or mark.fitted:
                    marks.add(mark if mark.category == "selection" else self._as_selection(mark))
                elif mark.what in _RELATIONS or mark.category == "relation":
                    marks.add(self._as_selection(mark))
            elif isinstance(mark, Score):
                marks.add(mark)
        columns = chooser.columns if chooser.kind == "columns" and data.columns is not None else None
        if columns is not None and data.columns is not None and columns.frame == data.columns.frame:
            names = columns.dropped - data.columns.named.keys() | (data.columns.dropped | columns.dropped)
            named = {n: c for n, c in data.columns.named.items() if n not in columns.dropped}
            kept = replace(data.columns, named=named, dropped=frozenset(names))
            return data.but(columns=kept, marks=kept.marks() | marks, kind="frame")
        return data.but(columns=None, marks=data.marks | marks)

    def _as_selection(self, mark: Learn) -> Learn:
        changed = replace(mark, category="selection")
        return self.i.emit((mark, "selection"), changed)  # type: ignore[no-any-return]

    # --- rows picked ---------------------------------------------------------------------------------------------

    def _sliced(self, data: Data, index: s.Slice) -> Data:
        """`data[lower:upper]`: each bound is a cut."""
        if (not data.rows and data.kind != "index") or data.kind in ("row", "index-item", "columns"):
            return data.but(each=(), number=self.heap.fresh(), columns=None if data.kind == "columns" else data.columns)
        step = self._bound(index.step)
        if (isinstance(step, int) and step not in (0, 1, -1)) or isinstance(step, Data):
            return self._strided(data, index, step)
        result = data
        for bound_node, part in ((index.lower, 1), (index.upper, 0)):
            if bound_node is None:
                continue
            value = self.heap.load(self.i.eval(bound_node))
            if isinstance(value, Const) and (value.value is None or (part == 1 and value.value == 0)):
                continue
            bound = self.heap.data(value)
            if "item" in bound.flags or self._varies(bound):
                # A window that moves with the loop: any of the rows.
                return result.but(number=self.heap.fresh(), flags=result.flags | {"window"})
            number = value.value if isinstance(value, Const) else None
            base = data.keys if data.keys is not None else data.rows
            order = next((f for f in data.flags if f.startswith("order:")), "")
            known = float(number) if isinstance(number, int | float) and not isinstance(number, bool) else None
            cut = self.cut(
                ("position", _bare_roots(base), order, bound.number),
                CutKind.RANDOM if order else CutKind.POSITION,
                self.i.site(bound_node),
                bound=known,
                explicit=False,
            )
            result = self.narrowed(result, cut, part)
        return result

    def _strided(self, data: Data, index: s.Slice, step: Any) -> Data:
        """`data[::2]` and `data[1::2]`: every so-and-so-many rows, from a start."""
        start = self._bound(index.lower) or 0
        base = data.keys if data.keys is not None else data.rows
        cut = self.cut(
            ("stride", _bare_roots(base), step if isinstance(step, int) else step.number),
            CutKind.POSITION,
            self.i.site(index),
            explicit=False,
        )
        return self.narrowed(data, cut, ("start", start if isinstance(start, int) else self.heap.data(start).number))

    def _varies(self, bound: Data) -> bool:
        return "varies" in bound.flags

    def _select_rows(self, data: Data, index: s.Expr, *, labels: bool, subscript: bool = False) -> Data:
        if isinstance(index, s.Slice):
            return self._sliced(data, index)
        value = self.i.eval(index)
        held = self.heap.load(value)
        if data.kind == "columns":
            picker = self.heap.data(value)
            marks = frozenset(m for m in picker.marks if isinstance(m, Learn | Score))
            return data.but(marks=data.marks | marks, number=self.heap.fresh(), columns=None)
        if isinstance(held, Const):
            number = self.heap.number("item", data.number, held.value)
            if isinstance(held.value, str):
                return (
                    self._column(data, held.value) if subscript else data.but(number=number, kind="row", columns=None)
                )
            if data.kind == "columns":
                return data.but(number=number)
            flags = data.flags | ({"row"} if data.rows else set())
            return data.but(
                number=number, kind="row" if data.rows else data.kind, columns=None, each=(), flags=frozenset(flags)
            )
        if isinstance(held, ListObject | Items):
            inner = self.heap.data(value)
            if (
                not inner.rows
                and subscript
                and (data.kind == "frame" or (data.columns is not None and "column" in inner.flags))
            ):
                return self.selected_by(data.but(number=self.heap.number("columns", data.number, inner.number)), inner)
            if not inner.rows and not inner.marks:
                return data.but(number=self.heap.number("picked", data.number, inner.number))
            return self._picked(data, inner)
        picker = self.heap.data(value)
        if not data.rows and data.marks and picker.rows:
            return self._picked(data, picker)
        if picker.kind in ("scalar", "index-item") or "column" in picker.flags:
            if subscript and (data.kind in ("frame",) or "column" in picker.flags):
                # A column whose name is not known: one of several in a loop.
                number = self.heap.number("column?", data.number, picker.number)
                return data.but(kind="series", columns=None, number=number, flags=data.flags | {"some column"})
            return data.but(kind="row", columns=None, number=self.heap.fresh(), each=())
        if (
            subscript
            and data.kind == "frame"
            and picker.kind in ("columns", "unknown")
            and not picker.mask
            and not picker.rows
        ):
            return self.selected_by(data.but(number=self.heap.number("columns", data.number, picker.number)), picker)
        if picker.kind == "columns":
            return self.selected_by(data.but(number=self.heap.number("columns", data.number, picker.number)), picker)
        return self._picked(data, picker)

    def _picked(self, data: Data, picker: Data) -> Data:
        """Rows of `data` at the places that a mask or an index names."""
        if picker.mask:
            return self._filtered(data, picker)
        if picker.kind == "mask":
            cut = self.cut(
                ("truth", picker.number),
                CutKind.RANDOM if "random" in picker.flags else CutKind.MASK,
                self._any_site(picker),
            )
            return self._bounded(self.narrowed(data, cut, True), picker, cut)
        keys = picker.keys if picker.keys is not None else picker.rows
        if keys and (picker.kind in ("index", "array", "unknown", "series", "part") or picker.keys is not None):
            rows = apply_steps(data.rows, keys)
            number = self.heap.number("picked", data.number, picker.number)
            for _, cuts in keys:
                for cut, part in cuts:
                    self.i.cuts_used.add((cut, part))
            if rows == data.rows and any(root.kind == "parameter" for root, _ in keys):
                # An index from outside: some of the rows, which ones is not known.
                cut = self.cut(("index", picker.number), CutKind.MASK, self._any_site(picker), explicit=False)
                return self.narrowed(data, cut, True)
            draws = frozenset(m for m in picker.marks if isinstance(m, Draw))
            flags = data.flags | (picker.flags & {"shuffled"})
            return self.marked(data.but(rows=rows, number=number, each=(), flags=flags), draws)
        if not data.rows:
            # A table without rows of its own, asked for what belongs to each row's value.
            marks = frozenset(m for m in picker.marks if isinstance(m, Learn | Score))
            number = self.heap.number("picked", data.number, picker.number)
            return data.but(
                marks=data.marks | marks, number=number, rows=picker.rows, kind="row" if picker.rows else data.kind
            )
        drawn = frozenset(m for m in picker.marks if isinstance(m, Learn | Draw))
        return self.marked(data.but(number=self.heap.number("picked", data.number, picker.number)), drawn)

    def _any_site(self, data: Data) -> Site:
        for root, _ in data.rows:
            return root.site
        return Site(self.i.unit.path, self.i.cell, (1, 1, 1, 1))

    def _filtered(self, data: Data, mask: Data) -> Data:
        result = data
        for cut, kept, _ in mask.mask:
            result = self.narrowed(result, cut, kept)
        return self._bounded(result, mask, mask.mask[0][0])

    def _bounded(self, data: Data, mask: Data, cut: Cut) -> Data:
        """Rows kept by bounds that were computed from all rows carry what was learned for the bounds."""
        marks: set[Mark] = set()
        for mark in mask.marks:
            if isinstance(mark, Learn):
                if mark.category == "statistic" and mark.what in _BOUNDS:
                    changed = replace(mark, category="outliers", cut=cut)
                    marks.add(self.i.emit((mark, "outliers", cut), changed))
                elif mark.category in ("outliers", "scaling", "clustering"):
                    changed = replace(mark, cut=cut)
                    marks.add(self.i.emit((mark, "kept", cut), changed))
        return self.marked(data, frozenset(marks))

    # --- subscripts: writing -------------------------------------------------------------------------------------

    def set_item(self, target: s.Index, value: Value) -> None:
        base = self.i.eval(target.base)
        held = self.heap.load(base)
        if isinstance(held, Choice):
            for option in held.options:
                self._set_item(option, self.heap.load(option), target, value)
            return
        self._set_item(base, held, target, value)

    def _set_item(self, base: Value, held: Any, target: s.Index, value: Value) -> None:
        if isinstance(held, Data) and held.kind in ("loc", "iloc") and held.each:
            base, accessor = held.each[0], held.kind
            held = self.heap.load(base)
            if isinstance(held, Data) and isinstance(base, Ref):
                self._write_rows(base, held, target.index, value, accessor)
            return
        if not isinstance(base, Ref):
            return
        index = target.index
        if isinstance(held, Data):
            if isinstance(index, s.Slice | s.Seq) and not (isinstance(index, s.Seq) and index.kind == "list"):
                self._write_rows(base, held, index, value, "array")
                return
            key = self.i.eval(index)
            names = self.names_in(self.heap.load(key))
            if names is not None and held.kind not in ("array", "tensor"):
                parts = self.unpack(value, None)
                for n, name in enumerate(names):
                    if parts is not None and len(parts) == len(names):
                        self.set_column(base, name, parts[n])
                    elif len(names) > 1:
                        # A transformed table goes back column by column: each comes from its own.
                        old = self._column(held, name)
                        new = self.heap.data(value)
                        self.set_column(base, name, new.but(sources=old.sources, flags=old.flags))
                    else:
                        self.set_column(base, name, value)
            elif held.kind == "frame" or "column" in self.heap.data(key).flags:
                self._set_unknown_columns(base, held, value)
            else:
                self._blend(base, held, value)
            return
        key = self.heap.load(self.i.eval(index)) if not isinstance(index, s.Slice) else UNKNOWN
        value = self.i.boxed(value, key.value) if isinstance(key, Const) and isinstance(key.value, str) else value
        if isinstance(held, DictObject):
            if isinstance(key, Const) and _hashable(key.value):
                self.heap.set(base.address, DictObject({**held.items, key.value: value}, held.any, held.default))
            else:
                joined = value if held.any is None else self.heap.join(held.any, value)
                self.heap.set(base.address, DictObject(held.items, joined, held.default))
        elif isinstance(held, ListObject):
            if (
                held.items is not None
                and isinstance(key, Const)
                and isinstance(key.value, int)
                and -len(held.items) <= key.value < len(held.items)
            ):
                items = list(held.items)
                items[key.value] = value
                self.heap.set(base.address, ListObject(tuple(items)))
            else:
                self.heap.set(base.address, ListObject(None, self.heap.join(self.element(base), value)))
        elif isinstance(held, Instance):
            self.i.call_method(base, "__setitem__", _args(key, value), self.i.site(target))
        elif isinstance(held, LibObject) and isinstance(key, Const):
            self.heap.set(base.address, replace(held, attrs={**held.attrs, str(key.value): value}))

    def _set_unknown_columns(self, base: Ref, held: Data, value: Value) -> None:
        """Columns of unknown name are written: any unnamed column may be one of them."""
        new = self.heap.data(value)
        marks = frozenset(m for m in new.marks if isinstance(m, Learn | Predict))
        if held.columns is not None:
            columns = replace(held.columns, rest=held.columns.rest | marks, extra=held.columns.extra | marks)
            self.heap.set(base.address, held.but(columns=columns, marks=held.marks | marks, number=self.heap.fresh()))
        else:
            self._blend(base, held, value)

    def _write_rows(self, base: Ref, held: Data, index: s.Expr, value: Value, accessor: str) -> None:
        """`df.loc[rows, columns] = value`, `X[:, 0] = value`, `df[:] = value`."""
        if isinstance(index, s.Slice) and index.lower is None and index.upper is None:
            new = self.heap.data(value)
            columns = held.columns
            if columns is not None:
                named = {name: c.but(marks=new.marks) for name, c in columns.named.items()}
                columns = replace(columns, named=named, rest=new.marks, extra=NO_MARKS)
            self.heap.set(base.address, held.but(marks=new.marks, columns=columns, number=self.heap.fresh()))
            return
        if isinstance(index, s.Seq) and index.kind == "tuple" and len(index.items) == 2:
            names = self._column_names(index.items[1])
            mask = self.heap.data(self.i.eval(index.items[0])) if not isinstance(index.items[0], s.Slice) else UNKNOWN
            bounds = frozenset(m for m in mask.marks if isinstance(m, Learn) and m.what in _BOUNDS)
            if names is not None and accessor != "array":
                new = self.heap.data(value)
                for name in names:
                    old = self._column(held, name)
                    marks = new.marks | bounds | (old.marks if not _full_slice(index.items[0]) else NO_MARKS)
                    self.set_column(base, name, new.but(marks=marks, rows=held.rows, sources=new.sources | old.sources))
                    held = self.heap.load(base)
                return
            value = self.heap.data(value).but(marks=self.heap.data(value).marks | bounds)
        self._blend(base, held, value)

    def _blend(self, base: Ref, held: Data, value: Value) -> None:
        """A part of unknown extent is overwritten: the whole carries both."""
        new = self.heap.data(value)
        rows = held.rows if held.rows else new.rows
        blended = self.marked(held, new.marks).but(rows=rows, number=self.heap.fresh())
        self.heap.set(base.address, blended.but(sources=blended.sources | new.sources))

    def set_column(self, base: Ref, name: str, value: Value) -> None:
        held = self.heap.load(base)
        if not isinstance(held, Data):
            return
        new = self.heap.data(value)
        columns = held.columns or Columns(self.heap.number("frame", held.number))
        known = isinstance(self.heap.load(value), Data)
        column = Data(
            rows=held.rows,
            marks=new.marks,
            kind="series",
            sources=new.sources | ({(columns.frame, name)} if not new.sources else set()),
            number=new.number if known and new.number else self.heap.fresh(),
            name=held.name,
            flags=new.flags | {"made"},
            made_at=self.i.statement_site(),
        )
        columns = replace(columns, named={**columns.named, name: column}, dropped=columns.dropped - {name})
        rows = held.rows or new.rows
        kind = "frame" if held.kind in ("unknown", "frame") else held.kind
        self.heap.set(
            base.address,
            held.but(rows=rows, kind=kind, columns=columns, marks=columns.marks(), number=self.heap.fresh()),
        )

    def delete_item(self, base: Value, index: Value) -> None:
        held = self.heap.load(base)
        names = self.names_in(self.heap.load(index))
        if isinstance(base, Ref) and isinstance(held, Data) and names is not None:
            self.heap.set(base.address, self._without(held, names))

    def _without(self, data: Data, names: Sequence[str]) -> Data:
        columns = data.columns or Columns(self.heap.number("frame", data.number), rest=data.marks)
        named = {n: c for n, c in columns.named.items() if n not in names}
        columns = replace(columns, named=named, dropped=columns.dropped | frozenset(names))
        number = self.heap.number("without", data.number, tuple(names))
        return data.but(kind="frame", columns=columns, marks=columns.marks(), number=number, each=())

    # --- attributes ----------------------------------------------------------------------------------------------

    def get_attr(self, base: Value, held: Data, name: str, node: s.Node) -> Value:
        if held.kind == "groupby":
            return (
                self._item_of_data(base, held, s.Const(node.span, name), node)
                if not self._is_method(held, name)
                else Method(base, None, name)
            )
        if name in ("loc", "iloc", "at", "iat", "ix"):
            return Data(kind="iloc" if name in ("iloc", "iat") else "loc", each=(base,), rows=held.rows)
        if name in ("values", "T", "data", "array", "real"):
            return held.but(kind="array", number=self.heap.number(name, held.number), each=())
        if name == "index" and not held.rows:
            return held.but(kind="columns", number=self.heap.number("index", held.number))
        if name == "index":
            number = self.heap.number("index", held.number)
            return Data(
                kind="index",
                keys=held.rows,
                rows=held.rows,
                number=number,
                flags=held.flags & {"reset"},
                marks=self._choices(held),
            )
        if name == "columns":
            if held.columns is not None and not held.columns.open:
                return self.heap.new(ListObject(tuple(Const(n) for n in held.columns.named)))
            number = self.heap.number("columns", held.number)
            return Data(kind="columns", number=number, marks=self._choices(held), columns=held.columns)
        if name in ("shape", "size", "ndim", "dtype", "dtypes"):
            return Data(kind="scalar", number=self.heap.number(name, held.number))
        if name == "style":
            return Data(kind="scalar", number=self.heap.fresh())
        if name in ("str", "dt", "cat", "sparse", "plot", "flat"):
            return held.but(number=self.heap.number(name, held.number))
        if name == "frame" and held.kind == "bunch":
            return held.but(
                kind="frame", columns=Columns(held.number), number=self.heap.number("frame of", held.number)
            )
        if name in ("features", "target", "targets", "labels") and held.kind == "bunch":
            return self._field(held, name)
        if self._is_method(held, name) or name in _LEARNER_METHODS or name in SEARCH_CALLS:
            return Method(base, None, name)
        if (
            held.kind in ("frame", "unknown", "row")
            and held.columns is not None
            and (name in held.columns.named or held.kind == "frame")
        ):
            return self._column(held, name)
        if held.rows and held.columns is None and held.kind not in ("series", "array", "tensor", "index", "mask"):
            return self._field(held, name)
        # Not known to be a method: taken as one when it is called, as a field when it is not.
        return Method(base, None, name)

    def _choices(self, held: Data) -> frozenset[Mark]:
        return frozenset(
            m for m in held.marks if isinstance(m, Learn | Score) and (not held.rows or held.kind != "frame")
        )

    def _field(self, held: Data, name: str) -> Data:
        return held.but(
            number=self.heap.number("field", held.number, name),
            sources=frozenset({(held.number, name)}),
            columns=None,
            kind="array",
            each=(),
        )

    def _is_method(self, held: Data, name: str) -> bool:
        return (
            hasattr(self, f"_m_{name}")
            or self.i.tables.any_method(name) is not None
            or name in STATISTICS
            or name in _EXTREMA
        )

    # --- operators -----------------------------------------------------------------------------------------------

    def operate(self, op: str, values: list[Value], node: s.Node) -> Value:
        several = [self.heap.data(value) for value in values]
        if len(several) == 1:
            return self._unary(op, several[0])
        rows = self._rows_of_all(several)
        marks: frozenset[Mark] = NO_MARKS.union(*(d.marks for d in several))
        number = self.heap.number(op, *(d.number for d in several))
        sources: frozenset[Column] = frozenset().union(*(d.sources for d in several))
        flags: frozenset[str] = frozenset().union(*(d.flags for d in several)) & {
            "random",
            "varies",
            "window",
            "record",
            "made",
            "lag",
            "lead",
        }
        if op in ("/", "*", "-", "+", "//", "%", "**") and not rows:
            flags = flags | frozenset().union(*(d.flags for d in several)) & {"item"}
        name = next((d.name for d in several if d.rows and d.name), "")
        marks |= self._scored(several, self.i.site(node))
        if op in _COMPARISONS or op in ("in", "not in", "is", "is not"):
            if op in _ORDERINGS and not rows:
                flags |= {"compared"} if self._same_scores(several) else set()
            mask = self._condition(op, several, values, self.i.site(node)) if rows or "random" in flags else ()
            return Data(
                rows=rows,
                marks=marks,
                kind="mask" if rows or mask else "scalar",
                number=number,
                sources=sources,
                flags=frozenset(flags),
                mask=mask,
                name=name,
            )
        if op in ("&", "|") and all(d.kind == "mask" for d in several):
            both = several[0].mask + several[1].mask if op == "&" and several[0].mask and several[1].mask else ()
            if op == "&" and len(both) < 2:
                both = ()
            return Data(
                rows=rows,
                marks=marks,
                kind="mask",
                number=number,
                sources=sources,
                flags=frozenset(flags),
                mask=both,
                name=name,
            )
        frame = next((d for d in several if d.kind == "frame"), None)
        if frame is not None:
            return self.marked(frame.but(number=number, each=(), mask=()), marks).but(rows=rows)
        carrier = next((d for d in several if d.rows), several[0])
        kind = "columns" if any(d.kind == "columns" for d in several) else "scalar"
        kind = carrier.kind if carrier.rows else kind
        if op == "-" and all(d.kind == "index" for d in several) and len(several) == 2:
            return self._difference(several[0], several[1], number)
        kept = (flags | carrier.flags) - {"range"}
        return Data(
            rows=rows,
            marks=marks,
            kind=kind,
            number=number,
            sources=sources,
            flags=kept,
            name=name,
            keys=carrier.keys if carrier.kind == "index" else None,
        )

    def _rows_of_all(self, several: list[Data]) -> Rows:
        """The rows of all operands; random numbers added to data bring none of their own."""
        real = [d for d in several if d.rows and not all(root.kind == "made" for root, _ in d.rows)]
        return union(*(d.rows for d in real or several))

    def _unary(self, op: str, data: Data) -> Value:
        number = self.heap.number(op, data.number)
        if op in ("~", "not"):
            if len(data.mask) == 1:
                cut, kept, left = data.mask[0]
                return data.but(mask=((cut, left, kept),), number=number)
            if data.kind == "mask" or data.rows:
                cut = self.cut(
                    ("truth", data.number),
                    CutKind.RANDOM if "random" in data.flags else CutKind.MASK,
                    self._any_site(data),
                )
                return data.but(kind="mask", mask=((cut, False, True),), number=number)
            return data.but(number=number)
        return data.but(number=number, each=(), mask=())

    def _difference(self, whole: Data, part: Data, number: int) -> Data:
        """All but the rows of an index."""
        keys = part.keys if part.keys is not None else part.rows
        rest = self._rest(whole.rows, keys)
        return whole.but(rows=rest, keys=rest, number=number)

    def _rest(self, rows: Rows, taken: Rows) -> Rows:
        """The rows that a part leaves: the other side of its last cut."""
        result = rows
        for _, cuts in taken:
            if cuts:
                cut, part = cuts[-1]
                other: object = (
                    1 - part
                    if isinstance(part, int) and not isinstance(part, bool) and part in (0, 1)
                    else ("not", part)
                )
                if isinstance(part, bool):
                    other = not part
                self.i.cuts_used.add((cut, other))
                result = narrow(result, cut, other)
        return result

    def _condition(
        self, op: str, several: list[Data], values: list[Value], site: Site
    ) -> tuple[tuple[Cut, object, object], ...]:
        """The cut that a comparison makes: `a < b` and `a >= b` are its two sides."""
        if len(several) != 2:
            return ()
        a, b = several
        random = "random" in a.flags or "random" in b.flags
        kind = CutKind.RANDOM if random else CutKind.MASK
        loops = {"explicit": random}
        if op in _ORDERINGS:
            first, second, kept = {"<": (a, b, True), ">=": (a, b, False), ">": (b, a, True), "<=": (b, a, False)}[op]
            cut = self.cut(("less", first.number, second.number), kind, site, **loops)
            return ((cut, kept, not kept),)
        if op in ("==", "!="):
            constant = self.heap.load(values[1])
            word: object = constant.value if isinstance(constant, Const) else ("value", b.number)
            if isinstance(word, bool):
                cut = self.cut(("truth", a.number), kind, site, **loops)
                kept = word if op == "==" else not word
                return ((cut, kept, not kept),)
            cut = self.cut(("equal", a.number), kind, site, explicit=bool(role_of_word(word)))
            yes, no = ("is", word), ("not", ("is", word))
            return ((cut, yes, no),) if op == "==" else ((cut, no, yes),)
        return ()

    # --- scores --------------------------------------------------------------------------------------------------

    def _scored(self, several: list[Data], site: Site) -> frozenset[Mark]:
        """Predictions set against something that is no prediction, of the same rows: a score in the making."""
        for data in several:
            predictions = [m for m in data.marks if isinstance(m, Predict)]
            if not predictions or any(isinstance(m, Score) for m in data.marks):
                continue
            for other in several:
                if other is data or not other.rows or any(isinstance(m, Predict) for m in other.marks):
                    continue
                if overlap(other.rows, data.rows) is Overlap.NO and not _parallel(other.rows, data.rows):
                    continue
                return frozenset(self.i.library.score("own arithmetic", p, site, kind="own") for p in predictions)
        return NO_MARKS

    def _same_scores(self, several: list[Data]) -> bool:
        """Two scores on the same rows are compared (this round's against the best so far)."""
        if len(several) != 2:
            return False
        left = [m for m in several[0].marks if isinstance(m, Score)]
        right = [m for m in several[1].marks if isinstance(m, Score)]
        return any(a.rows == b.rows and a.rows and (a is not b or bool(self.i.loops)) for a in left for b in right)

    def note_choice(self, test: Value, node: s.Node, body: s.Block | None) -> None:
        data = self.heap.load(test)
        if not isinstance(data, Data):
            return
        if "compared" not in data.flags:
            if body is not None and self.i.loops and not data.marks and _keeps_best_test(node, body):
                self.i.named_choices.setdefault(self.i.site(node).bare(), _name_compared(node))
            return
        if body is not None and not _has_effect(body):
            return
        scores = tuple(m for m in data.marks if isinstance(m, Score))
        self.choose(scores, self.i.site(node), "comparison")

    def choose(self, scores: Sequence[Score], site: Site, how: str, what: str = "") -> None:
        if scores:
            ordered = tuple(sorted(scores, key=lambda score: (score.site.path, score.site.cell or 0, score.site.span)))
            self.i.emit((site, how, ordered), Choose(ordered, site, how, self.i.loops, what))

    # --- methods -------------------------------------------------------------------------------------------------

    def call_method(self, owner: Value, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(owner)
        if isinstance(held, Const):
            return self._constant_method(held, name, args)
        if isinstance(held, ListObject | Items):
            return self._list_method(owner, held, name, args, site)
        if isinstance(held, DictObject):
            return self._dict_method(owner, held, name, args, site)
        if isinstance(held, Choice):
            several = [self.i.call(self.i.get_attr(o, name, _node(site)), args, site) for o in held.options]
            return self.heap.join_all(several)  # type: ignore[no-any-return]
        if name in SEARCH_CALLS:
            for value in args.all():
                self.i.library.objective(value, site)
        if name in _LEARNER_METHODS and args.all() and self._may_be_learner(held):
            learner = self.i.library.unknown_learner(owner, held)
            return self.i.library.call_method(learner, self.heap.load(learner), name, args, site)
        if not isinstance(held, Data):
            return self.pass_through(args)
        if held.kind == "groupby":
            return self._group_method(owner, held, name, args, site)
        if held.kind == "rolling":
            return held.but(kind="series", number=self.heap.fresh())
        handler: Callable[..., Value] | None = getattr(self, f"_m_{name}", None)
        if handler is not None:
            return handler(owner, held, args, site)
        if name in STATISTICS:
            return self.statistic(name, held, args, site)
        if name in _EXTREMA:
            return self.extremum(name, [owner], site)
        return self._table_method(owner, held, name, args, site)

    def _may_be_learner(self, held: Any) -> bool:
        """Whether an object of unknown kind can be one that is fitted: an argument, an attribute set elsewhere."""
        if isinstance(held, Method):
            return True
        if not isinstance(held, Data) or held.kind not in ("unknown", "row", "object"):
            return False
        if "call" in held.flags:
            return True
        return all(root.kind in ("parameter", "unknown") and not steps for root, steps in held.rows)

    def _table_method(self, owner: Value, held: Data, name: str, args: Args, site: Site) -> Value:
        api = self.i.tables.any_method(name)
        others = [self.heap.data(value) for value in args.all()]
        marks = NO_MARKS.union(*(d.marks for d in others)) if others else NO_MARKS
        part = api.part if api is not None else ""
        if part == "silent" and name.startswith(("to_", "save", "write")):
            self.i.library.handed_on(owner, site)
        if part in ("constant", "silent"):
            return Data(kind="scalar", number=self.heap.number(name, held.number), marks=_scores(held.marks | marks))
        if part == "learn" and held.rows:
            assert api is not None
            learned = self.learn(name, api.learns or "statistic", held, site)
            return self.marked(held.but(number=self.heap.fresh()), frozenset({learned}))
        if part == "filter":
            cut = self.cut(("filter", name, held.number), CutKind.FILTER, site, explicit=False)
            return self.narrowed(held, cut, 0) if held.rows else held
        if part == "load" and not held.rows:
            return self.i.new_rows(name, site, "unknown", "unknown")
        if part in ("reorder",):
            return held.but(number=self.heap.fresh(), flags=held.flags | {"shuffled"}, each=())
        if part in ("statistic",) and held.rows:
            return Data(kind="scalar", marks=held.marks, number=self.heap.number(name, held.number))
        numbers = [d.number for d in others]
        result = held.but(number=self.heap.number(name, held.number, *numbers), each=(), mask=())
        if not result.rows:
            rows = union(*(d.rows for d in others)) if others else NO_ROWS
            if not rows and api is None:
                return self.from_outside(name, result.but(marks=result.marks | marks), args, site)
            return result.but(
                rows=rows, marks=result.marks | marks, each=tuple(v for v in args.all() if self.heap.data(v).rows)
            )
        scored = self._scored([held, *others], site)
        return self.marked(result, marks | scored)

    def statistic(self, name: str, data: Data, args: Args, site: Site, axis: Value | None = None) -> Value:
        """A number, or a few, computed from all rows."""
        number = self.heap.number(name, data.number, *(self.heap.data(v).number for v in args.all()))
        scores = _scores(data.marks)
        if name in _EXTREMA and scores and not data.rows:
            return self.extremum(name, [data], site)
        if data.kind == "expression":
            return self.marked(data, frozenset({self.learn(name, "statistic", data, site)}))
        if not data.rows or data.kind in ("mask", "row", "index", "columns", "index-item"):
            return data.but(rows=NO_ROWS, kind="scalar", number=number, mask=(), each=(), keys=None)
        if "record" in data.flags or "window" in data.flags or self._across_columns(args, axis):
            if self._across_columns(args, axis):
                return data.but(number=number, kind="series", columns=None)
            return Data(kind="scalar", number=number, marks=data.marks)
        if any(isinstance(m, Predict) for m in data.marks) or scores:
            return Data(kind="scalar", number=number, marks=data.marks)
        category = "relation" if name in _RELATIONS else "statistic"
        if "group" in data.flags:
            # One group at a time, all groups in the end.
            category = "group-statistic"
            rows = ((root, tuple(step for step in steps if step[0] not in self._groups)) for root, steps in data.rows)
            data = data.but(rows=frozenset(rows))
        extra = [self.heap.data(v).sources for v in args.all()] if category == "relation" else []
        columns = self.columns_of(data).union(*extra)
        learned = self.learn(name, category, data, site, columns=columns, supervised=name == "corrwith")
        kind = "columns" if name in _RELATIONS else "scalar"
        return Data(
            kind=kind,
            marks=frozenset({learned}),
            number=number,
            name=data.name,
            sources=data.sources if data.columns is None else frozenset(),
        )

    def _across_columns(self, args: Args, axis: Value | None) -> bool:
        """Whether a reduction runs over the columns of each row, not over rows."""
        value = axis if axis is not None else args.kw.get("axis", args.kw.get("dim"))
        if value is None and args.pos:
            value = args.pos[0]
        held = self.heap.load(value) if value is not None else None
        if isinstance(held, Const):
            if isinstance(held.value, int) and not isinstance(held.value, bool):
                return held.value != 0
            return held.value in ("columns", "rows") and held.value == "columns"
        if isinstance(held, Items | ListObject) and held.items:
            inner = [self.heap.load(item) for item in held.items]
            if all(isinstance(h, Const) and isinstance(h.value, int) for h in inner):
                return 0 not in [h.value for h in inner]
        return False

    def extremum(self, name: str, values: list[Value], site: Site) -> Value:
        """The best of several: a choice, where what is compared are scores."""
        several = [self.heap.data(value) for value in values]
        if len(values) == 1 and several[0].rows and not any(isinstance(m, Score) for m in several[0].marks):
            if name not in STATISTICS:
                return several[0].but(number=self.heap.fresh(), columns=None)
            return self.statistic(name, several[0], _no_args(), site)
        scores: dict[Score, None] = {}
        for data in several:
            for mark in data.marks:
                if isinstance(mark, Score):
                    scores[mark] = None
        rows = {score.rows for score in scores}
        looked_at = set(self.i.enclosing) & _LIMITS  # the range of an axis, or a part of a larger comparison
        if len(rows) > 1 and len(values) > 1:
            looked_at.add("scores of different rows")
        if (
            scores
            and not looked_at
            and not (len(values) == 1 and len(scores) == 1 and not self._repeated(next(iter(scores))))
        ):
            by_rows = [tuple(sc for sc in scores if sc.rows == r) for r in rows]
            for group in by_rows:
                curve = any(sc.kind == "curve" for sc in group)
                self.choose(group, site, "threshold" if curve else "extremum")
        marks = NO_MARKS.union(*(d.marks for d in several)) if several else NO_MARKS
        picked = self.heap.join_all(values) if len(values) > 1 else self.element(values[0])
        held = self.heap.load(picked)
        if isinstance(held, Data | Const) or name.startswith(("arg", "idx")):
            chosen = any(d.kind == "columns" for d in several)
            kind = "columns" if chosen and name.startswith("n") else "scalar"
            return Data(
                kind=kind, number=self.heap.fresh(), marks=marks if chosen else _scores(marks), sources=frozenset()
            )
        return picked

    def _repeated(self, score: Score) -> bool:
        """Whether a score stands for several: one a round of a loop, or one a threshold."""
        return score.kind == "curve" or len(score.loops) > len(self.i.loops)

    # Methods with a meaning of their own, by name; all take the owner, what it holds, the arguments and the place.

    def _same(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(each=())

    _m_copy = _m_clone = _m_detach = _m_cpu = _m_cuda = _m_to = _m_persist = _m_cache = _m_prefetch = _same
    _m_contiguous = _m_requires_grad_ = _m_pin_memory = _same

    def _m_astype(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(each=())

    _m_float = _m_long = _m_int = _m_double = _m_numpy = _m_to_numpy = _m_toarray = _m_todense = _m_astype

    def _rewritten(self, owner: Value, held: Data, args: Args, new: Data) -> Value:
        """The result of a frame method that may work in place."""
        if _true(self.heap, args.kw.get("inplace")) and isinstance(owner, Ref):
            self.heap.set(owner.address, new.but(name=held.name))
            self.i.hint(new.rows, held.name) if new.rows and held.name else None
            return NONE
        return new

    def _m_reset_index(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self._rewritten(
            owner, held, args, held.but(flags=held.flags | {"reset"}, number=self.heap.number("reset", held.number))
        )

    def _m_set_index(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        new = held.but(number=self.heap.number("set_index", held.number))
        names = self.names_in(self.heap.load(args.get(0, "keys") or NONE))
        if names and held.columns is not None:
            new = self._without(new, names)
        return self._rewritten(owner, held, args, new)

    def _m_sort_values(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        by = self.names_in(self.heap.load(args.get(0, "by") or NONE))
        if by and held.columns is not None and not held.rows:
            # A table of results that is ranked by a score.
            scores = _scores(self._column(held, by[0]).marks)
            held = held.but(marks=held.marks | scores)
        number = self.heap.number("sort", held.number, *(self.heap.data(v).number for v in args.all()))
        return self._rewritten(owner, held, args, held.but(number=number, flags=held.flags | {"sorted"}))

    _m_sort_index = _m_sort_values

    def _m_fillna(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        value = args.get(0, "value")
        new = held.but(
            number=self.heap.number("fillna", held.number, self.heap.data(value).number if value else 0), mask=()
        )
        if value is not None:
            inner = self.heap.load(value)
            if isinstance(inner, DictObject) and held.columns is not None:
                columns = held.columns
                for key, fill in inner.items.items():
                    column = self._column(new, str(key))
                    columns = replace(
                        columns,
                        named={**columns.named, str(key): column.but(marks=column.marks | self.heap.data(fill).marks)},
                    )
                new = new.but(columns=columns, marks=columns.marks())
            else:
                new = self.marked(new, self.heap.data(value).marks)
        result = self._rewritten(owner, held, args, new)
        if result == NONE and not isinstance(owner, Ref):
            return NONE
        return result

    _m_replace = _m_clip = _m_where = _m_mask = None

    def _m_dropna(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if self._across_columns(_kw_only(args), None):
            return self._rewritten(owner, held, args, held.but(number=self.heap.fresh()))
        cut = self.cut(("dropna", held.number), CutKind.FILTER, site, explicit=False)
        return self._rewritten(owner, held, args, self.narrowed(held, cut, 0))

    _m_drop_duplicates = _m_dropna

    def _m_head(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not held.rows:
            first = self.heap.load(args.pos[0]) if args.pos else NONE
            if "sorted" in held.flags and isinstance(first, Const) and first.value == 1 and _scores(held.marks):
                return self.extremum("first", [held], site)
            return held
        bound = self.heap.load(args.pos[0]) if args.pos else Const(5)
        known = float(bound.value) if isinstance(bound, Const) and isinstance(bound.value, int | float) else None
        number = self.heap.data(args.pos[0] if args.pos else Const(5)).number
        cut = self.cut(
            ("position", _bare_roots(held.rows), "", number), CutKind.POSITION, site, bound=known, explicit=False
        )
        return self.narrowed(held, cut, 0)

    _m_take = _m_limit = _m_head

    def _m_tail(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        size = args.pos[0] if args.pos else Const(5)
        bound = self.heap.load(self.i.operate("-", [size], _node(site)))
        known = float(bound.value) if isinstance(bound, Const) and isinstance(bound.value, int | float) else None
        cut = self.cut(
            ("position", _bare_roots(held.rows), "", self.heap.data(bound).number),
            CutKind.POSITION,
            site,
            bound=known,
            explicit=False,
        )
        return self.narrowed(held, cut, 1)

    def _m_skip(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        number = self.heap.data(args.pos[0]).number if args.pos else 0
        bound = self.heap.load(args.pos[0]) if args.pos else NONE
        known = float(bound.value) if isinstance(bound, Const) and isinstance(bound.value, int | float) else None
        cut = self.cut(
            ("position", _bare_roots(held.rows), "", number), CutKind.POSITION, site, bound=known, explicit=False
        )
        return self.narrowed(held, cut, 1)

    def _m_sample(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not held.rows:
            return held
        replacing = _true(self.heap, args.kw.get("replace"))
        frac = self.heap.load(args.kw.get("frac", NONE))
        size = self.heap.load(args.get(0, "n") or NONE)
        if replacing or (isinstance(frac, Const) and isinstance(frac.value, int | float) and frac.value > 1):
            draw = self.draw("sample with replacement", held, site)
            return self.marked(held.but(number=self.heap.fresh(), flags=held.flags | {"repeated"}), frozenset({draw}))
        if isinstance(frac, Const) and frac.value == 1:
            return held.but(number=self.heap.fresh(), flags=held.flags | {"shuffled"})
        seed = self.heap.load(args.kw.get("random_state", NONE))
        key: object = (
            ("sample", held.rows, str(size), str(frac), seed.value)
            if isinstance(seed, Const) and isinstance(seed.value, int)
            else ("sample", site, held.rows)
        )
        cut = self.cut(key, CutKind.RANDOM, site, explicit=False, roles=("", ""))
        return self.narrowed(held, cut, 0)

    def draw(self, what: str, data: Data, site: Site) -> Draw:
        event = Draw(what, data.rows, site, self.i.loops, self.called(data))
        return self.i.emit((site, what, data.rows), event)  # type: ignore[no-any-return]

    def _m_drop(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        target = args.kw.get("columns")
        labels = args.get(0, "labels") if target is None else None
        index = args.kw.get("index")
        axis = self.heap.load(args.get(1, "axis") or NONE)
        if target is None and labels is not None:
            if isinstance(axis, Const) and axis.value in (1, "columns"):
                target = labels
            else:
                inner = self.heap.load(labels)
                names = self.names_in(inner)
                if names and not (isinstance(axis, Const) and axis.value in (0, "index")):
                    target = labels
                else:
                    index = labels
        new = held
        if held.kind == "columns":
            return self._fewer_columns(owner, held, target if target is not None else index)
        if target is not None:
            names = self.names_in(self.heap.load(target))
            chooser = self.heap.data(target)
            if names is not None:
                new = self._without(new, names)
            else:
                number = self.heap.number("drop", held.number, chooser.number)
                columns = replace(held.columns, open=True) if held.columns is not None else None
                new = self.selected_by(
                    held.but(number=number, columns=columns),
                    chooser.but(kind="columns" if not chooser.marks else chooser.kind),
                )
                if columns is not None:
                    new = new.but(columns=None)
        if index is not None:
            picker = self.heap.data(index)
            keys = picker.keys if picker.keys is not None else NO_ROWS
            if keys and "reset" in picker.flags and "reset" not in held.flags:
                cut = self.cut(("first rows", site), CutKind.POSITION, site, explicit=False)
                new = self.narrowed(new, cut, 1)
            elif keys:
                rest = self._rest(new.rows, keys)
                new = self._bounded_drop(
                    new.but(rows=rest, number=self.heap.number("drop", new.number, picker.number)), picker
                )
            else:
                cut = self.cut(("drop", new.number, picker.number), CutKind.FILTER, site, explicit=False)
                new = self._bounded_drop(self.narrowed(new, cut, 1), picker)
        return self._rewritten(owner, held, args, new)

    def _fewer_columns(self, owner: Value, held: Data, gone: Value | None) -> Data:
        names = self.names_in(self.heap.load(gone)) if gone is not None else None
        if names is None or held.columns is None:
            return held.but(columns=None, number=self.heap.fresh())
        return self.fewer_columns(held, names)

    def fewer_columns(self, held: Data, names: Sequence[str]) -> Data:
        """A list of columns less the named ones."""
        if held.columns is None:
            return held
        named = {n: c for n, c in held.columns.named.items() if n not in names}
        columns = replace(held.columns, named=named, dropped=held.columns.dropped | frozenset(names))
        return held.but(columns=columns, number=self.heap.number("without", held.number, tuple(names)))

    def _m_remove(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        chosen = frozenset(m for m in self.heap.data(args.pos[0] if args.pos else None).marks if isinstance(m, Learn))
        if held.kind == "columns" and isinstance(owner, Ref) and chosen:
            self.heap.set(owner.address, held.but(marks=held.marks | chosen, columns=None, number=self.heap.fresh()))
        elif held.kind == "columns" and isinstance(owner, Ref):
            self.heap.set(owner.address, self._fewer_columns(owner, held, args.pos[0] if args.pos else None))
        return NONE

    def _bounded_drop(self, data: Data, picker: Data) -> Data:
        marks = frozenset(
            m for m in picker.marks if isinstance(m, Learn) and (m.category == "outliers" or m.what in _BOUNDS)
        )
        return self.marked(data, marks)

    def _m_pop(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        names = self.names_in(self.heap.load(args.pos[0])) if args.pos else None
        if names is None:
            return self.element(owner)
        column = self._column(held, names[0])
        if isinstance(owner, Ref):
            self.heap.set(owner.address, self._without(held, names))
        return column

    def _m_assign(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        ref = self.heap.new(held)
        for name, value in args.kw.items():
            if isinstance(value, Function):
                value = self.i.call(value, _args(ref), site)
            self.set_column(ref, name, value)
        return self.heap.load(ref)  # type: ignore[no-any-return]

    def _m_with_columns(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        # Statistics inside an expression are those of the frame it is used on.
        marks: set[Mark] = set()
        for value in args.all():
            for mark in self.heap.data(value).marks:
                if isinstance(mark, Learn) and not mark.rows:
                    mark = self.i.emit((mark, held.rows), replace(mark, rows=held.rows, name=self.called(held)))
                marks.add(mark)
        return self.marked(held.but(number=self.heap.fresh()), frozenset(marks))

    def _m_insert(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        name = self.heap.load(args.get(1, "column") or NONE)
        value = args.get(2, "value")
        if isinstance(owner, Ref) and isinstance(name, Const) and value is not None:
            self.set_column(owner, str(name.value), value)
        return NONE

    def _m_rename(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        mapping = self.heap.load(args.kw.get("columns", args.pos[0] if args.pos else NONE))
        new = held.but(number=self.heap.number("rename", held.number))
        if isinstance(mapping, DictObject) and held.columns is not None:
            columns = held.columns
            for old, fresh in mapping.items.items():
                name = self.heap.load(fresh)
                if isinstance(name, Const) and isinstance(name.value, str):
                    column = self._column(held, str(old))
                    named = {k: v for k, v in columns.named.items() if k != old}
                    columns = replace(
                        columns, named={**named, name.value: column}, dropped=columns.dropped | {str(old)}
                    )
            new = new.but(columns=columns)
        return self._rewritten(owner, held, args, new)

    def _m_select_dtypes(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(columns=None, kind="part", number=self.heap.fresh())

    def _m_filter(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind in ("dataset", "tensor") or (args.pos and isinstance(self.heap.load(args.pos[0]), Function)):
            cut = self.cut(("filter", site, held.rows), CutKind.MASK, site, explicit=False)
            return self.narrowed(held, cut, True) if held.rows else held
        return held.but(columns=None, kind="part", number=self.heap.fresh())

    def _m_query(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        text = self.heap.load(args.pos[0]) if args.pos else NONE
        key = ("query", held.number, text.value) if isinstance(text, Const) else ("query", site)
        cut = self.cut(key, CutKind.MASK, site, explicit=False)
        return self._rewritten(owner, held, args, self.narrowed(held, cut, True))

    def _m_isin(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        keys = other.keys
        number = self.heap.number("isin", held.number, other.number)
        if keys is not None and held.keys is not None:
            for _, cuts in keys:
                if cuts:
                    cut, part = cuts[-1]
                    left: object = (
                        ("not", part)
                        if not isinstance(part, bool) and part not in (0, 1)
                        else (not part if isinstance(part, bool) else 1 - part)
                    )
                    return held.but(kind="mask", mask=((cut, part, left),), number=number, keys=None)
        if other.rows and other.rows != held.rows:
            # Membership in values drawn from rows: an entity split by its ids.
            for _, cuts in other.rows:
                if cuts:
                    cut, part = cuts[-1]
                    left = (
                        ("not", part)
                        if not isinstance(part, bool) and part not in (0, 1)
                        else (not part if isinstance(part, bool) else 1 - part)
                    )
                    return held.but(kind="mask", mask=((cut, part, left),), number=number, keys=None)
        cut = self.cut(("truth", number), CutKind.MASK, site, explicit=False)
        return held.but(kind="mask", number=number, mask=((cut, True, False),), keys=None)

    def _m_difference(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "columns":
            return self._fewer_columns(owner, held, args.pos[0] if args.pos else None)
        other = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        return self._difference(held, other, self.heap.number("difference", held.number, other.number))

    def _m_isnull(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return Data(rows=held.rows, kind="mask", number=self.heap.number("isnull", held.number), name=held.name)

    _m_isna = _m_notnull = _m_notna = _m_duplicated = _m_isnull

    def _m_between(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in args.all()))
        number = self.heap.number("between", held.number, *(self.heap.data(v).number for v in args.all()))
        return held.but(kind="mask", columns=None, marks=held.marks | marks, number=number, mask=(), each=())

    def _m_any(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if self._across_columns(args, None):
            return held.but(kind="mask", number=self.heap.number("any", held.number), columns=None)
        return Data(
            kind="scalar",
            number=self.heap.number("any", held.number),
            marks=held.marks if not held.rows else _scores(held.marks),
        )

    _m_all = _m_any

    def _m_sum(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        number = self.heap.number("sum", held.number)
        if held.rows and self._across_columns(args, None):
            return held.but(number=number, kind="series", columns=None)
        return Data(kind="scalar", number=number, marks=_scores(held.marks))

    _m_nunique = _m_count = _m_unique = _m_tolist_sum = _m_sum

    def _m_item(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return Data(kind="scalar", number=self.heap.number("item", held.number), marks=_scores(held.marks))

    def _m_value_counts(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        marks: frozenset[Mark] = NO_MARKS
        if held.rows and held.kind != "mask":
            marks = frozenset({self.learn("value_counts", "categories", held, site)})
        return Data(
            kind="table", number=self.heap.number("value_counts", held.number), marks=marks | _scores(held.marks)
        )

    def _m_groupby(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        by = args.get(0, "by") or args.kw.get("level") or NONE
        names = self.names_in(self.heap.load(by))
        frame = held.columns.frame if held.columns is not None else 0
        sources = frozenset((frame, name) for name in names or ())
        series = self.heap.data(by)
        if not names and series.rows:
            sources |= series.sources
        if held.columns is None:
            sources |= held.sources
        number = self.heap.number("groupby", held.number, self.heap.data(by).number)
        return Data(
            rows=held.rows,
            marks=held.marks,
            kind="groupby",
            number=number,
            sources=sources,
            each=(owner if isinstance(owner, Ref) else held,),
            name=held.name,
            flags=held.flags,
        )

    def _group_method(self, owner: Value, held: Data, name: str, args: Args, site: Site) -> Value:
        base = self.heap.data(held.each[0]) if held.each else UNKNOWN
        first = args.pos[0] if args.pos else args.kw.get("func")
        inner = self.heap.load(first) if first is not None else None
        word = inner.value if isinstance(inner, Const) and isinstance(inner.value, str) else ""
        if isinstance(inner, Lib):
            word = inner.name.rsplit(".", 1)[-1]
        series = base.but(
            kind="series",
            columns=None,
            sources=held.sources,
            number=self.heap.number(name, held.number, word),
            mask=(),
            each=(),
        )
        if name in _GROUP_NOTHING or (
            name in ("transform", "agg", "aggregate") and word in _GROUP_NOTHING | {"len", "sum"} and word
        ):
            if (
                name
                in (
                    "transform",
                    "shift",
                    "diff",
                    "rank",
                    "cumsum",
                    "cumcount",
                    "ffill",
                    "bfill",
                    "cumprod",
                    "cummax",
                    "cummin",
                    "pct_change",
                    "rolling",
                    "expanding",
                    "ewm",
                )
                and base.rows
            ):
                return series.but(kind="rolling") if name in ("rolling", "expanding", "ewm") else series
            return Data(kind="table", number=series.number, sources=held.sources)
        if name in ("sample", "head", "tail"):
            return self.call_method(held.each[0], name, args, site) if held.each else series
        if name == "apply" and isinstance(inner, Function):
            result = self.i.call(inner, _args(base.but(number=self.heap.fresh())), site)
            data = self.heap.data(result)
            return data if data.rows else data.but(kind="table")
        if name == "sum":
            return Data(kind="table", number=series.number, sources=held.sources)
        if not base.rows:
            return series
        if isinstance(inner, Function) and name in ("transform",):
            # The function says what is learned: a mean inside it, or nothing.
            result = self.heap.data(self.i.call(inner, _args(series), site))
            marks = frozenset(self._grouped(m, held) if isinstance(m, Learn) else m for m in result.marks)
            return series.but(marks=base.marks & result.marks | marks)
        if name not in ("transform", "agg", "aggregate", "apply", "describe", "fillna") and name not in STATISTICS:
            return series.but(kind="groupby", each=held.each, rows=held.rows)
        what = f"groupby {word or name}" if name in ("transform", "agg", "aggregate") else f"groupby {name}"
        learned = self.learn(
            what, "group-statistic", base.but(columns=None, sources=held.sources), site, columns=held.sources
        )
        if name in ("transform", "fillna"):
            return self.marked(series, frozenset({learned}))
        return Data(
            kind="table", marks=frozenset({learned}), number=series.number, sources=held.sources, name=held.name
        )

    def _grouped(self, mark: Learn, held: Data) -> Learn:
        changed = replace(mark, category="group-statistic", columns=mark.columns | held.sources)
        return self.i.emit((mark, "grouped", held.sources), changed)  # type: ignore[no-any-return]

    def _rolling(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(
            kind="rolling",
            number=self.heap.number("rolling", held.number, *(self.heap.data(v).number for v in args.all())),
            flags=held.flags | {"lag"},
        )

    _m_rolling = _m_expanding = _m_ewm = _rolling

    def _m_shift(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(
            number=self.heap.number("shift", held.number, *(self.heap.data(v).number for v in args.all())),
            flags=held.flags | {"lag"},
        )

    _m_diff = _m_pct_change = _m_shift

    def _applied(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        """`apply`, `map`, `pipe`: a function over rows, over columns, or over the whole."""
        first = args.pos[0] if args.pos else args.kw.get("func", args.kw.get("function"))
        inner = self.heap.load(first) if first is not None else None
        rest = _args(*args.pos[1:])
        if isinstance(inner, Function | Method | Partial):
            columnwise = held.kind == "frame" and not self._across_columns(_kw_only(args), None)
            passed = (
                held.but(kind="series", columns=None) if columnwise else held.but(kind="row", number=self.heap.fresh())
            )
            result = self.i.call(inner, _args(passed, *rest.pos), site)
            data = self.heap.data(result)
            marks = data.marks
            number = self.heap.fresh()
            sources = held.sources | data.sources
            if columnwise:
                return self.marked(held.but(number=number, each=()), marks)
            return held.but(
                kind="series" if held.kind == "frame" else held.kind,
                columns=None,
                marks=(held.marks if held.kind != "frame" else NO_MARKS) | marks,
                number=number,
                sources=sources,
                each=(result,) if isinstance(result, Items) else (),
                flags=held.flags | {"rowwise"},
                mask=(),
            )
        others = self.heap.data(first) if first is not None else UNKNOWN
        if isinstance(inner, Lib):
            name = inner.name.rsplit(".", 1)[-1]
            if name in STATISTICS and held.kind == "frame" and not self._across_columns(_kw_only(args), None):
                return self.statistic(name, held, _no_args(), site)
            called = (
                self.i.library.call(inner.name, _args(held.but(kind="row")), site) if held.kind != "frame" else held
            )
            others = self.heap.data(called)
        return self.marked(
            held.but(number=self.heap.number("map", held.number, others.number), each=(), mask=()), others.marks
        )

    _m_apply = _m_map = _m_applymap = _m_transform = _applied

    def _m_pipe(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.i.call(args.pos[0], _args(owner, *args.pos[1:], **args.kw), site) if args.pos else held

    def _m_agg(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.statistic("mean", held, _no_args(), site) if held.rows else held

    def _m_merge(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = self.heap.data(args.get(0, "right") or args.kw.get("other"))
        return self.joined(held, other)

    _m_join = _m_merge

    def joined(self, left: Data, right: Data) -> Data:
        """Columns of another table are joined on; the rows stay those of the left one."""
        if not left.rows:
            return right if right.rows else left.but(marks=left.marks | right.marks)
        marks = right.marks
        columns = left.columns
        if columns is not None:
            named = dict(columns.named)
            if right.columns is not None:
                for name, column in right.columns.named.items():
                    named.setdefault(name, column.but(rows=left.rows))
            columns = replace(columns, named=named, extra=columns.extra | marks)
        number = self.heap.number("merge", left.number, right.number)
        return left.but(columns=columns, marks=left.marks | marks, number=number, each=())

    def _m_align(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = args.get(0, "other") or UNKNOWN
        return Items((held.but(name=""), self.heap.data(other).but(name="")))

    def _m_append(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not args.pos:
            return held
        return self.combined([owner, *args.pos], columns=False, site=site)

    def combined(self, values: list[Value], *, columns: bool, site: Site | None = None) -> Data:
        """Several tables under each other, or side by side."""
        parts: list[Data] = []
        for value in values:
            held = self.heap.load(value)
            if isinstance(held, ListObject | Items):
                inner = self.unpack(value, None)
                parts += (
                    [self.heap.data(v) for v in inner] if inner is not None else [self.heap.data(self.element(value))]
                )
            elif isinstance(held, DictObject):
                parts += [self.heap.data(v) for v in held.items.values()]
            else:
                parts.append(self.heap.data(value))
        parts = [p for p in parts if p.rows or p.marks] or parts
        if not parts:
            return UNKNOWN
        number = self.heap.number("columns" if columns else "concat", *(p.number for p in parts))
        marks: frozenset[Mark] = NO_MARKS.union(*(p.marks for p in parts))
        if columns:
            first = next((p for p in parts if p.rows), parts[0])
            result = first
            for part in parts:
                if part is not first:
                    result = self.joined(result, part)
            frame = first.columns
            return result.but(
                number=number,
                columns=result.columns if frame is not None else None,
                marks=marks,
                sources=frozenset().union(*(p.sources for p in parts)),
            )
        rows = union(*(p.rows for p in parts))
        first = parts[0]
        merged = self._stacked_columns(parts)
        drawn: frozenset[Mark] = frozenset(m for m in marks if isinstance(m, Draw))
        if site is not None and self._repeats_rows(parts):
            drawn |= {self.draw("copies appended", next(p for p in parts[1:]) if len(parts) > 1 else first, site)}
        result = Data(
            rows=rows,
            marks=marks,
            kind=first.kind if first.kind != "row" else "array",
            columns=merged,
            number=number,
            name="",
            sources=frozenset().union(*(p.sources for p in parts)),
        )
        return self.marked(result.but(marks=marks - drawn), drawn)

    def _repeats_rows(self, parts: list[Data]) -> bool:
        """Whether some rows are put in twice: a table with a part of itself appended."""
        for n, part in enumerate(parts):
            for other in parts[n + 1 :]:
                made = any(root.kind == "made" for root, _ in part.rows)
                if part.rows and other.rows and other.kind != "row" and part.kind != "row" and not made:
                    drawn = "repeated" in other.flags or "repeated" in part.flags
                    if drawn and overlap(part.rows, other.rows) is Overlap.YES:
                        return True
                    if (
                        part.columns is not None
                        and other.columns is not None
                        and part.columns.frame == other.columns.frame
                        and self._all_within(other.rows, part.rows)
                        and part.number != other.number
                        and "lead" not in other.flags
                    ):
                        return True
                    if (
                        part.rows == other.rows
                        and part.kind in ("frame", "array", "tensor")
                        and other.kind == part.kind
                    ):
                        return "window" not in part.flags
        return False

    def _all_within(self, inner: Rows, outer: Rows) -> bool:
        return all(any(root is r and steps[: len(t)] == t for r, t in outer) for root, steps in inner)

    def _stacked_columns(self, parts: list[Data]) -> Columns | None:
        frames = [p.columns for p in parts]
        if any(c is None for c in frames):
            return None
        known = [c for c in frames if c is not None]
        first = known[0]
        named = dict(first.named)
        for columns in known[1:]:
            for name, column in columns.named.items():
                named[name] = self.heap.join_data(named[name], column) if name in named else column
        dropped = frozenset(first.dropped).intersection(*(c.dropped for c in known))
        return Columns(
            first.frame,
            named,
            any(c.open for c in known),
            dropped,
            NO_MARKS.union(*(c.rest for c in known)),
            NO_MARKS.union(*(c.extra for c in known)),
        )

    def _m_to_list(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "columns":
            return self.heap.new(held)
        return held.but(number=self.heap.number("list", held.number))

    _m_tolist = _m_to_list

    def _m_items(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(
            each=(
                Items(
                    (
                        Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"column"})),
                        held.but(kind="series", columns=None),
                    )
                ),
            ),
            flags=held.flags | {"rowwise"},
            kind="array",
        )

    _m_iteritems = _m_items

    def _m_iterrows(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        item = Data(kind="index-item", number=self.heap.fresh(), flags=frozenset({"item", "varies"}))
        return held.but(
            each=(Items((item, held.but(kind="row", number=self.heap.fresh()))),),
            flags=held.flags | {"rowwise"},
            kind="array",
        )

    def _m_keys(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return Data(kind="columns", number=self.heap.number("columns", held.number))

    def _m_backward(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        self.i.library.train_by_loss(held, site)
        return NONE

    def _m_shuffle(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(
            number=self.heap.fresh(),
            flags=held.flags | {"shuffled", f"order:{self.heap.number('shuffle', held.number, str(site.span))}"},
        )

    def _m_train_test_split(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        parts = self.i.library.split_in_two([held], args, site, "train_test_split")
        return self.heap.new(DictObject({"train": parts[0], "test": parts[1]}))

    def _random_split(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        sizes = self.unpack(args.pos[0], None) if args.pos else None
        return self.i.library.random_parts(held, len(sizes) if sizes else 2, site, "randomSplit")

    _m_randomSplit = _random_split  # noqa: N815  (Spark's spelling)

    def _m_split(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "dataset" and args.pos:
            return self._random_split(owner, held, args, site)
        return held.but(number=self.heap.number("split", held.number))

    def _m_select(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not args.pos:
            return held
        value = self.heap.load(args.pos[0])
        if held.kind == "dataset" and isinstance(value, Data):
            return self._range_of(held, value, site) if "range" in value.flags else self._picked(held, value)
        names = self.names_in(value)
        return (
            self._columns_by_name(held, names, single=False)
            if names
            else held.but(columns=None, number=self.heap.fresh())
        )

    def _range_of(self, held: Data, value: Data, site: Site) -> Data:
        bounds = [self.heap.load(v) for v in value.each]
        pairs = [(bounds[0], 0)] if len(bounds) == 1 else [(bounds[0], 1), (bounds[1], 0)] if bounds else []
        result = held
        for bound, part in pairs:
            known = float(bound.value) if isinstance(bound, Const) and isinstance(bound.value, int | float) else None
            if part == 1 and known == 0:
                continue
            order = next((f for f in held.flags if f.startswith("order:")), "")
            cut = self.cut(
                ("position", _bare_roots(held.rows), order, self.heap.data(bound).number),
                CutKind.POSITION,
                site,
                bound=known,
                explicit=False,
            )
            result = self.narrowed(result, cut, part)
        return result

    # --- methods of lists, dicts and constants -------------------------------------------------------------------

    def _constant_method(self, held: Const, name: str, args: Args) -> Value:
        if isinstance(held.value, str):
            if name in ("lower", "upper", "strip", "title"):
                return Const(getattr(held.value, name)())
            if name == "split" and not args.pos:
                return Items(tuple(Const(part) for part in held.value.split()))
            if name == "join" and args.pos:
                return self.heap.data(args.pos[0]).but(number=self.heap.fresh())
        others = [self.heap.data(v) for v in args.all()]
        marks = NO_MARKS.union(*(d.marks for d in others)) if others else NO_MARKS
        return Data(kind="scalar", number=self.heap.fresh(), marks=_scores(marks))

    def _list_method(self, owner: Value, held: ListObject | Items, name: str, args: Args, site: Site) -> Value:
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
            exact = all(loop.turn is not None for loop in self.i.loops)
            if held.items is not None and exact and len(held.items) < 64:
                self.heap.set(owner.address, ListObject((*held.items, value)))
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
                else Data(kind="scalar", number=self.heap.fresh(), marks=_scores(self.heap.data(owner).marks))
            )
        if name in ("_replace",) and isinstance(held, Items):
            return Items(
                tuple(args.kw.get(f, v) for f, v in zip(held.fields, held.items, strict=False)), held.fields, held.cls
            )
        if name == "_asdict" and isinstance(held, Items):
            return self.heap.new(DictObject(dict(zip(held.fields, held.items, strict=False))))
        return self.heap.data(owner).but(number=self.heap.fresh())

    def _dict_method(self, owner: Value, held: DictObject, name: str, args: Args, site: Site) -> Value:
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
            found = self._item_of_dict(held, args.pos[0])
            if found is UNKNOWN and len(args.pos) > 1:
                found = args.pos[1]
                if name == "setdefault" and isinstance(owner, Ref):
                    key = self.heap.load(args.pos[0])
                    if isinstance(key, Const) and _hashable(key.value):
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
            return self.pass_through(args)
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
                    {k: self.i.call(self.i.get_attr(v, name, _node(site)), args, site) for k, v in held.items.items()},
                    held.any,
                )
            )
        return UNKNOWN

    # --- unknown code --------------------------------------------------------------------------------------------

    def from_outside(self, name: str, result: Value, args: Args, site: Site) -> Value:
        """Rows that an unknown function brings in, where its name says that it loads data."""
        held = self.heap.load(result)
        words = set(split_words(name))
        if not isinstance(held, Data) or held.rows or held.marks or not words & _LOADING:
            return result
        said = [w for v in args.all() for w in split_words(str(getattr(self.heap.load(v), "value", "")))]
        role = next((r for r in (role_of_word(w) for w in [*split_words(name), *said]) if r), "")
        return self.i.new_rows(name, site, "unknown", "unknown", role=role)

    def rooted(self, data: Data, site: Site) -> Data:
        """A value that is used as rows without known rows: rows of its own, the same for the same value."""
        if data.rows or not data.number or data.kind in ("scalar", "index", "columns", "object", "expression"):
            return data
        rows = self.i.new_rows("data", Site("", None, (0, 0, 0, 0)), "unknown", "unknown", key=data.number).rows
        if data.name:
            self.i.hint(rows, data.name)
        return data.but(rows=rows)

    def unknown_call(self, callee: Value, args: Args, site: Site) -> Value:
        """Code that is not known passes rows through and learns nothing."""
        held = self.heap.load(callee)
        if isinstance(held, Data) and held.rows and not args.pos and not args.kw:
            return held
        return self.pass_through(args)

    def pass_through(self, args: Args) -> Value:
        values = args.all()
        carriers = [v for v in values if self.heap.data(v).rows]
        if not carriers:
            marks = NO_MARKS.union(*(self.heap.data(v).marks for v in values)) if values else NO_MARKS
            return Data(marks=marks, number=self.heap.fresh())
        several = [self.heap.data(v) for v in carriers]
        if len(several) == 1:
            return several[0].but(
                columns=None,
                kind="unknown" if several[0].kind != "row" else "row",
                number=self.heap.fresh(),
                each=(),
                mask=(),
                keys=None,
                flags=several[0].flags | {"call"},
            )
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in values))
        return Data(rows=union(*(d.rows for d in several)), marks=marks, number=self.heap.fresh(), each=tuple(carriers))


def _args(*pos: Value, **kw: Value) -> Args:
    from leakcheck.flow.interpret import Args

    return Args(list(pos), dict(kw))


def _no_args() -> Args:
    return _args()


def _kw_only(args: Args) -> Args:
    return _args(**{k: v for k, v in args.kw.items() if k in ("axis", "dim")})


def _node(site: Site) -> s.Node:
    return s.Node(site.span)


def _scores(marks: frozenset[Mark]) -> frozenset[Mark]:
    return frozenset(m for m in marks if isinstance(m, Score | Predict))


def _true(heap: Any, value: Value | None) -> bool:
    held = heap.load(value) if value is not None else None
    return isinstance(held, Const) and held.value is True


def split_words(name: str) -> list[str]:
    """The words of a name: `self.X_testSet` gives self, x, test, set; digits end a word."""
    words: list[str] = []
    current = ""
    for before, char in zip(" " + name, name, strict=False):
        if not char.isalpha():
            words.append(current)
            current = ""
        elif char.isupper() and before.islower():
            words.append(current)
            current = char.lower()
        else:
            current += char.lower()
    words.append(current)
    return [w for w in words if w]


def _hashable(value: object) -> bool:
    return isinstance(value, str | int | float | bool | bytes | type(None) | complex)


def _name_compared(node: s.Node) -> str:
    if isinstance(node, s.Op):
        return next((o.id for o in node.operands if isinstance(o, s.Name) and "best" not in split_words(o.id)), "")
    return ""


def _keeps_best_test(node: s.Node, body: s.Block) -> bool:
    """`if test_acc > best_acc: best_acc = test_acc`, by the names alone."""
    if not isinstance(node, s.Op) or node.op not in _ORDERINGS or len(node.operands) != 2:
        return False
    names = [o.id for o in node.operands if isinstance(o, s.Name)]
    if len(names) != 2:
        return False
    best = next((n for n in names if {"best", "max", "min", "lowest", "highest"} & set(split_words(n))), None)
    tested = next((n for n in names if n != best), None)
    if best is None or tested is None:
        return False
    words = split_words(tested)
    if "test" not in {role_of_word(w) for w in words} or not set(words) & _METRIC_WORDS:
        return False
    targets = {t.id for stmt in body if isinstance(stmt, s.Assign) for t in stmt.targets if isinstance(t, s.Name)}
    return best in targets


_METRIC_WORDS = frozenset(
    [
        "acc",
        "accuracy",
        "loss",
        "auc",
        "f",
        "score",
        "error",
        "err",
        "mse",
        "rmse",
        "mae",
        "recall",
        "precision",
        "map",
        "miou",
        "dice",
        "psnr",
        "bleu",
        "rouge",
        "ndcg",
        "hit",
        "mrr",
        "cost",
        "r",
        "perplexity",
        "ppl",
        "wer",
    ]
)


def _full_slice(node: s.Expr) -> bool:
    return isinstance(node, s.Slice) and node.lower is None and node.upper is None


def _bare_roots(rows: Rows) -> object:
    """What a slice is a slice of: its rows less the slices already taken (bounds count from the same start)."""
    return frozenset(
        (id(root), tuple((id(cut), part) for cut, part in steps if cut.kind is not CutKind.POSITION))
        for root, steps in rows
    )


def _parallel(a: Rows, b: Rows) -> bool:
    """Rows of different roots that went through the same cuts: features and target kept in two arrays."""
    return {steps for _, steps in a} == {steps for _, steps in b}


def _has_effect(block: s.Block) -> bool:
    """Whether a branch keeps something: assigns, saves, returns or leaves."""
    for node in block:
        if isinstance(node, s.Assign | s.AugAssign | s.Return | s.Jump):
            return True
        if isinstance(node, s.ExprStmt) and isinstance(node.value, s.Call):
            name = node.value.func.name if isinstance(node.value.func, s.Attr) else getattr(node.value.func, "id", "")
            if any(
                word in name.lower()
                for word in ("save", "dump", "copy", "update", "append", "load_state", "checkpoint", "setattr")
            ):
                return True
        if isinstance(node, s.If | s.For | s.While | s.With | s.Try) and _has_effect(node.body):
            return True
    return False
