"""Rows and columns put together: merge, concat, append."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leakcheck.flow.events import Draw, Mark
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.rows import Overlap, Rows, Site, overlap, union
from leakcheck.flow.values import (
    NO_MARKS,
    UNKNOWN,
    Columns,
    Data,
    DictObject,
    Items,
    ListObject,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args


class Combining(Operations):
    """Rows and columns put together."""

    def m_merge(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = self.heap.data(args.get(0, "right") or args.kw.get("other"))
        return self.joined(held, other)

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
            columns = replace(columns, named=named, extra=columns.extra | _unnamed(right))
        number = self.heap.number("merge", left.number, right.number)
        return left.but(columns=columns, marks=left.marks | marks, number=number, each=())

    def m_align(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = args.get(0, "other") or UNKNOWN
        return Items((held.but(name=""), self.heap.data(other).but(name="")))

    def m_append(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if not args.pos:
            return held
        return self.combined([owner, *args.pos], columns=False, site=site)

    def combined(self, values: list[Value], *, columns: bool, site: Site | None = None) -> Data:
        """Several tables under each other, or side by side."""
        parts: list[Data] = []
        for value in values:
            held = self.heap.load(value)
            if isinstance(held, ListObject | Items):
                inner = self.i.containers.unpack(value, None)
                parts += (
                    [self.heap.data(v) for v in inner]
                    if inner is not None
                    else [self.heap.data(self.i.containers.element(value))]
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
            drawn |= {
                self.i.data.draw("copies appended", next(p for p in parts[1:]) if len(parts) > 1 else first, site)
            }
        result = Data(
            rows=rows,
            marks=marks,
            kind=first.kind if first.kind != "row" else "array",
            columns=merged,
            number=number,
            name="",
            sources=frozenset().union(*(p.sources for p in parts)),
        )
        return self.i.data.put_together(self.i.data.marked(result.but(marks=marks - drawn), drawn))

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


def _unnamed(data: Data) -> frozenset[Mark]:
    """Marks of the columns whose names are not known."""
    columns = data.columns
    if columns is None:
        return data.marks
    return columns.rest | columns.extra if columns.open else columns.extra
