"""Attributes, items and methods of library objects and of instances of project classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leakcheck.flow.events import Learn, Predict, Score
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import (
    FITTED_CHOICES,
    PREDICTS,
    SCORES,
    SEARCH_CALLS,
    arguments,
    last_part,
    node_at,
)
from leakcheck.flow.rows import Site, union
from leakcheck.flow.values import (
    NONE,
    UNKNOWN,
    Const,
    Data,
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
    from leakcheck.flow.interpret import Args


class Objects(Operations):
    """Attributes, items and methods of library objects and of instances of project classes."""

    def get_attr(self, base: Value, held: LibObject, name: str) -> Value:
        part = held.api.part
        if name in FITTED_CHOICES:
            marks = self.i.learners.importance(held)
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
                        self.i.data.called(data),
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
        content = self.i.loading.content(base)
        return content.but(kind="row") if content.rows else UNKNOWN

    def iterate(self, value: Value, held: LibObject, site: Site) -> tuple[list[Value] | None, Value, str]:
        content = self.i.loading.content(value)
        return (
            None,
            content.but(kind="row", number=self.heap.fresh(), columns=None) if content.rows else UNKNOWN,
            "items",
        )

    def call_object(self, callee: Value, held: LibObject, args: Args, site: Site) -> Value:
        """An object that is called: a network or layer on a batch, a loss, a metric."""
        part = held.api.part
        if part == "loss":
            return self.i.scoring.lost(last_part(held.api.name), args, site)
        if part == "metric":
            return self.i.scoring.p_score(held.api, args, site)
        if part == "network" and not self.i.scoring.inside_network:
            data = self._batch(args)
            if data.rows and data.kind != "object":
                return self.i.learners.predicted(callee, held, data, site)
        if part == "transformer":
            data = self._batch(args)
            return self.i.data.marked(data, held.learned)
        if part == "callback":
            return UNKNOWN
        return self.i.data.pass_through(args)

    def _batch(self, args: Args) -> Data:
        several = [self.heap.data(v) for v in args.all()]
        return next((d for d in several if d.rows), several[0] if several else UNKNOWN)

    def instance_called(self, callee: Value, held: Instance, args: Args, result: Value | None, site: Site) -> Value:
        """An object of a project class is called: a network's forward pass makes predictions."""
        api = self.i.lib_base(held.cls)
        if api is not None and api.part == "network" and not self._in_method_of_network():
            data = self._batch(args)
            if data.rows:
                predicted = self.i.learners.predicted(callee, held, data, site)
                if isinstance(result, Items):
                    return Items(tuple(predicted for _ in result.items))
                return predicted
        return result if result is not None else self.i.data.pass_through(args)

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
                    owner, "transform", arguments(*args.pos[:1], **{k: v for k, v in args.kw.items() if k == "X"}), site
                )
                return result if result is not None else NONE
        if name == "score" and args.pos:
            predicted = self.i.call(self.i.get_attr(owner, "predict", node_at(site)), arguments(args.pos[0]), site)
            marks = self.heap.data(predicted).marks
            scores = frozenset(
                self.i.scoring.score("score", p, site, kind="score") for p in marks if isinstance(p, Predict)
            )
            return Data(kind="scalar", marks=scores, number=self.heap.fresh())
        api = self.i.lib_base(held.cls)
        if api is None or not isinstance(owner, Ref) or held.site is None:
            if api is None and name not in ("train", "eval", "parameters", "__init__"):
                return self.i.data.pass_through(args)
            return owner if name in ("train", "eval", "to", "cuda", "cpu", "double", "float") else NONE
        if api.part == "object":
            return self.i.data.pass_through(args)
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
                train = self.i.learners.emit_train(
                    self.i.learners.model_of(owner, held),
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
                return self.i.learners.predicted(owner, held, x, site)
        return result

    def call_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        part = held.api.part
        if name == "set_params" and isinstance(owner, Ref):
            self.heap.set(owner.address, replace(held, args={**held.args, **args.kw}))
            return owner
        if name in (
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
            self.heap.set(owner.address, replace(held, parts=(*held.parts, *self.i.learners.learners(args.pos))))
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
            return self.i.splitting.split_folds(owner, held, args, site)
        if name in SEARCH_CALLS or (part == "search" and name == "search"):
            for value in (*args.all(), *held.args.values()):
                self.i.scoring.objective(value, site)
        if held.api.kind == "launcher":
            return self._launched(name, args, site)
        if held.api.kind == "unknown":
            return self._unknown_method(owner, held, name, args, site)
        if part in ("estimator", "search", "network") or (
            part == "pipeline" and self.i.learners.ends_in_predictor(held)
        ):
            return self.i.learners.predictor_method(owner, held, name, args, site)
        if part in ("transformer", "pipeline", "union", "resampler"):
            return self.i.learners.transformer_method(owner, held, name, args, site)
        if part == "metric":
            return self.i.scoring.metric_method(owner, held, name, args, site)
        if name in FITTED_CHOICES and held.learned:
            return Data(kind="columns", marks=held.learned, number=self.heap.fresh())
        loader = self.i.tables.lookup(f"{held.api.name}.{name}")
        if loader is not None and loader.part == "load":
            return self.i.library.call(loader.name, args, site)
        return self.i.data.pass_through(args)

    def _launched(self, name: str, args: Args, site: Site) -> Value:
        """Methods of what runs a training loop on devices: it hands back what it is given, and calls backward."""
        if name == "backward" and args.pos:
            self.i.scoring.train_by_loss(self.heap.data(args.pos[0]), site)
            return NONE
        return args.pos[0] if len(args.pos) == 1 else Items(tuple(args.pos))

    def _unknown_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        """An object of an unknown class: with `fit(X, y)` and then `predict` or `score` it is a predictor."""
        learns = self.i.learners.learns_by_name(held.api.name)
        if learns and name in ("fit", "fit_transform", "transform"):
            hinted = replace(
                held, api=held.api._replace(part="transformer", learns=learns, fit_apply=("fit_transform",))
            )
            result = self.i.learners.transformer_method(owner, hinted, name, args, site)
            after = self.heap.load(owner)
            if isinstance(owner, Ref) and isinstance(after, LibObject):
                self.heap.set(owner.address, replace(after, api=held.api))
            return result
        if name == "fit" and len(args.pos) + len(args.kw) >= 2:
            return self.i.learners.predictor_method(owner, held, name, args, site)
        if (name in PREDICTS or name in SCORES) and (held.trains or held.outside):
            return self.i.learners.predictor_method(owner, held, name, args, site)
        if name in ("fit", "eval", "train"):
            return owner
        return self.i.data.from_outside(name, self.i.data.pass_through(args), args, site)
