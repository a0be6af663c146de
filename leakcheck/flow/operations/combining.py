"""Rows and columns put together: merge, concat, append."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from leakcheck.flow.events import Draw, Mark
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.data import is_copying, not_copied
from leakcheck.flow.rows import Cut, CutKind, Overlap, Rows, Site, other_side, overlap, union
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Columns,
    Const,
    Data,
    DictObject,
    Items,
    ListObject,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter


Mask: TypeAlias = tuple[
    tuple[Cut, object, object], ...
]  # conditions that all hold: the cut, the part kept, the part left

_ANTI = (Const("anti"), Const("left_anti"), Const("leftanti"))


class Combining(Operations):
    """Rows and columns put together."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.stacked: dict[Rows, tuple[Rows, ...]] = {}  # what tables put under each other hold, in order
        self.put_together: dict[Rows, Site] = {}  # and where
        self._looked_up: dict[int, Data] = {}  # by the number of an indicator column: the table that was looked up

    def m_merge(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        other = self.heap.data(args.get(0, "right") or args.kw.get("other"))
        return self.merged(held, other, args, site)

    def merged(self, held: Data, other: Data, args: Args, site: Site) -> Data:
        """A join of two tables, or the rows of the first that have no match in the second."""
        if held.rows and any(self.heap.load(how) in _ANTI for how in (args.kw.get("how", NONE), *args.pos[1:])):
            return self._without(held, other, site)
        new = self.joined(held, other)
        indicator = self.heap.load(args.kw.get("indicator", NONE))
        if isinstance(indicator, Const) and indicator.value and held.rows and new.columns is not None:
            name = "_merge" if indicator.value is True else str(indicator.value)
            column = Data(
                rows=held.rows, kind="series", number=self.heap.number("indicator", new.number), name=held.name
            )
            self._looked_up[column.number] = other
            new = new.but(columns=replace(new.columns, named={**new.columns.named, name: column}))
        return new

    def _without(self, held: Data, other: Data, site: Site) -> Data:
        """The rows of a table that have no match in another one."""
        number = self.heap.number("anti", held.number, other.number)
        for cut, part, _ in self._unmatched(held, other, number, site):
            held = self.i.data.narrowed(held, cut, part)
        return held.but(number=number)

    def _unmatched(self, held: Data, other: Data, number: int, site: Site) -> Mask:
        """The condition that rows have no match in a table: what was taken from them, or any other one."""
        same = {root for root, _ in held.rows} & {root for root, _ in other.rows}
        known = {steps for _, steps in held.rows}
        if same and all(steps and steps not in known for _, steps in other.rows):
            return tuple(dict.fromkeys((cut, other_side(part), part) for cut, part in (s[-1] for _, s in other.rows)))
        kind = CutKind.FILTER if same else CutKind.MASK
        return ((self.i.data.cut(("unmatched", number), kind, site, explicit=False), True, False),)

    def found(self, column: Data, word: object) -> Mask:
        """The condition that the indicator of a merge is `left_only` or `both`; empty for any other column."""
        other = self._looked_up.get(column.number)
        if other is None or word not in ("left_only", "both"):
            return ()
        conditions = self._unmatched(column, other, column.number, self.i.statement_site())
        if word == "left_only":
            return conditions
        return tuple((cut, left, kept) for cut, kept, left in conditions) if len(conditions) == 1 else ()

    def query_found(self, held: Data, text: str) -> Mask:
        """The same for the text of a query: `_merge == 'left_only'`."""
        name, _, word = (part.strip(" '\"`") for part in text.partition("=="))
        column = held.columns.named.get(name) if held.columns is not None else None
        return self.found(column, word) if column is not None else ()

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
        known = True  # each of the tables, not a list of any number of them
        for value in values:
            held = self.heap.load(value)
            if isinstance(held, ListObject | Items):
                inner = self.i.containers.unpack(value, None)
                known = known and inner is not None
                parts += (
                    [self.heap.data(v) for v in inner]
                    if inner is not None
                    else [self.heap.data(self.i.containers.element(value))]
                )
            elif isinstance(held, DictObject):
                parts += [self.heap.data(v) for v in held.items.values()]
            else:
                parts.append(self.heap.data(value))
        if not parts:
            return UNKNOWN
        # One row with something behind it, such as the zeros that fill it up.
        several = [p for p in parts if p.rows]
        padded = known and bool(parts[0].rows) and all(p.kind == "row" and p.keys is None for p in several)
        parts = [p for p in parts if p.rows or p.marks] or parts
        number = self.heap.number("columns" if columns else "concat", *(p.number for p in parts))
        marks: frozenset[Mark] = NO_MARKS.union(*(p.marks for p in parts))
        if columns:
            if not all(any(map(is_copying, p.marks)) for p in parts):
                marks = not_copied(marks)
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
        if len(parts) > 1 and all(p.rows for p in parts):
            self.stacked[rows] = tuple(p.rows for p in parts)
            if site is not None:
                self.put_together[rows] = site
        first = parts[0]
        merged = self._stacked_columns(parts)
        drawn: frozenset[Mark] = frozenset(m for m in marks if isinstance(m, Draw))
        if site is not None and self._repeats_rows(parts):
            drawn |= {self.i.data.draw("appending copies", first, site)}
        result = Data(
            rows=rows,
            marks=marks,
            kind="array" if first.kind == "row" and not padded else first.kind,
            columns=merged,
            number=number,
            name="",
            sources=frozenset().union(*(p.sources for p in parts)),
        )
        return self.i.data.put_together(self.i.data.marked(result.but(marks=marks - drawn), drawn))

    def on_side(self, data: Data, bound: Data, part: int) -> Rows | None:
        """The tables before, or from, a place in several that were put under each other.

        The place is counted by their lengths: `both[: len(train)]`, `both[len(both) - len(test) - 60 :]`. What a slice
        takes in from the table before is there to look back at from the first of its rows.
        """
        tables = self.stacked.get(data.rows)
        if tables is None:
            return None
        lengths = self._lengths(bound.number, 1)
        counts = [lengths.get(table, 0) for table in tables]
        for n in range(1, len(tables)):
            from_start = counts == [1] * n + [0] * (len(tables) - n) and not lengths.get(data.rows)
            from_end = counts == [0] * n + [-1] * (len(tables) - n) and lengths.get(data.rows, 0) in (0, 1)
            if from_start or from_end:
                return union(*(tables[n:] if part else tables[:n]))
        return None

    def _lengths(self, number: int, sign: int) -> dict[Rows, int]:
        """How often a sum counts the lengths of which tables."""
        rows = self.i.builtins.counted.get(number)
        if rows:
            return {rows: sign}
        parts = self.heap.parts(number)
        if parts[:1] not in (("+",), ("-",)):
            return {}
        found: dict[Rows, int] = {}
        for n, part in enumerate(parts[1:]):
            negative = parts[0] == "-" and (n == 1 or len(parts) == 2)
            for counted, count in self._lengths(part, -sign if negative else sign).items():
                found[counted] = found.get(counted, 0) + count
        return found

    def _repeats_rows(self, parts: list[Data]) -> bool:
        """Whether some rows are put in twice: a table with a part of itself appended."""
        for n, part in enumerate(parts):
            for other in parts[n + 1 :]:
                if "record" in other.flags:
                    continue  # a loop loads other rows in each of its rounds
                made = any(root.kind == "made" for root, _ in part.rows)
                if _of_one_round(other):
                    continue
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
                        # What unknown code returns twice can be different rows.
                        and not ("call" in part.flags and "call" in other.flags)
                        and part.kind in ("frame", "array", "tensor")
                        and other.kind == part.kind
                        and _one_frame(part, other)
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
        # What the first table is known to lack is no column of its rows, whatever another file may hold.
        dropped = first.dropped.intersection(*(c.dropped for c in known if c.frame == first.frame)) - named.keys()
        return Columns(
            first.frame,
            named,
            any(c.open for c in known),
            dropped,
            NO_MARKS.union(*(c.rest for c in known)),
            NO_MARKS.union(*(c.extra for c in known)),
        )


def _of_one_round(data: Data) -> bool:
    """Whether rows are the held-out fold or the group of a loop's round: the next round adds others."""
    return any(
        part == "one group" or (cut.kind is CutKind.FOLD and part != 0) for _, steps in data.rows for cut, part in steps
    )


def _one_frame(a: Data, b: Data) -> bool:
    """Whether two tables can have the same columns: not where each was put together from columns of its own."""
    return a.columns is None or b.columns is None or a.columns.frame == b.columns.frame


def _unnamed(data: Data) -> frozenset[Mark]:
    """Marks of the columns whose names are not known."""
    columns = data.columns
    if columns is None:
        return data.marks
    return columns.rest | columns.extra if columns.open else columns.extra
