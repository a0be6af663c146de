"""Transformers, estimators, pipelines and searches: fit, transform, predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow.events import Learn, Mark, Predict, Score, Split, Tie, TieKind, Train
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import (
    FITTED_CHOICES,
    PREDICTS,
    SCORES,
    UNKNOWN_CLASS,
    last_part,
    role_of_word,
    split_words,
)
from leakcheck.flow.rows import CutKind, Site, narrow
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Choice,
    Const,
    Data,
    DictObject,
    Function,
    Instance,
    Items,
    LibObject,
    ListObject,
    Method,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter
    from leakcheck.flow.tables import Api

# What a pipeline of learners is said to learn: the part that does most harm.
_HARM = (
    "selection", "target-encoding", "resampling", "augmentation", "imputation", "scaling", "projection", "binning",
    "outliers", "clustering", "embedding", "encoding", "calibration", "vocabulary", "categories",
)  # fmt: skip

_LEARNS_BY_WORD = {
    "scaler": "scaling", "scale": "scaling", "normalizer": "nothing", "standardizer": "scaling",
    "imputer": "imputation", "pca": "projection", "svd": "projection", "vectorizer": "vocabulary",
    "vectoriser": "vocabulary", "tfidf": "vocabulary", "tokenizer": "vocabulary", "encoder": "categories",
    "pipeline": "scaling", "preprocessor": "scaling", "preprocessing": "scaling", "transformer": "scaling",
    "selector": "selection",
}  # fmt: skip


class Learners(Operations):
    """Transformers, estimators, pipelines and searches."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self._outside: dict[object, Ref] = {}
        self.asked: dict[int, Any] = {}  # the model by its number, once it was asked to predict

    def learners(self, values: Sequence[Value], depth: int = 0) -> list[Value]:
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
                found += self.learners(held.items, depth + 1)
            elif isinstance(held, ListObject) and held.any is not None and depth < 4:
                found += self.learners([held.any], depth + 1)
            elif isinstance(held, DictObject) and depth < 4:
                found += self.learners(list(held.items.values()), depth + 1)
        return found

    def _learns(self, held: Instance) -> bool:
        return isinstance(self.i.class_attr(held.cls, "fit"), Function) or self.i.lib_base(held.cls) is not None

    def handed_on(self, value: Value, site: Site) -> None:
        """A training part that is saved or returned: trained on elsewhere."""
        held = self.heap.load(value)
        parts = held.items if isinstance(held, Items | ListObject) and held.items is not None else (value,)
        if isinstance(held, DictObject):
            parts = tuple(held.items.values())
        for part in parts:
            data = self.heap.data(part)
            learned = any(isinstance(m, Learn | Tie) for m in data.marks)
            if learned and any(
                role_of_word(w) == "train" for n in self.i.names.get(data.rows, ()) for w in split_words(n)
            ):
                model = self.heap.number("handed on", site)
                self.emit_train(model, "handed on", "what is trained later", data, None, site, (), False, True)

    def model_of(self, owner: Value, held: Any) -> int:
        if isinstance(held, LibObject | Instance) and held.site is not None:
            return self.heap.number("model", held.site, held.born)
        return self.heap.number("model", str(owner))

    def called_learner(self, held: Any) -> str:
        if isinstance(held, LibObject):
            return last_part(held.api.name)
        if isinstance(held, Instance):
            return held.cls.name
        return "the model"

    def is_baseline(self, held: Any) -> bool:
        return isinstance(held, LibObject) and (
            held.api.baseline or any(self.is_baseline(self.heap.load(p)) for p in held.parts)
        )

    def predictor(self, held: Any, depth: int = 0) -> Api | None:
        """What makes the predictions: the last step of a pipeline, the one learner that a search or wrapper holds."""
        if isinstance(held, Instance):
            return self.i.lib_base(held.cls)
        if not isinstance(held, LibObject):
            return None
        single = held.api.part == "pipeline" or len(held.parts) == 1
        if held.parts and single and held.api.part != "network" and depth < 5:
            return self.predictor(self.heap.load(held.parts[-1]), depth + 1)
        return held.api

    def picks_columns(self, held: Any, depth: int = 0) -> bool:
        """Whether a learner uses only columns that it names itself."""
        if isinstance(held, LibObject) and depth < 5:
            if held.api.part == "union" or "FunctionTransformer" in held.api.name or held.api.kind == "unknown":
                return True
            return any(self.picks_columns(self.heap.load(p), depth + 1) for p in held.parts)
        return isinstance(held, Instance)

    def emit_train(
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
        held: Any = None,
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
            self.i.data.called(x),
            held_out,
            stops,
            self.predictor(held),
        )
        self.i.randomness.trained(held, model)
        marks = x.marks | (y.marks if y is not None else NO_MARKS)
        return self.i.emit((site, model, kind, x.rows, marks, stops), event)  # type: ignore[no-any-return]

    def predict(self, owner: Value, held: Any, x: Data, site: Site) -> Predict:
        trains = held.trains if isinstance(held, LibObject | Instance) else ()
        model = self.model_of(owner, held)
        self.asked[model] = held
        event = Predict(model, trains, x.rows, site, x.marks, self.i.data.called(x))
        return self.i.emit((site, x.rows, trains, x.marks), event)  # type: ignore[no-any-return]

    def predicted(self, owner: Value, held: Any, x: Data, site: Site) -> Data:
        mark = self.predict(owner, held, x, site)
        learned = frozenset(m for m in x.marks if isinstance(m, Learn))
        return Data(rows=x.rows, marks=learned | {mark}, kind="array", number=self.heap.fresh(), name=x.name)

    def importance(self, held: LibObject) -> frozenset[Mark]:
        if held.learned:
            return held.learned
        found = set()
        for train in held.trains:
            if train.x is not None:
                found.add(self.i.data.learn(train.what, "selection", train.x, train.site, supervised=True, fitted=True))
        return frozenset(found)

    def learns_by_name(self, name: str) -> str:
        """What an object of unknown class learns, by the words of its name: a convention, so never sure."""
        words = split_words(last_part(name))
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
            api = UNKNOWN_CLASS._replace(name=last_part(name) or "the model")
            made = LibObject(api, {}, (), site._replace(path=str(len(self._outside))), (), {}, outside=True)
            known = self._outside[key] = self.heap.new(made)
        return known

    def ends_in_predictor(self, held: LibObject) -> bool:
        if not held.parts:
            return True
        last = self.heap.load(held.parts[-1])
        if isinstance(last, Choice):
            last = self.heap.load(last.options[0])
        if isinstance(last, LibObject):
            if last.api.part in ("pipeline", "union"):
                return last.api.part == "pipeline" and self.ends_in_predictor(last)
            return last.api.part in ("estimator", "search", "network")
        if isinstance(last, Instance):
            return isinstance(self.i.class_attr(last.cls, "predict"), Function)
        # The last step is not known: only a predictor would make it a model, so nothing is claimed of it.
        wrapped = [v for k, v in held.args.items() if k.startswith("#") or k in held.api.wraps]
        return not wrapped

    def transformer_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
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
        if name in FITTED_CHOICES:
            return Data(kind="columns", marks=held.learned, number=self.heap.fresh())
        if name in api.apply or name in ("transform", "predict", "score_samples", "decision_function", "predict_proba"):
            return self._transformed(held, args, site, held.learned)
        return self.i.data.pass_through(args)

    def _fit_transformer(self, owner: Value, held: LibObject, args: Args, site: Site) -> frozenset[Mark]:
        values = dict(zip((held.api.x, held.api.y), args.pos, strict=False)) | args.kw
        first = values.get(held.api.x) or (args.pos[0] if args.pos else next(iter(args.kw.values()), NONE))
        x = self.i.loading.content(first)
        y_value = values.get(held.api.y)
        y = self.heap.data(y_value) if y_value is not None and self.heap.load(y_value) != NONE else None
        learns, supervised = self._what_it_learns(held)
        x = self.i.data.rooted(x, site)
        if learns == "nothing" or not x.rows or x.kind in ("row", "index-item") or "record" in x.flags:
            return NO_MARKS
        what = last_part(held.api.name)
        if learns in ("resampling", "augmentation"):
            learned: Mark = self.i.data.learn(what, learns, x, site, fitted=True)
        else:
            unsure = held.api.kind == "unknown"
            with_target = supervised and y is not None
            learned = self.i.data.learn(what, learns, x, site, supervised=with_target, fitted=True, by_name=unsure)
        marks = frozenset({learned})
        self.i.randomness.learned(held, learned)
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
        x = self.i.data.rooted(self.heap.data(first), site)
        keeps = x.kind in ("array", "dataset", "series", "row") or held.api.learns in ("categories", "vocabulary")
        result = self.i.data.marked(
            x.but(number=self.heap.fresh(), each=(), mask=(), columns=None, kind="array" if x.kind != "row" else "row"),
            learned,
        )
        if (
            x.columns is not None
            and held.api.part == "transformer"
            and held.api.learns in ("scaling", "imputation", "nothing", "binning", "categories", "outliers")
        ):
            # The same columns in the same order, though without their names: what it holds is still known.
            result = result.but(columns=None, sources=self.i.data.columns_of(x) if not x.columns.open else frozenset())
        if held.api.learns == "selection" and keeps:
            result = result.but(columns=None)
        if held.api.kind == "pieces":
            result = self.i.data.pieces(result, site)
        if held.api.kind == "shift":
            result = self.i.series.tied(result, TieKind.EARLIER, last_part(held.api.name), site)
        if resampled:
            y = values.get(held.api.y)
            target = (
                self.i.data.marked(self.heap.data(y).but(number=self.heap.fresh(), each=()), learned)
                if y is not None
                else UNKNOWN
            )
            return Items((result.but(name=""), target.but(name="")))
        return result.but(name="") if held.api.learns != "nothing" else result

    def predictor_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
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
                    self.predicted(owner, self.heap.load(owner), self.i.loading.content(args.pos[0]), site)
                    if args.pos
                    else UNKNOWN
                )
            return owner
        if name == "fit_transform":
            self.fit(owner, held, args, site)
            learned = self.importance(self.heap.load(owner))
            return self.i.data.marked(self.heap.data(args.pos[0] if args.pos else None), learned)
        if name in PREDICTS or (name == "transform" and api.kind == "spark"):
            first = args.pos[0] if args.pos else next(iter(args.kw.values()), None)
            if first is None:
                return UNKNOWN
            x = self.i.data.rooted(self.i.loading.content(first), site)
            if x.rows:
                return self.predicted(owner, held, x, site)
            return self.i.data.pass_through(args)
        if name in SCORES or name == "validate":
            return self.i.scoring.scored(owner, held, name, args, site)
        if name in FITTED_CHOICES:
            return Data(kind="columns", marks=self.importance(held), number=self.heap.fresh())
        if name in ("transform", "apply"):
            x = self.heap.data(args.pos[0] if args.pos else None)
            return self.i.data.marked(x.but(number=self.heap.fresh(), columns=None), self.importance(held))
        return self.i.data.pass_through(args)

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
        x = self.i.loading.from_module(args.all(), "train_dataloader", site)
        if not x.rows and x_value is not None:
            x = self.i.loading.content(x_value)
        if not x.rows:
            # Lightning and the like: fit(model, loader); statsmodels: the data came with the constructor.
            candidates = [*args.pos, *args.kw.values()]
            x = next((d for d in (self.i.loading.content(v) for v in candidates) if d.rows), UNKNOWN)
        y_value = values.get(api.y) or values.get("y")
        if not x.rows and x_value is not None:
            x = self.i.data.rooted(self.i.loading.content(x_value), site)
        if not x.rows:
            x_value = held.args.get(api.x) or held.args.get("train_dataset") or held.args.get("train_data")
            x = self.i.loading.content(x_value) if x_value is not None else UNKNOWN
            y_value = held.args.get(api.y)
        if not x.rows:
            return None
        x = self.i.data.marked(x, self._inside(held))
        y = self.heap.data(y_value) if y_value is not None else None
        if y is None and x.each and len(x.each) == 2:
            y = self.heap.data(x.each[1])
        if x.kind == "dataset" and x.each:
            inner = self.heap.data(x.each[0])
            x = x.but(columns=inner.columns)
        held_out = self._held_out(held, args, values, x, site)
        stops = bool(held_out) and self._stops(held, args)
        kind = "search" if api.part == "search" else "fit"
        model = self.model_of(owner, held)
        fold_rows = x.rows
        share = values.get("validation_split") or held.args.get("validation_fraction")
        if share is not None and "validation_split" in values:
            cut = self.i.data.cut(("validation", site, x.rows), CutKind.VALIDATION, site, roles=("train", "validation"))
            self.i.emit((site, cut), Split(cut, x.rows, site, self.i.loops, "validation_split", (x,)))
            fold_rows = narrow(x.rows, cut, 0)
        train = self.emit_train(
            model,
            kind,
            self.called_learner(held),
            x.but(rows=fold_rows) if fold_rows is not x.rows else x,
            y,
            site,
            held.born,
            stops,
            self.picks_columns(held),
            held_out=held_out,
            baseline=self.is_baseline(held),
            seeds=self._seed_of(held, args),
            held=held,
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
                self.i.data.called(data),
            )
            score = self.i.emit((site, "validation", data.rows, model), event)
            if stops:
                explicit = self._stops_explicitly(held, args)
                self.i.choices.choose([score], site, "stopping", "on request" if explicit else "by default")
        if api.part == "search":
            groups = args.kw.get("groups")
            self.i.series.note_entities(groups, x, site)
            learner = held.parts[0] if held.parts else owner
            self.i.scoring.fold(learner, x, y, site, last_part(api.name), held.args.get("cv"), groups=groups)
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
            "calibration",
            train.model,
            (train,),
            x.rows,
            site,
            self.i.loops,
            x.marks,
            "validation",
            self.i.data.called(x),
        )
        self.i.choices.choose([self.i.emit((site, "calibration", x.rows), event)], site, "calibration")

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

    def _held_out(self, held: LibObject, args: Args, values: dict[str, Value], x: Data, site: Site) -> tuple[Data, ...]:
        found = []
        watched = self.i.loading.from_module(args.all(), "val_dataloader", site)
        if watched.rows and watched.rows != x.rows:
            found.append(watched)
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
            inner = self.i.containers.unpack(value, None)
            pairs = inner if inner is not None and name in ("eval_set", "valid_sets", "evals") else [value]
            for pair in pairs:
                data = self._first_rows(pair)
                if data.rows and data.rows != x.rows:
                    found.append(data)
        if not found and held.api.part == "network" and len(args.pos) > 2:
            data = self.i.loading.content(args.pos[2])
            if data.rows:
                found.append(data)
        return tuple(found)

    def _first_rows(self, value: Value) -> Data:
        inner = self.i.containers.unpack(value, None)
        if inner:
            return next((d for d in (self.i.loading.content(v) for v in inner) if d.rows), UNKNOWN)
        return self.i.loading.content(value)

    def _stops(self, held: LibObject, args: Args) -> bool:
        """Whether the held-out rows of a training call decide when it ends or which state is kept."""
        if held.api.stops and not self.i.library.is_false(
            args.kw.get("use_best_model", held.args.get("use_best_model"))
        ):
            return True
        return self._stops_explicitly(held, args)

    def _stops_explicitly(self, held: LibObject, args: Args) -> bool:
        for source in (args.kw, held.args):
            value = source.get("early_stopping_rounds") or source.get("early_stopping")
            if value is not None and self.heap.load(value) != NONE and not self.i.library.is_false(value):
                return True
            settings = source.get("args")
            inner = self.heap.load(settings) if settings is not None else None
            if isinstance(inner, LibObject) and self.i.library.is_true(inner.args.get("load_best_model_at_end")):
                return True
        callbacks = [
            source[key] for source in (args.kw, held.args) for key in ("callbacks", "callback") if key in source
        ]
        for value in self.learners(callbacks):
            part = self.heap.load(value)
            if isinstance(part, LibObject) and part.api.part == "callback" and not self._watches_training(part):
                if part.api.kind == "early-stopping":
                    return True
                if part.api.kind == "checkpoint" and (
                    self.i.library.is_true(part.args.get("save_best_only"))
                    or (part.args.get("monitor") is not None and "keras" not in part.api.name)
                ):
                    return True
        return False

    def _watches_training(self, callback: LibObject) -> bool:
        """Whether a callback goes by a number of the training rows: Keras calls those of the others `val_...`."""
        monitor = self.heap.load(callback.args.get("monitor", NONE))
        if not isinstance(monitor, Const) or not isinstance(monitor.value, str):
            return False
        if callback.api.name.startswith("keras."):
            return not monitor.value.startswith("val")
        return "train" in map(role_of_word, split_words(monitor.value))


def _harm(learns: str) -> int:
    return _HARM.index(learns) if learns in _HARM else len(_HARM)
