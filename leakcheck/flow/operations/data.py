"""What happens to the rows, columns and marks of a value: cuts, parts, learning, unknown code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow import steps as s
from leakcheck.flow.events import Column, Draw, Learn, Loop, Mark, Pick
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import ITEM_OF, bare_roots, order_of, role_of_word, split_words
from leakcheck.flow.rows import Cut, CutKind, Site, narrow, union
from leakcheck.flow.values import (
    NO_MARKS,
    Columns,
    Const,
    Data,
    Items,
    ListObject,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

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

_FEATURES_OR_TARGET = frozenset(["x", "y", "features", "feature", "target", "targets", "label", "labels", "data", "df"])


class DataOperations(Operations):
    """Row flow through data values."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self._cuts: dict[object, Cut] = {}
        self.groups: set[Cut] = set()  # cuts into groups, each met in turn by a loop

    def cut(self, key: object, kind: CutKind, site: Site, **more: Any) -> Cut:
        """The cut with this identity: equal keys are the same cut."""
        known = self._cuts.get(key)
        if known is None:
            shuffled = more.pop("shuffled", kind is CutKind.RANDOM)
            more |= {"loops": self.loop_ids(), "arms": self.i.arms, "inner": self.i.fitting > 0}
            known = self._cuts[key] = Cut(kind, site, shuffled=shuffled, **more)
        return known

    def cut_at(self, data: Data, bound: Value, site: Site, *, unplaced: bool = False) -> Cut:
        """The cut of rows in their order at a position: before it part 0, from it on part 1."""
        held = self.heap.load(bound)
        number = held.value if isinstance(held, Const) and not isinstance(held.value, bool) else None
        order = order_of(data.flags)
        mixed = order.startswith("order:")
        rows = data.keys if data.keys is not None else data.rows
        return self.cut(
            ("position", bare_roots(rows), order, self.heap.data(bound).number, unplaced),
            CutKind.RANDOM if mixed else CutKind.POSITION,
            site,
            bound=float(number) if isinstance(number, int | float) else None,
            order=order if mixed else "",
            explicit=False,
            shuffled=bool(order),
            drawn=order,
            apart="group" if "distinct" in data.flags else "",  # all rows of a value go the same way
            unplaced=unplaced,
        )

    def loop_ids(self) -> tuple[int, ...]:
        return tuple(id(loop) for loop in self.i.loops)

    def narrowed(self, data: Data, cut: Cut, part: object) -> Data:
        self.i.cuts_used.add((cut, part))
        number = self.heap.number("part", data.number, id(cut), part)
        keys = narrow(data.keys, cut, part) if data.keys is not None else None
        return data.but(rows=narrow(data.rows, cut, part), number=number, keys=keys, each=())

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
        item_of = max((int(flag[len(ITEM_OF) :]) for flag in data.flags if flag.startswith(ITEM_OF)), default=None)
        key = (site, what, category, data.rows, supervised, columns, inherited, cut, item_of)
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
            item_of,
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

    def column_names(self, index: s.Expr) -> list[str] | None:
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

    def part_named(self, whole: Data, part: Value, role: str) -> Data:
        """The part of a data set that its name says: the train or the test part."""
        data = self.heap.data(part)
        if not role or not whole.rows:
            return data
        cut = self.cut(("named", whole.rows), CutKind.MASK, self._root_site(whole), explicit=True)
        return self.narrowed(data, cut, ("is", role)).but(kind="unknown" if data.kind == "row" else data.kind)

    def part_returned(self, whole: Data, part: Value, role: str, name: str) -> Data:
        """One of the parts that an unknown function returns together; their names tell the training from the test part.

        What parts of one role share is not known. Features and target of one part bear the same words.
        """
        data = self.heap.data(part)
        words = [word for word in split_words(name) if word not in _FEATURES_OR_TARGET]
        digits = [char for char in name if char.isdigit()]
        cut = self.cut(("returned", whole.number), CutKind.MASK, self.i.statement_site(), explicit=True)
        return self.narrowed(data, cut, ("named", role, *words, *digits)).but(name="")

    def _root_site(self, data: Data) -> Site:
        return next(root.site for root, _ in data.rows)

    def any_site(self, data: Data) -> Site:
        for root, _ in data.rows:
            return root.site
        return Site(self.i.unit.path, self.i.cell, (1, 1, 1, 1))

    def without(self, data: Data, names: Sequence[str]) -> Data:
        columns = data.columns or Columns(self.heap.number("frame", data.number), rest=data.marks)
        named = {n: c for n, c in columns.named.items() if n not in names}
        columns = replace(columns, named=named, dropped=columns.dropped | frozenset(names))
        number = self.heap.number("without", data.number, tuple(names))
        return data.but(kind="frame", columns=columns, marks=columns.marks(), number=number, each=())

    def draw(self, what: str, data: Data, site: Site) -> Draw:
        event = Draw(what, data.rows, site, self.i.loops, self.called(data))
        return self.i.emit((site, what, data.rows), event)  # type: ignore[no-any-return]

    def some(self, data: Data, key: object, site: Site) -> Data:
        """Some of the rows, of which is not known which; equal keys pick the same ones."""
        if not data.rows:
            return data
        return self.marked(data, frozenset({self.i.emit(("pick", key), Pick(site))}))

    def item(self, value: Value, loop: Loop) -> Value:
        """An item of a list as a loop meets it: its rows are one thing where the list is what is split later."""
        held = self.heap.load(value)
        if isinstance(held, Items):  # with its number, or beside the item of another list
            return replace(held, items=tuple(self.item(part, loop) for part in held.items))
        if not isinstance(held, Data) or not held.rows or held.kind == "row":
            return value
        return held.but(flags=held.flags | {f"{ITEM_OF}{id(loop)}"})

    def put_together(self, data: Data) -> Data:
        """The rows of many items under each other: what was learned of an item was learned of some of them."""

        def freed(marks: frozenset[Mark]) -> frozenset[Mark]:
            return frozenset(
                self.i.emit((m, "put together"), replace(m, item_of=None))
                if isinstance(m, Learn) and m.item_of is not None
                else m
                for m in marks
            )

        columns = data.columns
        if columns is not None and any(isinstance(m, Learn) and m.item_of is not None for m in data.marks):
            named = {name: column.but(marks=freed(column.marks)) for name, column in columns.named.items()}
            columns = replace(columns, named=named, rest=freed(columns.rest), extra=freed(columns.extra))
            return data.but(marks=freed(data.marks), columns=columns)
        return data

    def pieces(self, data: Data, site: Site) -> Data:
        """Pieces drawn from each row, with rows of their own: drawn again they are others, not copies."""
        if not data.rows:
            return data
        new = self.i.new_rows("pieces", site, "loader", "array")
        return new.but(marks=data.marks, flags=data.flags, name=data.name)

    def fewer_columns(self, held: Data, names: Sequence[str]) -> Data:
        """A list of columns less the named ones."""
        if held.columns is None:
            return held
        named = {n: c for n, c in held.columns.named.items() if n not in names}
        columns = replace(held.columns, named=named, dropped=held.columns.dropped | frozenset(names))
        return held.but(columns=columns, number=self.heap.number("without", held.number, tuple(names)))

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
        real = [v for v in carriers if any(root.kind != "made" for root, _ in self.heap.data(v).rows)]
        carriers = real or carriers  # random numbers are no rows of their own beside others
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
        return Data(
            rows=union(*(d.rows for d in several)),
            marks=marks,
            kind="row" if all(d.kind == "row" for d in several) else "unknown",
            number=self.heap.fresh(),
            flags=frozenset({"call"}),
            each=tuple(d.but(columns=None, kind="unknown" if d.kind == "frame" else d.kind) for d in several),
        )
