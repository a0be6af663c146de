"""Methods of frames, arrays and tensors, one `m_NAME` each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow.events import Learn, Mark, Tie
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import (
    BOUNDS,
    EXPRESSION,
    arguments,
    kw_only,
    last_part,
    node_at,
    scores_of,
)
from leakcheck.flow.rows import NO_ROWS, CutKind, Site, other_side
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Const,
    Data,
    DictObject,
    Function,
    Items,
    Lib,
    ListObject,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args

_NUMBERS = frozenset(
    ["number", "int", "float", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", "integer"]
)
_NO_NUMBERS = frozenset(["object", "O", "category", "str", "string", "datetime", "datetime64", "bool"])


class Frames(Operations):
    """Methods of frames, arrays and tensors, one `m_NAME` each."""

    def m_copy(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(each=())

    def m_astype(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(each=())

    def rewritten(self, owner: Value, held: Data, args: Args, new: Data) -> Value:
        """The result of a frame method that may work in place."""
        if _true(self.heap, args.kw.get("inplace")) and isinstance(owner, Ref):
            self.heap.set(owner.address, new.but(name=held.name))
            self.i.hint(new.rows, held.name) if new.rows and held.name else None
            return NONE
        return new

    def m_reset_index(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.rewritten(
            owner, held, args, held.but(flags=held.flags | {"reset"}, number=self.heap.number("reset", held.number))
        )

    def m_set_index(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        new = held.but(number=self.heap.number("set_index", held.number))
        names = self.i.data.names_in(self.heap.load(args.get(0, "keys") or NONE))
        if names and held.columns is not None:
            new = self.i.data.without(new, names)
        new = self.i.series.set_index(held, new, names, self.heap.data(args.get(0, "keys")), site)
        return self.rewritten(owner, held, args, new)

    def m_sort_values(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        by = self.i.data.names_in(self.heap.load(args.get(0, "by") or NONE))
        if by and held.columns is not None and not held.rows:
            # A table of results that is ranked by a score.
            scores = scores_of(self.i.subscripts.column(held, by[0]).marks)
            held = held.but(marks=held.marks | scores)
        number = self.heap.number("sort", held.number, *(self.heap.data(v).number for v in args.all()))
        named = args.get(0, "by") is not None
        held = self.i.series.put_in_order(held, by or [] if named else None, args, site)
        return self.rewritten(owner, held, args, held.but(number=number, flags=held.flags | {"sorted"}))

    def m_fillna(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        value = args.get(0, "value")
        new = held.but(
            number=self.heap.number("fillna", held.number, self.heap.data(value).number if value else 0), mask=()
        )
        new = self.i.series.filled_by(new, args, site)
        if value is not None:
            inner = self.heap.load(value)
            if isinstance(inner, DictObject) and held.columns is not None:
                columns = held.columns
                for key, fill in inner.items.items():
                    column = self.i.subscripts.column(new, str(key))
                    columns = replace(
                        columns,
                        named={**columns.named, str(key): column.but(marks=column.marks | self.heap.data(fill).marks)},
                    )
                new = new.but(columns=columns, marks=columns.marks())
            else:
                new = self.i.data.marked(new, self.heap.data(value).marks)
        result = self.rewritten(owner, held, args, new)
        if result == NONE and not isinstance(owner, Ref):
            return NONE
        return result

    def m_dropna(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if self.i.operators.across_columns(kw_only(args), None):
            return self.rewritten(owner, held, args, held.but(number=self.heap.fresh()))
        cut = self.i.data.cut(("dropna", held.number), CutKind.FILTER, site, explicit=False)
        return self.rewritten(owner, held, args, self.i.data.narrowed(held, cut, 0))

    def m_head(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not held.rows:
            first = self.heap.load(args.pos[0]) if args.pos else NONE
            if "sorted" in held.flags and isinstance(first, Const) and first.value == 1 and scores_of(held.marks):
                return self.i.choices.extremum("first", [held], site)
            return held
        bound = args.pos[0] if args.pos else Const(5)
        return self.i.data.narrowed(held, self.i.data.cut_at(held, bound, site), 0)

    def m_tail(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        bound = self.i.operate("-", [args.pos[0] if args.pos else Const(5)], node_at(site))
        return self.i.data.narrowed(held, self.i.data.cut_at(held, bound, site), 1)

    def m_skip(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not args.pos:
            return held
        return self.i.data.narrowed(held, self.i.data.cut_at(held, args.pos[0], site), 1)

    def m_sample(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not held.rows:
            return held
        replacing = _true(self.heap, args.kw.get("replace"))
        frac = self.heap.load(args.kw.get("frac", NONE))
        size = self.heap.load(args.get(0, "n") or NONE)
        if replacing or (isinstance(frac, Const) and isinstance(frac.value, int | float) and frac.value > 1):
            draw = self.i.data.draw("sample with replacement", held, site)
            return self.i.data.marked(
                held.but(number=self.heap.fresh(), flags=held.flags | {"repeated"}), frozenset({draw})
            )
        seed = self.i.randomness.seed_of(args.kw.get("random_state"))
        origin = self.i.randomness.origin(site, seed)
        if isinstance(frac, Const) and frac.value == 1:
            number = self.heap.number("shuffle", held.number, origin)
            key = f"order:{number}"
            self.i.randomness.method("frame", "sample", args, site, None, key)
            return held.but(number=number, flags=held.flags | {"shuffled", key})
        identity = ("sample", held.rows, str(size), str(frac), seed) if seed else ("sample", origin, held.rows)
        cut = self.i.data.cut(identity, CutKind.RANDOM, site, explicit=False, roles=("", ""))
        self.i.randomness.method("frame", "sample", args, site, cut)
        return self.i.data.narrowed(held, cut, 0)

    def m_drop(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        target = args.kw.get("columns")
        labels = args.get(0, "labels") if target is None else None
        index = args.kw.get("index")
        axis = self.heap.load(args.get(1, "axis") or NONE)
        if target is None and labels is not None:
            if isinstance(axis, Const) and axis.value in (1, "columns"):
                target = labels
            else:
                inner = self.heap.load(labels)
                names = self.i.data.names_in(inner)
                if names and not (isinstance(axis, Const) and axis.value in (0, "index")):
                    target = labels
                else:
                    index = labels
        new = held
        if held.kind == "columns":
            return self._fewer_columns(owner, held, target if target is not None else index)
        if target is not None:
            names = self.i.data.names_in(self.heap.load(target))
            chooser = self.heap.data(target)
            if names is not None:
                new = self.i.data.without(new, names)
            else:
                number = self.heap.number("drop", held.number, chooser.number)
                columns = replace(held.columns, open=True) if held.columns is not None else None
                new = self.i.subscripts.selected_by(
                    held.but(number=number, columns=columns),
                    chooser.but(kind="columns" if not chooser.marks else chooser.kind),
                )
                if columns is not None:
                    new = new.but(columns=None)
        if index is not None:
            picker = self.heap.data(index)
            keys = picker.keys if picker.keys is not None else NO_ROWS
            if keys and "reset" in picker.flags and "reset" not in held.flags:
                cut = self.i.data.cut(("first rows", site), CutKind.POSITION, site, explicit=False)
                new = self.i.data.narrowed(new, cut, 1)
            elif keys:
                rest = self.i.operators.rest(new.rows, keys)
                new = self._bounded_drop(
                    new.but(rows=rest, number=self.heap.number("drop", new.number, picker.number)), picker
                )
            else:
                cut = self.i.data.cut(("drop", new.number, picker.number), CutKind.FILTER, site, explicit=False)
                new = self._bounded_drop(self.i.data.narrowed(new, cut, 1), picker)
        return self.rewritten(owner, held, args, new)

    def _fewer_columns(self, owner: Value, held: Data, gone: Value | None) -> Data:
        names = self.i.data.names_in(self.heap.load(gone)) if gone is not None else None
        if names is None or held.columns is None:
            return held.but(columns=None, number=self.heap.fresh())
        return self.i.data.fewer_columns(held, names)

    def m_remove(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        chosen = frozenset(m for m in self.heap.data(args.pos[0] if args.pos else None).marks if isinstance(m, Learn))
        if held.kind == "columns" and isinstance(owner, Ref) and chosen:
            self.heap.set(owner.address, held.but(marks=held.marks | chosen, columns=None, number=self.heap.fresh()))
        elif held.kind == "columns" and isinstance(owner, Ref):
            self.heap.set(owner.address, self._fewer_columns(owner, held, args.pos[0] if args.pos else None))
        return NONE

    def _bounded_drop(self, data: Data, picker: Data) -> Data:
        marks = frozenset(
            m for m in picker.marks if isinstance(m, Learn) and (m.category == "outliers" or m.what in BOUNDS)
        )
        return self.i.data.marked(data, marks)

    def m_pop(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "columns" and isinstance(owner, Ref):
            self.heap.set(owner.address, held.but(columns=None, number=self.heap.fresh()))
        names = self.i.data.names_in(self.heap.load(args.pos[0])) if args.pos else None
        if names is None:
            return self.i.containers.element(owner)
        column = self.i.subscripts.column(held, names[0])
        if isinstance(owner, Ref):
            self.heap.set(owner.address, self.i.data.without(held, names))
        return column

    def m_assign(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        ref = self.heap.new(held)
        for name, value in args.kw.items():
            if isinstance(value, Function):
                value = self.i.call(value, arguments(ref), site)
            self.i.writes.set_column(ref, name, value)
        return self.heap.load(ref)  # type: ignore[no-any-return]

    def m_with_columns(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        # Statistics inside an expression are those of the frame it is used on.
        marks: set[Mark] = set()
        ref = self.heap.new(held)
        named: list[tuple[str, Data]] = [(name, self.heap.data(value)) for name, value in args.kw.items()]
        for value in args.pos:
            inner = self.i.containers.unpack(value, None)
            parts = [self.heap.data(part) for part in (inner if inner is not None else [value])]
            named += [(part.name, part) for part in parts]
        for name, data in named:
            for mark in data.marks:
                if isinstance(mark, Learn) and not mark.rows:
                    frame = held.columns.frame if held.columns is not None else 0
                    columns = frozenset((frame if f == EXPRESSION else f, n) for f, n in mark.columns)
                    changed = replace(mark, rows=held.rows, columns=columns, name=self.i.data.called(held))
                    mark = self.i.emit((mark, held.rows), changed)
                if not isinstance(mark, Tie):
                    marks.add(mark)
            ties = self.i.series.of_rows(data.marks, held.rows)
            if ties and name:
                self.i.writes.set_column(ref, name, Data(kind="series", marks=ties, flags=data.flags))
        return self.i.data.marked(self.heap.load(ref).but(number=self.heap.fresh()), frozenset(marks))

    def m_alias(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        name = self.heap.load(args.pos[0]) if args.pos else NONE
        return held.but(name=str(name.value)) if isinstance(name, Const) else held

    def m_insert(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        name = self.heap.load(args.get(1, "column") or NONE)
        value = args.get(2, "value")
        if isinstance(owner, Ref) and isinstance(name, Const) and value is not None:
            self.i.writes.set_column(owner, str(name.value), value)
        return NONE

    def m_rename(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        mapping = self.heap.load(args.kw.get("columns", args.pos[0] if args.pos else NONE))
        new = held.but(number=self.heap.number("rename", held.number))
        if isinstance(mapping, DictObject) and held.columns is not None:
            columns = held.columns
            for old, fresh in mapping.items.items():
                name = self.heap.load(fresh)
                if isinstance(name, Const) and isinstance(name.value, str):
                    column = self.i.subscripts.column(held, str(old))
                    named = {k: v for k, v in columns.named.items() if k != old}
                    columns = replace(
                        columns, named={**named, name.value: column}, dropped=columns.dropped | {str(old)}
                    )
            new = new.but(columns=columns)
        return self.rewritten(owner, held, args, new)

    def m_select_dtypes(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        included, excluded = (self._types(args.get(n, name)) for n, name in enumerate(("include", "exclude")))
        if held.columns is not None and (included or excluded) and included <= _NUMBERS and excluded <= _NO_NUMBERS:
            return held.but(number=self.heap.fresh(), flags=held.flags | {"numeric"})
        return held.but(columns=None, kind="part", number=self.heap.fresh())

    def _types(self, value: Value | None) -> set[str]:
        """Types as `select_dtypes` takes them: names, types or a list of either."""
        held = self.heap.load(value) if value is not None else None
        if isinstance(held, Items | ListObject):
            return {name for item in held.items or (UNKNOWN,) for name in self._types(item)}
        if isinstance(held, Lib):
            return {last_part(held.name)}
        if held is None or held == NONE:
            return set()
        return {str(held.value) if isinstance(held, Const) else "unknown"}

    def m_filter(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        first = self.heap.load(args.pos[0]) if args.pos else NONE
        # Polars, Spark and data sets keep rows by a condition, pandas keeps columns by a list of their labels.
        named = isinstance(first, Const) and isinstance(first.value, str)
        if held.kind in ("dataset", "tensor") or isinstance(first, Function | Data) or named:
            cut = self.i.data.cut(("filter", site, held.rows), CutKind.MASK, site, explicit=False)
            return self.i.data.narrowed(held, cut, True) if held.rows else held
        return held.but(columns=None, kind="part", number=self.heap.fresh())

    def m_query(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        text = self.heap.load(args.pos[0]) if args.pos else NONE
        found = self.i.combining.query_found(held, text.value) if isinstance(text, Const) else ()
        if found:
            return self.rewritten(owner, held, args, self.i.subscripts.picked(held, Data(kind="mask", mask=found)))
        key = ("query", held.number, text.value) if isinstance(text, Const) else ("query", site)
        cut = self.i.data.cut(key, CutKind.MASK, site, explicit=False)
        return self.rewritten(owner, held, args, self.i.data.narrowed(held, cut, True))

    def m_isin(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        keys = other.keys
        number = self.heap.number("isin", held.number, other.number)
        if keys is not None and held.keys is not None:
            for _, cuts in keys:
                if cuts:
                    cut, part = cuts[-1]
                    return held.but(kind="mask", mask=((cut, part, other_side(part)),), number=number, keys=None)
        if other.rows and other.rows != held.rows:
            # Membership in values drawn from rows: an entity split by its ids.
            for _, cuts in other.rows:
                if cuts:
                    cut, part = cuts[-1]
                    return held.but(kind="mask", mask=((cut, part, other_side(part)),), number=number, keys=None)
        cut = self.i.data.cut(("truth", number), CutKind.MASK, site, explicit=False)
        return held.but(kind="mask", number=number, mask=((cut, True, False),), keys=None)

    def m_difference(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "columns":
            return self._fewer_columns(owner, held, args.pos[0] if args.pos else None)
        other = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        return self.i.positions.left(held, other, self.heap.number("difference", held.number, other.number))

    def m_isnull(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return Data(rows=held.rows, kind="mask", number=self.heap.number("isnull", held.number), name=held.name)

    def m_between(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in args.all()))
        number = self.heap.number("between", held.number, *(self.heap.data(v).number for v in args.all()))
        return held.but(kind="mask", columns=None, marks=held.marks | marks, number=number, mask=(), each=())

    def m_any(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if self.i.operators.across_columns(args, None):
            return held.but(kind="mask", number=self.heap.number("any", held.number), columns=None)
        return Data(
            kind="scalar",
            number=self.heap.number("any", held.number),
            marks=held.marks if not held.rows else scores_of(held.marks),
        )

    def m_sum(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        number = self.heap.number("sum", held.number)
        if held.rows and self.i.operators.across_columns(args, None):
            return held.but(number=number, kind="series", columns=None)
        return Data(kind="scalar", number=number, marks=scores_of(held.marks))

    def m_unique(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        number = self.heap.number("unique", held.number)
        return Data(kind="scalar", number=number, marks=scores_of(held.marks), flags=frozenset({"distinct"}))

    def m_item(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return Data(kind="scalar", number=self.heap.number("item", held.number), marks=scores_of(held.marks))

    def m_value_counts(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        marks: frozenset[Mark] = NO_MARKS
        if held.rows and held.kind != "mask":
            marks = frozenset({self.i.data.learn("value_counts", "categories", held, site)})
        return Data(
            kind="table", number=self.heap.number("value_counts", held.number), marks=marks | scores_of(held.marks)
        )

    def m_to_list(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "columns":
            return self.heap.new(held)
        return held.but(number=self.heap.number("list", held.number))

    def m_items(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
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

    def m_iterrows(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        item = Data(kind="index-item", number=self.heap.fresh(), flags=frozenset({"item", "varies"}))
        return held.but(
            each=(Items((item, held.but(kind="row", number=self.heap.fresh()))),),
            flags=held.flags | {"rowwise"},
            kind="array",
        )

    def m_keys(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return Data(kind="columns", number=self.heap.number("columns", held.number))

    def m_backward(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        self.i.scoring.train_by_loss(held, site)
        return NONE

    def m_shuffle(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return held.but(
            number=self.heap.fresh(),
            flags=held.flags | {"shuffled", f"order:{self.heap.number('shuffle', held.number, str(site.span))}"},
        )

    def m_train_test_split(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        parts, cut = self.i.splitting.split_in_two([held], args, site, "train_test_split")
        self.i.randomness.method("dataset", "train_test_split", args, site, cut)
        return self.heap.new(DictObject({"train": parts[0], "test": parts[1]}))

    def m_random_split(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        held = self.i.data.rooted(held, site)
        sizes = self.i.containers.unpack(args.pos[0], None) if args.pos else None
        return self.i.splitting.random_parts(held, len(sizes) if sizes else 2, site, "randomSplit")[0]

    def m_split(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if held.kind == "dataset" and args.pos:
            return self.m_random_split(owner, held, args, site)
        return held.but(number=self.heap.number("split", held.number))

    def m_select(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not args.pos:
            return held
        value = self.heap.load(args.pos[0])
        if held.kind == "dataset" and isinstance(value, Data):
            return (
                self._range_of(held, value, site) if "range" in value.flags else self.i.subscripts.picked(held, value)
            )
        names = self.i.data.names_in(value)
        return (
            self.i.subscripts.columns_by_name(held, names, single=False)
            if names
            else held.but(columns=None, number=self.heap.fresh())
        )

    def _range_of(self, held: Data, value: Data, site: Site) -> Data:
        sides = (1, 0) if len(value.each) > 1 else (0,)
        result = held
        for bound, part in zip(value.each, sides, strict=False):
            if part == 1 and self.heap.load(bound) == Const(0):
                continue
            result = self.i.data.narrowed(result, self.i.data.cut_at(held, bound, site), part)
        return result


def _true(heap: Any, value: Value | None) -> bool:
    held = heap.load(value) if value is not None else None
    return isinstance(held, Const) and held.value is True
