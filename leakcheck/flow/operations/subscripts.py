"""What a subscript or an attribute of a frame, array or tensor selects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import LOOKS_AHEAD, Draw, Learn, Mark, Score, TieKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import (
    BOUNDS,
    EXTREMA,
    LEARNER_METHODS,
    RELATIONS,
    SEARCH_CALLS,
    STATISTICS,
    Evaluated,
    arguments,
    bare_roots,
    dotted_name,
    draw_flag,
    role_of_word,
    scores_of,
    split_words,
)
from leakcheck.flow.rows import Cut, CutKind, Rows, apply_steps, within
from leakcheck.flow.values import (
    UNKNOWN,
    Choice,
    Columns,
    Const,
    Data,
    DictObject,
    Instance,
    Items,
    Lib,
    LibObject,
    ListObject,
    Method,
    Value,
)


class Subscripts(Operations):
    """What a subscript or an attribute of a frame, array or tensor selects."""

    def get_item(self, base: Value, index: s.Expr, node: s.Node) -> Value:
        if not isinstance(index, s.Slice | s.Const | Evaluated) and not (
            isinstance(index, s.Seq) and index.kind == "tuple"
        ):
            index = Evaluated(index.span, self.i.eval(index))  # type: ignore[assignment]
        if isinstance(base, Lib):
            value = self.i.eval(index)
            if base.name in ("numpy.c_", "numpy.r_", "numpy.s_"):
                return self.i.combining.combined([value], columns=base.name == "numpy.c_")
            return base if "." not in base.name or base.name.startswith("typing") else UNKNOWN
        held = self.heap.load(base)
        if isinstance(held, Choice):
            return self.heap.join_all([self.get_item(option, index, node) for option in held.options])  # type: ignore[no-any-return]
        if isinstance(held, Items | ListObject):
            return self.i.containers.item_of_sequence(base, held, index)
        if isinstance(held, DictObject):
            key = self.i.eval(index)
            item = self.i.containers.item_of_dict(held, key, base)
            self._name_part(node, key, item)
            return item
        if isinstance(held, Instance):
            got = self.i.call_method(base, "__getitem__", arguments(self.i.eval(index)), self.i.site(node))
            if got is not None:
                return got
            return self.i.objects.instance_item(base, held, self.i.eval(index))
        if isinstance(held, LibObject):
            return self.i.objects.get_item(base, held, self._index_value(index), self.i.site(node))
        if isinstance(held, Method):
            held = base = self.field_taken(held) or base
        if isinstance(held, Data):
            return self._item_of_data(base, held, index, node)
        return UNKNOWN

    def _name_part(self, node: s.Node, key: Value, item: Value) -> None:
        """What the code calls rows that it takes from a dict of parts and gives no name: `parts["test"]`."""
        held, rows = self.heap.load(key), self.heap.data(item).rows
        if rows and rows not in self.i.names and isinstance(held, Const) and isinstance(node, s.Index):
            owner = dotted_name(node.base) if isinstance(node.base, s.Name | s.Attr) else ""
            if owner and isinstance(held.value, str) and any(map(role_of_word, split_words(held.value))):
                self.i.hint(rows, f'{owner}["{held.value}"]')

    def _index_value(self, index: s.Expr) -> Value:
        return self.i.eval(index) if not isinstance(index, s.Slice) else UNKNOWN

    def bound(self, node: s.Expr | None) -> Any:
        if node is None:
            return None
        value = self.heap.load(self.i.eval(node))
        return value.value if isinstance(value, Const) else value

    def _item_of_data(self, base: Value, held: Data, index: s.Expr, node: s.Node) -> Value:
        if held.kind in ("loc", "iloc") and held.each:
            owner = held.each[0]
            data = self.heap.data(owner)
            if (
                "sorted" in data.flags
                and not data.rows
                and isinstance(index, s.Const | Evaluated)
                and scores_of(data.marks)
            ):
                return self.i.choices.extremum("first", [data], self.i.site(node))
            if isinstance(index, s.Seq) and index.kind == "tuple" and len(index.items) >= 2:
                data = self._select_rows(data, index.items[0], labels=held.kind == "loc")
                return self._select_columns(data, index.items[1], positions=held.kind == "iloc")
            return self._select_rows(data, index, labels=held.kind == "loc")
        if held.kind == "groupby":
            names = self.i.data.column_names(index)
            inner = self.heap.data(held.each[0]) if held.each else UNKNOWN
            frame = inner.columns.frame if inner.columns is not None else 0
            picked = frozenset((frame, name) for name in names) if names is not None else frozenset()
            each = (self.columns_by_name(inner, names, single=len(names) == 1),) if names and inner.rows else held.each
            return held.but(sources=held.sources | picked, flags=held.flags | {"picked"}, each=each)
        if isinstance(index, s.Seq) and index.kind == "tuple":
            return self._item_by_tuple(held, index)
        if isinstance(index, s.Slice):
            return self.sliced(held, index)
        names = self.i.data.column_names(index)
        if names is not None and held.kind not in ("series", "columns", "index", "mask", "array", "tensor"):
            if held.kind == "rolling":
                return self.columns_by_name(held, names, single=len(names) == 1).but(kind="rolling")
            return self.columns_by_name(held, names, single=isinstance(self.heap.load(self.i.eval(index)), Const))
        return self._select_rows(held, index, labels=held.kind in ("series",), subscript=True)

    def _item_by_tuple(self, held: Data, index: s.Seq) -> Value:
        if not index.items or held.kind == "row":
            return held.but(number=self.heap.fresh(), each=())  # a part of one row, which has several dimensions
        first = index.items[0]
        names = [self.heap.load(self.i.eval(i)) for i in index.items] if held.kind == "frame" else []
        if names and all(isinstance(n, Const) for n in names):
            return self.column(held, str(tuple(n.value for n in names)))
        data = held
        if not (isinstance(first, s.Const) and first.value in (None, ...)):
            data = self._select_rows(held, first, labels=False, subscript=True)
        for part in index.items[1:2]:
            data = self._select_columns(data, part, positions=True)
        return data

    def columns_by_name(self, held: Data, names: list[str], *, single: bool) -> Data:
        if single:
            return self.column(held, names[0])
        columns = held.columns or Columns(self.heap.number("frame", held.number))
        named = {name: self.column(held, name) for name in names}
        picked = Columns(columns.frame, named, open=False)
        number = self.heap.number("columns", held.number, tuple(names))
        return held.but(kind="frame", columns=picked, marks=picked.marks(), number=number, each=(), sources=frozenset())

    def column(self, held: Data, name: str) -> Data:
        columns = held.columns
        if columns is None:
            # Not known to be a frame: a field of a record, a split of a dict of splits.
            number = self.heap.number("column", held.number, name)
            frame = self.heap.number("frame", held.number)
            sources = held.sources or frozenset({(frame, name)})
            role = next((r for r in (role_of_word(w) for w in split_words(name)) if r), "")
            if role and held.kind in ("unknown", "dataset", "array") and held.rows:
                return self.i.data.part_named(held, held.but(number=number, sources=sources), role).but(name=name)
            kind = "row" if held.kind == "row" else "series"
            return held.but(kind=kind, number=number, sources=sources, each=(), flags=held.flags | {"picked"})
        known = columns.named.get(name)
        if known is not None:
            flags = known.flags
            if ("reversed" in flags) != ("reversed" in held.flags):
                flags ^= {"reversed"}
            kind = "row" if held.kind == "row" else known.kind
            return known.but(rows=held.rows, name=held.name, keys=None, flags=flags, kind=kind)
        number = self.heap.number("column", columns.frame, name)
        return Data(
            rows=held.rows,
            marks=columns.rest | self.i.series.named_like(columns.extra, name)
            if columns.open
            else held.marks & columns.extra,
            kind="row" if held.kind == "row" else "series",
            sources=frozenset({(columns.frame, name)}),
            number=number,
            name=held.name,
            flags=held.flags - {"reset"} | (held.flags & {"reset", "sorted", "record"}),
        )

    def _select_columns(self, data: Data, index: s.Expr, *, positions: bool) -> Data:
        if isinstance(index, s.Slice):
            if index.lower is None and index.upper is None:
                return data
            # Which columns a slice keeps is not known; what is marked may be among them.
            number = self.heap.number(
                "columns", data.number, str(self.bound(index.lower)), str(self.bound(index.upper))
            )
            data = self.i.series.without_last(data, self.bound(index.upper))
            return data.but(columns=None, number=number, kind="array" if data.kind == "array" else "part")
        value = self.heap.load(self.i.eval(index))
        names = self.i.data.names_in(value)
        if names is not None and data.kind not in ("array", "tensor"):
            return self.columns_by_name(data, names, single=isinstance(value, Const))
        number = self.heap.number("columns", data.number, self.heap.data(value).number)
        if isinstance(value, Const):
            frame = data.columns.frame if data.columns else self.heap.number("frame", data.number)
            return data.but(columns=None, number=number, kind="series", sources=frozenset({(frame, f"#{value.value}")}))
        picker = self.heap.data(value)
        picked = self.selected_by(data.but(number=number), picker)
        one = {"varies", "item"} <= picker.flags and not picker.rows  # the number of a loop's round
        return picked.but(flags=picked.flags | {"some column"}) if one else picked

    def selected_by(self, data: Data, chooser: Data) -> Data:
        """Columns picked by a computed list: what decided the list marks what is picked."""
        marks: set[Mark] = set()
        for mark in chooser.marks:
            if isinstance(mark, Learn):
                if mark.category in ("selection", "target-encoding") or mark.fitted:
                    marks.add(mark if mark.category == "selection" else self._as_selection(mark))
                elif mark.what in RELATIONS or mark.category == "relation":
                    marks.add(self._as_selection(mark))
            elif isinstance(mark, Score):
                marks.add(mark)
        columns = chooser.columns if chooser.kind == "columns" and data.columns is not None else None
        if columns is not None and data.columns is not None and columns.frame == data.columns.frame:
            names = columns.dropped - data.columns.named.keys() | (data.columns.dropped | columns.dropped)
            named = {n: c for n, c in data.columns.named.items() if n not in columns.dropped}
            kept = replace(data.columns, named=named, dropped=frozenset(names))
            flags = data.flags | (chooser.flags & {"numeric"})
            return data.but(columns=kept, marks=kept.marks() | marks, kind="frame", flags=flags)
        # Which columns these are is not known: what looks ahead may be the label, which is left out.
        data = self.i.series.untied(
            data, lambda tie: tie.kind is TieKind.LATER or (tie.kind in LOOKS_AHEAD and not tie.whole)
        )
        return data.but(columns=None, marks=data.marks | marks)

    def _is_statistic(self, number: int) -> bool:
        """Whether this is what a statistic gave for all columns, neither sorted nor filtered."""
        parts = self.heap.parts(number)
        return bool(parts) and (parts[0] in STATISTICS or (parts[0] == "T" and self._is_statistic(parts[1])))

    def _as_selection(self, mark: Learn) -> Learn:
        changed = replace(mark, category="selection")
        return self.i.emit((mark, "selection"), changed)  # type: ignore[no-any-return]

    def sliced(self, data: Data, index: s.Slice) -> Data:
        """`data[lower:upper]`: each bound is a cut."""
        if (not data.rows and data.kind != "index") or data.kind in ("row", "index-item", "columns"):
            return data.but(each=(), number=self.heap.fresh(), columns=None if data.kind == "columns" else data.columns)
        step = self.bound(index.step)
        if step == -1:
            data = data.but(flags=data.flags ^ {"reversed"})
        if (isinstance(step, int) and step not in (0, 1, -1)) or isinstance(step, Data):
            return self._strided(data, index, step)
        bounds = [self.heap.data(self.i.eval(node)) for node in (index.lower, index.upper) if node is not None]
        near = self.i.positions.near(data, bounds, self.i.site(index))
        if near is not None:
            return near
        result = data
        for bound_node, part in ((index.lower, 1), (index.upper, 0)):
            if bound_node is None:
                continue
            value = self.heap.load(self.i.eval(bound_node))
            if isinstance(value, Const) and (value.value is None or (part == 1 and value.value == 0)):
                continue
            bound = self.heap.data(value)
            if "item" in bound.flags or self._varies(bound):
                # A window that moves with the loop: any of the rows that the loop passes.
                result = self.i.positions.passed(result, bound, self.i.site(bound_node))
                if index.lower is not None and index.upper is not None:
                    lower, upper = (self.heap.data(self.i.eval(part)) for part in (index.lower, index.upper))
                    result = self.i.series.window(result, lower, upper, self.i.site(index))
                result = result.but(number=self.heap.fresh(), flags=result.flags | {"window"})
                return self.i.data.some(result, ("window", *(b.number for b in bounds)), self.i.site(index))
            cut = self.i.data.cut_at(data, value, self.i.site(bound_node))
            tables = self.i.combining.on_side(data, bound, part) if len(bounds) == 1 else None
            result = self.i.data.narrowed(result if tables is None else result.but(rows=tables), cut, part)
        return result

    def _strided(self, data: Data, index: s.Slice, step: Any) -> Data:
        """`data[::2]` and `data[1::2]`: every so-and-so-many rows, from a start."""
        start = self.bound(index.lower) or 0
        base = data.keys if data.keys is not None else data.rows
        cut = self.i.data.cut(
            ("stride", bare_roots(base), step if isinstance(step, int) else step.number),
            CutKind.POSITION,
            self.i.site(index),
            explicit=False,
        )
        return self.i.data.narrowed(
            data, cut, ("start", start if isinstance(start, int) else self.heap.data(start).number)
        )

    def _varies(self, bound: Data) -> bool:
        return "varies" in bound.flags

    def _select_rows(self, data: Data, index: s.Expr, *, labels: bool, subscript: bool = False) -> Data:
        if isinstance(index, s.Slice):
            return self.sliced(data, index)
        value = self.i.eval(index)
        held = self.heap.load(value)
        if data.kind == "columns":
            picker = self.heap.data(value)
            marks = frozenset(m for m in picker.marks if isinstance(m, Learn | Score))
            return data.but(marks=data.marks | marks, number=self.heap.fresh(), columns=None)
        if isinstance(held, Const):
            number = self.heap.number("item", data.number, held.value)
            if isinstance(held.value, str):
                return self.column(data, held.value) if subscript else data.but(number=number, kind="row", columns=None)
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
                if not (isinstance(held, ListObject) and held.items is not None):
                    data = self.i.data.some(data, ("picked", inner.number), self.i.site(index))
                return data.but(number=self.heap.number("picked", data.number, inner.number))
            return self.picked(data, inner)
        picker = self.heap.data(value)
        if not data.rows and data.marks and picker.rows:
            return self.picked(data, picker)
        counted = "varies" in picker.flags and "range" not in picker.flags and not picker.rows
        labelled = data.kind == "series" or (data.kind == "frame" and not subscript)
        one_row = counted and (labelled or ("by row" in picker.flags and data.kind in ("array", "tensor", "unknown")))
        if picker.kind in ("scalar", "index-item") or "column" in picker.flags or one_row:
            if subscript and (data.kind in ("frame",) or "column" in picker.flags):
                # A column whose name is not known: one of several in a loop.
                number = self.heap.number("column?", data.number, picker.number)
                data = self.i.series.any_column(data, picker.name)
                return data.but(kind="series", columns=None, number=number, flags=data.flags | {"some column"})
            if picker.kind == "index-item":
                data = self.i.positions.passed(data, picker, self.i.site(index))
                around = "near" in picker.flags and "spaced" not in picker.flags
                data = self.i.positions.at(data, picker)
                if around:
                    data = self.i.series.tied(data, TieKind.WINDOW, "windows", self.i.data.any_site(picker))
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
        if counted:
            data = data.but(flags=data.flags | {"one of"})
        elif not subscript and data.rows and picker.kind == "unknown" and not picker.rows and not picker.mask:
            # Some of the rows: which ones is not known, nor what they share with others picked in this way.
            cut = self.i.data.cut(("picked", picker.number), CutKind.MASK, self.i.site(index), explicit=False)
            return self.i.data.narrowed(data, cut, ("named", "", picker.number))
        return self.picked(data, picker)

    def picked(self, data: Data, picker: Data) -> Data:
        """Rows of `data` at the places that a mask or an index names."""
        if picker.mask:
            return self._filtered(data, picker)
        picker = self.i.positions.places(picker)
        unknown = picker.kind == "unknown" or "call" in picker.flags or not picker.rows
        if unknown and picker.keys is None and data.columns is not None:
            data = data.but(columns=None)  # it may be a list of columns as well
        # A column of the table itself picks the rows in which it is true.
        own_column = picker.kind == "series" and picker.keys is None and data.kind in ("frame", "series", "array")
        if picker.kind == "mask" or (own_column and picker.rows and within(data.rows, picker.rows)):
            cut = self.i.data.cut(
                ("truth", picker.number),
                CutKind.RANDOM if "random" in picker.flags else CutKind.MASK,
                self.i.data.any_site(picker),
                drawn=draw_flag(picker.flags),
            )
            return self._bounded(self.i.data.narrowed(data, cut, True), picker, cut)
        keys = picker.keys if picker.keys is not None else picker.rows
        if keys and (picker.kind in ("index", "array", "unknown", "series", "part") or picker.keys is not None):
            rows = apply_steps(data.rows, keys)
            number = self.heap.number("picked", data.number, picker.number)
            for _, cuts in keys:
                for cut, part in cuts:
                    self.i.cuts_used.add((cut, part))
            if rows == data.rows and any(root.kind == "parameter" for root, _ in keys):
                # An index from outside: some of the rows, which ones is not known.
                cut = self.i.data.cut(
                    ("index", picker.number), CutKind.MASK, self.i.data.any_site(picker), explicit=False
                )
                return self.i.data.narrowed(data, cut, True)
            if picker.name and rows != data.rows:
                self.i.hint(rows, picker.name)
            draws = frozenset(self._drawn(m, rows) for m in picker.marks if isinstance(m, Draw))
            flags = data.flags | (picker.flags & {"shuffled"})
            return self.i.data.marked(data.but(rows=rows, number=number, each=(), flags=flags), draws)
        if not data.rows:
            # A table without rows of its own, asked for what belongs to each row's value.
            marks = frozenset(m for m in picker.marks if isinstance(m, Learn | Score))
            number = self.heap.number("picked", data.number, picker.number)
            return data.but(
                marks=data.marks | marks, number=number, rows=picker.rows, kind="row" if picker.rows else data.kind
            )
        if picker.kind == "row" and {root for root, _ in picker.rows} == {root for root, _ in data.rows}:
            # The item of a dict whose key a loop over some of its keys meets.
            data = data.but(rows=apply_steps(data.rows, picker.rows))
        drawn = frozenset(m for m in picker.marks if isinstance(m, Learn | Draw))
        data = self.i.data.some(data, ("picked", picker.number), self.i.data.any_site(picker))
        return self.i.data.marked(data.but(number=self.heap.number("picked", data.number, picker.number)), drawn)

    def _drawn(self, draw: Draw, rows: Rows) -> Draw:
        """What was said of positions, said of the rows at these places."""
        if {root for root, _ in draw.rows} & {root for root, _ in rows}:
            return draw
        return self.i.emit((draw, rows), replace(draw, rows=rows))  # type: ignore[no-any-return]

    def _filtered(self, data: Data, mask: Data) -> Data:
        result = data
        for cut, kept, _ in mask.mask:
            result = self.i.data.narrowed(result, cut, kept)
        return self._bounded(result, mask, mask.mask[0][0])

    def _bounded(self, data: Data, mask: Data, cut: Cut) -> Data:
        """Rows kept by bounds that were computed from all rows carry what was learned for the bounds."""
        marks: set[Mark] = set()
        for mark in mask.marks:
            if isinstance(mark, Learn):
                if mark.category == "statistic" and mark.what in BOUNDS:
                    changed = replace(mark, category="outliers", cut=cut)
                    marks.add(self.i.emit((mark, "outliers", cut), changed))
                elif mark.category in ("outliers", "scaling", "clustering"):
                    changed = replace(mark, cut=cut)
                    marks.add(self.i.emit((mark, "kept", cut), changed))
        return self.i.data.marked(data, frozenset(marks))

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
            # What a loader returns may hold a table in its `data`.
            kind = "unknown" if name == "data" and held.kind in ("bunch", "unknown") else "array"
            flags = held.flags ^ {"turned round"} if name == "T" else held.flags
            return held.but(kind=kind, number=self.heap.number(name, held.number), each=(), flags=flags)
        if name in ("index", "columns") and self._is_statistic(held.number):
            return Data(kind="columns", number=self.heap.number(name, held.number))  # all names, whatever the numbers
        if name == "index" and not held.rows:
            return held.but(kind="columns", number=self.heap.number("index", held.number))
        if name == "index":
            number = self.heap.number("index", held.number)
            return Data(
                kind="index",
                keys=held.rows,
                rows=held.rows,
                number=number,
                flags=held.flags & {"reset", "repeated"},
                marks=self.i.choices.choices(held),
            )
        if name == "columns":
            if held.columns is not None and not held.columns.open:
                return self.heap.new(ListObject(tuple(Const(n) for n in held.columns.named)))
            number = self.heap.number("columns", held.number)
            return Data(
                kind="columns",
                number=number,
                marks=self.i.choices.choices(held),
                columns=held.columns,
                flags=held.flags & {"numeric"},
            )
        if name in ("shape", "size", "ndim", "dtype", "dtypes"):
            number = self.heap.number(name, held.number)
            if name == "shape":
                self.i.builtins.counted[self.heap.number("item", number, 0)] = held.rows
            return Data(kind="scalar", number=number)
        if name == "style":
            return Data(kind="scalar", number=self.heap.fresh())
        if name in ("days", "seconds", "microseconds") and held.rows:
            return self.i.series.elapsed(held)
        if name in ("str", "dt", "cat", "sparse", "plot", "flat"):
            return held.but(number=self.heap.number(name, held.number))
        if name == "frame" and held.kind == "bunch":
            return held.but(
                kind="frame", columns=Columns(held.number), number=self.heap.number("frame of", held.number)
            )
        if name in ("features", "target", "targets", "labels") and held.kind == "bunch":
            return self._field(held, name)
        if self._is_method(held, name) or name in LEARNER_METHODS or name in SEARCH_CALLS:
            return Method(base, None, name)
        if (
            held.kind in ("frame", "unknown", "row")
            and held.columns is not None
            and (name in held.columns.named or held.kind == "frame")
        ):
            return self.column(held, name)
        if held.rows and held.columns is None and held.kind not in ("series", "array", "tensor", "index", "mask"):
            return self._field(held, name)
        # Not known to be a method: taken as one when it is called, as a field when it is not.
        return Method(base, None, name)

    def field_taken(self, method: Method) -> Data | None:
        """What was taken for a method of data and is a field, since it has attributes or items of its own."""
        owner = self.heap.load(method.owner)
        if method.function is not None or not isinstance(owner, Data) or not owner.rows:
            return None
        if owner.columns is not None and not self._is_method(owner, method.name):
            return self.column(owner, method.name)
        return self._field(owner, method.name)

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
            self.i.methods.has(name)
            or self.i.tables.any_method(name) is not None
            or name in STATISTICS
            or name in EXTREMA
        )
