"""Methods that work by group, by window or by a function that is applied."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leakcheck.flow.events import Column, Learn, Tie, TieKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import STATISTICS, arguments, kw_only, last_part, no_args
from leakcheck.flow.operations.data import not_copied
from leakcheck.flow.rows import Site
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
    Method,
    Partial,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

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

# What these do within a group they do to a series.
_TIES = frozenset({"shift", "diff", "pct_change", "rolling", "expanding", "ewm", "ffill", "bfill"})


class Groups(Operations):
    """Methods that work by group, by window or by a function that is applied."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.keys: dict[int, frozenset[Column]] = {}  # by which columns a table is grouped

    def m_groupby(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        by = args.get(0, "by") or args.kw.get("level") or NONE
        names = self.i.data.names_in(self.heap.load(by))
        if self.i.series.by_span_of_time(by):
            return self.i.series.m_resample(owner, held, args, site)
        frame = held.columns.frame if held.columns is not None else 0
        sources = frozenset((frame, name) for name in names or ())
        series = self.heap.data(by)
        if not names and series.rows:
            sources |= series.sources
        if held.columns is None:
            sources |= held.sources
        number = self.heap.number("groupby", held.number, self.heap.data(by).number)
        self.keys[number] = self.i.series.group_keys(held, names, series)
        return Data(
            rows=held.rows,
            marks=held.marks | self.i.series.grouped(held, names, site),
            kind="groupby",
            number=number,
            sources=sources,
            each=(owner if isinstance(owner, Ref) else held,),
            name=held.name,
            flags=held.flags,
        )

    def group_method(self, owner: Value, held: Data, name: str, args: Args, site: Site) -> Value:
        result = self._group_result(owner, held, name, args, site)
        entities = frozenset(m for m in held.marks if isinstance(m, Tie) and m.kind is TieKind.GROUPED)
        return self.i.data.marked(result, entities) if isinstance(result, Data) else result

    def _group_result(self, owner: Value, held: Data, name: str, args: Args, site: Site) -> Value:
        base = self.heap.data(held.each[0]) if held.each else UNKNOWN
        first = args.pos[0] if args.pos else args.kw.get("func")
        inner = self.heap.load(first) if first is not None else None
        word = inner.value if isinstance(inner, Const) and isinstance(inner.value, str) else ""
        if isinstance(inner, Lib):
            word = last_part(inner.name)
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
                series = series.but(marks=not_copied(series.marks))
                return self.i.methods.call_method(series, name, args, site) if name in _TIES else series
            return Data(kind="table", number=series.number, sources=held.sources)
        if name in ("sample", "head", "tail"):
            return self.i.methods.call_method(held.each[0], name, args, site) if held.each else series
        if name == "apply" and isinstance(inner, Function):
            result = self.i.call(inner, arguments(base.but(number=self.heap.fresh())), site)
            data = self.heap.data(result)
            return data if data.rows else data.but(kind="table")
        if name == "sum":
            return Data(kind="table", number=series.number, sources=held.sources)
        if not base.rows:
            return series
        if isinstance(inner, Function) and name in ("transform",):
            # The function says what is learned: a mean inside it, or nothing.
            result = self.heap.data(self.i.call(inner, arguments(series), site))
            marks = frozenset(self._grouped(m, held) if isinstance(m, Learn) else m for m in result.marks)
            flags = series.flags | (result.flags & {"lag", "own"})
            return series.but(marks=base.marks & result.marks | marks, flags=flags)
        if name not in ("transform", "agg", "aggregate", "apply", "describe", "fillna") and name not in STATISTICS:
            return series.but(kind="groupby", each=held.each, rows=held.rows)
        what = f"groupby {word or name}" if name in ("transform", "agg", "aggregate") else f"groupby {name}"
        learned = self.i.data.learn(
            what,
            "group-statistic",
            base.but(columns=None, sources=held.sources),
            site,
            columns=held.sources,
            keys=self.keys.get(held.number, frozenset()),
        )
        if name in ("transform", "fillna"):
            return self.i.data.marked(series, frozenset({learned}))
        return Data(
            kind="table", marks=frozenset({learned}), number=series.number, sources=held.sources, name=held.name
        )

    def _grouped(self, mark: Learn, held: Data) -> Learn:
        keys = self.keys.get(held.number, frozenset())
        changed = replace(mark, category="group-statistic", columns=mark.columns | held.sources, keys=keys)
        return self.i.emit((mark, "grouped", held.sources), changed)  # type: ignore[no-any-return]

    def m_over(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        """Polars: an expression computed within groups."""
        marks = frozenset(self._grouped(m, held) if isinstance(m, Learn) else m for m in held.marks)
        return held.but(marks=marks, number=self.heap.fresh())

    def m_apply(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        """`apply`, `map`, `pipe`: a function over rows, over columns, or over the whole."""
        first = args.pos[0] if args.pos else args.kw.get("func", args.kw.get("function"))
        inner = self.heap.load(first) if first is not None else None
        # Behind the function comes the axis of a frame; a series hands on what comes there.
        axis = args.pos[1] if held.kind == "frame" and len(args.pos) > 1 else None
        rest = arguments(*args.pos[1 if axis is None else 2 :])
        if isinstance(inner, Function | Method | Partial):
            columnwise = held.kind == "frame" and not self.i.operators.across_columns(kw_only(args), axis)
            passed = (
                held.but(kind="series", columns=None) if columnwise else held.but(kind="row", number=self.heap.fresh())
            )
            result = self.i.call(inner, arguments(passed, *rest.pos), site)
            data = self.heap.data(result)
            marks = data.marks
            number = self.heap.fresh()
            sources = held.sources | data.sources
            if columnwise:
                return self.i.data.marked(held.but(number=number, each=()), marks)
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
            name = last_part(inner.name)
            if name in STATISTICS and held.kind == "frame" and not self.i.operators.across_columns(kw_only(args), None):
                return self.i.operators.statistic(name, held, no_args(), site)
            called = (
                self.i.library.call(inner.name, arguments(held.but(kind="row")), site) if held.kind != "frame" else held
            )
            others = self.heap.data(called)
        return self.i.data.marked(
            held.but(number=self.heap.number("map", held.number, others.number), each=(), mask=()), others.marks
        )

    def m_pipe(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.i.call(args.pos[0], arguments(owner, *args.pos[1:], **args.kw), site) if args.pos else held

    def m_agg(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        """Statistics by name or function, of all columns or of some."""
        if not held.rows:
            return held
        if self.i.operators.across_columns(kw_only(args), None):
            return held.but(kind="series", columns=None, number=self.heap.fresh(), each=(), mask=())
        found = [
            self._aggregated(owner, held, value, site)
            for value in [*args.pos[:1], *(v for name, v in args.kw.items() if name != "axis")]
        ]
        marks = NO_MARKS.union(*(data.marks for data in found))
        return Data(kind="scalar", marks=marks, number=self.heap.fresh(), name=held.name)

    def _aggregated(self, owner: Value, held: Data, func: Value, site: Site) -> Data:
        inner = self.heap.load(func)
        if isinstance(inner, DictObject):
            columns = [
                self._aggregated(owner, self.i.subscripts.column(held, str(name)), value, site)
                for name, value in inner.items.items()
            ]
            return UNKNOWN.but(marks=NO_MARKS.union(*(data.marks for data in columns)))
        if isinstance(inner, Items | ListObject):
            several = [
                self._aggregated(owner, held, value, site) for value in self.i.containers.unpack(func, None) or ()
            ]
            return UNKNOWN.but(marks=NO_MARKS.union(*(data.marks for data in several)))
        word = last_part(inner.name) if isinstance(inner, Lib) else inner.value if isinstance(inner, Const) else ""
        if word in STATISTICS:
            return self.heap.data(self.i.operators.statistic(word, held, no_args(), site))
        if isinstance(inner, Function | Partial):
            return self.heap.data(self.i.call(inner, arguments(held.but(kind="series", columns=None)), site))
        return UNKNOWN
