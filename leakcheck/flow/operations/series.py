"""What ties a row to other rows: lags, windows, fills, the order of time, entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leakcheck.flow.events import LOOKS_AHEAD, Column, Entities, Learn, Mark, Tie, TieKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import arguments, kw_only, last_part, split_words
from leakcheck.flow.rows import Rows, Site
from leakcheck.flow.tables import Api
from leakcheck.flow.values import NONE, Const, Data, DictObject, Items, LibObject, ListObject, Value

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

# Words in the name of a column that holds a time.
_TIME_WORDS = frozenset({
    "date", "dates", "datetime", "day", "days", "ds", "dt", "epoch", "hour", "hours", "minute", "month", "period",
    "quarter", "time", "timestamp", "ts", "week", "year",
})  # fmt: skip

# Words for those whose rows belong together.
_ENTITY_WORDS = frozenset({
    "account", "athlete", "client", "customer", "device", "donor", "driver", "employee", "household", "individual",
    "member", "participant", "patient", "person", "player", "pupil", "respondent", "session", "speaker", "student",
    "subject", "user", "visitor", "volunteer",
})  # fmt: skip
_ENTITY_NAMES = frozenset({"id", "pid", "sid", "uid", "uuid", "guid"})

# Kinds of callables in the tables that reach into other rows.
SERIES_KINDS = frozenset({"shift", "window", "centred", "whole-series", "datetime", "time-series"})

_BACKWARD = frozenset({"bfill", "backfill", "backward"})
_FORWARD = frozenset({"ffill", "pad", "forward"})
_PRECEDING = frozenset({"pad", "ffill", "previous", "zero"})  # interpolations that look back only


class Series(Operations):
    """What ties a row to other rows: lags, windows, fills, the order of time, entities."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.datetimes: set[Column] = set()  # columns that were read as dates
        self.spans: dict[int, tuple[Value | None, Value | None]] = {}  # by a counter's number: from where to where
        self.strides: dict[int, int] = {}  # by the number of a counter: the number of its step

    # --- ties ----------------------------------------------------------------------------------------------------

    def tied(
        self,
        data: Data,
        kind: TieKind,
        what: str,
        site: Site,
        *,
        ahead: int | None = None,
        keys: tuple[str, ...] = (),
        unsure: bool = False,
    ) -> Data:
        """The data with a tie on all that it holds."""
        if (not data.rows and data.kind != "expression") or data.kind in ("row", "index-item", "columns"):
            return data
        keys = keys or tuple(sorted(name for _, name in data.sources)) or ((data.name,) if not data.rows else ())
        whole = data.columns is not None
        tie = Tie(what, kind, data.rows, site, ahead, None, keys, whole, unsure)
        mark = self.i.emit((site, kind, data.rows, what, keys, whole), tie)
        return self.i.data.marked(data, frozenset({mark}))

    def untied(self, data: Data, gone: Callable[[Tie], bool]) -> Data:
        """The data without some of its ties."""

        def kept(marks: frozenset[Mark]) -> frozenset[Mark]:
            return frozenset(m for m in marks if not (isinstance(m, Tie) and gone(m)))

        marks = kept(data.marks)
        if len(marks) == len(data.marks):
            return data
        columns = data.columns
        if columns is not None:
            named = {name: column.but(marks=kept(column.marks)) for name, column in columns.named.items()}
            columns = replace(columns, named=named, rest=kept(columns.rest), extra=kept(columns.extra))
        return data.but(marks=marks, columns=columns)

    def bound(self, marks: frozenset[Mark], column: Column) -> frozenset[Mark]:
        """Marks as a column carries them: what looks ahead is known by the column it was written to."""
        if not any(isinstance(m, Tie) for m in marks):
            return marks
        return frozenset(
            self.i.emit((m, column), replace(m, column=column))
            if isinstance(m, Tie) and m.kind in LOOKS_AHEAD and m.column != column
            else m
            for m in marks
        )

    def named_like(self, marks: frozenset[Mark], name: str) -> frozenset[Mark]:
        """The ties of columns that were named by a pattern which this name fits."""
        return frozenset(m for m in marks if isinstance(m, Tie) and m.column is not None and fits(m.column[1], name))

    def any_column(self, data: Data, pattern: str) -> Data:
        """The data as a column of unknown name has it: what looks ahead is likely in another one."""
        return self.untied(
            data, lambda tie: tie.kind is TieKind.LATER and (tie.column is None or tie.column[1] != pattern)
        )

    def without_last(self, data: Data, upper: object) -> Data:
        """The data without what looks ahead in columns that a slice of columns leaves out: those added last."""
        columns = data.columns
        if columns is None or not isinstance(upper, int):
            return data
        added = [name for name, column in columns.named.items() if "made" in column.flags]
        gone = {(columns.frame, name) for name in (added[upper:] if upper < 0 else added)}
        return self.untied(data, lambda tie: tie.column in gone)

    def of_rows(self, marks: frozenset[Mark], rows: Rows) -> frozenset[Mark]:
        """The ties of an expression, once it is known to which rows it is applied."""
        return frozenset(
            self.i.emit((m, rows), replace(m, rows=rows)) for m in marks if isinstance(m, Tie) and not m.rows
        )

    # --- time ----------------------------------------------------------------------------------------------------

    def is_time(self, held: Data, name: str) -> bool:
        """Whether a column holds a time: it was read as dates, or its name says so."""
        columns = held.columns
        if columns is not None:
            known = columns.named.get(name)
            if (columns.frame, name) in self.datetimes or (known is not None and "datetime" in known.flags):
                return True
        return not _TIME_WORDS.isdisjoint(split_words(name))

    def indexed(self, data: Data, what: str, site: Site) -> Data:
        return self.tied(data, TieKind.INDEXED, what, site)

    def set_index(self, held: Data, new: Data, names: Sequence[str] | None, index: Data, site: Site) -> Data:
        """A table after `set_index`: of time where the column says so."""
        if (names and self.is_time(held, names[-1])) or "datetime" in index.flags:
            return self.indexed(new, "set_index", site)
        return new

    def put_in_order(self, held: Data, by: Sequence[str] | None, args: Args, site: Site) -> Data:
        """A table after sorting: in the order of time, forwards or backwards, or no more."""
        ascending = self.heap.load(args.kw.get("ascending", Const(True)))
        descending = isinstance(ascending, Const) and ascending.value is False
        descending = descending or self.i.library.is_true(args.kw.get("descending", args.kw.get("reverse")))
        flags = (held.flags - {"reversed"}) | ({"reversed"} if descending else set())
        if by is None:  # by the index
            return held.but(flags=flags)
        if not by or not self.is_time(held, by[0]):
            return self.untied(held.but(flags=flags - {"reversed"}), lambda tie: tie.kind is TieKind.SORTED)
        return self.tied(held.but(flags=flags), TieKind.SORTED, "sort", site)

    def loaded(self, value: Value, api: Api, values: dict[str, Value], site: Site) -> Value:
        """A table as a loader returns it: which columns are dates, and whether time is the index."""
        data = self.heap.load(value)
        if not isinstance(data, Data) or data.columns is None:
            return value
        if api.kind == "time-series":
            return self.indexed(data, last_part(api.name), site)
        if "parse_dates" not in values and "index_col" not in values:
            return value
        dates = self.heap.load(values.get("parse_dates", NONE))
        names = self.i.data.names_in(dates) or []
        self.datetimes.update((data.columns.frame, name) for name in names)
        index = self.heap.load(values.get("index_col", NONE))
        index_names = self.i.data.names_in(index) or []
        parsed = isinstance(dates, Const) and dates.value is True and "index_col" in values
        if isinstance(dates, ListObject | Items) and isinstance(index, Const) and dates.items:
            parsed = parsed or index in [self.heap.load(item) for item in dates.items]
        if parsed or any(self.is_time(data, name) for name in index_names):
            return self.indexed(data, last_part(api.name), site)
        return value

    def joined_by_time(self, right: Data, args: Args, site: Site) -> Data:
        """The right table of a join by time: with a direction it may give later rows."""
        direction = self.heap.load(args.kw.get("direction", args.kw.get("strategy", NONE)))
        if not isinstance(direction, Const) or direction.value not in ("forward", "nearest"):
            return right
        what = f"a join by time ({direction.value})"
        return self.tied(right, TieKind.LATER, what, site, unsure=direction.value == "nearest")

    def m_join_asof(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        right = self.joined_by_time(self.heap.data(args.get(0, "other")), args, site)
        return self.i.combining.joined(held, right)

    def m_resample(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        rule = self.heap.load(args.get(0, "rule") or NONE)
        named = isinstance(rule, Const) and isinstance(rule.value, str)
        if held.kind not in ("frame", "series", "groupby") and not named:
            return held.but(number=self.heap.fresh(), mask=(), each=())  # a signal brought to another sampling rate
        data = self.indexed(held, "resample", site)
        return data.but(kind="rolling", number=self.heap.fresh(), mask=(), each=())

    def by_span_of_time(self, by: Value) -> bool:
        """Whether rows are grouped by `pd.Grouper(freq=...)`, which is a resampling within groups."""
        held = self.heap.load(by)
        several = held.items if isinstance(held, ListObject | Items) and held.items is not None else (by,)
        objects = [self.heap.load(value) for value in several]
        return any(isinstance(o, LibObject) and o.api.name.endswith(".Grouper") and "freq" in o.args for o in objects)

    def m_asfreq(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.indexed(held, "asfreq", site).but(number=self.heap.fresh(), mask=(), each=())

    def m_drop_duplicates(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        if args.get(0, "subset") is not None:
            # One row of each is kept: the order served to choose it.
            held = self.untied(held, lambda tie: tie.kind is TieKind.SORTED)
        kept = self.i.frames.m_dropna(owner, held, args, site)
        return kept.but(flags=kept.flags | {"distinct"}) if isinstance(kept, Data) and kept.kind == "series" else kept

    # --- lags and leads ------------------------------------------------------------------------------------------

    def m_shift(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self._shifted("shift", held, args.get(0, "periods") or args.kw.get("n"), args, site)

    def m_diff(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self._shifted("diff", held, args.get(0, "periods") or args.kw.get("n"), args, site)

    def m_pct_change(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self._shifted("pct_change", held, args.get(0, "periods") or args.kw.get("n"), args, site)

    def _shifted(self, what: str, held: Data, periods: Value | None, args: Args, site: Site) -> Data:
        number = self.heap.number(what, held.number, *(self.heap.data(v).number for v in args.all()))
        if self.i.operators.across_columns(kw_only(args), None):
            return held.but(number=number)
        by, unsure = self._amount(periods)
        if "reversed" in held.flags:
            by = -by
        own = {"own"} if what != "shift" and "lag" not in held.flags else set()  # a difference takes in the row itself
        new = held.but(number=number, flags=held.flags - {"own"} | {"lag"} | own, mask=(), each=())
        if by == 0:
            return new
        shown = self.heap.load(periods) if periods is not None else None
        label = f"{what}({shown.value})" if isinstance(shown, Const) else what
        if by < 0:
            return self.tied(new, TieKind.LATER, label, site, ahead=None if unsure else -by, unsure=unsure)
        if what == "shift":
            # What looked ahead by no more than this looks back now.
            new = self.untied(
                new, lambda tie: tie.kind is TieKind.LATER and (unsure or tie.ahead is None or tie.ahead <= by)
            )
        return self.tied(new, TieKind.EARLIER, label, site)

    def _amount(self, periods: Value | None) -> tuple[int, bool]:
        """By how many rows, and whether more than the sign is guessed."""
        held = self.heap.load(periods) if periods is not None else Const(1)
        if isinstance(held, Const):
            known = isinstance(held.value, int | float)
            return (int(held.value), False) if known else (1, True)
        if isinstance(held, ListObject | Items) and held.items:
            amounts = [self._amount(item)[0] for item in held.items]
            return min(amounts), len(amounts) > 1
        negated = isinstance(held, Data) and ("negated" in held.flags) != ("negative" in held.flags)
        return (-1 if negated else 1), True

    def m_rolling(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        number = self.heap.number("rolling", held.number, *(self.heap.data(v).number for v in args.all()))
        return self._rolled(held, args, site).but(kind="rolling", number=number)

    def m_rolling_mean(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        """Polars: `rolling_mean(window_size, center=True)` and its like are one call."""
        return self._rolled(held, args, site).but(number=self.heap.fresh())

    def _rolled(self, held: Data, args: Args, site: Site) -> Data:
        closed = self.heap.load(args.kw.get("closed", NONE))
        before = "lag" in held.flags or (isinstance(closed, Const) and closed.value in ("left", "neither"))
        new = held.but(flags=held.flags | {"lag"}, mask=(), each=())
        if self.i.operators.across_columns(kw_only(args), None):
            return new
        window = args.get(0, "window") or args.kw.get("window_size")
        size = self.heap.load(window) if window is not None else None
        if self.i.library.is_true(args.get(2, "center")):
            ahead = size.value // 2 if isinstance(size, Const) and isinstance(size.value, int) else None
            return self.tied(new, TieKind.LATER, "rolling(center=True)", site, ahead=ahead)
        if "reversed" in held.flags or (isinstance(size, LibObject) and "Forward" in size.api.name):
            return self.tied(new, TieKind.LATER, "rolling over later rows", site)
        new = new if before else new.but(flags=new.flags | {"own"})
        return self.tied(new, TieKind.EARLIER, "rolling", site)

    def windowed(self, held: Data, name: str, args: Args, site: Site) -> Value:
        """A method of a rolling window, or of a resampled table."""
        kind = "frame" if held.columns is not None else "series"
        new = held.but(kind=kind, number=self.heap.fresh())
        first = self.heap.load(args.pos[0]) if args.pos else None
        if name in ("agg", "aggregate") and isinstance(first, DictObject) and held.columns is not None:
            return self.i.subscripts.columns_by_name(new, [str(key) for key in first.items], single=False)
        if name in ("bfill", "backfill", "interpolate", "nearest"):
            return self.tied(new, TieKind.FILLED, name, site)
        return new

    def m_cumsum(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        new = held.but(number=self.heap.fresh(), mask=(), each=())
        if "reversed" not in held.flags or self.i.operators.across_columns(kw_only(args), None):
            return new
        return self.tied(new, TieKind.LATER, "a cumulative value from the end", site)

    def elapsed(self, held: Data) -> Data:
        """A span of time as a number: from which first or last date it is counted shifts all rows alike."""
        marks = frozenset(m for m in held.marks if not (isinstance(m, Learn) and m.what in ("min", "max")))
        return held.but(marks=marks, number=self.heap.fresh())

    def m_total_seconds(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.elapsed(held)

    # --- fills ---------------------------------------------------------------------------------------------------

    def m_bfill(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.i.frames.rewritten(owner, held, args, self._filled(held, args, site, "bfill", backward=True))

    def m_ffill(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        return self.i.frames.rewritten(owner, held, args, self._filled(held, args, site, "ffill", backward=False))

    def m_interpolate(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        method = self.heap.load(args.get(0, "method") or NONE)
        backward = not (isinstance(method, Const) and method.value in _PRECEDING)
        new = self._filled(held, args, site, "interpolate", backward=backward, both=backward)
        return self.i.frames.rewritten(owner, held, args, new)

    def filled_by(self, held: Data, args: Args, site: Site) -> Data:
        """A table after `fillna(method=...)` or `fill_null(strategy=...)`."""
        method = self.heap.load(args.get(1, "method") or args.kw.get("strategy") or NONE)
        word = method.value if isinstance(method, Const) else None
        if word in _BACKWARD or word in _FORWARD:
            return self._filled(held, args, site, f"fillna({word})", backward=word in _BACKWARD)
        return held

    def _filled(self, held: Data, args: Args, site: Site, what: str, *, backward: bool, both: bool = False) -> Data:
        new = held.but(number=self.heap.number(what, held.number), mask=(), each=())
        if self.i.operators.across_columns(kw_only(args), None):
            return new
        if ("reversed" in held.flags) != backward or both:
            # After a forward fill only the gaps at the very start are left.
            return new if "filled" in held.flags else self.tied(new, TieKind.FILLED, what, site)
        return new.but(flags=new.flags | {"filled"})

    # --- library callables ---------------------------------------------------------------------------------------

    def called(self, api: Api, args: Args, result: Value, site: Site) -> Value:
        """The result of a callable that the tables say reaches into other rows."""
        data = self.heap.load(result)
        if not isinstance(data, Data):
            return result
        if api.kind == "datetime":
            return data.but(flags=data.flags | {"datetime"})
        what = last_part(api.name)
        if api.kind == "window":
            return self._cut_in_windows(api, args, data, site)
        if api.returns == "parts":
            # An object or a tuple: each part is a series of the same rows.
            data = data.but(kind="unknown", columns=None, flags=data.flags | {"call"})
        if api.kind == "whole-series" and api.part != "learn":
            trailing = self.i.library.is_false(self.i.library.named(api, args).get("two_sided"))
            return data if trailing else self.tied(data, TieKind.WHOLE, what, site)
        axis = self.heap.load(args.kw.get("axis", NONE))
        along_rows = isinstance(axis, Const) and axis.value == 0
        single = data.kind == "series" or (len(data.sources) == 1 and data.columns is None)
        if not (along_rows or (single and axis == NONE)) or "one of" in data.flags:
            return result  # along the columns, or within one item that a loop counts
        if api.kind == "shift":
            amount = args.get(1, "shift")
            by, _ = self._amount(amount) if "shift" in api.params else (1, False)
            return (
                self.tied(data, TieKind.EARLIER, what, site)
                if by > 0
                else self.tied(data, TieKind.LATER, f"{what}({by})", site, ahead=-by)
            )
        return self.tied(data, TieKind.WHOLE, what, site) if api.kind == "centred" else data

    def _cut_in_windows(self, api: Api, args: Args, data: Data, site: Site) -> Data:
        values = self.i.library.named(api, args)
        length = next((values[k] for k in ("sequence_length", "length", "window_shape", "size") if k in values), None)
        stride = next((values[k] for k in ("sequence_stride", "stride", "shift") if k in values), None)
        if api.params[:2] == ("size", "shift") and (stride is None or self.heap.load(stride) == NONE):
            return data  # without a shift the windows follow each other
        if length is not None and stride is not None and self.heap.data(length).number == self.heap.data(stride).number:
            return data
        size = self.heap.load(length) if length is not None else None
        ahead = size.value if isinstance(size, Const) and isinstance(size.value, int) else None
        return self.tied(data, TieKind.WINDOW, last_part(api.name), site, ahead=ahead)

    def m_unfold(self, owner: Value, held: Data, args: Args, site: Site) -> Value:
        """A tensor's `unfold(dimension, size, step)`."""
        new = held.but(number=self.heap.fresh(), mask=(), each=())
        size, step = (self.heap.data(args.get(n, name)) for n, name in ((1, "size"), (2, "step")))
        along_rows = self.heap.load(args.get(0, "dimension") or NONE) == Const(0)
        return self.tied(new, TieKind.WINDOW, "unfold", site) if along_rows and size.number != step.number else new

    # --- windows by slices ---------------------------------------------------------------------------------------

    def window(self, data: Data, lower: Data, upper: Data, site: Site) -> Data:
        """`data[i : i + width]`, with a counter: windows that overlap if it moves by less than their width."""
        width = self._distance(lower.number, upper.number)
        stride = self._stride(lower.number) or self._stride(upper.number)
        if width is None or stride is None or width == stride:
            return data
        size, step = self._constant(width), self._constant(stride)
        if (width == 0 and step != 1) or size == 1:
            return data
        if size is not None and step is not None and step >= size:
            return data
        return self.tied(data, TieKind.WINDOW, "windows", site, ahead=size)

    def width(self, lower: Data, upper: Data) -> int | None:
        """How far two bounds are apart, where that is known."""
        distance = self._distance(lower.number, upper.number)
        return self._constant(distance) if distance is not None else None

    def _distance(self, lower: int, upper: int) -> int | None:
        """The number of the width between two bounds; 0 where both move with one counter."""
        low, up = self.heap.parts(lower), self.heap.parts(upper)
        if up[:1] == ("+",) and lower in up[1:]:
            return up[2] if up[1] == lower else up[1]  # type: ignore[no-any-return]
        if low[:2] == ("-", upper):
            return low[2]  # type: ignore[no-any-return]
        moved = {"+", "-"}
        if low[:1] and up[:1] and low[0] in moved and up[0] in moved and set(low[1:]) & set(up[1:]) & set(self.strides):
            return 0
        return None

    def _stride(self, number: int, depth: int = 0) -> int | None:
        known = self.strides.get(number)
        if known is not None or depth > 4:
            return known
        parts = self.heap.parts(number)
        if parts[:1] not in (("+",), ("-",)):
            return None
        return next((s for s in (self._stride(n, depth + 1) for n in parts[1:]) if s is not None), None)

    def _constant(self, number: int) -> int | None:
        parts = self.heap.parts(number)
        return parts[2] if parts[:2] == ("const", "int") else None

    def counter(self, item: Data, bounds: Sequence[Value]) -> None:
        """Note by how much the counter of a loop over a range moves, and from where to where."""
        step = bounds[2] if len(bounds) > 2 else Const(1)
        self.strides[item.number] = self.heap.data(step).number
        start, stop = (None, *bounds)[-2:] if len(bounds) == 1 else (*bounds, None, None)[:2]
        self.spans[item.number] = (start, stop)

    def span(self, number: int, depth: int = 0) -> tuple[Value | None, Value | None]:
        """From where to where the counter runs that a bound is computed from."""
        known = self.spans.get(number)
        if known is not None:
            return known
        parts = self.heap.parts(number)
        if depth > 4 or parts[:1] not in (("+",), ("-",)):
            return None, None
        spans = (self.span(part, depth + 1) for part in parts[1:])
        return next((span for span in spans if span != (None, None)), (None, None))

    def windows_of(self, dataset: Value, data: Data, site: Site) -> Data:
        """A data set of the project whose items are windows."""
        item = Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"item", "varies"}))
        self.counter(item, ())
        got = self.i.call_method(dataset, "__getitem__", arguments(item), site)
        ties = frozenset(m for m in self.heap.data(got).marks if isinstance(m, Tie)) if got is not None else frozenset()
        return self.i.data.marked(data, ties)

    # --- entities ------------------------------------------------------------------------------------------------

    def grouped(self, held: Data, names: Sequence[str] | None, site: Site) -> frozenset[Mark]:
        """The tie that rows of one entity have by what is computed for it."""
        keys = tuple(name for name in names or () if is_entity(name))
        if not keys or not held.rows:
            return frozenset()
        tie = Tie("groupby", TieKind.GROUPED, held.rows, site, keys=keys)
        return frozenset({self.i.emit((site, TieKind.GROUPED, held.rows, keys), tie)})

    def keys(self, column: Data) -> frozenset[Column]:
        """What a column whose values decide is known by: its value, and the one column it is computed from."""
        own = frozenset({(column.number, "")}) if column.number else frozenset()
        return own | column.sources if len(column.sources) == 1 else own

    def group_keys(self, held: Data, names: Sequence[str] | None, series: Data) -> frozenset[Column]:
        """The columns by which a table is grouped; one that was computed may make coarser groups than its source."""
        if not names:
            return frozenset({(series.number, "")}) if series.rows else frozenset()
        found: set[Column] = set()
        for name in names:
            column = self.i.subscripts.column(held, name)
            found |= {(column.number, "")} if "made" in column.flags else self.keys(column)
        return frozenset(found)

    def note_entities(self, groups: Value | None, data: Data, site: Site) -> None:
        """A fold or a split is told which rows belong together."""
        if groups is None or self.heap.load(groups) == NONE:
            return
        column = self.heap.data(groups)
        if column.kind == "row" or (column.rows and all(root.kind == "parameter" for root, _ in column.rows)):
            return  # an item of something, or an argument of a function that nobody calls: there may be no groups
        rows = data.rows or column.rows
        if rows:
            names = sorted(name for _, name in column.sources if not name.startswith(("#", "*")))
            self.i.emit(
                (site, "entities", rows), Entities(rows, site, names[0] if names else "the groups", self.i.arms)
            )


def fits(pattern: str, name: str) -> bool:
    """Whether a column may have been named by a pattern such as `lag_*`."""
    head, star, tail = pattern.partition("*")
    return bool(star) and pattern != "*" and name.startswith(head) and name.endswith(tail)


def is_entity(name: str) -> bool:
    """Whether the name of a column is that of an entity with several rows."""
    return name.lower() in _ENTITY_NAMES or not _ENTITY_WORDS.isdisjoint(split_words(name))
