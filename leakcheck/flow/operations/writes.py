"""Assignments into frames, arrays and containers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import LOOKS_AHEAD, Learn, Predict, Tie
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import BOUNDS, arguments, hashable
from leakcheck.flow.values import (
    NO_MARKS,
    UNKNOWN,
    Choice,
    Columns,
    Const,
    Data,
    DictObject,
    Instance,
    LibObject,
    ListObject,
    Ref,
    Value,
)


class Writes(Operations):
    """Assignments into frames, arrays and containers."""

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
            names = self.i.data.names_in(self.heap.load(key))
            if names is not None and held.kind not in ("array", "tensor"):
                parts = self.i.containers.unpack(value, None)
                for n, name in enumerate(names):
                    if parts is not None and len(parts) == len(names):
                        self.set_column(base, name, parts[n])
                    elif len(names) > 1:
                        # A transformed table goes back column by column: each comes from its own.
                        old = self.i.subscripts.column(held, name)
                        new = self.heap.data(value)
                        self.set_column(base, name, new.but(sources=old.sources, flags=old.flags))
                    else:
                        self.set_column(base, name, value)
            elif held.kind == "frame" or "column" in self.heap.data(key).flags:
                pattern = self.heap.data(key).name
                self._set_unknown_columns(base, held, value, pattern if "*" in pattern else "*")
            else:
                mask = self.i.positions.written(held, self.heap.data(key), value)
                if mask is not None:
                    self.heap.set(base.address, mask)
                else:
                    self._blend(base, held, value)
            return
        key = self.heap.load(self.i.eval(index)) if not isinstance(index, s.Slice) else UNKNOWN
        value = self.i.boxed(value, key.value) if isinstance(key, Const) and isinstance(key.value, str) else value
        if isinstance(held, DictObject):
            if isinstance(key, Const) and hashable(key.value):
                together = {**held.items, key.value: value}
                self.heap.set(base.address, DictObject(together, held.any, held.default))
                self.i.showing.meet(together.values(), self.i.statement_site())
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
                self.heap.set(base.address, ListObject(None, self.heap.join(self.i.containers.element(base), value)))
        elif isinstance(held, Instance):
            self.i.call_method(base, "__setitem__", arguments(key, value), self.i.site(target))
        elif isinstance(held, LibObject) and isinstance(key, Const):
            self.heap.set(base.address, replace(held, attrs={**held.attrs, str(key.value): value}))

    def _set_unknown_columns(self, base: Ref, held: Data, value: Value, pattern: str) -> None:
        """Columns of unknown name are written: any unnamed column may be one of them."""
        new = self.heap.data(value)
        marks = frozenset(m for m in new.marks if isinstance(m, Learn | Predict | Tie))
        if held.columns is not None:
            # What looks ahead may be the label: only what is taken together with all columns has it for sure.
            any_column = frozenset(m for m in marks if not (isinstance(m, Tie) and m.kind in LOOKS_AHEAD))
            bound = self.i.series.bound(marks, (held.columns.frame, pattern))
            columns = replace(held.columns, rest=held.columns.rest | any_column, extra=held.columns.extra | bound)
            flags = held.flags | (new.flags & {"filled"})
            changed = held.but(columns=columns, marks=held.marks | bound, number=self.heap.fresh(), flags=flags)
            self.heap.set(base.address, changed)
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
            names = self.i.data.column_names(index.items[1])
            mask = self.heap.data(self.i.eval(index.items[0])) if not isinstance(index.items[0], s.Slice) else UNKNOWN
            bounds = frozenset(m for m in mask.marks if isinstance(m, Learn) and m.what in BOUNDS)
            if names is not None and accessor != "array":
                new = self.heap.data(value)
                for name in names:
                    old = self.i.subscripts.column(held, name)
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
        blended = self.i.data.marked(held, new.marks).but(rows=rows, number=self.heap.fresh())
        flags = blended.flags | (new.flags & {"filled"})
        self.heap.set(base.address, blended.but(sources=blended.sources | new.sources, flags=flags))

    def set_column(self, base: Ref, name: str, value: Value) -> None:
        held = self.heap.load(base)
        if not isinstance(held, Data):
            return
        new = self.heap.data(value)
        columns = held.columns or Columns(self.heap.number("frame", held.number))
        known = isinstance(self.heap.load(value), Data)
        rows = held.rows or new.rows
        column = Data(
            rows=rows,
            marks=self.i.series.bound(new.marks, (columns.frame, name)),
            kind="series",
            sources=new.sources | ({(columns.frame, name)} if not new.sources else set()),
            number=new.number if known and new.number else self.heap.fresh(),
            name=held.name,
            flags=new.flags | {"made"},
            made_at=self.i.statement_site(),
        )
        if len(new.sources) == 1 and (columns.frame, name) not in new.sources:
            self.i.made_columns.setdefault((columns.frame, name), (next(iter(new.sources)), self.i.statement_site()))
        columns = replace(columns, named={**columns.named, name: column}, dropped=columns.dropped - {name})
        kind = "frame" if held.kind in ("unknown", "frame") else held.kind
        self.heap.set(
            base.address,
            held.but(rows=rows, kind=kind, columns=columns, marks=columns.marks(), number=self.heap.fresh()),
        )

    def delete_item(self, base: Value, index: Value) -> None:
        held = self.heap.load(base)
        names = self.i.data.names_in(self.heap.load(index))
        if isinstance(base, Ref) and isinstance(held, Data) and names is not None:
            self.heap.set(base.address, self.i.data.without(held, names))


def _full_slice(node: s.Expr) -> bool:
    return isinstance(node, s.Slice) and node.lower is None and node.upper is None
