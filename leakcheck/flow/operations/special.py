"""Library functions with a meaning of their own, which a table can't say, one `call_NAME` each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leakcheck.flow.events import Learn, Predict, Score, Split, Tie
from leakcheck.flow.facts import UnknownKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import arguments, last_part, node_at, scores_of
from leakcheck.flow.operations.positions import LASTING
from leakcheck.flow.rows import NO_ROWS, CutKind, Site, narrow, union
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Choice,
    Class,
    Columns,
    Const,
    Data,
    DictObject,
    Instance,
    Items,
    Lib,
    LibObject,
    ListObject,
    Partial,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args

# Functions with a meaning of their own, and the method that knows it.
FUNCTIONS = {
    "collections.defaultdict": "call_defaultdict",
    "collections.namedtuple": "call_namedtuple",
    "copy.copy": "call_deepcopy",
    "copy.deepcopy": "call_deepcopy",
    "attr.evolve": "call_replace",
    "attrs.evolve": "call_replace",
    "dataclasses.replace": "call_replace",
    "functools.partial": "call_partial",
    "functools.reduce": "call_reduce",
    "joblib.Parallel": "call_parallel",
    "joblib.delayed": "call_delayed",
    "joblib.dump": "call_dump",
    "joblib.load": "call_load",
    "lightgbm.train": "call_lightgbm_train",
    "numpy.arange": "call_arange",
    "numpy.array": "call_array",
    "numpy.array_split": "call_array_split",
    "numpy.asanyarray": "call_array",
    "numpy.asarray": "call_array",
    "numpy.ascontiguousarray": "call_array",
    "numpy.delete": "call_delete",
    "numpy.random.Generator": "call_default_rng",
    "numpy.random.RandomState": "call_default_rng",
    "numpy.random.choice": "call_choice",
    "numpy.random.default_rng": "call_default_rng",
    "numpy.random.integers": "call_integers",
    "numpy.random.permutation": "call_permutation",
    "numpy.random.permuted": "call_permutation",
    "numpy.random.rand": "call_rand",
    "numpy.random.randint": "call_integers",
    "numpy.random.random": "call_rand",
    "numpy.random.random_sample": "call_rand",
    "numpy.random.shuffle": "call_shuffle",
    "numpy.random.uniform": "call_rand",
    "numpy.setdiff1d": "call_setdiff1d",
    "numpy.split": "call_split",
    "numpy.where": "call_where",
    "pandas.DataFrame": "call_data_frame",
    "pandas.Series": "call_series",
    "pandas.crosstab": "call_crosstab",
    "pandas.cut": "call_cut",
    "pandas.get_dummies": "call_get_dummies",
    "pickle.dump": "call_dump",
    "pickle.load": "call_load",
    "polars.col": "call_col",
    "random.Random": "call_default_rng",
    "random.randint": "call_integers",
    "random.random": "call_rand",
    "random.sample": "call_choice",
    "random.shuffle": "call_shuffle",
    "sklearn.base.clone": "call_clone",
    "sklearn.externals.joblib.load": "call_load",
    "sklearn.feature_selection.SelectFromModel": "call_select_from_model",
    "sklearn.utils.check_random_state": "call_default_rng",
    "tensorflow.constant": "call_array",
    "tensorflow.convert_to_tensor": "call_array",
    "tensorflow_datasets.load": "call_load_with_info",
    "torch.FloatTensor": "call_array",
    "torch.LongTensor": "call_array",
    "torch.Tensor": "call_array",
    "torch.as_tensor": "call_array",
    "torch.from_numpy": "call_array",
    "torch.no_grad": "call_no_grad",
    "torch.rand": "call_rand",
    "torch.randperm": "call_permutation",
    "torch.tensor": "call_array",
    "torch.utils.data.Subset": "call_subset",
    "xgboost.train": "call_train",
}


class SpecialFunctions(Operations):
    """Library functions with a meaning of their own, which a table can't say, one `call_NAME` each."""

    def call_clone(self, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(args.pos[0]) if args.pos else None
        if isinstance(held, LibObject):
            return self.heap.new(LibObject(held.api, held.args, held.parts, held.site, self.i.loops, {}))
        if isinstance(held, Choice):
            return self.heap.join_all([self.call_clone(name, arguments(o), site) for o in held.options])  # type: ignore[no-any-return]
        return args.pos[0] if args.pos else UNKNOWN

    def call_load_with_info(self, name: str, args: Args, site: Site) -> Value:
        """`tfds.load`: the data set or a dict of its splits, in a pair with what is known of it where that is asked."""
        api = self.i.tables.lookup(name)
        assert api is not None
        data = self.i.loading.p_load(api, args, site)
        return Items((data, UNKNOWN)) if self.i.library.is_true(args.kw.get("with_info")) else data

    def call_deepcopy(self, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(args.pos[0]) if args.pos else UNKNOWN
        if isinstance(held, Data | ListObject | DictObject | Instance | LibObject) and isinstance(args.pos[0], Ref):
            return self.heap.new(held)
        return args.pos[0] if args.pos else UNKNOWN

    def call_replace(self, name: str, args: Args, site: Site) -> Value:
        """A copy of an object of the project with some of its fields changed."""
        held = self.heap.load(args.pos[0]) if args.pos else UNKNOWN
        if not isinstance(held, Instance):
            return self.i.data.pass_through(args)
        return self.heap.new(replace(held, attrs={**held.attrs, **args.kw}))

    def call_subset(self, name: str, args: Args, site: Site) -> Value:
        data = self.i.loading.content(args.get(0, "dataset") or NONE)
        picker = self.heap.data(args.get(1, "indices"))
        if not picker.rows and picker.kind not in ("index",):
            return data.but(number=self.heap.fresh())
        return self.i.subscripts.picked(data, picker.but(kind="index")).but(each=())

    def call_delayed(self, name: str, args: Args, site: Site) -> Value:
        return args.pos[0] if args.pos else UNKNOWN  # called at once, instead of by the pool

    def call_parallel(self, name: str, args: Args, site: Site) -> Value:
        return Lib("builtins.list")  # the results of the calls that it is given, in order

    def call_partial(self, name: str, args: Args, site: Site) -> Value:
        if not args.pos:
            return UNKNOWN
        return Partial(args.pos[0], tuple(args.pos[1:]), tuple(args.kw.items()))

    def call_namedtuple(self, name: str, args: Args, site: Site) -> Value:
        fields = args.get(1, "field_names")
        held = self.heap.load(fields) if fields is not None else None
        names: list[str] = []
        if isinstance(held, Const) and isinstance(held.value, str):
            names = held.value.replace(",", " ").split()
        elif fields is not None:
            names = self.i.data.names_in(held) or []
        title = self.heap.load(args.pos[0]) if args.pos else NONE
        frame = self.heap.frame()
        label = str(title.value) if isinstance(title, Const) else "tuple"
        return Class(label, self.i.unit, (), frame, tuple((n, None) for n in names), "namedtuple", site)

    def call_defaultdict(self, name: str, args: Args, site: Site) -> Value:
        factory = args.pos[0] if args.pos else None
        default: Value | None = None
        if isinstance(factory, Lib) and factory.name in ("builtins.list", "builtins.set"):
            default = self.heap.new(ListObject(()))
        elif isinstance(factory, Lib) and factory.name == "builtins.dict":
            default = self.heap.new(DictObject({}))
        return self.heap.new(DictObject({}, None, default))

    def call_array(self, name: str, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else next(iter(args.kw.values()), NONE)
        data = self.heap.data(first)
        held = self.heap.load(first)
        gathered = isinstance(held, ListObject) and held.items is None and not scores_of(data.marks)
        if gathered and data.kind == "scalar" and not data.rows:
            return data.but(kind="array", number=self.heap.fresh())  # one number, or a few, for each round of a loop
        kind = "array" if (data.rows and data.kind != "row") or data.kind == "index" else data.kind
        return data.but(kind=kind, each=(), keys=data.keys)

    def call_split(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        bounds = self.i.containers.unpack(args.get(1, "indices_or_sections") or NONE, None)
        if bounds is None:
            return self.heap.new(ListObject(None, data.but(kind="row", number=self.heap.fresh())))
        parts: list[Value] = []
        cuts = [self.i.data.cut_at(data, bound, site) for bound in bounds]
        for n in range(len(cuts) + 1):
            part = data
            for before in cuts[:n]:
                part = self.i.data.narrowed(part, before, 1)
            if n < len(cuts):
                part = self.i.data.narrowed(part, cuts[n], 0)
            parts.append(part.but(name=""))
        return Items(tuple(parts))

    def call_permutation(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        number = self.heap.number("permutation", self.i.randomness.origin(site), data.number)
        flags = frozenset({"shuffled", self.i.randomness.drawn(name, site, f"order:{number}", args.kw)}) | (
            data.flags & LASTING
        )
        if data.rows:
            return data.but(number=number, flags=data.flags | flags, each=(), name="")
        index = self.i.positions.index(site, number, flags)
        return self.i.positions.first(index, args.pos[0], site) if args.pos else index

    def call_arange(self, name: str, args: Args, site: Site) -> Value:
        numbers = [self.heap.data(v).number for v in args.pos]
        if len(args.pos) == 1:
            data = self.i.positions.index(site, self.heap.number("arange", *numbers))
            return self.i.positions.before(data, args.pos[0], site).but(
                flags=frozenset({"range"}), each=tuple(args.pos)
            )
        if len(args.pos) == 2 and not all(isinstance(self.heap.load(v), Const) for v in args.pos):
            data = self.i.positions.index(site, self.heap.number("arange", *numbers), frozenset({"range"}))
            return self.i.positions.from_on(data, args.pos[0], site).but(each=tuple(args.pos))
        flags = frozenset({"range", "varies", *(["spaced"] if len(args.pos) > 2 else [])})
        return Data(kind="scalar", number=self.heap.fresh(), flags=flags, each=tuple(args.pos))

    def call_shuffle(self, name: str, args: Args, site: Site) -> Value:
        for value in args.pos[:1]:
            held = self.heap.load(value)
            number = self.heap.number("shuffle", self.i.randomness.origin(site), self.heap.data(value).number)
            flags = frozenset({"shuffled", self.i.randomness.drawn(name, site, f"order:{number}", args.kw)})
            if isinstance(held, Data):
                flags |= held.flags & LASTING
            if isinstance(held, Data) and isinstance(value, Ref):
                self.heap.set(value.address, held.but(number=number, flags=held.flags | flags))
            elif isinstance(held, Data) and held.kind == "index":
                self._rebind(value, self.i.positions.index(site, number, flags))
            elif isinstance(held, ListObject) and isinstance(value, Ref) and held.items is not None:
                self.heap.set(value.address, ListObject(None, self.i.containers.element(value)))
        return NONE

    def _rebind(self, old: Value, new: Value) -> None:
        """What every name of the current frame that holds a value holds from now on."""
        for key, value in list(self.heap.cells.items()):
            if isinstance(key, tuple) and key[0] == self.i.frame.id and value is old:
                self.heap.set(key, new)

    def call_rand(self, name: str, args: Args, site: Site) -> Value:
        number = self.heap.number("random", site)
        flags = frozenset({"random", self.i.randomness.drawn(name, site, f"drawn:{number}", args.kw)})
        return Data(kind="scalar", number=number, flags=flags)

    def call_integers(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) < 3 and "size" not in args.kw:
            return self.call_rand(name, args, site)
        return self.i.loading.loaded("array", last_part(name), site, "", None, made=True)

    def call_choice(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        counted = bool(args.pos) and isinstance(self.heap.load(args.pos[0]), Data | Const)
        if not data.rows and data.kind != "index" and not counted:
            return Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"random"}))
        replacing = self.i.library.is_true(args.get(2, "replace"))
        key = self.i.randomness.drawn(name, site, f"drawn:{data.number}", args.kw)
        return self.i.positions.drawn(data, "choice", site, replacing=replacing, key=key)

    def call_setdiff1d(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) < 2:
            return UNKNOWN
        a, b = self.heap.data(args.pos[0]), self.heap.data(args.pos[1])
        return self.i.positions.left(a, b, self.heap.number("difference", a.number, b.number))

    def call_delete(self, name: str, args: Args, site: Site) -> Value:
        data, gone = (self.heap.data(args.get(n, key)) for n, key in ((0, "arr"), (1, "obj")))
        along_rows = data.kind == "index" or self.heap.load(args.get(2, "axis") or NONE) == Const(0)
        if along_rows and self.i.positions.cut_of(self.i.positions.places(gone)) is not None:
            return self.i.positions.left(data, gone, self.heap.number("difference", data.number, gone.number))
        return self.i.data.some(self.heap.data(self.i.data.pass_through(args)), ("left", gone.number), site)

    def call_where(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) >= 3:
            condition = self.heap.data(args.pos[0])
            values = [self.heap.data(v) for v in args.pos[1:3]]
            bounds = frozenset(m for m in condition.marks if isinstance(m, Learn))
            result = self.i.operate("+", args.pos[1:3], node_at(site))
            data = self.heap.data(result)
            rows = condition.rows or data.rows
            marks = data.marks | (bounds if any(v.rows for v in values) else NO_MARKS)
            scores = frozenset(m for m in condition.marks if isinstance(m, Predict | Score | Tie))
            return data.but(
                rows=rows,
                marks=marks | scores,
                kind="array" if rows else "scalar",
                number=self.heap.fresh(),
                sources=data.sources | condition.sources,
                mask=(),
            )
        condition = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        if condition.mask:
            keys = condition.rows
            for cut, kept, _ in condition.mask:
                keys = narrow(keys, cut, kept)
            return Data(
                kind="index",
                rows=keys,
                keys=keys,
                number=self.heap.number("where", condition.number),
                marks=condition.marks,
            )
        return condition.but(kind="index", keys=None)

    def call_data_frame(self, name: str, args: Args, site: Site) -> Value:
        first = args.get(0, "data")
        if first is None:
            return Data(
                rows=self.heap.data(args.get(1, "index")).rows,
                kind="frame",
                columns=Columns(self.heap.fresh(), open=False),
                number=self.heap.fresh(),
            )
        held = self.heap.load(first)
        names = self.i.data.names_in(self.heap.load(args.get(2, "columns") or NONE))
        if isinstance(held, DictObject):
            frame = self.heap.fresh()
            rows = union(*(self.heap.data(v).rows for v in held.items.values())) if held.items else NO_ROWS
            named = {}
            for key, value in held.items.items():
                data = self.heap.data(value)
                named[str(key)] = data.but(
                    kind="series",
                    rows=rows,
                    columns=None,
                    sources=data.sources or frozenset({(frame, str(key))}),
                    mask=(),
                    each=(),
                )
            columns = Columns(
                frame,
                named,
                open=held.any is not None,
                rest=self.heap.data(held.any).marks if held.any is not None else NO_MARKS,
            )
            return Data(
                rows=rows,
                marks=columns.marks(),
                kind="frame" if rows else "table",
                columns=columns,
                number=self.heap.fresh(),
            )
        data = self.heap.data(first)
        if data.kind == "bunch" or not data.rows:
            return data.but(kind="frame" if data.rows else "table", number=self.heap.fresh())
        frame = self.heap.number("frame", data.number)
        if names is not None:
            named = {
                n: data.but(
                    kind="series",
                    columns=None,
                    sources=frozenset({(frame, n)}),
                    number=self.heap.number("column", frame, n),
                )
                for n in names
            }
            return data.but(kind="frame", columns=Columns(frame, named, open=False), number=self.heap.fresh(), each=())
        return data.but(
            kind="frame", columns=data.columns or Columns(frame, rest=data.marks), number=self.heap.fresh(), each=()
        )

    def call_series(self, name: str, args: Args, site: Site) -> Value:
        first = args.get(0, "data")
        data = self.heap.data(first)
        kind = "series" if data.rows and data.kind != "row" else data.kind
        return data.but(kind=kind, columns=None, each=(), number=self.heap.fresh())

    def call_cut(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        bins = args.get(1, "bins")
        held = self.heap.load(bins) if bins is not None else None
        result = data.but(number=self.heap.fresh(), mask=())
        if isinstance(held, Const) and isinstance(held.value, int) and data.rows:
            return self.i.data.marked(result, frozenset({self.i.data.learn("cut", "binning", data, site)}))
        marks = (
            frozenset(m for m in self.heap.data(bins).marks if isinstance(m, Learn)) if bins is not None else NO_MARKS
        )
        return self.i.data.marked(result, marks)

    def call_crosstab(self, name: str, args: Args, site: Site) -> Value:
        several = [self.heap.data(v) for v in args.all()]
        base = next((d for d in several if d.rows), UNKNOWN)
        if not base.rows:
            return UNKNOWN
        columns = frozenset().union(*(d.sources for d in several))
        learned = self.i.data.learn(last_part(name), "counts", base, site, columns=columns)
        return Data(kind="table", marks=frozenset({learned}), number=self.heap.fresh())

    def call_get_dummies(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.get(0, "data"))
        return data.but(
            number=self.heap.number("dummies", data.number),
            each=(),
            kind="frame" if data.kind in ("frame", "series") else data.kind,
        )

    def _trained_by_function(self, name: str, args: Args, site: Site) -> Value:
        """`xgb.train(params, dtrain, ...)`: a function that returns a fitted booster."""
        data = args.get(1, "dtrain") or args.kw.get("train_set")
        api = self.i.tables.lookup(name.rsplit(".", 1)[0] + ".Booster") or self.i.tables.lookup(
            "sklearn.ensemble.GradientBoostingClassifier"
        )
        if api is None:
            return UNKNOWN
        made = self.heap.new(LibObject(api._replace(part="estimator"), dict(args.kw), (), site, self.i.loops))
        held = self.heap.load(made)
        keywords = dict(args.kw)
        for position, key in ((3, "evals" if "xgboost" in name else "valid_sets"),):
            if len(args.pos) > position:
                keywords.setdefault(key, args.pos[position])
        if data is not None:
            self.i.learners.fit(
                made,
                held,
                arguments(data, **{k: v for k, v in keywords.items() if k not in ("dtrain", "train_set", "params")}),
                site,
            )
        return made

    def call_train(self, name: str, args: Args, site: Site) -> Value:
        return self._trained_by_function("xgboost.train", args, site)

    def call_lightgbm_train(self, name: str, args: Args, site: Site) -> Value:
        return self._trained_by_function("lightgbm.train", args, site)

    def call_dump(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) > 1:
            self.i.callables.save(args.pos[0], args.pos[1])
        return NONE

    def call_load(self, name: str, args: Args, site: Site) -> Value:
        path = self.heap.load(args.pos[0]) if args.pos else NONE
        if isinstance(path, Const) and str(path.value) in self.i.callables.saved:
            return self.i.callables.saved[str(path.value)]
        self.i.note_unknown(UnknownKind.VALUE, f"what {name} returns", site)
        return UNKNOWN

    def call_default_rng(self, name: str, args: Args, site: Site) -> Value:
        # A generator draws as the module of the same name does.
        self.i.randomness.made(args.all())
        return Lib("numpy.random")

    def call_reduce(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) < 2:
            return UNKNOWN
        items, element, _ = self.i.containers.iterate(args.pos[1], site)
        rest = items if items is not None else [element]
        if not rest:
            return UNKNOWN
        value = args.pos[2] if len(args.pos) > 2 else rest[0]
        for item in rest if len(args.pos) > 2 else rest[1:]:
            value = self.i.call(args.pos[0], arguments(value, item), site)
        return value

    def call_col(self, name: str, args: Args, site: Site) -> Value:
        first = self.heap.load(args.pos[0]) if args.pos else NONE
        name = first.value if isinstance(first, Const) and isinstance(first.value, str) else ""
        return Data(kind="expression", number=self.heap.fresh(), name=name)

    def call_array_split(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        if not data.rows:
            return UNKNOWN
        cut = self.i.data.cut(("pieces", site, data.number), CutKind.FOLD, site, roles=("train", "fold"))
        self.i.emit((site, cut), Split(cut, data.rows, site, self.i.loops, last_part(name), (data,)))
        return self.heap.new(ListObject(None, self.i.data.narrowed(data, cut, 1)))

    def call_no_grad(self, name: str, args: Args, site: Site) -> Value:
        return UNKNOWN

    def call_select_from_model(self, name: str, args: Args, site: Site) -> Value:
        api = self.i.tables.lookup(name)
        assert api is not None
        made = self.i.library.construct(api, args, site)
        inner = self.heap.load(args.pos[0]) if args.pos else self.heap.load(args.kw.get("estimator", NONE))
        if isinstance(inner, LibObject) and inner.trains and isinstance(made, Ref):
            # With prefit=True what the estimator learned decides.
            held = self.heap.load(made)
            self.heap.set(made.address, replace(held, learned=self.i.learners.importance(inner)))
        return made
