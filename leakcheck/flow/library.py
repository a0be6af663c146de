"""What library callables and library objects do: loads, splits, learners, predictors, metrics, loops of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow import steps as s
from leakcheck.flow.data import (
    SEARCH_CALLS,
    STATISTICS,
    DataOperations,
    _args,
    _no_args,
    _node,
    role_of_word,
    split_words,
)
from leakcheck.flow.events import Learn, Mark, Predict, Score, Split, Train
from leakcheck.flow.rows import NO_ROWS, Cut, CutKind, Rows, Site, narrow, union
from leakcheck.flow.tables import Api
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
    Function,
    Instance,
    Items,
    Lib,
    LibObject,
    ListObject,
    Method,
    Partial,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

_OBJECT_PARTS = frozenset(
    [
        "transformer",
        "resampler",
        "estimator",
        "pipeline",
        "union",
        "search",
        "splitter",
        "network",
        "optimizer",
        "loss",
        "callback",
        "metric",
        "object",
    ]
)
# What a pipeline of learners is said to learn: the part that does most harm.
_HARM = (
    "selection", "target-encoding", "resampling", "augmentation", "imputation", "scaling", "projection", "binning",
    "outliers", "clustering", "embedding", "encoding", "calibration", "vocabulary", "categories",
)  # fmt: skip
_PREDICTS = frozenset(
    [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
        "predict_classes",
        "predict_on_batch",
        "predict_step",
        "score_samples",
        "inplace_predict",
        "staged_predict",
        "forward",
        "predict_generator",
    ]
)
_SCORES = frozenset(["score", "evaluate", "evaluate_generator", "test", "test_on_batch"])
_FITTED_CHOICES = frozenset(
    [
        "feature_importances_",
        "coef_",
        "support_",
        "ranking_",
        "scores_",
        "pvalues_",
        "get_support",
        "get_feature_names_out",
        "feature_importance",
        "get_score",
        "get_feature_importance",
        "k_feature_idx_",
        "k_feature_names_",
        "support_weak_",
        "feature_importance_",
        "best_features_",
        "pvalues",
        "params",
    ]
)


class Library:
    """Meaning of library names, by the tables; `i` is the interpreter."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.i = interpreter
        self.heap = interpreter.heap
        self.ops: DataOperations = interpreter.data_ops
        self.saved: dict[str, Value] = {}
        self._inside_network = 0
        self._outside: dict[object, Ref] = {}
        self._functions: dict[str, Callable[[str, Args, Site], Value]] = {
            name: getattr(self, method) for name, method in _FUNCTIONS.items()
        }

    # --- calls ---------------------------------------------------------------------------------------------------

    def call(self, name: str, args: Args, site: Site) -> Value:
        if name.startswith("builtins."):
            return self._builtin(name[9:], args, site)
        api = self.i.tables.lookup(name)
        full = api.name if api is not None else name
        special = self._functions.get(full) or self._functions.get(name)
        if special is not None:
            return special(full, args, site)
        if api is None:
            return self._unknown(name, args, site)
        # A loss is a class to be called later, or a function of predictions and target.
        if api.part in _OBJECT_PARTS and not (api.part == "loss" and _short(api.name)[:1].islower()):
            return self._construct(api, args, site)
        handler = getattr(self, "_p_" + api.part.replace("-", "_"), None)
        if handler is None:
            return self.ops.pass_through(args)
        return handler(api, args, site)  # type: ignore[no-any-return]

    def _unknown(self, name: str, args: Args, site: Site) -> Value:
        short = name.rsplit(".", 1)[-1]
        for value in args.all():
            if short in SEARCH_CALLS:
                self.objective(value, site)
        if "." in name:
            owner = self.i.tables.lookup(name.rsplit(".", 1)[0])
            if (
                owner is not None
                and owner.part in _OBJECT_PARTS
                and short in ("from_pretrained", "from_config", "load", "from_json")
            ):
                return self._construct(owner, _no_args(), site)
        self.i.unknown_calls[name] = self.i.unknown_calls.get(name, 0) + 1
        if short[:1].isupper() and not any(self.heap.data(v).rows for v in args.all()):
            # A class that is not known may still be fitted and scored by the usual methods.
            return self._construct(_UNKNOWN_CLASS._replace(name=name), args, site)
        return self.ops.from_outside(short, self.ops.pass_through(args), args, site)

    def named(self, api: Api, args: Args) -> dict[str, Value]:
        """The arguments by parameter name."""
        values = dict(args.kw)
        for param, value in zip(api.params, args.pos, strict=False):
            if param.startswith("*"):
                break
            values.setdefault(param, value)
        return values

    def _construct(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        for n, value in enumerate(args.pos):
            values.setdefault(f"#{n}", value)
        held = LibObject(api, values, (), site, self.i.loops)
        if api.part in ("pipeline", "union", "search", "estimator", "transformer", "network"):
            wrapped = [values[w] for w in api.wraps if w in values] if api.wraps else []
            if api.part in ("pipeline", "union", "search") and not wrapped:
                wrapped = args.all()
            if api.part in ("pipeline", "union", "network"):
                wrapped = args.all()
            held = replace(held, parts=tuple(self._learners(wrapped)))
        made = self.heap.new(held)
        if api.learns_from and api.learns_from in values:
            data = self.heap.data(values[api.learns_from])
            if data.rows and api.learns not in ("", "nothing"):
                learned = self.ops.learn(_short(api.name), api.learns, data, site, fitted=True)
                self.heap.set(made.address, replace(held, learned=frozenset({learned})))
        return made

    def _learners(self, values: Sequence[Value], depth: int = 0) -> list[Value]:
        """The learners among values, through lists, tuples and dicts, in order."""
        found: list[Value] = []
        for value in values:
            held = self.heap.load(value)
            if (
                isinstance(held, LibObject)
                or (isinstance(held, Instance) and self._learns(held))
                or isinstance(value, Choice)
            ):
                found.append(value)
            elif isinstance(held, Items | ListObject) and held.items is not None and depth < 4:
                found += self._learners(held.items, depth + 1)
            elif isinstance(held, ListObject) and held.any is not None and depth < 4:
                found += self._learners([held.any], depth + 1)
            elif isinstance(held, DictObject) and depth < 4:
                found += self._learners(list(held.items.values()), depth + 1)
        return found

    def _learns(self, held: Instance) -> bool:
        return isinstance(self.i.class_attr(held.cls, "fit"), Function) or self.i.lib_base(held.cls) is not None

    # --- loading -------------------------------------------------------------------------------------------------

    def _p_load(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        first = args.pos[0] if args.pos else next(iter(values.values()), NONE)
        path = self.heap.load(first)
        saved = self.saved.get(str(path.value)) if isinstance(path, Const) else None
        if saved is not None:
            return saved
        given = self.heap.data(first)
        if given.rows:
            # Read from a value that holds rows already (a buffer): the same rows.
            return given
        role, part = self._role_of_load(api, values, path)
        constant = isinstance(path, Const) and isinstance(path.value, str)
        repeated = any(loop.turn is None for loop in self.i.loops)
        several = repeated and not constant and bool(args.pos)
        key: object = ("path", path.value) if constant and api.returns in ("frame", "array", "") else None
        return self.loaded(
            api.returns or "frame", _short(api.name), site, role, key, record=several, part=part, args=values
        )

    def _role_of_load(self, api: Api, values: dict[str, Value], path: Any) -> tuple[str, str]:
        if api.split_param and api.split_param in values:
            held = self.heap.load(values[api.split_param])
            if isinstance(held, Const):
                if isinstance(held.value, bool):
                    return ("train" if held.value else "test"), str(held.value)
                word = str(held.value)
                return next((role_of_word(p) for p in _words(word) if role_of_word(p)), ""), word
        if api.kind == "split-argument" and api.split_param == "train":
            return "train", "True"
        if isinstance(path, Const) and isinstance(path.value, str):
            name = path.value.replace("\\", "/").rsplit("/", 1)[-1]
            roles = {role_of_word(w) for w in _words(name)} - {""}
            return (roles.pop() if len(roles) == 1 else ""), ""
        return "", ""

    def loaded(
        self,
        returns: str,
        what: str,
        site: Site,
        role: str,
        key: object,
        *,
        record: bool = False,
        part: str = "",
        args: dict[str, Value] | None = None,
        made: bool = False,
    ) -> Value:
        """A data set as a loader returns it."""
        where = Site("", None, (0, 0, 0, 0)) if key is not None else site
        if key is not None:
            where = site.bare()
            first = self.i.loop_of.get(("load", key))
            where = first if isinstance(first, Site) else where
            self.i.loop_of[("load", key)] = where  # type: ignore[assignment]

        def rows(kind: str, role: str, suffix: str = "") -> Data:
            source = "made" if made else "loader"
            data = self.i.new_rows(what + suffix, where, source, kind, role=role, key=(key, part, suffix))
            return data.but(flags=data.flags | {"record"}) if record else data

        if returns == "xy":
            return self._xy(rows("array", role))
        if returns == "bunch":
            if args and self._is_true(args.get("return_X_y")):
                return self._xy(rows("array", role))
            return rows("bunch", role)
        if returns == "train-test":
            return Items((self._xy(rows("array", "train", " train")), self._xy(rows("array", "test", " test"))))
        if returns == "dict":
            if part:
                return rows("dataset", role)
            splits = {
                n: rows("dataset", r, " " + n)
                for n, r in (("train", "train"), ("validation", "validation"), ("test", "test"))
            }
            return self.heap.new(DictObject(dict(splits)))
        if returns == "object":
            return UNKNOWN
        return rows(returns if returns in ("frame", "array", "dataset") else "unknown", role)

    def _xy(self, data: Data) -> Items:
        y = data.but(
            kind="series", sources=frozenset({(data.number, "target")}), number=self.heap.number("y", data.number)
        )
        return Items((data.but(columns=None, sources=frozenset({(data.number, "data")})), y))

    def _is_true(self, value: Value | None) -> bool:
        held = self.heap.load(value) if value is not None else None
        return isinstance(held, Const) and held.value is True

    def _is_false(self, value: Value | None) -> bool:
        held = self.heap.load(value) if value is not None else None
        return isinstance(held, Const) and held.value is False

    def _p_make(self, api: Api, args: Args, site: Site) -> Value:
        return self.loaded(api.returns or "xy", _short(api.name), site, "", None, made=True)

    def _p_dataset(self, api: Api, args: Args, site: Site) -> Value:
        """Arrays wrapped as a data set: the rows of what it is given."""
        if (api.returns or api.split_param) and not any(self.heap.data(v).rows for v in args.all()):
            return self._p_load(api, args, site)
        values = self.named(api, args)
        data = [self.content(v) for v in args.all()]
        data = [d for d in data if d.rows]
        if not data:
            role = next((r for r in (role_of_word(w) for v in args.all() for w in self._words_of(v)) if r), "")
            return self.i.new_rows(_short(api.name), site, "loader", "dataset", role=role)
        x = self.heap.data(values.get(api.x)) if api.x in values else data[0]
        x = x if x.rows else data[0]
        marks = NO_MARKS.union(*(d.marks for d in data))
        y = values.get(api.y)
        return x.but(
            kind="dataset", marks=marks, each=(x, y) if y is not None else (), number=self.heap.fresh(), mask=()
        )

    def _words_of(self, value: Value) -> list[str]:
        held = self.heap.load(value)
        return _words(held.value) if isinstance(held, Const) and isinstance(held.value, str) else []

    def content(self, value: Value, depth: int = 0) -> Data:
        """The rows that a value holds, also those in the attributes of a project's data set object."""
        held = self.heap.load(value)
        if isinstance(held, Instance):
            parts = [self.content(v, depth + 1) for v in held.attrs.values()] if depth < 3 else []
            parts = [p for p in parts if p.rows]
            if parts:
                marks = NO_MARKS.union(*(p.marks for p in parts))
                return Data(
                    rows=union(*(p.rows for p in parts)),
                    marks=marks,
                    kind="dataset",
                    number=self.heap.number("content", *(p.number for p in parts)),
                    name=parts[0].name,
                )
            if depth == 0 and held.site is not None:
                role = next(
                    (role_of_word(w) for v in held.attrs.values() for w in self._words_of(v) if role_of_word(w)), ""
                )
                return self.i.new_rows(held.cls.name, held.site, "loader", "dataset", role=role)
            return UNKNOWN
        if isinstance(held, LibObject):
            parts = [self.content(v, depth + 1) for v in held.args.values()] if depth < 3 else []
            parts = [p for p in parts if p.rows]
            if parts:
                return parts[0].but(
                    marks=NO_MARKS.union(*(p.marks for p in parts)), rows=union(*(p.rows for p in parts))
                )
            return UNKNOWN
        return self.heap.data(value)

    def _p_loader(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        first = (
            args.pos[0] if args.pos else values.get(api.x) or values.get("dataset") or next(iter(values.values()), NONE)
        )
        data = self.content(first)
        sampler = values.get("sampler")
        if sampler is not None:
            picker = self.content(sampler)
            if picker.rows or picker.keys is not None:
                data = self.ops._picked(data, picker.but(kind="index"))
        return data.but(kind="loader", number=self.heap.fresh(), each=(), columns=None)

    def _p_sampler(self, api: Api, args: Args, site: Site) -> Value:
        return self.heap.data(args.pos[0]) if args.pos else UNKNOWN

    # --- splitting -----------------------------------------------------------------------------------------------

    def _p_split(self, api: Api, args: Args, site: Site) -> Value:
        arrays: list[Value] = list(args.pos)
        arrays += [v for k, v in args.kw.items() if k in ("X", "y", "arrays", "data")]
        return Items(tuple(self.split_in_two(arrays, args, site, _short(api.name))))

    def split_in_two(self, arrays: Sequence[Value], args: Args, site: Site, what: str) -> list[Value]:
        several = [self.ops.rooted(self.content(value), site) for value in arrays]
        seed = self.heap.load(args.kw.get("random_state", args.kw.get("seed", NONE)))
        rows = next((d.rows for d in several if d.rows), NO_ROWS)
        seeded = isinstance(seed, Const) and isinstance(seed.value, int)
        shuffled = not self._is_false(args.kw.get("shuffle"))
        sizes = tuple(
            (k, self.heap.data(args.kw[k]).number) for k in ("test_size", "train_size", "stratify") if k in args.kw
        )
        key: object = (
            ("two", rows, sizes, seed.value if seeded else None) if seeded or not shuffled else ("two", site, rows)
        )
        size = self.heap.load(args.kw.get("test_size", NONE))
        share = float(size.value) if isinstance(size, Const) and isinstance(size.value, float) else None
        cut = self.ops.cut(
            key, CutKind.RANDOM if shuffled else CutKind.POSITION, site, roles=("train", "test"), share=share
        )
        parts: list[Value] = []
        for data in several:
            parts += [self._part(data, cut, 0), self._part(data, cut, 1)]
        event = Split(cut, rows, site, self.i.loops, what, tuple(several))
        self.i.emit((site, cut), event)
        return parts

    def _part(self, data: Data, cut: Cut, part: int) -> Data:
        if not data.rows and data.kind != "index":
            return data
        narrowed = self.ops.narrowed(
            data.but(keys=data.keys if data.keys is not None else (data.rows if data.kind == "index" else None)),
            cut,
            part,
        )
        return narrowed.but(name="")

    def _p_random_split(self, api: Api, args: Args, site: Site) -> Value:
        data = self.content(args.pos[0]) if args.pos else UNKNOWN
        lengths = self.ops.unpack(args.get(1, "lengths") or NONE, None)
        return self.random_parts(data, len(lengths) if lengths else 2, site, _short(api.name))

    def random_parts(self, data: Data, count: int, site: Site, what: str) -> Value:
        roles = {2: ("train", "test"), 3: ("train", "validation", "test")}.get(count, ("train", *[""] * (count - 1)))
        cut = self.ops.cut(("parts", site, data.rows), CutKind.RANDOM, site, roles=roles)
        self.i.emit((site, cut), Split(cut, data.rows, site, self.i.loops, what, (data,)))
        return Items(tuple(self._part(data, cut, n) for n in range(count)))

    def folds(self, data: Data, site: Site, held: LibObject | None, owner: object) -> tuple[Cut, Rows]:
        """The cut of a splitter over rows."""
        rows = data.keys if data.keys is not None else data.rows
        if not rows:
            rows = self.i.new_rows("rows", site, "unknown", "index").rows
        kind = held.api.kind if held is not None else "fold"
        single = kind == "shuffle"
        cut = self.ops.cut(
            ("fold", owner, rows),
            CutKind.RANDOM if single else CutKind.FOLD,
            site,
            roles=("train", "test") if single else ("train", "fold"),
        )
        self.i.emit(
            (site, cut), Split(cut, rows, site, self.i.loops, _short(held.api.name) if held else "folds", (data,))
        )
        return cut, rows

    def _split_folds(self, owner: Value, held: LibObject, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0] if args.pos else args.kw.get("X"))
        if not data.rows and data.keys is None and len(args.pos) > 1:
            data = self.heap.data(args.pos[1])
        cut, rows = self.folds(data, site, held, owner.address if isinstance(owner, Ref) else site)
        self.i.cuts_used.update({(cut, 0), (cut, 1)})
        parts = []
        for n in range(2):
            keys = narrow(rows, cut, n)
            parts.append(Data(rows=keys, keys=keys, kind="index", number=self.heap.number("fold", id(cut), n)))
        return Data(flags=frozenset({"folds"}), each=(Items(tuple(parts)),), number=self.heap.fresh())

    # --- learning ------------------------------------------------------------------------------------------------

    def _p_learn(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        first = values.get(api.x) or (args.pos[0] if args.pos else next(iter(args.kw.values()), NONE))
        data = self.heap.data(first)
        if (
            not data.rows
            or "record" in data.flags
            or data.kind in ("row", "mask")
            or self.ops._across_columns(_axis(args), None)
        ):
            return data.but(number=self.heap.fresh(), mask=())
        y = values.get(api.y) if api.supervised else None
        learned = self.ops.learn(_short(api.name), api.learns or "scaling", data, site, supervised=y is not None)
        return self.ops.marked(data.but(number=self.heap.fresh(), mask=(), each=()), frozenset({learned}))

    def _p_resample(self, api: Api, args: Args, site: Site) -> Value:
        return self._p_draw(api, args, site)

    def _p_draw(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        replacing = not self._is_false(values.get("replace"))
        results: list[Value] = []
        for value in args.pos or [v for k, v in values.items() if k in ("X", "y", "a", "population")]:
            data = self.heap.data(value)
            if not data.rows:
                continue
            if replacing and _short(api.name) == "resample":
                draw = self.ops.draw("resample", data, site)
                new = self.ops.marked(data.but(number=self.heap.fresh()), frozenset({draw}))
                results.append(new.but(flags=new.flags | {"repeated"}))
            else:
                cut = self.ops.cut(("draw", site, data.rows), CutKind.RANDOM, site, explicit=False)
                results.append(self.ops.narrowed(data, cut, 0))
        if not results:
            return Data(kind="index", number=self.heap.fresh(), flags=frozenset({"random"}))
        return results[0] if len(results) == 1 else Items(tuple(results))

    def _p_select(self, api: Api, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0] if args.pos else next(iter(args.kw.values()), None))
        if not data.rows:
            return UNKNOWN
        learned = self.ops.learn(_short(api.name), "selection", data, site, supervised=True)
        return Data(kind="columns", marks=frozenset({learned}), number=self.heap.fresh())

    def _p_statistic(self, api: Api, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else next(iter(args.kw.values()), NONE)
        short = _short(api.name)
        if short in _TESTS and len(args.pos) + len(args.kw) > 1:
            return self._p_select(api, args, site)
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
            return self.ops.statistic(
                short, self.heap.data(first), _args(**({"axis": axis} if axis is not None else {})), site
            )
        data = self.heap.data(first)
        if self.ops._across_columns(_axis(args), None):
            return data.but(number=self.heap.fresh(), columns=None)
        marks = frozenset(m for v in args.all() for m in self.heap.data(v).marks if not isinstance(m, Learn))
        return Data(kind="scalar", number=self.heap.number(short, data.number), marks=marks)

    def _p_row_wise(self, api: Api, args: Args, site: Site) -> Value:
        values = args.all()
        if not values:
            return UNKNOWN
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
        return self.i.operate("+", several, _node(site))

    def _p_filter(self, api: Api, args: Args, site: Site) -> Value:
        return self.ops.pass_through(args)

    def _p_reorder(self, api: Api, args: Args, site: Site) -> Value:
        results: list[Value] = []
        for value in args.pos or list(args.kw.values()):
            data = self.heap.data(value)
            if data.rows or data.kind in ("index", "frame", "array"):
                number = self.heap.number("shuffle", data.number, str(site.span))
                results.append(
                    data.but(number=number, flags=data.flags | {"shuffled", f"order:{number}"}, each=(), name="")
                )
        if not results:
            return self.ops.pass_through(args)
        return results[0] if len(results) == 1 else Items(tuple(results))

    def _p_combine(self, api: Api, args: Args, site: Site) -> Value:
        short = _short(api.name)
        columns = short in ("hstack", "column_stack", "c_", "merge", "merge_asof", "merge_ordered", "horizontal_stack")
        axis = args.kw.get("axis", args.kw.get("dim"))
        if axis is None and short in ("concatenate", "cat", "stack", "append", "concat") and len(args.pos) > 1:
            axis = args.pos[-1]
        held = self.heap.load(axis) if axis is not None else None
        if isinstance(held, Const) and held.value in (1, -1, 2, "columns"):
            columns = True
        values = [v for k, v in args.kw.items() if k in ("objs", "left", "right", "tensors", "arrays", "items")]
        values = [*args.pos, *values]
        if axis is not None and args.pos and axis is args.pos[-1]:
            values = values[:-1]
        if short.startswith("merge"):
            left = self.heap.data(values[0]) if values else UNKNOWN
            return self.ops.joined(left, self.heap.data(values[1])) if len(values) > 1 else left
        return self.ops.combined(values, columns=columns, site=site)

    def _p_extremum(self, api: Api, args: Args, site: Site) -> Value:
        return self.ops.extremum(_short(api.name), args.pos or list(args.kw.values()), site)

    def _p_seed(self, api: Api, args: Args, site: Site) -> Value:
        return NONE

    def _p_silent(self, api: Api, args: Args, site: Site) -> Value:
        if _short(api.name) in ("dump", "save") and len(args.pos) > 1:
            self._save(args.pos[0], args.pos[1])
        for value in args.all():
            self.handed_on(value, site)
        return NONE

    def handed_on(self, value: Value, site: Site) -> None:
        """A training part that is saved or returned: trained on elsewhere."""
        held = self.heap.load(value)
        parts = held.items if isinstance(held, Items | ListObject) and held.items is not None else (value,)
        if isinstance(held, DictObject):
            parts = tuple(held.items.values())
        for part in parts:
            data = self.heap.data(part)
            learned = any(isinstance(m, Learn) for m in data.marks)
            if learned and any(
                role_of_word(w) == "train" for n in self.i.names.get(data.rows, ()) for w in split_words(n)
            ):
                model = self.heap.number("handed on", site)
                self._emit_train(model, "handed on", "what is trained later", data, None, site, (), False, True)

    def _save(self, value: Value, where: Value) -> None:
        path = self.heap.load(where)
        if isinstance(path, Const) and isinstance(path.value, str):
            self.saved[path.value] = value

    def _p_constant(self, api: Api, args: Args, site: Site) -> Value:
        numbers = [self.heap.data(v).number for v in args.all()]
        # An array of zeros is there to be filled.
        kind = "array" if _short(api.name).startswith(("zeros", "ones", "empty", "full")) else "scalar"
        return Data(kind=kind, number=self.heap.number(api.name, *numbers))

    def _p_structural(self, api: Api, args: Args, site: Site) -> Value:
        return self.ops.pass_through(args)

    # --- scores --------------------------------------------------------------------------------------------------

    def _p_score(self, api: Api, args: Args, site: Site) -> Value:
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in args.all())) if args.all() else NO_MARKS
        predictions = [m for m in marks if isinstance(m, Predict)]
        kind = "curve" if api.kind == "curve" else "score"
        if not predictions:
            old = frozenset(m for m in marks if isinstance(m, Score))
            if old:
                return Data(kind="scalar", marks=old, number=self.heap.fresh())
            carriers = [self.heap.data(v) for v in args.pos[:2]]
            learners = [v for v in args.all() if isinstance(self.heap.load(v), LibObject)]
            if learners and any(self.heap.data(v).rows for v in args.all()):
                data = next(self.heap.data(v) for v in args.all() if self.heap.data(v).rows)
                held = self.heap.load(learners[0])
                prediction = self._predict(learners[0], held, data, site)
                return Data(
                    kind="scalar",
                    marks=frozenset({self.score(_short(api.name), prediction, site, kind=kind)}),
                    number=self.heap.fresh(),
                )
            if len(carriers) == 2 and all(c.rows for c in carriers):
                score = self._emit_score(
                    _short(api.name),
                    None,
                    (),
                    carriers[0].rows,
                    site,
                    carriers[0].marks | carriers[1].marks,
                    kind,
                    carriers[0],
                )
                return Data(kind="scalar", marks=frozenset({score}), number=self.heap.fresh())
            return Data(kind="scalar", number=self.heap.fresh())
        scores = frozenset(self.score(_short(api.name), p, site, kind=kind) for p in predictions)
        return Data(kind="scalar", marks=scores, number=self.heap.fresh())

    def score(self, what: str, prediction: Predict, site: Site, *, kind: str) -> Score:
        fold = any(cut.kind is CutKind.FOLD for _, cuts in prediction.rows for cut, _ in cuts)
        if kind == "score" and fold:
            kind = "fold"
        data = Data(rows=prediction.rows, name=prediction.name)
        return self._emit_score(
            what, prediction.model, prediction.trains, prediction.rows, site, prediction.marks, kind, data
        )

    def _emit_score(
        self,
        what: str,
        model: int | None,
        trains: tuple[Train, ...],
        rows: Rows,
        site: Site,
        marks: frozenset[Mark],
        kind: str,
        data: Data,
    ) -> Score:
        baseline = bool(trains) and all(t.baseline for t in trains)
        event = Score(what, model, trains, rows, site, self.i.loops, marks, kind, self.ops.called(data), baseline)
        return self.i.emit((site, what, model, rows, trains, kind), event)  # type: ignore[no-any-return]

    def _p_loss(self, api: Api, args: Args, site: Site) -> Value:
        return self._lost(_short(api.name), args, site)

    def _lost(self, what: str, args: Args, site: Site) -> Value:
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in args.all())) if args.all() else NO_MARKS
        scores = frozenset(self.score(what, p, site, kind="loss") for p in marks if isinstance(p, Predict))
        rows = union(*(self.heap.data(v).rows for v in args.all())) if args.all() else NO_ROWS
        if self._inside_network:
            return Data(rows=rows, kind="scalar", marks=marks, number=self.heap.fresh())
        return Data(
            rows=NO_ROWS,
            kind="scalar",
            marks=scores | frozenset(m for m in marks if isinstance(m, Score)),
            number=self.heap.fresh(),
        )

    def train_by_loss(self, loss: Data, site: Site) -> None:
        """`loss.backward()`: the model behind the loss is trained on the rows behind it."""
        for mark in loss.marks:
            if isinstance(mark, Predict) and not any(isinstance(m, Score) for m in loss.marks):
                rows = Data(rows=mark.rows, marks=mark.marks, name=mark.name)
                self._emit_train(mark.model, "loop", "the model", rows, None, mark.site, (), False, False)
            if isinstance(mark, Score) and mark.model is not None:
                self._emit_train(
                    mark.model,
                    "loop",
                    "the model",
                    Data(rows=mark.rows, marks=mark.marks, name=mark.name),
                    None,
                    mark.site,
                    (),
                    False,
                    False,
                )

    def _p_fold_score(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        learner, x = values.get("estimator"), values.get(api.x) or values.get("X")
        if learner is None and args.pos:
            learner = args.pos[0]
        if x is None and len(args.pos) > 1:
            x = args.pos[1]
        score = self._fold(
            learner,
            self.heap.data(x),
            self.heap.data(values.get(api.y)) if api.y in values else None,
            site,
            _short(api.name),
            values.get("cv"),
        )
        return Data(kind="scalar", marks=frozenset({score}) if score else NO_MARKS, number=self.heap.fresh())

    def _fold(
        self, learner: Value | None, x: Data, y: Data | None, site: Site, what: str, cv: Value | None
    ) -> Score | None:
        """Cross-validation: train on each fold's rest, score on the fold."""
        if not x.rows:
            return None
        splitter = self.heap.load(cv) if cv is not None else None
        cut, rows = self.folds(x, site, splitter if isinstance(splitter, LibObject) else None, ("cv", site))
        train_rows, test_rows = narrow(x.rows, cut, 0), narrow(x.rows, cut, 1)
        if isinstance(splitter, LibObject) and cut.kind is CutKind.RANDOM:
            cut = self.ops.cut(("cv fold", site, rows), CutKind.FOLD, site, roles=("train", "fold"))
            train_rows, test_rows = narrow(x.rows, cut, 0), narrow(x.rows, cut, 1)
            self.i.emit((site, cut), Split(cut, rows, site, self.i.loops, what, (x,)))
        held = self.heap.load(learner) if learner is not None else None
        model = self._model_of(learner, held) if learner is not None else 0
        train = self._emit_train(
            model,
            "fold",
            self._called_learner(held),
            x.but(rows=train_rows),
            y,
            site,
            (),
            False,
            self._picks_columns(held),
            baseline=self._is_baseline(held),
        )
        return self._emit_score(what, model, (train,), test_rows, site, x.marks, "fold", x)

    def _p_fold_predict(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        x = self.heap.data(values.get("X") or (args.pos[1] if len(args.pos) > 1 else None))
        score = self._fold(
            values.get("estimator") or (args.pos[0] if args.pos else None),
            x,
            None,
            site,
            _short(api.name),
            values.get("cv"),
        )
        if score is None:
            return UNKNOWN
        event = Predict(score.model or 0, score.trains, score.rows, site, x.marks, self.ops.called(x))
        mark = self.i.emit((site, score.rows), event)
        return Data(rows=x.rows, marks=frozenset({mark}), kind="array", number=self.heap.fresh())

    # --- learners: state and events ------------------------------------------------------------------------------

    def _model_of(self, owner: Value, held: Any) -> int:
        if isinstance(held, LibObject | Instance) and held.site is not None:
            return self.heap.number("model", held.site, held.born)
        return self.heap.number("model", str(owner))

    def _called_learner(self, held: Any) -> str:
        if isinstance(held, LibObject):
            return _short(held.api.name)
        if isinstance(held, Instance):
            return held.cls.name
        return "the model"

    def _is_baseline(self, held: Any) -> bool:
        return isinstance(held, LibObject) and (
            held.api.baseline or any(self._is_baseline(self.heap.load(p)) for p in held.parts)
        )

    def _picks_columns(self, held: Any, depth: int = 0) -> bool:
        """Whether a learner uses only columns that it names itself."""
        if isinstance(held, LibObject) and depth < 5:
            if held.api.part == "union" or "FunctionTransformer" in held.api.name or held.api.kind == "unknown":
                return True
            return any(self._picks_columns(self.heap.load(p), depth + 1) for p in held.parts)
        return isinstance(held, Instance)

    def _emit_train(
        self,
        model: int,
        kind: str,
        what: str,
        x: Data,
        y: Data | None,
        site: Site,
        born: tuple[Any, ...],
        stops: bool,
        selects: bool,
        *,
        held_out: tuple[Data, ...] = (),
        baseline: bool = False,
        seeds: frozenset[str] = frozenset(),
    ) -> Train:
        event = Train(
            model,
            what,
            x.rows,
            site,
            x,
            y,
            self.i.loops,
            born,
            kind,
            selects,
            baseline,
            seeds,
            self.ops.called(x),
            held_out,
            stops,
        )
        marks = x.marks | (y.marks if y is not None else NO_MARKS)
        return self.i.emit((site, model, kind, x.rows, marks, stops), event)  # type: ignore[no-any-return]

    def _predict(self, owner: Value, held: Any, x: Data, site: Site) -> Predict:
        trains = held.trains if isinstance(held, LibObject | Instance) else ()
        event = Predict(self._model_of(owner, held), trains, x.rows, site, x.marks, self.ops.called(x))
        return self.i.emit((site, x.rows, trains, x.marks), event)  # type: ignore[no-any-return]

    def _predicted(self, owner: Value, held: Any, x: Data, site: Site) -> Data:
        mark = self._predict(owner, held, x, site)
        learned = frozenset(m for m in x.marks if isinstance(m, Learn))
        return Data(rows=x.rows, marks=learned | {mark}, kind="array", number=self.heap.fresh(), name=x.name)

    # --- objects -------------------------------------------------------------------------------------------------

    def get_attr(self, base: Value, held: LibObject, name: str) -> Value:
        part = held.api.part
        if name in _FITTED_CHOICES:
            marks = self._importance(held)
            if marks:
                value = Data(
                    kind="columns", marks=marks, number=self.heap.number("importance", *sorted(id(m) for m in marks))
                )
                return value if not name.startswith("get_") else Method(base, None, name)
        if held.trains and name in ("history", "best_score_", "best_score", "evals_result_"):
            scores = set()
            for train in held.trains:
                for data in train.held_out:
                    event = Score(
                        name,
                        train.model,
                        (train,),
                        data.rows,
                        train.site,
                        (),
                        data.marks,
                        "history",
                        self.ops.called(data),
                    )
                    scores.add(self.i.emit((train.site, name, data.rows), event))
            if scores:
                return Data(kind="scalar", marks=frozenset(scores), number=self.heap.fresh())
        if part == "search":
            if name in ("best_estimator_", "estimator"):
                return base
            if name in ("best_score_", "cv_results_", "best_params_", "best_index_"):
                return Data(kind="scalar", number=self.heap.fresh())
        if name == "labels_" and held.learned:
            rows = union(*(m.rows for m in held.learned if isinstance(m, Learn)))
            return Data(rows=rows, marks=held.learned, kind="series", number=self.heap.fresh())
        if name in ("named_steps", "steps", "named_transformers_", "transformers_", "estimators_"):
            return self.heap.new(ListObject(None, self.heap.join_all(list(held.parts)))) if held.parts else UNKNOWN
        if held.learned and (name in ("wv", "dv", "docvecs") or (name.endswith("_") and not name.startswith("_"))):
            return Data(
                kind="scalar", marks=held.learned, number=self.heap.number(name, *sorted(id(m) for m in held.learned))
            )
        return Method(base, None, name)

    def _importance(self, held: LibObject) -> frozenset[Mark]:
        if held.learned:
            return held.learned
        found = set()
        for train in held.trains:
            if train.x is not None:
                found.add(self.ops.learn(train.what, "selection", train.x, train.site, supervised=True, fitted=True))
        return frozenset(found)

    def get_item(self, base: Value, held: LibObject, index: Value, site: Site) -> Value:
        if held.api.part in ("pipeline", "union") and held.parts:
            key = self.heap.load(index)
            if (
                isinstance(key, Const)
                and isinstance(key.value, int)
                and -len(held.parts) <= key.value < len(held.parts)
            ):
                return held.parts[key.value]
            return base
        if isinstance(self.heap.load(index), Const):
            name = str(self.heap.load(index).value)
            if name in held.attrs:
                return held.attrs[name]
        content = self.content(base)
        return content.but(kind="row") if content.rows else UNKNOWN

    def iterate(self, value: Value, held: LibObject, site: Site) -> tuple[list[Value] | None, Value, str]:
        content = self.content(value)
        return (
            None,
            content.but(kind="row", number=self.heap.fresh(), columns=None) if content.rows else UNKNOWN,
            "items",
        )

    def call_object(self, callee: Value, held: LibObject, args: Args, site: Site) -> Value:
        """An object that is called: a network or layer on a batch, a loss, a metric."""
        part = held.api.part
        if part == "loss":
            return self._lost(_short(held.api.name), args, site)
        if part == "metric":
            return self._p_score(held.api, args, site)
        if part == "network" and not self._inside_network:
            data = self._batch(args)
            if data.rows and data.kind != "object":
                return self._predicted(callee, held, data, site)
        if part == "transformer":
            data = self._batch(args)
            return self.ops.marked(data, held.learned)
        if part == "callback":
            return UNKNOWN
        return self.ops.pass_through(args)

    def _batch(self, args: Args) -> Data:
        several = [self.heap.data(v) for v in args.all()]
        return next((d for d in several if d.rows), several[0] if several else UNKNOWN)

    def instance_called(self, callee: Value, held: Instance, args: Args, result: Value | None, site: Site) -> Value:
        """An object of a project class is called: a network's forward pass makes predictions."""
        api = self.i.lib_base(held.cls)
        if api is not None and api.part == "network" and not self._in_method_of_network():
            data = self._batch(args)
            if data.rows:
                predicted = self._predicted(callee, held, data, site)
                if isinstance(result, Items):
                    return Items(tuple(predicted for _ in result.items))
                return predicted
        return result if result is not None else self.ops.pass_through(args)

    def _in_method_of_network(self) -> bool:
        """Layers called inside a forward pass are parts of one model."""
        for function in self.i.stack:
            if function.cls is not None and function.name in ("forward", "call", "__call__"):
                api = self.i.lib_base(function.cls)
                if api is not None and api.part == "network":
                    return True
        return False

    def instance_method(self, owner: Value, held: Instance, name: str, args: Args, site: Site) -> Value:
        """A method that a project class inherits from a library class."""
        if name == "fit_transform":
            fitted = self.i.call_method(owner, "fit", args, site)
            if fitted is not None:
                result = self.i.call_method(
                    owner, "transform", _args(*args.pos[:1], **{k: v for k, v in args.kw.items() if k == "X"}), site
                )
                return result if result is not None else NONE
        if name == "score" and args.pos:
            predicted = self.i.call(self.i.get_attr(owner, "predict", _node(site)), _args(args.pos[0]), site)
            marks = self.heap.data(predicted).marks
            scores = frozenset(self.score("score", p, site, kind="score") for p in marks if isinstance(p, Predict))
            return Data(kind="scalar", marks=scores, number=self.heap.fresh())
        api = self.i.lib_base(held.cls)
        if api is None or not isinstance(owner, Ref) or held.site is None:
            if api is None and name not in ("train", "eval", "parameters", "__init__"):
                return self.ops.pass_through(args)
            return owner if name in ("train", "eval", "to", "cuda", "cpu", "double", "float") else NONE
        if api.part == "object":
            return self.ops.pass_through(args)
        stand_in = LibObject(api, {}, (), held.site, held.born, {}, held.trains)
        self.heap.set(owner.address, stand_in)
        result = self.call_method(owner, stand_in, name, args, site)
        after = self.heap.load(owner)
        trains = after.trains if isinstance(after, LibObject) else held.trains
        self.heap.set(owner.address, replace(held, trains=trains))
        return result

    def instance_item(self, base: Value, held: Instance, index: Value) -> Value:
        return (
            held.attrs.get("data", UNKNOWN) if self.i.base_names(held.cls)[:1] in (["dict"], ["UserDict"]) else UNKNOWN
        )

    def project_method(self, owner: Value, name: str, args: Args, result: Value, trained: bool, site: Site) -> Value:
        """After a method of a project's own predictor has run: its training and its predictions."""
        held = self.heap.load(owner)
        if not isinstance(held, Instance) or not isinstance(owner, Ref):
            return result
        if name in ("fit", "train") and not trained and isinstance(self.i.class_attr(held.cls, "predict"), Function):
            x = self.heap.data(args.get(0, "X"))
            y = args.get(1, "y")
            if x.rows and y is not None:
                train = self._emit_train(
                    self._model_of(owner, held),
                    "fit",
                    held.cls.name,
                    x,
                    self.heap.data(y),
                    site,
                    held.born,
                    False,
                    True,
                )
                self.heap.set(owner.address, replace(held, trains=(train,)))
        elif name in ("predict", "predict_proba", "decision_function") and held.trains:
            x = self.heap.data(args.get(0, "X"))
            data = self.heap.data(result)
            if x.rows and not any(isinstance(m, Predict) for m in data.marks):
                return self._predicted(owner, held, x, site)
        return result

    # --- methods of library objects ------------------------------------------------------------------------------

    def call_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        part = held.api.part
        if name in (
            "set_params",
            "set_output",
            "compile",
            "eval",
            "to",
            "cuda",
            "cpu",
            "double",
            "float",
            "half",
            "requires_grad_",
            "partial",
        ):
            return owner
        if name == "add" and part == "network" and isinstance(owner, Ref):
            self.heap.set(owner.address, replace(held, parts=(*held.parts, *self._learners(args.pos))))
            return NONE
        if name in (
            "get_params",
            "state_dict",
            "parameters",
            "named_parameters",
            "summary",
            "save",
            "save_weights",
            "zero_grad",
            "step",
            "add",
            "get_config",
            "to_json",
        ):
            return UNKNOWN if name != "add" else NONE
        if part == "splitter" and name == "split":
            return self._split_folds(owner, held, args, site)
        if name in SEARCH_CALLS or (part == "search" and name == "search"):
            for value in args.all():
                self.objective(value, site)
        if held.api.kind == "unknown":
            return self._unknown_method(owner, held, name, args, site)
        if part in ("estimator", "search", "network") or (part == "pipeline" and self._ends_in_predictor(held)):
            return self._predictor_method(owner, held, name, args, site)
        if part in ("transformer", "pipeline", "union", "resampler"):
            return self._transformer_method(owner, held, name, args, site)
        if part == "metric":
            return self._metric_method(owner, held, name, args, site)
        if name in _FITTED_CHOICES and held.learned:
            return Data(kind="columns", marks=held.learned, number=self.heap.fresh())
        return self.ops.pass_through(args)

    def _unknown_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        """An object of an unknown class: with `fit(X, y)` and then `predict` or `score` it is a predictor."""
        learns = self._learns_by_name(held.api.name)
        if learns and name in ("fit", "fit_transform", "transform"):
            hinted = replace(
                held, api=held.api._replace(part="transformer", learns=learns, fit_apply=("fit_transform",))
            )
            result = self._transformer_method(owner, hinted, name, args, site)
            after = self.heap.load(owner)
            if isinstance(owner, Ref) and isinstance(after, LibObject):
                self.heap.set(owner.address, replace(after, api=held.api))
            return result
        if name == "fit" and len(args.pos) + len(args.kw) >= 2:
            return self._predictor_method(owner, held, name, args, site)
        if (name in _PREDICTS or name in _SCORES) and (held.trains or held.outside):
            return self._predictor_method(owner, held, name, args, site)
        if name in ("fit", "eval", "train"):
            return owner
        return self.ops.from_outside(name, self.ops.pass_through(args), args, site)

    def _learns_by_name(self, name: str) -> str:
        """What an object of unknown class learns, by the words of its name: a convention, so never sure."""
        words = split_words(_short(name))
        return next((_LEARNS_BY_WORD[word] for word in words if word in _LEARNS_BY_WORD), "")

    def unknown_learner(self, owner: Value, held: Any) -> Ref:
        """The object behind an argument or attribute of unknown kind that is fitted or asked to predict."""
        if isinstance(held, Method):
            key: object = (
                ("attribute", held.owner, held.name) if isinstance(held.owner, Ref) else ("attribute", held.name)
            )
            name = held.name
        else:
            key, name = ("value", held.number), held.name
        known = self._outside.get(key)
        if known is None or not isinstance(self.heap.load(known), LibObject):
            site = Site("", None, (0, 0, 0, 0))
            api = _UNKNOWN_CLASS._replace(name=name.rsplit(".", 1)[-1] or "the model")
            made = LibObject(api, {}, (), site._replace(path=str(len(self._outside))), (), {}, outside=True)
            known = self._outside[key] = self.heap.new(made)
        return known

    def _metric_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        if name in ("update", "update_state", "add_batch", "add", "__call__", "forward"):
            value = self._p_score(held.api, args, site)
            if isinstance(owner, Ref):
                marks = self.heap.data(value).marks
                self.heap.set(owner.address, replace(held, learned=held.learned | marks))
            return value
        if name in ("compute", "result") and (args.pos or args.kw):
            return self._p_score(held.api, args, site)
        if name in ("compute", "result"):
            return Data(kind="scalar", marks=held.learned, number=self.heap.fresh())
        if name in ("reset", "reset_states", "reset_state") and isinstance(owner, Ref):
            self.heap.set(owner.address, replace(held, learned=NO_MARKS))
        return NONE

    def _ends_in_predictor(self, held: LibObject) -> bool:
        if not held.parts:
            return True
        last = self.heap.load(held.parts[-1])
        if isinstance(last, Choice):
            last = self.heap.load(last.options[0])
        if isinstance(last, LibObject):
            if last.api.part in ("pipeline", "union"):
                return last.api.part == "pipeline" and self._ends_in_predictor(last)
            return last.api.part in ("estimator", "search", "network")
        if isinstance(last, Instance):
            return isinstance(self.i.class_attr(last.cls, "predict"), Function)
        # The last step is not known: only a predictor would make it a model, so nothing is claimed of it.
        wrapped = [v for k, v in held.args.items() if k.startswith("#") or k in held.api.wraps]
        return not wrapped

    # Transformers

    def _transformer_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        api = held.api
        if name in api.fit or name == "partial_fit":
            self._fit_transformer(owner, held, args, site)
            return owner
        if name in api.fit_apply or name in ("fit_transform", "fit_predict", "fit_resample", "fit_sample"):
            learned = self._fit_transformer(owner, held, args, site)
            return self._transformed(
                self.heap.load(owner), args, site, learned, resampled=name.startswith(("fit_resample", "fit_sample"))
            )
        if name == "inverse_transform":
            data = self.heap.data(args.pos[0] if args.pos else None)
            return data.but(number=self.heap.fresh())
        if name in _FITTED_CHOICES:
            return Data(kind="columns", marks=held.learned, number=self.heap.fresh())
        if name in api.apply or name in ("transform", "predict", "score_samples", "decision_function", "predict_proba"):
            return self._transformed(held, args, site, held.learned)
        return self.ops.pass_through(args)

    def _fit_transformer(self, owner: Value, held: LibObject, args: Args, site: Site) -> frozenset[Mark]:
        values = dict(zip((held.api.x, held.api.y), args.pos, strict=False)) | args.kw
        first = values.get(held.api.x) or (args.pos[0] if args.pos else next(iter(args.kw.values()), NONE))
        x = self.content(first)
        y_value = values.get(held.api.y)
        y = self.heap.data(y_value) if y_value is not None and self.heap.load(y_value) != NONE else None
        learns, supervised = self._what_it_learns(held)
        x = self.ops.rooted(x, site)
        if learns == "nothing" or not x.rows or x.kind in ("row", "index-item") or "record" in x.flags:
            return NO_MARKS
        what = _short(held.api.name)
        if learns in ("resampling", "augmentation"):
            learned: Mark = self.ops.learn(what, learns, x, site, fitted=True)
        else:
            unsure = held.api.kind == "unknown"
            with_target = supervised and y is not None
            learned = self.ops.learn(what, learns, x, site, supervised=with_target, fitted=True, by_name=unsure)
        marks = frozenset({learned})
        if isinstance(owner, Ref):
            self.heap.set(owner.address, replace(held, learned=marks))
        return marks

    def _what_it_learns(self, held: LibObject, depth: int = 0) -> tuple[str, bool]:
        """What a transformer, or a chain of them, learns, and whether with the target."""
        if held.api.part in ("transformer", "resampler"):
            return held.api.learns or ("resampling" if held.api.part == "resampler" else "scaling"), held.api.supervised
        found, supervised = "nothing", False
        for value in held.parts:
            part = self.heap.load(value)
            if isinstance(part, LibObject) and depth < 5:
                learns, with_target = self._what_it_learns(part, depth + 1)
                supervised = supervised or with_target
                if learns != "nothing" and (found == "nothing" or _harm(learns) < _harm(found)):
                    found = learns
        return found, supervised

    def _transformed(
        self, held: LibObject, args: Args, site: Site, learned: frozenset[Mark], *, resampled: bool = False
    ) -> Value:
        values = dict(zip((held.api.x, held.api.y), args.pos, strict=False)) | args.kw
        first = values.get(held.api.x) or (args.pos[0] if args.pos else next(iter(args.kw.values()), NONE))
        x = self.ops.rooted(self.heap.data(first), site)
        keeps = x.kind in ("array", "dataset", "series", "row") or held.api.learns in ("categories", "vocabulary")
        result = self.ops.marked(
            x.but(number=self.heap.fresh(), each=(), mask=(), columns=None, kind="array" if x.kind != "row" else "row"),
            learned,
        )
        if (
            x.columns is not None
            and held.api.part == "transformer"
            and held.api.learns in ("scaling", "imputation", "nothing", "binning", "categories", "outliers")
        ):
            # The same columns in the same order, though without their names: what it holds is still known.
            result = result.but(columns=None, sources=self.ops.columns_of(x) if not x.columns.open else frozenset())
        if held.api.learns == "selection" and keeps:
            result = result.but(columns=None)
        if resampled:
            y = values.get(held.api.y)
            target = (
                self.ops.marked(self.heap.data(y).but(number=self.heap.fresh(), each=()), learned)
                if y is not None
                else UNKNOWN
            )
            return Items((result.but(name=""), target.but(name="")))
        return result.but(name="") if held.api.learns != "nothing" else result

    # Predictors

    def _predictor_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        api = held.api
        if (
            name
            in (
                "fit",
                "train",
                "fit_generator",
                "partial_fit",
                "train_on_batch",
                "fit_predict",
                "fit_regularized",
                "search",
            )
            or name in api.fit
        ):
            self.fit(owner, held, args, site)
            if (
                name == "train"
                and api.part == "network"
                and not args.pos
                and not args.kw
                and "train_dataset" not in held.args
            ):
                return owner
            if name == "fit_predict":
                return (
                    self._predicted(owner, self.heap.load(owner), self.content(args.pos[0]), site)
                    if args.pos
                    else UNKNOWN
                )
            return owner
        if name == "fit_transform":
            self.fit(owner, held, args, site)
            learned = self._importance(self.heap.load(owner))
            return self.ops.marked(self.heap.data(args.pos[0] if args.pos else None), learned)
        if name in _PREDICTS:
            first = args.pos[0] if args.pos else next(iter(args.kw.values()), None)
            if first is None:
                return UNKNOWN
            x = self.ops.rooted(self.content(first), site)
            if x.rows:
                return self._predicted(owner, held, x, site)
            return self.ops.pass_through(args)
        if name in _SCORES or name == "validate":
            return self._scored(owner, held, name, args, site)
        if name in _FITTED_CHOICES:
            return Data(kind="columns", marks=self._importance(held), number=self.heap.fresh())
        if name in ("transform", "apply"):
            x = self.heap.data(args.pos[0] if args.pos else None)
            return self.ops.marked(x.but(number=self.heap.fresh(), columns=None), self._importance(held))
        return self.ops.pass_through(args)

    def _scored(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        candidates = [
            v for k, v in args.kw.items() if k not in ("verbose", "batch_size", "sample_weight", "callbacks", "steps")
        ]
        data = next((d for d in (self.content(v) for v in [*args.pos, *candidates]) if d.rows), None)
        if data is None and args.pos:
            data = self.ops.rooted(self.content(args.pos[0]), site)
        if data is None:
            data = next((self.content(held.args[k]) for k in ("eval_dataset", "valid_data") if k in held.args), None)
        if data is None or not data.rows:
            return Data(kind="scalar", number=self.heap.fresh())
        if data.each and data.kind == "dataset":
            data = data.but(each=())
        prediction = self._predict(owner, held, data, site)
        score = self.score(name, prediction, site, kind="score")
        return Data(kind="scalar", marks=frozenset({score}), number=self.heap.fresh())

    def fit(self, owner: Value, held: LibObject, args: Args, site: Site) -> Train | None:
        api = held.api
        values = dict(zip((api.x, api.y), args.pos, strict=False)) | args.kw
        x_value = (
            values.get(api.x)
            or values.get("X")
            or values.get("x")
            or values.get("train_dataloaders")
            or values.get("dataset")
        )
        if x_value is None and args.pos:
            x_value = args.pos[0]
        x = self.content(x_value) if x_value is not None else UNKNOWN
        if not x.rows:
            # Lightning and the like: fit(model, loader); statsmodels: the data came with the constructor.
            candidates = [*args.pos, *args.kw.values()]
            x = next((d for d in (self.content(v) for v in candidates) if d.rows), UNKNOWN)
        y_value = values.get(api.y) or values.get("y")
        if not x.rows and x_value is not None:
            x = self.ops.rooted(self.content(x_value), site)
        if not x.rows:
            x_value = held.args.get(api.x) or held.args.get("train_dataset") or held.args.get("train_data")
            x = self.content(x_value) if x_value is not None else UNKNOWN
            y_value = held.args.get(api.y)
        if not x.rows:
            return None
        x = self.ops.marked(x, self._inside(held))
        y = self.heap.data(y_value) if y_value is not None else None
        if y is None and x.each and len(x.each) == 2:
            y = self.heap.data(x.each[1])
        if x.kind == "dataset" and x.each:
            inner = self.heap.data(x.each[0])
            x = x.but(columns=inner.columns)
        held_out = self._held_out(held, args, values, x)
        stops = bool(held_out) and self._stops(held, args)
        kind = "search" if api.part == "search" else "fit"
        model = self._model_of(owner, held)
        fold_rows = x.rows
        share = values.get("validation_split") or held.args.get("validation_fraction")
        if share is not None and "validation_split" in values:
            cut = self.ops.cut(("validation", site, x.rows), CutKind.VALIDATION, site, roles=("train", "validation"))
            self.i.emit((site, cut), Split(cut, x.rows, site, self.i.loops, "validation_split", (x,)))
            fold_rows = narrow(x.rows, cut, 0)
        train = self._emit_train(
            model,
            kind,
            self._called_learner(held),
            x.but(rows=fold_rows) if fold_rows is not x.rows else x,
            y,
            site,
            held.born,
            stops,
            self._picks_columns(held),
            held_out=held_out,
            baseline=self._is_baseline(held),
            seeds=self._seed_of(held, args),
        )
        self._note_calibration(held, x, y, train, site)
        for data in held_out:
            event = Score(
                "validation",
                model,
                (train,),
                data.rows,
                site,
                self.i.loops,
                data.marks,
                "validation",
                self.ops.called(data),
            )
            score = self.i.emit((site, "validation", data.rows, model), event)
            if stops:
                explicit = self._stops_explicitly(held, args)
                self.ops.choose([score], site, "stopping", "on request" if explicit else "by default")
        if api.part == "search":
            self._fold(held.parts[0] if held.parts else owner, x, y, site, _short(api.name), held.args.get("cv"))
        if isinstance(owner, Ref):
            current = self.heap.load(owner)
            if isinstance(current, LibObject):
                self.heap.set(owner.address, replace(current, trains=(train,)))
        return train

    def _note_calibration(self, held: LibObject, x: Data, y: Data | None, train: Train, site: Site) -> None:
        """Predictions, or a fitted model, adjusted to the target of the rows they were made from."""
        made = [m for m in x.marks if isinstance(m, Predict) and m.rows == x.rows]
        before = self._trained_before(held) if "Calibrated" in held.api.name else []
        if y is None or not ((len(made) == 1 and len(x.marks) == 1) or before):
            return
        event = Score(
            "calibration", train.model, (train,), x.rows, site, self.i.loops, x.marks, "validation", self.ops.called(x)
        )
        self.ops.choose([self.i.emit((site, "calibration", x.rows), event)], site, "calibration", "the calibration")

    def _trained_before(self, held: LibObject, depth: int = 0) -> list[Train]:
        """The trainings of wrapped models, through wrappers that freeze them."""
        found: list[Train] = []
        for value in held.parts:
            part = self.heap.load(value)
            if isinstance(part, LibObject) and depth < 3:
                found += [*part.trains, *self._trained_before(part, depth + 1)]
        return found

    def _inside(self, held: LibObject) -> frozenset[Mark]:
        """What the layers of a network had learned before it is trained."""
        if held.api.part != "network":
            return NO_MARKS
        layers = [self.heap.load(value) for value in held.parts]
        found = {m for layer in layers if isinstance(layer, LibObject) for m in layer.learned}
        for value in held.args.values():
            found |= {m for m in self.heap.data(value).marks if isinstance(m, Learn)}
        return frozenset(found)

    def _seed_of(self, held: LibObject, args: Args) -> frozenset[str]:
        words = set()
        for key in ("random_state", "seed", "random_seed"):
            value = held.args.get(key)
            if value is not None and isinstance(self.heap.load(value), Data):
                words.add("varies")
        return frozenset(words)

    def _held_out(self, held: LibObject, args: Args, values: dict[str, Value], x: Data) -> tuple[Data, ...]:
        found = []
        names = [
            *held.api.held_out,
            "validation_data",
            "eval_set",
            "valid_sets",
            "evals",
            "val_dataloaders",
            "eval_dataset",
            "valid_data",
            "eval_data",
        ]
        for name in dict.fromkeys(names):
            value = values.get(name) or held.args.get(name)
            if value is None:
                continue
            inner = self.ops.unpack(value, None)
            pairs = inner if inner is not None and name in ("eval_set", "valid_sets", "evals") else [value]
            for pair in pairs:
                data = self._first_rows(pair)
                if data.rows and data.rows != x.rows:
                    found.append(data)
        if not found and held.api.part == "network" and len(args.pos) > 2:
            data = self.content(args.pos[2])
            if data.rows:
                found.append(data)
        return tuple(found)

    def _first_rows(self, value: Value) -> Data:
        inner = self.ops.unpack(value, None)
        if inner:
            return next((d for d in (self.content(v) for v in inner) if d.rows), UNKNOWN)
        return self.content(value)

    def _stops(self, held: LibObject, args: Args) -> bool:
        """Whether the held-out rows of a training call decide when it ends or which state is kept."""
        if held.api.stops and not self._is_false(args.kw.get("use_best_model", held.args.get("use_best_model"))):
            return True
        return self._stops_explicitly(held, args)

    def _stops_explicitly(self, held: LibObject, args: Args) -> bool:
        for source in (args.kw, held.args):
            value = source.get("early_stopping_rounds") or source.get("early_stopping")
            if value is not None and self.heap.load(value) != NONE and not self._is_false(value):
                return True
            settings = source.get("args")
            inner = self.heap.load(settings) if settings is not None else None
            if isinstance(inner, LibObject) and self._is_true(inner.args.get("load_best_model_at_end")):
                return True
        callbacks = [
            source[key] for source in (args.kw, held.args) for key in ("callbacks", "callback") if key in source
        ]
        for value in self._learners(callbacks):
            part = self.heap.load(value)
            if isinstance(part, LibObject) and part.api.part == "callback":
                if part.api.kind == "early-stopping":
                    return True
                if part.api.kind == "checkpoint" and (
                    self._is_true(part.args.get("save_best_only"))
                    or (part.args.get("monitor") is not None and "keras" not in part.api.name)
                ):
                    return True
        return False

    def objective(self, value: Value, site: Site) -> None:
        """A function handed to a search over settings: what it returns decides."""
        if not isinstance(value, Function | Method | Partial):
            return
        function: Value = value
        while isinstance(function, Method | Partial):
            inner = function.function
            if inner is None:
                return
            function = inner
        given = (
            {p.name: self.i.parameter(p, site) for p in function.params if p.kind not in ("*", "**")}
            if isinstance(function, Function)
            else {}
        )
        if isinstance(value, Method):
            given.pop(next(iter(given), ""), None)
        if isinstance(value, Partial):
            for name in [*list(given)[: len(value.args)], *(k for k, _ in value.keywords)]:
                given.pop(name, None)
        result = self.i.call(value, _args(**given), site)
        held = self.heap.load(result)
        data = self.heap.data(result)
        if isinstance(held, DictObject) and "loss" in held.items:
            data = self.heap.data(held.items["loss"])
        self.ops.choose([m for m in data.marks if isinstance(m, Score)], site, "search", "the settings")

    # --- builtins ------------------------------------------------------------------------------------------------

    def _builtin(self, name: str, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else None
        if name == "len":
            data = self.heap.data(first)
            length = (
                self.ops.length(first) if first is not None and not isinstance(self.heap.load(first), Data) else None
            )
            return (
                Const(length)
                if length is not None
                else Data(kind="scalar", number=self.heap.number("len", data.number))
            )
        if name == "range":
            flags = frozenset({"range", "varies", "item"})
            numbers = [self.heap.data(v).number for v in args.pos]
            return Data(kind="index", number=self.heap.number("range", *numbers), flags=flags, each=tuple(args.pos))
        if name in ("max", "min"):
            return self.ops.extremum(name, self._compared(args), site)
        if name == "sorted":
            return self._sorted(args, site)
        if name in ("list", "tuple", "set", "frozenset", "iter", "reversed"):
            return self._sequence(name, first)
        if name == "dict":
            held = self.heap.load(first) if first is not None else None
            entries: dict[Any, Value] = dict(held.items) if isinstance(held, DictObject) else {}
            if isinstance(held, Items | ListObject) and held.items is not None:
                for pair in held.items:
                    parts = self.ops.unpack(pair, 2)
                    key = self.heap.load(parts[0]) if parts else None
                    if parts and isinstance(key, Const):
                        entries[key.value] = parts[1]
            return self.heap.new(DictObject({**entries, **args.kw}, held.any if isinstance(held, DictObject) else None))
        if name in ("zip", "enumerate"):
            return self._zipped(name, args, site)
        if name in ("map", "filter") and first is not None and len(args.pos) > 1:
            items, element, _ = self.ops.iterate(args.pos[1], site)
            if name == "filter":
                return args.pos[1]
            if items is not None and len(items) <= 12:
                return self.heap.new(ListObject(tuple(self.i.call(first, _args(item), site) for item in items)))
            return self.heap.new(ListObject(None, self.i.call(first, _args(element), site)))
        if name == "next" and first is not None:
            data = self.heap.load(first)
            if isinstance(data, Data) and "folds" in data.flags and data.each:
                return data.each[0]
            return self.ops.element(first)
        if name == "sum" and first is not None:
            data = self.heap.data(first)
            return Data(
                kind="scalar",
                number=self.heap.number("sum", data.number),
                marks=frozenset(m for m in data.marks if not isinstance(m, Learn)),
            )
        if (
            name in ("float", "int", "round", "abs", "str", "repr", "format", "bool", "pow", "divmod")
            and first is not None
        ):
            held = self.heap.load(first)
            if isinstance(held, Const):
                if name == "int" and isinstance(held.value, int | float) and abs(held.value) < 1e15:
                    return Const(int(held.value))
                return (
                    held
                    if name in ("float",)
                    else Data(kind="scalar", number=self.heap.number(name, self.heap.data(first).number))
                )
            data = self.heap.data(first)
            return data.but(number=self.heap.number(name, data.number), each=(), mask=())
        if name == "open" and first is not None:
            mode = self.heap.load(args.get(1, "mode") or NONE)
            if isinstance(mode, Const) and isinstance(mode.value, str) and "r" not in mode.value:
                return UNKNOWN
            path = self.heap.load(first)
            role, _ = self._role_of_load(_FILE, {}, path)
            key = ("path", path.value) if isinstance(path, Const) and isinstance(path.value, str) else None
            return self.loaded("unknown", "open", site, role, key, record=bool(self.i.loops) and key is None)
        if name == "getattr" and len(args.pos) >= 2:
            key = self.heap.load(args.pos[1])
            return (
                self.i.get_attr(args.pos[0], key.value, _node(site))
                if isinstance(key, Const) and isinstance(key.value, str)
                else UNKNOWN
            )
        if name == "setattr" and len(args.pos) >= 3:
            key = self.heap.load(args.pos[1])
            if isinstance(key, Const) and isinstance(key.value, str):
                self.i.set_attr(args.pos[0], key.value, self.i.boxed(args.pos[2], key.value))
            return NONE
        if name in (
            "isinstance",
            "issubclass",
            "hasattr",
            "callable",
            "id",
            "hash",
            "type",
            "input",
            "print",
            "display",
            "vars",
            "locals",
            "any",
            "all",
        ):
            return NONE if name in ("print", "display") else Data(kind="scalar", number=self.heap.fresh())
        return UNKNOWN

    def _compared(self, args: Args) -> list[Value]:
        values = list(args.pos)
        key = args.kw.get("key")
        if key is not None and len(values) == 1:
            # max(scores, key=scores.get): what the key gives is compared.
            if isinstance(key, Method):
                values.append(self.heap.data(key.owner))
            elif isinstance(key, Function):
                element = self.ops.element(values[0])
                values.append(self.i.call(key, _args(element), Site(self.i.unit.path, self.i.cell, (1, 1, 1, 1))))
        return values

    def _sorted(self, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else NONE
        held = self.heap.load(first)
        if isinstance(held, ListObject | Items):
            element = self.ops.element(first)
            scored = any(isinstance(m, Score) for m in self.heap.data(element).marks)
            if scored and held.items is not None and len(held.items) > 1:
                element = self.heap.join_all(list(held.items))
            return self.heap.new(ListObject(None, element, ranked=scored))
        return first

    def _sequence(self, name: str, first: Value | None) -> Value:
        if first is None:
            return self.heap.new(ListObject(())) if name in ("list", "set") else Items(())
        held = self.heap.load(first)
        if isinstance(held, Items | ListObject):
            if held.items is not None:
                items = tuple(reversed(held.items)) if name == "reversed" else held.items
                return Items(items) if name == "tuple" else self.heap.new(ListObject(items))
            return first
        if isinstance(held, DictObject):
            return self.heap.new(ListObject(tuple(Const(k) for k in held.items))) if held.any is None else UNKNOWN
        if isinstance(held, Data):
            if held.kind == "columns" and name == "list":
                return self.heap.new(held)
            if held.kind == "frame" and name == "list":
                return self.i.get_attr(first, "columns", s.Node((1, 1, 1, 1)))
            return held.but(flags=held.flags - {"varies", "item"} if held.kind == "index" else held.flags)
        return first

    def _zipped(self, name: str, args: Args, site: Site) -> Value:
        over = [self.ops.iterate(value, site) for value in args.pos]
        if name == "enumerate":
            if over and over[0][0] is not None:
                return Items(tuple(Items((Const(n), item)) for n, item in enumerate(over[0][0])))
            counter = Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"varies", "item"}))
            pair = Items((counter, over[0][1] if over else UNKNOWN))
            folds = over and over[0][2] == "folds"
            return (
                Data(flags=frozenset({"folds"}), each=(pair,), number=self.heap.fresh())
                if folds
                else self.heap.new(ListObject(None, pair))
            )
        if over and all(items is not None for items, _, _ in over):
            return Items(
                tuple(
                    Items(tuple(row))
                    for row in zip(*(items for items, _, _ in over if items is not None), strict=False)
                )
            )
        known = [len(items) for items, _, _ in over if items is not None]
        pair = Items(tuple(element for _, element, _ in over))
        if any(what == "folds" for _, _, what in over):
            return Data(flags=frozenset({"folds"}), each=(pair,), number=self.heap.fresh())
        if known:
            least = min(known)
            rows = [[items[n] if items is not None else element for items, element, _ in over] for n in range(least)]
            return Items(tuple(Items(tuple(row)) for row in rows))
        return self.heap.new(ListObject(None, pair))

    # --- functions with a meaning of their own -------------------------------------------------------------------

    def _call_clone(self, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(args.pos[0]) if args.pos else None
        if isinstance(held, LibObject):
            return self.heap.new(LibObject(held.api, held.args, held.parts, held.site, self.i.loops, {}))
        if isinstance(held, Choice):
            return self.heap.join_all([self._call_clone(name, _args(o), site) for o in held.options])  # type: ignore[no-any-return]
        return args.pos[0] if args.pos else UNKNOWN

    def _call_deepcopy(self, name: str, args: Args, site: Site) -> Value:
        held = self.heap.load(args.pos[0]) if args.pos else UNKNOWN
        if isinstance(held, Data | ListObject | DictObject | Instance | LibObject) and isinstance(args.pos[0], Ref):
            return self.heap.new(held)
        return args.pos[0] if args.pos else UNKNOWN

    def _call_subset(self, name: str, args: Args, site: Site) -> Value:
        data = self.content(args.get(0, "dataset") or NONE)
        picker = self.heap.data(args.get(1, "indices"))
        if not picker.rows and picker.kind not in ("index",):
            return data.but(number=self.heap.fresh())
        return self.ops._picked(data, picker.but(kind="index")).but(each=())

    def _call_partial(self, name: str, args: Args, site: Site) -> Value:
        if not args.pos:
            return UNKNOWN
        return Partial(args.pos[0], tuple(args.pos[1:]), tuple(args.kw.items()))

    def _call_namedtuple(self, name: str, args: Args, site: Site) -> Value:
        fields = args.get(1, "field_names")
        held = self.heap.load(fields) if fields is not None else None
        names: list[str] = []
        if isinstance(held, Const) and isinstance(held.value, str):
            names = held.value.replace(",", " ").split()
        elif fields is not None:
            names = self.ops.names_in(held) or []
        title = self.heap.load(args.pos[0]) if args.pos else NONE
        frame = self.heap.frame()
        label = str(title.value) if isinstance(title, Const) else "tuple"
        return Class(label, self.i.unit, (), frame, tuple((n, None) for n in names), "namedtuple", site)

    def _call_defaultdict(self, name: str, args: Args, site: Site) -> Value:
        factory = args.pos[0] if args.pos else None
        default: Value | None = None
        if isinstance(factory, Lib) and factory.name in ("builtins.list", "builtins.set"):
            default = self.heap.new(ListObject(()))
        elif isinstance(factory, Lib) and factory.name == "builtins.dict":
            default = self.heap.new(DictObject({}))
        return self.heap.new(DictObject({}, None, default))

    def _call_array(self, name: str, args: Args, site: Site) -> Value:
        first = args.pos[0] if args.pos else next(iter(args.kw.values()), NONE)
        data = self.heap.data(first)
        return data.but(kind="array" if data.rows or data.kind == "index" else data.kind, each=(), keys=data.keys)

    def _call_split(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        bounds = self.ops.unpack(args.get(1, "indices_or_sections") or NONE, None)
        if bounds is None:
            return self.heap.new(ListObject(None, data.but(kind="row", number=self.heap.fresh())))
        order = next((f for f in data.flags if f.startswith("order:")), "")
        parts: list[Value] = []
        cuts = []
        for bound in bounds:
            held = self.heap.load(bound)
            known = float(held.value) if isinstance(held, Const) and isinstance(held.value, int | float) else None
            from leakcheck.flow.data import _bare_roots

            rows = data.keys if data.keys is not None else data.rows
            key = ("position", _bare_roots(rows), order, self.heap.data(bound).number)
            cuts.append(
                self.ops.cut(key, CutKind.RANDOM if order else CutKind.POSITION, site, bound=known, explicit=False)
            )
        for n in range(len(cuts) + 1):
            part = data
            for before in cuts[:n]:
                part = self.ops.narrowed(part, before, 1)
            if n < len(cuts):
                part = self.ops.narrowed(part, cuts[n], 0)
            parts.append(part.but(name=""))
        return Items(tuple(parts))

    def _call_permutation(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        number = self.heap.number("permutation", site, data.number)
        flags = frozenset({"shuffled", f"order:{number}"})
        if data.rows:
            return data.but(number=number, flags=data.flags | flags, each=(), name="")
        return self._index(site, number, flags)

    def _index(self, site: Site, number: int, flags: frozenset[str]) -> Data:
        """Positions of rows: 0 to n - 1, in some order."""
        root = self.i.new_rows("positions", site, "positions", "index", key=number)
        return Data(kind="index", rows=root.rows, keys=root.rows, number=number, flags=flags)

    def _call_arange(self, name: str, args: Args, site: Site) -> Value:
        numbers = [self.heap.data(v).number for v in args.pos]
        if len(args.pos) == 1:
            data = self._index(site, self.heap.number("arange", *numbers), frozenset())
            return data.but(flags=frozenset({"range"}), each=tuple(args.pos))
        return Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"range", "varies"}), each=tuple(args.pos))

    def _call_shuffle(self, name: str, args: Args, site: Site) -> Value:
        for value in args.pos[:1]:
            held = self.heap.load(value)
            number = self.heap.number("shuffle", site, self.heap.data(value).number)
            flags = frozenset({"shuffled", f"order:{number}"})
            if isinstance(held, Data) and isinstance(value, Ref):
                self.heap.set(value.address, held.but(number=number, flags=held.flags | flags))
            elif isinstance(held, Data) and held.kind == "index":
                self._rebind(value, self._index(site, number, flags))
            elif isinstance(held, ListObject) and isinstance(value, Ref) and held.items is not None:
                self.heap.set(value.address, ListObject(None, self.ops.element(value)))
        return NONE

    def _rebind(self, old: Value, new: Value) -> None:
        """What every name of the current frame that holds a value holds from now on."""
        for key, value in list(self.heap.cells.items()):
            if isinstance(key, tuple) and key[0] == self.i.frame.id and value is old:
                self.heap.set(key, new)

    def _call_rand(self, name: str, args: Args, site: Site) -> Value:
        return Data(kind="scalar", number=self.heap.number("random", site), flags=frozenset({"random"}))

    def _call_choice(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        if data.rows or data.kind == "index":
            base = data if data.rows else self._index(site, self.heap.number("choice", site), frozenset())
            if self._is_true(args.get(2, "replace")):
                draw = self.ops.draw("choice with replacement", base, site)
                return base.but(marks=base.marks | {draw}, number=self.heap.fresh(), flags=base.flags | {"repeated"})
            cut = self.ops.cut(("choice", site, base.rows), CutKind.RANDOM, site, explicit=False)
            return self.ops.narrowed(base, cut, 0)
        if isinstance(self.heap.load(args.pos[0]) if args.pos else None, Data | Const):
            base = self._index(site, self.heap.number("choice", site), frozenset())
            if self._is_true(args.get(2, "replace")):
                draw = self.ops.draw("choice with replacement", base, site)
                return base.but(marks=frozenset({draw}), flags=frozenset({"random", "repeated"}))
            if "p" in args.kw or (
                isinstance(self.heap.load(args.pos[0]), Const)
                and not isinstance(self.heap.load(args.get(1, "size") or NONE), Const)
            ):
                pass
            cut = self.ops.cut(("choice", site, base.rows), CutKind.RANDOM, site, explicit=False)
            return self.ops.narrowed(base, cut, 0)
        return Data(kind="scalar", number=self.heap.fresh(), flags=frozenset({"random"}))

    def _call_setdiff1d(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) < 2:
            return UNKNOWN
        a, b = self.heap.data(args.pos[0]), self.heap.data(args.pos[1])
        if not a.rows:
            keys = b.keys if b.keys is not None else b.rows
            start = frozenset((root, ()) for root, _ in keys)
            a = Data(kind="index", rows=start, keys=start)
        return self.ops._difference(a, b, self.heap.number("difference", a.number, b.number))

    def _call_where(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) >= 3:
            condition = self.heap.data(args.pos[0])
            values = [self.heap.data(v) for v in args.pos[1:3]]
            bounds = frozenset(m for m in condition.marks if isinstance(m, Learn))
            result = self.i.operate("+", args.pos[1:3], _node(site))
            data = self.heap.data(result)
            rows = condition.rows or data.rows
            marks = data.marks | (bounds if any(v.rows for v in values) else NO_MARKS)
            scores = frozenset(m for m in condition.marks if isinstance(m, Predict | Score))
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

    def _call_data_frame(self, name: str, args: Args, site: Site) -> Value:
        first = args.get(0, "data")
        if first is None:
            return self.heap.data(None).but(
                kind="frame", columns=Columns(self.heap.fresh(), open=False), number=self.heap.fresh()
            )
        held = self.heap.load(first)
        names = self.ops.names_in(self.heap.load(args.get(2, "columns") or NONE))
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

    def _call_series(self, name: str, args: Args, site: Site) -> Value:
        first = args.get(0, "data")
        data = self.heap.data(first)
        return data.but(kind="series" if data.rows else data.kind, columns=None, each=(), number=self.heap.fresh())

    def _call_cut(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        bins = args.get(1, "bins")
        held = self.heap.load(bins) if bins is not None else None
        result = data.but(number=self.heap.fresh(), mask=())
        if isinstance(held, Const) and isinstance(held.value, int) and data.rows:
            return self.ops.marked(result, frozenset({self.ops.learn("cut", "binning", data, site)}))
        marks = (
            frozenset(m for m in self.heap.data(bins).marks if isinstance(m, Learn)) if bins is not None else NO_MARKS
        )
        return self.ops.marked(result, marks)

    def _call_crosstab(self, name: str, args: Args, site: Site) -> Value:
        several = [self.heap.data(v) for v in args.all()]
        base = next((d for d in several if d.rows), UNKNOWN)
        if not base.rows:
            return UNKNOWN
        columns = frozenset().union(*(d.sources for d in several))
        learned = self.ops.learn(_short(name), "counts", base, site, columns=columns)
        return Data(kind="table", marks=frozenset({learned}), number=self.heap.fresh())

    def _call_get_dummies(self, name: str, args: Args, site: Site) -> Value:
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
            self.fit(
                made,
                held,
                _args(data, **{k: v for k, v in keywords.items() if k not in ("dtrain", "train_set", "params")}),
                site,
            )
        return made

    def _call_train(self, name: str, args: Args, site: Site) -> Value:
        return self._trained_by_function("xgboost.train", args, site)

    def _call_lightgbm_train(self, name: str, args: Args, site: Site) -> Value:
        return self._trained_by_function("lightgbm.train", args, site)

    def _call_dump(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) > 1:
            self._save(args.pos[0], args.pos[1])
        return NONE

    def _call_load(self, name: str, args: Args, site: Site) -> Value:
        path = self.heap.load(args.pos[0]) if args.pos else NONE
        if isinstance(path, Const) and str(path.value) in self.saved:
            return self.saved[str(path.value)]
        return UNKNOWN

    def _call_default_rng(self, name: str, args: Args, site: Site) -> Value:
        # A generator draws as the module of the same name does.
        return Lib("numpy.random")

    def _call_reduce(self, name: str, args: Args, site: Site) -> Value:
        if len(args.pos) < 2:
            return UNKNOWN
        items, element, _ = self.ops.iterate(args.pos[1], site)
        rest = items if items is not None else [element]
        if not rest:
            return UNKNOWN
        value = args.pos[2] if len(args.pos) > 2 else rest[0]
        for item in rest if len(args.pos) > 2 else rest[1:]:
            value = self.i.call(args.pos[0], _args(value, item), site)
        return value

    def _call_col(self, name: str, args: Args, site: Site) -> Value:
        return Data(kind="expression", number=self.heap.fresh())

    def _call_array_split(self, name: str, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0]) if args.pos else UNKNOWN
        if not data.rows:
            return UNKNOWN
        cut = self.ops.cut(("pieces", site, data.number), CutKind.FOLD, site, roles=("train", "fold"))
        self.i.emit((site, cut), Split(cut, data.rows, site, self.i.loops, _short(name), (data,)))
        return self.heap.new(ListObject(None, self.ops.narrowed(data, cut, 1)))

    def _call_no_grad(self, name: str, args: Args, site: Site) -> Value:
        return UNKNOWN

    def _call_select_from_model(self, name: str, args: Args, site: Site) -> Value:
        api = self.i.tables.lookup(name)
        assert api is not None
        made = self._construct(api, args, site)
        inner = self.heap.load(args.pos[0]) if args.pos else self.heap.load(args.kw.get("estimator", NONE))
        if isinstance(inner, LibObject) and inner.trains and isinstance(made, Ref):
            # With prefit=True what the estimator learned decides.
            held = self.heap.load(made)
            self.heap.set(made.address, replace(held, learned=self._importance(inner)))
        return made


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
_LEARNS_BY_WORD = {
    "scaler": "scaling", "scale": "scaling", "normalizer": "nothing", "standardizer": "scaling",
    "imputer": "imputation", "pca": "projection", "svd": "projection", "vectorizer": "vocabulary",
    "vectoriser": "vocabulary", "tfidf": "vocabulary", "tokenizer": "vocabulary", "encoder": "categories",
    "pipeline": "scaling", "preprocessor": "scaling", "preprocessing": "scaling", "transformer": "scaling",
    "selector": "selection",
}  # fmt: skip
_FILE = Api("builtins.open", "load")
_UNKNOWN_CLASS = Api("", "object", kind="unknown", fit=("fit",))


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _harm(learns: str) -> int:
    return _HARM.index(learns) if learns in _HARM else len(_HARM)


def _words(text: str) -> list[str]:
    return [w for w in "".join(c if c.isalpha() else " " for c in text.lower()).split() if w]


def _axis(args: Args) -> Args:
    return _args(**{k: v for k, v in args.kw.items() if k in ("axis", "dim")})


# Functions with a meaning of their own, and the method that knows it.
_FUNCTIONS = {
    "collections.defaultdict": "_call_defaultdict",
    "collections.namedtuple": "_call_namedtuple",
    "copy.copy": "_call_deepcopy",
    "copy.deepcopy": "_call_deepcopy",
    "functools.partial": "_call_partial",
    "functools.reduce": "_call_reduce",
    "joblib.dump": "_call_dump",
    "joblib.load": "_call_load",
    "lightgbm.train": "_call_lightgbm_train",
    "numpy.arange": "_call_arange",
    "numpy.array": "_call_array",
    "numpy.array_split": "_call_array_split",
    "numpy.asanyarray": "_call_array",
    "numpy.asarray": "_call_array",
    "numpy.ascontiguousarray": "_call_array",
    "numpy.random.Generator": "_call_default_rng",
    "numpy.random.RandomState": "_call_default_rng",
    "numpy.random.choice": "_call_choice",
    "numpy.random.default_rng": "_call_default_rng",
    "numpy.random.permutation": "_call_permutation",
    "numpy.random.rand": "_call_rand",
    "numpy.random.random": "_call_rand",
    "numpy.random.random_sample": "_call_rand",
    "numpy.random.shuffle": "_call_shuffle",
    "numpy.random.uniform": "_call_rand",
    "numpy.setdiff1d": "_call_setdiff1d",
    "numpy.split": "_call_split",
    "numpy.where": "_call_where",
    "pandas.DataFrame": "_call_data_frame",
    "pandas.Series": "_call_series",
    "pandas.crosstab": "_call_crosstab",
    "pandas.cut": "_call_cut",
    "pandas.get_dummies": "_call_get_dummies",
    "pickle.dump": "_call_dump",
    "pickle.load": "_call_load",
    "polars.col": "_call_col",
    "random.Random": "_call_default_rng",
    "random.random": "_call_rand",
    "random.sample": "_call_choice",
    "random.shuffle": "_call_shuffle",
    "sklearn.base.clone": "_call_clone",
    "sklearn.externals.joblib.load": "_call_load",
    "sklearn.feature_selection.SelectFromModel": "_call_select_from_model",
    "sklearn.utils.check_random_state": "_call_default_rng",
    "tensorflow.constant": "_call_array",
    "tensorflow.convert_to_tensor": "_call_array",
    "torch.FloatTensor": "_call_array",
    "torch.LongTensor": "_call_array",
    "torch.Tensor": "_call_array",
    "torch.as_tensor": "_call_array",
    "torch.from_numpy": "_call_array",
    "torch.no_grad": "_call_no_grad",
    "torch.rand": "_call_rand",
    "torch.randperm": "_call_permutation",
    "torch.tensor": "_call_array",
    "torch.utils.data.Subset": "_call_subset",
    "xgboost.train": "_call_train",
}
