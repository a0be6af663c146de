"""The other parts that a table can give a callable, one `p_PART` each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leakcheck.flow.events import Learn
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import STATISTICS, arguments, last_part, node_at
from leakcheck.flow.rows import Site
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    NONE,
    UNKNOWN,
    Const,
    Data,
    Items,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

# Tests of one sample against another: a ranking by them uses the target.
_TESTS = frozenset(
    [
        "ttest_ind",
        "ttest_rel",
        "f_oneway",
        "mannwhitneyu",
        "pearsonr",
        "spearmanr",
        "pointbiserialr",
        "kendalltau",
        "ks_2samp",
        "ranksums",
        "kruskal",
        "chi2_contingency",
    ]
)

_SIDE_BY_SIDE = frozenset(
    ["hstack", "dstack", "column_stack", "c_", "merge", "merge_asof", "merge_ordered", "horizontal_stack"]
)


class Callables(Operations):
    """The other parts that a table can give a callable, one `p_PART` each."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.saved: dict[str, Value] = {}  # what was written, by the path

    def p_learn(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        first = values.get(api.x) or (args.pos[0] if args.pos else next(iter(args.kw.values()), NONE))
        data = self.heap.data(first)
        if (
            not data.rows
            or "record" in data.flags
            or data.kind in ("row", "mask")
            or self.i.operators.across_columns(_axis(args), None)
        ):
            return data.but(number=self.heap.fresh(), mask=())
        y = values.get(api.y) if api.supervised else None
        learned = self.i.data.learn(last_part(api.name), api.learns or "scaling", data, site, supervised=y is not None)
        return self.i.data.marked(data.but(number=self.heap.fresh(), mask=(), each=()), frozenset({learned}))

    def p_resample(self, api: Api, args: Args, site: Site) -> Value:
        return self.i.splitting.p_draw(api, args, site)

    def p_select(self, api: Api, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0] if args.pos else next(iter(args.kw.values()), None))
        if not data.rows:
            return UNKNOWN
        learned = self.i.data.learn(last_part(api.name), "selection", data, site, supervised=True)
        return Data(kind="columns", marks=frozenset({learned}), number=self.heap.fresh())

    def p_statistic(self, api: Api, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else next(iter(args.kw.values()), NONE)
        short = last_part(api.name)
        if short in _TESTS and (args.star or len(args.all()) > 1):
            return self.p_select(api, args, site)
        if short in STATISTICS:
            axis = args.kw.get("axis", args.kw.get("dim"))
            if (
                axis is None
                and short in ("mean", "std", "var", "median", "min", "max", "amin", "amax", "nanmean", "nanstd")
                and len(args.pos) > 1
            ):
                axis = args.pos[1]
            if (
                axis is None
                and short in ("percentile", "quantile", "nanpercentile", "nanquantile")
                and len(args.pos) > 2
            ):
                axis = args.pos[2]
            return self.i.operators.statistic(
                short, self.heap.data(first), arguments(**({"axis": axis} if axis is not None else {})), site
            )
        data = self.heap.data(first)
        if self.i.operators.across_columns(_axis(args), None):
            return data.but(number=self.heap.fresh(), columns=None)
        marks = frozenset(m for v in args.all() for m in self.heap.data(v).marks if not isinstance(m, Learn))
        flags = frozenset({"distinct"}) if short == "unique" else frozenset()
        return Data(kind="scalar", number=self.heap.number(short, data.number), marks=marks, flags=flags)

    def p_row_wise(self, api: Api, args: Args, site: Site) -> Value:
        values = args.all()
        if not values:
            return UNKNOWN
        if api.kind == "pieces":
            return self.i.data.pieces(self.heap.data(values[0]), site)
        if len(values) == 1:
            data = self.heap.data(values[0])
            return data.but(
                number=self.heap.number(api.name, data.number), each=(), mask=() if data.kind != "mask" else data.mask
            )
        several = [v for v in values if self.heap.data(v).rows or self.heap.data(v).marks]
        if not several:
            numbers = [self.heap.data(v).number for v in values]
            return Data(kind="scalar", number=self.heap.number(api.name, *numbers))
        if len(several) == 1:
            data = self.heap.data(several[0])
            return data.but(number=self.heap.fresh(), each=(), mask=())
        return self.i.operate("+", several, node_at(site))

    def p_filter(self, api: Api, args: Args, site: Site) -> Value:
        return self.i.data.pass_through(args)

    def p_reorder(self, api: Api, args: Args, site: Site) -> Value:
        results: list[Value] = []
        for value in args.pos or list(args.kw.values()):
            data = self.heap.data(value)
            if data.rows or data.kind in ("index", "frame", "array"):
                number = self.heap.number("shuffle", data.number, str(site.span))
                self.i.randomness.split(api, self.i.library.named(api, args), site, None, f"order:{number}")
                results.append(
                    data.but(number=number, flags=data.flags | {"shuffled", f"order:{number}"}, each=(), name="")
                )
        if not results:
            return self.i.data.pass_through(args)
        return results[0] if len(results) == 1 else Items(tuple(results))

    def p_combine(self, api: Api, args: Args, site: Site) -> Value:
        short = last_part(api.name)
        columns = short in _SIDE_BY_SIDE
        axis = args.kw.get("axis", args.kw.get("dim"))
        if axis is None and short in ("concatenate", "cat", "stack", "append", "concat") and len(args.pos) > 1:
            axis = args.pos[-1]
        held = self.heap.load(axis) if axis is not None else None
        if isinstance(held, Const) and (held.value == "columns" or (isinstance(held.value, int) and held.value != 0)):
            columns = True
        values = [v for k, v in args.kw.items() if k in ("objs", "left", "right", "tensors", "arrays", "items")]
        values = [*args.pos, *values]
        if axis is not None and args.pos and axis is args.pos[-1]:
            values = values[:-1]
        if short.startswith("merge"):
            left = self.heap.data(values[0]) if values else UNKNOWN
            if len(values) < 2:
                return left
            right = self.i.series.joined_by_time(self.heap.data(values[1]), args, site)
            return self.i.combining.merged(left, right, args, site)
        return self.i.combining.combined(values, columns=columns, site=site)

    def p_extremum(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        data = self.heap.data(values.get("input"))
        if api.returns == "pair" and data.rows and self.i.operators.across_columns(arguments(), values.get("dim")):
            best = data.but(number=self.heap.fresh(), columns=None, each=(), mask=())
            return Items((best, best))  # of each row the best value, and where it stands
        return self.i.choices.extremum(last_part(api.name), args.pos or list(args.kw.values()), site)

    def p_seed(self, api: Api, args: Args, site: Site) -> Value:
        self.i.randomness.seed(api, args.all())
        return NONE

    def p_silent(self, api: Api, args: Args, site: Site) -> Value:
        if last_part(api.name) in ("dump", "save") and len(args.pos) > 1:
            self.save(args.pos[0], args.pos[1])
        for value in args.all():
            self.i.learners.handed_on(value, site)
        return NONE

    def save(self, value: Value, where: Value) -> None:
        path = self.heap.load(where)
        if isinstance(path, Const) and isinstance(path.value, str):
            self.saved[path.value] = value

    def p_constant(self, api: Api, args: Args, site: Site) -> Value:
        numbers = [self.heap.data(v).number for v in args.all()]
        # An array of zeros is there to be filled.
        kind = "array" if last_part(api.name).startswith(("zeros", "ones", "empty", "full")) else "scalar"
        return Data(kind=kind, number=self.heap.number(api.name, *numbers))

    def p_structural(self, api: Api, args: Args, site: Site) -> Value:
        return self.i.data.pass_through(args)


def _axis(args: Args) -> Args:
    return arguments(**{k: v for k, v in args.kw.items() if k in ("axis", "dim")})
