"""Metrics, losses, cross-validated scores and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leakcheck.flow.events import Mark, Predict, Score, Split, Train
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import arguments, last_part
from leakcheck.flow.rows import NO_ROWS, CutKind, Rows, Site, narrow, union
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    NO_MARKS,
    NONE,
    UNKNOWN,
    Choice,
    Const,
    Data,
    DictObject,
    Function,
    LibObject,
    Method,
    Partial,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter


class Scoring(Operations):
    """Metrics, losses, cross-validated scores and searches."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.inside_network = 0
        self.models: set[int] = set()  # those that were scored
        self.several = False  # more than one was
        self.unpredicted = False  # something that no model is known to predict was scored

    def p_score(self, api: Api, args: Args, site: Site) -> Value:
        result = self._scored(api, args, site)
        if api.returns != "thresholds":
            return result
        # The third result lists the predictions, whatever the target: to look one up there is no choice.
        return result.but(each=(result, result, Data(kind="scalar", number=self.heap.fresh())))

    def _scored(self, api: Api, args: Args, site: Site) -> Data:
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in args.all())) if args.all() else NO_MARKS
        predictions = [m for m in marks if isinstance(m, Predict)]
        kind = "curve" if api.kind == "curve" else "score"
        if not predictions:
            old = frozenset(m for m in marks if isinstance(m, Score))
            if old:
                return Data(kind="scalar", marks=old, number=self.heap.fresh())
            self.unpredicted = True
            carriers = [self.heap.data(v) for v in args.pos[:2]]
            learners = [v for v in args.all() if isinstance(self.heap.load(v), LibObject)]
            if learners and any(self.heap.data(v).rows for v in args.all()):
                data = next(self.heap.data(v) for v in args.all() if self.heap.data(v).rows)
                held = self.heap.load(learners[0])
                prediction = self.i.learners.predict(learners[0], held, data, site)
                return Data(
                    kind="scalar",
                    marks=frozenset({self.score(last_part(api.name), prediction, site, kind=kind)}),
                    number=self.heap.fresh(),
                )
            if len(carriers) == 2 and all(c.rows for c in carriers):
                score = self._emit_score(
                    last_part(api.name),
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
        name, relative = last_part(api.name), api.relative
        scores = frozenset(
            self.score(name, p, site, kind=kind, relative=relative, better=api.direction) for p in predictions
        )
        return Data(kind="scalar", marks=scores, number=self.heap.fresh())

    def score(
        self, what: str, prediction: Predict, site: Site, *, kind: str, relative: bool = False, better: str = ""
    ) -> Score:
        fold = any(cut.kind is CutKind.FOLD for _, cuts in prediction.rows for cut, _ in cuts)
        if kind == "score" and fold:
            kind = "fold"
        data = Data(rows=prediction.rows, name=prediction.name)
        return self._emit_score(
            what,
            prediction.model,
            prediction.trains,
            prediction.rows,
            site,
            prediction.marks,
            kind,
            data,
            relative,
            better,
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
        relative: bool = False,
        better: str = "",
    ) -> Score:
        if model is not None:
            self.models.add(model)
            self.several = len(self.models) > 1
        baseline = bool(trains) and all(t.baseline for t in trains)
        event = Score(
            what,
            model,
            trains,
            rows,
            site,
            self.i.loops,
            marks,
            kind,
            self.i.data.called(data),
            baseline,
            relative,
            better,
        )
        return self.i.emit((site, what, model, rows, trains, kind), event)  # type: ignore[no-any-return]

    def p_loss(self, api: Api, args: Args, site: Site) -> Value:
        return self.lost(last_part(api.name), args, site)

    def lost(self, what: str, args: Args, site: Site) -> Value:
        marks = NO_MARKS.union(*(self.heap.data(v).marks for v in args.all())) if args.all() else NO_MARKS
        scores = frozenset(self.score(what, p, site, kind="loss") for p in marks if isinstance(p, Predict))
        rows = union(*(self.heap.data(v).rows for v in args.all())) if args.all() else NO_ROWS
        if self.inside_network:
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
                self._train_in_loop(mark.model, rows, mark.site)
            if isinstance(mark, Score) and mark.model is not None:
                self._train_in_loop(mark.model, Data(rows=mark.rows, marks=mark.marks, name=mark.name), mark.site)

    def _train_in_loop(self, model: int, x: Data, site: Site) -> None:
        held = self.i.learners.asked.get(model)
        self.i.learners.emit_train(model, "loop", "the model", x, None, site, (), False, False, held=held)

    def p_fold_score(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        learner, x = values.get("estimator"), values.get(api.x) or values.get("X")
        if learner is None and args.pos:
            learner = args.pos[0]
        if x is None and len(args.pos) > 1:
            x = args.pos[1]
        self.i.series.note_entities(values.get(api.groups or "groups"), self.heap.data(x), site)
        score = self.fold(
            learner,
            self.heap.data(x),
            self.heap.data(values.get(api.y)) if api.y in values else None,
            site,
            last_part(api.name),
            values.get("cv"),
            values.get("scoring", NONE),
        )
        return Data(kind="scalar", marks=frozenset({score}) if score else NO_MARKS, number=self.heap.fresh())

    def _splitter(self, cv: Value | None) -> Any:
        held = self.heap.load(cv) if cv is not None else None
        return self.heap.load(self.i.splitting.preferred(held.options)[0]) if isinstance(held, Choice) else held

    def fold(
        self,
        learner: Value | None,
        x: Data,
        y: Data | None,
        site: Site,
        what: str,
        cv: Value | None,
        scoring: Value = NONE,
    ) -> Score | None:
        """Cross-validation: train on each fold's rest, score on the fold."""
        if not x.rows:
            return None
        splitter = self._splitter(cv)
        cut, rows = self.i.splitting.folds(x, site, splitter, ("cv", site))
        train_rows, test_rows = narrow(x.rows, cut, 0), narrow(x.rows, cut, 1)
        if isinstance(splitter, LibObject) and cut.kind is CutKind.RANDOM:
            cut = self.i.data.cut(("cv fold", site, rows), CutKind.FOLD, site, roles=("train", "fold"), shuffled=True)
            train_rows, test_rows = narrow(x.rows, cut, 0), narrow(x.rows, cut, 1)
            self.i.emit((site, cut), Split(cut, rows, site, self.i.loops, what, (x,)))
        held = self.heap.load(learner) if learner is not None else None
        model = self.i.learners.model_of(learner, held) if learner is not None else 0
        train = self.i.learners.emit_train(
            model,
            "fold",
            self.i.learners.called_learner(held),
            x.but(rows=train_rows),
            y,
            site,
            (),
            False,
            self.i.learners.picks_columns(held),
            baseline=self.i.learners.is_baseline(held),
            held=held,
        )
        relative = self._is_relative(held, self.heap.load(scoring))
        return self._emit_score(what, model, (train,), test_rows, site, x.marks, "fold", x, relative)

    def _is_relative(self, held: Any, scoring: Any) -> bool:
        """Whether a metric by its scikit-learn name, or an estimator's own, is relative to a trivial prediction."""
        if not isinstance(scoring, Const) or not isinstance(scoring.value, str):
            return scoring == NONE and self._is_regressor(held)
        names = (f"sklearn.metrics.{scoring.value}", f"sklearn.metrics.{scoring.value}_score")
        return any(api is not None and api.relative for api in map(self.i.tables.lookup, names))

    def _is_regressor(self, held: Any) -> bool:
        """Whether an estimator's own score is R2."""
        api = self.i.learners.predictor(held)
        return api is not None and ("Regress" in api.name or api.name.endswith(("SVR", "KernelRidge")))

    def p_fold_predict(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        x = self.heap.data(values.get("X") or (args.pos[1] if len(args.pos) > 1 else None))
        self.i.series.note_entities(values.get(api.groups or "groups"), x, site)
        score = self.fold(
            values.get("estimator") or (args.pos[0] if args.pos else None),
            x,
            None,
            site,
            last_part(api.name),
            values.get("cv"),
        )
        if score is None:
            return UNKNOWN
        event = Predict(score.model or 0, score.trains, score.rows, site, x.marks, self.i.data.called(x))
        mark = self.i.emit((site, score.rows), event)
        return Data(rows=x.rows, marks=frozenset({mark}), kind="array", number=self.heap.fresh())

    def metric_method(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        if name in ("update", "update_state", "add_batch", "add", "__call__", "forward"):
            value = self.p_score(held.api, args, site)
            if isinstance(owner, Ref):
                marks = self.heap.data(value).marks
                self.heap.set(owner.address, replace(held, learned=held.learned | marks))
            return value
        if name in ("compute", "result", "evaluate") and (args.pos or args.kw):
            return self.p_score(held.api, args, site)
        if name in ("compute", "result"):
            return Data(kind="scalar", marks=held.learned, number=self.heap.fresh())
        if name in ("reset", "reset_states", "reset_state") and isinstance(owner, Ref):
            self.heap.set(owner.address, replace(held, learned=NO_MARKS))
        return NONE

    def scored(self, owner: Value, held: LibObject, name: str, args: Args, site: Site) -> Value:
        candidates = [
            v for k, v in args.kw.items() if k not in ("verbose", "batch_size", "sample_weight", "callbacks", "steps")
        ]
        loader = {"test": "test_dataloader", "validate": "val_dataloader"}.get(name, "")
        data: Data | None = self.i.loading.from_module(args.all(), loader, site) if loader else None
        if data is None or not data.rows:
            data = next((d for d in (self.i.loading.content(v) for v in [*args.pos, *candidates]) if d.rows), None)
        if data is None and args.pos:
            data = self.i.data.rooted(self.i.loading.content(args.pos[0]), site)
        if data is None:
            data = next(
                (self.i.loading.content(held.args[k]) for k in ("eval_dataset", "valid_data") if k in held.args), None
            )
        if data is None or not data.rows:
            return Data(kind="scalar", number=self.heap.fresh())
        if data.each and data.kind == "dataset":
            data = data.but(each=())
        prediction = self.i.learners.predict(owner, held, data, site)
        relative = name == "score" and self._is_regressor(held)
        score = self.score(
            name, prediction, site, kind="score", relative=relative, better="higher" if name == "score" else ""
        )
        return Data(kind="scalar", marks=frozenset({score}), number=self.heap.fresh())

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
        result = self.i.call(value, arguments(**given), site)
        held = self.heap.load(result)
        data = self.heap.data(result)
        if isinstance(held, DictObject) and "loss" in held.items:
            data = self.heap.data(held.items["loss"])
        self.i.choices.choose([m for m in data.marks if isinstance(m, Score)], site, "search")
