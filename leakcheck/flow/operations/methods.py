"""Calls of methods on data and on values of unknown kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leakcheck.flow.facts import UnknownKind
from leakcheck.flow.operations.base import Operations, handlers
from leakcheck.flow.operations.common import EXTREMA, LEARNER_METHODS, SEARCH_CALLS, STATISTICS, node_at, scores_of
from leakcheck.flow.rows import NO_ROWS, CutKind, Site, union
from leakcheck.flow.values import (
    NO_MARKS,
    Choice,
    Const,
    Data,
    DictObject,
    Items,
    ListObject,
    Method,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter


# Methods that do to rows what another one does.
_LIKE = {
    "copy": (
        "clone",
        "detach",
        "cpu",
        "cuda",
        "to",
        "persist",
        "cache",
        "prefetch",
        "contiguous",
        "requires_grad_",
        "pin_memory",
    ),
    "astype": ("float", "long", "int", "double", "numpy", "to_numpy", "toarray", "todense"),
    "sort_values": ("sort_index", "sort", "orderBy"),
    "head": ("take", "limit"),
    "groupby": ("group_by",),
    "isin": ("is_in",),
    "isnull": ("isna", "notnull", "notna", "duplicated"),
    "any": ("all",),
    "sum": ("nunique", "count"),
    "fillna": ("fill_null",),
    "bfill": ("backfill",),
    "ffill": ("pad",),
    "rolling": ("expanding", "ewm"),
    "rolling_mean": (
        "rolling_sum",
        "rolling_std",
        "rolling_var",
        "rolling_min",
        "rolling_max",
        "rolling_median",
        "rolling_quantile",
        "rolling_skew",
        "ewm_mean",
        "ewm_std",
        "ewm_var",
    ),
    "cumsum": ("cumprod", "cummax", "cummin", "cum_sum", "cum_max", "cum_min"),
    "apply": ("map", "applymap", "transform"),
    "merge": ("join",),
    "to_list": ("tolist",),
    "items": ("iteritems",),
    "random_split": ("randomSplit",),
}

_PICKS_NAMES = frozenset({"contains", "startswith", "endswith", "match", "fullmatch", "isin"})


class Methods(Operations):
    """Calls of methods on data and on values of unknown kind."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self._methods = handlers(
            "m_", interpreter.frames, interpreter.groups, interpreter.combining, interpreter.series
        )
        self._methods |= {name: self._methods[known] for known, names in _LIKE.items() for name in names}

    def has(self, name: str) -> bool:
        """Whether a method of this name is known here, whatever the tables say."""
        return name in self._methods

    def call_method(self, owner: Value, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(owner)
        if isinstance(held, Const):
            return self.i.containers.constant_method(held, name, args)
        if isinstance(held, ListObject | Items):
            return self.i.containers.list_method(owner, held, name, args, site)
        if isinstance(held, DictObject):
            return self.i.containers.dict_method(owner, held, name, args, site)
        if isinstance(held, Choice):
            several = [self.i.call(self.i.get_attr(o, name, node_at(site)), args, site) for o in held.options]
            return self.heap.join_all(several)  # type: ignore[no-any-return]
        if name in SEARCH_CALLS:
            for value in args.all():
                self.i.scoring.objective(value, site)
        if name in LEARNER_METHODS and args.all() and self._may_be_learner(held):
            learner = self.i.learners.unknown_learner(owner, held)
            return self.i.objects.call_method(learner, self.heap.load(learner), name, args, site)
        if not isinstance(held, Data):
            return self.i.data.pass_through(args)
        if held.kind == "groupby":
            return self.i.groups.group_method(owner, held, name, args, site)
        if held.kind == "rolling":
            return self.i.series.windowed(held, name, args, site)
        handler = self._methods.get(name)
        if handler is not None:
            return handler(owner, held, args, site)
        if name in STATISTICS:
            return self.i.operators.statistic(name, held, args, site)
        if name in EXTREMA:
            return self.i.choices.extremum(name, [owner], site)
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
        if api is None and held.rows:
            self.i.note_unknown(UnknownKind.METHOD, f".{name}", site)
        if part == "silent" and name.startswith(("to_", "save", "write")):
            self.i.learners.handed_on(owner, site)
        if part in ("constant", "silent"):
            return Data(kind="scalar", number=self.heap.number(name, held.number), marks=scores_of(held.marks | marks))
        if part == "learn" and held.rows:
            assert api is not None
            learned = self.i.data.learn(name, api.learns or "statistic", held, site)
            return self.i.data.marked(held.but(number=self.heap.fresh()), frozenset({learned}))
        if part == "filter":
            cut = self.i.data.cut(("filter", name, held.number), CutKind.FILTER, site, explicit=False)
            return self.i.data.narrowed(held, cut, 0) if held.rows else held
        if part == "load" and not held.rows:
            return self.i.new_rows(name, site, "unknown", "unknown")
        if part in ("reorder",):
            return held.but(number=self.heap.fresh(), flags=held.flags | {"shuffled"}, each=())
        if part in ("statistic",) and held.rows:
            return Data(kind="scalar", marks=held.marks, number=self.heap.number(name, held.number))
        numbers = [d.number for d in others]
        if held.kind == "columns" and name in _PICKS_NAMES:
            held = held.but(columns=None)  # some of the columns: which ones the names decide
        result = held.but(number=self.heap.number(name, held.number, *numbers), each=(), mask=())
        if not result.rows:
            rows = union(*(d.rows for d in others)) if others else NO_ROWS
            if not rows and api is None:
                return self.i.data.from_outside(name, result.but(marks=result.marks | marks), args, site)
            return result.but(
                rows=rows, marks=result.marks | marks, each=tuple(v for v in args.all() if self.heap.data(v).rows)
            )
        if api is not None and name == "window":
            return self.i.series.called(api, args, result, site)
        scored = self.i.choices.scored([held, *others], site)
        return self.i.data.marked(result, marks | scored)
