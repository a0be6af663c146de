"""Joins the events of one program into leak facts: what was learned or chosen, from which rows, and what it reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leakcheck.findings import Confidence, Location, TraceStep
from leakcheck.flow.events import Choose, Column, Draw, Learn, Loop, Mark, Predict, Score, Split, Tie, TieKind, Train
from leakcheck.flow.facts import (
    Choice,
    ChoiceLeak,
    HoldOut,
    Learned,
    LearnLeak,
    OverlapLeak,
    ProgramFacts,
    TargetColumn,
    TestReuse,
    TrainingScore,
    Unknown,
)
from leakcheck.flow.hygiene import Hygiene
from leakcheck.flow.operations.common import STATISTICS, role_of_word, split_words
from leakcheck.flow.order import blind_splits, look_aheads
from leakcheck.flow.rows import (
    Cut,
    CutKind,
    Overlap,
    Part,
    Root,
    Rows,
    Site,
    narrow,
    overlap,
    roles,
    split_within,
    within,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Interpreter
    from leakcheck.flow.values import Data

_CATEGORY = {
    "selection": Learned.FEATURES,
    "resampling": Learned.ROWS,
    "augmentation": Learned.ROWS,
    "target-encoding": Learned.TARGET,
    "vocabulary": Learned.VOCABULARY,
    "categories": Learned.VOCABULARY,
}
_LOADER_WORDS = frozenset({"loader", "dl", "iter", "dataloader"})
# In the target only a fitted change of scale matters: codes, shifts and thresholds rename values.
_MATTERS_IN_TARGET = frozenset({"scaling", "projection"})
# Learners of a number whose names don't end in Regressor.
_REGRESSORS = frozenset(
    [
        "BayesianRidge",
        "ElasticNet",
        "ElasticNetCV",
        "KernelRidge",
        "Lars",
        "LarsCV",
        "Lasso",
        "LassoCV",
        "LassoLars",
        "LassoLarsCV",
        "LinearRegression",
        "LinearSVR",
        "NuSVR",
        "Ridge",
        "RidgeCV",
        "SVR",
    ]
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Rows that a model was not trained on, and what shows it."""

    rows: Rows
    train: Train
    cut: Cut | None  # the cut that held them out
    split: Site | None
    score: Score | None
    kind: str  # "split", "folds", "validation"


def _origin(site: Site) -> Site:
    """The outermost call that led to a place."""
    while site.caller is not None:
        site = site.caller
    return site


def find_leaks(program: Interpreter) -> ProgramFacts:
    """The leak facts of an interpreted program."""
    return Joiner(program).facts()


class Joiner:
    def __init__(self, program: Interpreter) -> None:
        self.program = program
        events = list(program.events.values())
        self.run = frozenset(events[: program.events_of_run])  # what happens without calling what nobody calls
        self.trains = [e for e in events if isinstance(e, Train)]
        self.scores = [e for e in events if isinstance(e, Score)]
        self.predicts = [e for e in events if isinstance(e, Predict)]
        # Who names the best beside the worst tells how far scores lie apart.
        ranges = {scores for scores, ends in program.choices.ends.items() if len(ends) > 1}
        self.chooses = [e for e in events if isinstance(e, Choose) and not (e.how == "extremum" and e.scores in ranges)]
        self.splits = [e for e in events if isinstance(e, Split)]
        self.by_model: dict[int, list[Train]] = {}
        for train in self.trains:
            self.by_model.setdefault(train.model, []).append(train)
        self.targets = self._targets()
        self.held_outs = self._held_outs()

    def facts(self) -> ProgramFacts:
        overlaps = tuple(self._overlaps())
        hygiene = Hygiene(self.program, self)
        return ProgramFacts(
            learned=tuple(self._learned()),
            overlaps=overlaps,
            training_scores=() if overlaps else tuple(self._training_scores()),
            choices=tuple(self._choices()),
            reuses=tuple(self._reuses()),
            target_columns=tuple(self._target_columns()),
            blind_splits=tuple(blind_splits(self)),
            look_aheads=tuple(look_aheads(self)),
            unseeded=tuple(hygiene.unseeded()),
            comparisons=tuple(hygiene.comparisons()),
            unanchored=tuple(hygiene.unanchored()),
            scores=tuple(hygiene.scores()),
            unknown=tuple(
                Unknown(kind, name, tuple(map(self.location, sites)))
                for (kind, name), sites in self.program.unknown.items()
            ),
        )

    # --- what is held out ----------------------------------------------------------------------------------------

    def _targets(self) -> frozenset[Column]:
        found: set[Column] = set()
        for train in self.trains:
            if train.y is not None:
                found |= train.y.sources
        return frozenset(found)

    def trained(self, event: Score | Predict) -> tuple[Train, ...]:
        """The trainings behind a score: of a network trained in a loop, all of its trainings."""
        if event.trains:
            return event.trains
        if event.model is None:
            return ()
        return tuple(t for t in self.by_model.get(event.model, ()) if t.kind == "loop")

    def _held_outs(self) -> list[HeldOut]:
        found: list[HeldOut] = []
        for score in self.scores:
            for train in self.trained(score):
                if overlap(score.rows, train.rows) is not Overlap.YES:
                    found.append(self._held_out(score.rows, train, score))
        for train in self.trains:
            for root, steps in train.rows:
                for cut, part in steps:
                    if train.kind == "handed on" and (cut.kind is CutKind.POSITION or cut.order):
                        rest = narrow(frozenset({(root, steps[: steps.index((cut, part))])}), cut, 1)
                        if part == 0 and (cut, 1) in self.program.cuts_used and self._words(rest):
                            found.append(self._held_out(rest, train, None))
                        continue
                    if not cut.explicit or cut.role(part) != "train" or cut.kind is CutKind.VALIDATION:
                        continue
                    for other, role in enumerate(cut.roles):
                        if role in ("test", "validation", "fold", "") and other != part:
                            before = steps[: steps.index((cut, part))]
                            rows: Rows = narrow(frozenset({(root, before)}), cut, other)
                            found.append(self._held_out(rows, train, None))
        return found

    def _held_out(self, rows: Rows, train: Train, score: Score | None) -> HeldOut:
        cut = self._dividing_cut(rows, train.rows)
        split = next((e.site for e in self.splits if e.cut is cut), cut.site if cut is not None else None)
        kind = "split"
        if cut is not None and cut.kind is CutKind.FOLD:
            kind = "folds"
        elif (cut is not None and cut.kind is CutKind.VALIDATION) or (score is not None and score.kind == "validation"):
            kind = "validation"
        return HeldOut(rows, train, cut, split, score, kind)

    def _dividing_cut(self, rows: Rows, others: Rows) -> Cut | None:
        for _, steps in rows:
            for cut, part in reversed(steps):
                for _, more in others:
                    if any(c is cut and p != part for c, p in more):
                        return cut
        for _, steps in rows:
            if steps:
                return steps[-1][0]
        return None

    # --- learning before the hold-out ----------------------------------------------------------------------------

    def _learned(self) -> Iterator[LearnLeak]:
        best: dict[tuple[Site, str], tuple[int, LearnLeak]] = {}
        for held_out in self.held_outs:
            for mark in self._marks_of(held_out.train):
                rows = mark.rows
                if overlap(rows, held_out.rows) is not Overlap.YES or self._of_one_item(mark, held_out):
                    continue
                leak = self._learn_leak(mark, held_out)
                if leak is not None:
                    self._keep(best, mark, leak, self._rank(held_out, leak))
        watched = [score for score in self.scores if score.kind == "validation"]
        tried: list[Predict | Score] = [*self.predicts, *watched]
        for predict in tried:
            for leak_mark, leak in self._fitted_on_test(predict):
                self._keep(best, leak_mark, leak, 1)
        yield from _on_one_line(leak for _, leak in best.values())

    def _of_one_item(self, mark: Learn | Draw, held_out: HeldOut) -> bool:
        """Whether it was learned of one item of a list, such as a recording, and whole items are held out."""
        if not isinstance(mark, Learn) or mark.item_of is None:
            return False
        return held_out.cut is None or mark.item_of not in held_out.cut.loops

    def _keep(
        self, best: dict[tuple[Site, str], tuple[int, LearnLeak]], mark: Mark, leak: LearnLeak, rank: int
    ) -> None:
        key = (mark.site.bare(), leak.what)
        if key not in best or rank < best[key][0]:
            best[key] = (rank, leak)

    def _rank(self, held_out: HeldOut, leak: LearnLeak) -> int:
        # The clearest witness is shown: a split that is scored before folds, before a validation part.
        order = {"split": 0, "folds": 4, "validation": 6}[held_out.kind]
        return order + (2 if held_out.score is None else 0) + (20 if leak.honest_test else 0)

    def _marks_of(self, train: Train) -> Iterator[Learn | Draw]:
        if train.x is not None:
            for mark in train.x.marks:
                if isinstance(mark, Learn | Draw):
                    yield mark
        if train.y is not None:
            for mark in train.y.marks:
                if isinstance(mark, Learn) and mark.category in _MATTERS_IN_TARGET:
                    yield mark

    def _learn_leak(self, mark: Learn | Draw, held_out: HeldOut) -> LearnLeak | None:
        if held_out.kind == "validation" and self._other_hold_out(held_out):
            return None
        kind = self._kind_of(mark)
        if kind is None:
            return None
        learned, supervised = kind
        if isinstance(mark, Learn) and mark.cut is not None and self._is_split(mark.cut, held_out):
            return None
        if isinstance(mark, Learn) and self._out_of_fold(mark, held_out):
            return None
        how = HoldOut.FOLDS if held_out.kind == "folds" else HoldOut.SPLIT
        if len(mark.rows) > 1 and self._together(mark.rows, held_out):
            how = HoldOut.TOGETHER
        elif overlap(mark.rows, held_out.train.rows) is not Overlap.YES:
            if self._any_argument(held_out.rows):
                return None
            how = HoldOut.TEST_ONLY
        honest = self._honest_test(mark)
        if honest and held_out.kind == "folds" and learned in (Learned.FEATURES, Learned.ROWS, Learned.TARGET):
            # A printed cross-validation score is wrong even where a test follows; a search's is only used to choose.
            honest = any(t.kind == "search" and t.site == held_out.train.site for t in self.trains)
        name = mark.name
        what = mark.what
        split_line = self._where(held_out.split, mark.site) if held_out.split else ""
        learns = f"{what} learns from `{name}` here"
        if isinstance(mark, Draw):
            learns = f"rows of `{name}` are repeated or made up here"
        trace = [self.step(learns, mark.site)]
        trace += self.callers(mark.site)
        if held_out.split is not None:
            label = "these rows are held out here" if how is not HoldOut.FOLDS else "these rows are folded here"
            trace.append(self.step(label, held_out.split))
        used = f"{held_out.train.what} is trained on the result here"
        if held_out.train.kind == "handed on":
            used = "the training part is handed on here"
        trace.append(self.step(used, held_out.train.site))
        if held_out.score is not None:
            trace.append(self.step("and scored on the held-out rows here", held_out.score.site))
        share = held_out.cut.share if held_out.cut is not None else None
        held = f"the rows held out {split_line}" if split_line else "the held-out rows"
        if share is not None:
            held = f"the {share:.0%} held out {split_line}"
        return LearnLeak(
            what,
            learned,
            how,
            supervised,
            name,
            held,
            honest,
            self.location(mark.site),
            self.unique(trace),
            self.confidence(mark.rows | held_out.rows, mark),
            not isinstance(mark, Learn) or mark.fitted or mark.what not in STATISTICS,
        )

    def _any_argument(self, rows: Rows) -> bool:
        """Whether rows are an argument of what nobody calls, and no name says that they are held out."""
        given = all(root.kind == "parameter" and not steps for root, steps in rows)
        return given and not {"test", "validation"} & {role_of_word(w) for w in self._words(rows)}

    def _kind_of(self, mark: Learn | Draw) -> tuple[Learned, bool] | None:
        if isinstance(mark, Draw):
            return Learned.ROWS, False
        supervised = mark.supervised or self._saw_target(mark.columns)
        if mark.category == "counts":
            return (Learned.TARGET, True) if self._names_target(mark.columns) else None
        if mark.category in ("group-statistic", "relation"):
            if mark.category == "relation":
                return None
            return (Learned.TARGET, True) if self._names_target(mark.columns) else (Learned.STATISTICS, False)
        if mark.category == "selection":
            if mark.supervised or (not mark.fitted and self._saw_target(mark.columns)):
                return Learned.FEATURES, True
            return (Learned.STATISTICS, False) if mark.fitted else None
        if mark.category == "calibration" or mark.category == "nothing":
            return None
        return _CATEGORY.get(mark.category, Learned.STATISTICS), supervised and mark.category == "target-encoding"

    def _saw_target(self, columns: frozenset[Column]) -> bool:
        for frame, name in self.targets:
            if (frame, name) in columns:
                return True
            if (frame, "*") in columns and (frame, f"-{name}") not in columns:
                return True
        return False

    def _names_target(self, columns: frozenset[Column]) -> bool:
        return any(column in columns for column in self.targets)

    def _is_split(self, cut: Cut, held_out: HeldOut) -> bool:
        """Whether a condition whose bound was computed is itself the split (a cut at a date's quantile)."""
        used = self.program.cuts_used
        return held_out.cut is cut or ((cut, True) in used and (cut, False) in used)

    def _out_of_fold(self, mark: Learn, held_out: HeldOut) -> bool:
        """Whether it was learned fold by fold, for the rows that each fold held out: an encoding made in that way."""
        if mark.category not in ("group-statistic", "target-encoding"):
            return False
        folded = {cut for _, steps in mark.rows for cut, part in steps if cut.kind is CutKind.FOLD and part == 0}
        return bool(folded) and not any(cut in folded for _, steps in held_out.train.rows for cut, _ in steps)

    def _together(self, rows: Rows, held_out: HeldOut) -> bool:
        roots = {root for root, _ in rows}
        if len(roots) > 1 and any(root.role == "test" or self._named_test(root) for root in roots):
            return True
        for atom in rows:
            one: Rows = frozenset({atom})
            if overlap(one, held_out.rows) is Overlap.YES and overlap(one, held_out.train.rows) is Overlap.YES:
                return False
        return True

    def _named_test(self, root: Root) -> bool:
        return "test" in {role_of_word(w) for w in split_words(self.program.root_names.get(root, ""))}

    def _other_hold_out(self, held_out: HeldOut) -> bool:
        return any(h.kind == "split" and h.train.model == held_out.train.model for h in self.held_outs)

    def _honest_test(self, mark: Learn | Draw) -> bool:
        """Whether what was learned is also tried on rows that were not learned from: the reported score is right."""
        return any(
            h.score is not None
            and h.kind == "split"
            and h.train.x is not None
            and mark in h.train.x.marks
            and overlap(h.rows, mark.rows) is Overlap.NO
            for h in self.held_outs
        )

    def _fitted_on_test(self, predict: Predict | Score) -> Iterator[tuple[Mark, LearnLeak]]:
        trains = self.trained(predict)
        if not trains:
            return
        known = {m for t in trains if t.x is not None for m in t.x.marks}
        for mark in predict.marks:
            if not isinstance(mark, Learn) or mark in known:
                continue
            if overlap(mark.rows, predict.rows) is not Overlap.YES:
                continue
            if any(overlap(mark.rows, t.rows) is not Overlap.NO for t in trains):
                continue
            scores = [s for s in self.scores if s.rows == predict.rows]
            score = next((s for s in scores if s.model == predict.model), scores[0] if scores else None)
            if score is None:
                continue
            kind = self._kind_of(mark)
            if kind is None:
                continue
            trace = [self.step(f"{mark.what} learns from the held-out rows `{mark.name}` here", mark.site)]
            trace += self.callers(mark.site)
            trace.append(self.step(f"{trains[0].what} was trained on other rows here", trains[0].site))
            trace.append(self.step("and is scored on the result here", score.site))
            yield (
                mark,
                LearnLeak(
                    mark.what,
                    kind[0],
                    HoldOut.TEST_ONLY,
                    kind[1],
                    mark.name,
                    f"the held-out rows `{mark.name}`",
                    False,
                    self.location(mark.site),
                    self.unique(trace),
                    self.confidence(mark.rows, mark),
                    mark.fitted or mark.what not in STATISTICS,
                ),
            )

    # --- overlapping train and test, no hold-out -----------------------------------------------------------------

    def _overlaps(self) -> Iterator[OverlapLeak]:
        seen: set[Site] = set()
        for score in self.scores:
            if score.kind in ("loss", "validation", "fold"):
                continue
            presented = self._presented_as_held_out(score)
            for train in self.trained(score):
                if not (
                    presented or self._stands_for_test(train, score) or self._crossing_slices(train.rows, score.rows)
                ):
                    continue
                if train.kind == "fold" or overlap(train.rows, score.rows) is not Overlap.YES:
                    continue
                whole = self._stands_for_test(train, score) or self._trained_on_test(train, score)
                if within(train.rows, score.rows) and not whole:
                    continue
                place = train.site
                second = self._second_split(train.rows, score.rows)
                trace = [self.step(f"{train.what} is trained on `{train.name}` here", train.site)]
                trace += self.callers(train.site)
                if second is not None:
                    trace.append(self.step("these rows come from a split of their own here", second))
                cut = self._last_cut(score.rows)
                if cut is not None:
                    trace.append(self.step(f"`{self.called(score)}` was held out here", cut.site))
                trace.append(self.step("and is scored here", score.site))
                if place.bare() in seen:
                    continue
                seen.add(place.bare())
                yield OverlapLeak(
                    train.what,
                    train.name,
                    self.called(score),
                    self.location(place),
                    self.unique(trace),
                    self.confidence(train.rows | score.rows),
                )

    def _crossing_slices(self, trained: Rows, scored: Rows) -> bool:
        """Two slices of one table that share some rows and differ in others."""
        cuts = (self._last_cut(trained), self._last_cut(scored))
        sliced = all(cut is not None and cut.kind is CutKind.POSITION for cut in cuts)
        return sliced and not within(trained, scored) and not within(scored, trained)

    def _trained_on_test(self, train: Train, score: Score) -> bool:
        """Trained on the test part of a split whose training part another model learned from, and scored there."""
        if train.rows != score.rows or train.kind != "fit" or train.y is None or score.kind != "score":
            return False
        if any(s.rows == score.rows and train in self.trained(s) for c in self.chooses for s in c.scores):
            return False  # a calibration, a stopping: a choice by these rows
        steps = {step for _, steps in train.rows for step in steps}
        tests = {cut for cut, part in steps if cut.explicit and cut.role(part) == "test"}
        return any(
            other.model != train.model and any((cut, 0) in steps for cut in tests for _, steps in other.rows)
            for other in self.trains
        )

    def _stands_for_test(self, train: Train, score: Score) -> bool:
        """Trained on one part of a split and scored on the whole, while the other part is never scored."""
        if score.kind != "score" or train.rows == score.rows or not within(train.rows, score.rows):
            return False
        if self._roles(score.name) == {"train"}:
            return False  # a training score, and called so
        split = any(cut.explicit and cut.role(part) == "train" for _, steps in train.rows for cut, part in steps)
        return split and not any(h.score is not None and h.train.model == train.model for h in self.held_outs)

    def _second_split(self, trained: Rows, scored: Rows) -> Site | None:
        for _, steps in trained:
            for cut, _ in steps:
                if cut.explicit and not any(c is cut for _, more in scored for c, _ in more):
                    return cut.site
        return None

    def _last_cut(self, rows: Rows) -> Cut | None:
        for _, steps in rows:
            if steps:
                return steps[-1][0]
        return None

    def _presented_as_held_out(self, score: Score) -> bool:
        words = self._words(score.rows) | set(split_words(score.name))
        if any(self._roles(name) == {"train"} for name in (*self.program.names.get(score.rows, ()), score.name)):
            return False
        for _, steps in score.rows:
            if not steps:
                return False
            cut, part = steps[-1]
            if cut.role(part) in ("test", "validation", "fold"):
                return True
            if cut.kind is not CutKind.FILTER and {role_of_word(w) for w in words} & {"test", "validation"}:
                return True
        return False

    def _training_scores(self) -> Iterator[TrainingScore]:
        reported = [s for s in self.scores if s.kind in ("score", "own") and self.trained(s) and not s.baseline]
        if not reported or any(h.score is not None for h in self.held_outs):
            return
        if any(s.kind in ("fold", "validation") for s in self.scores):
            return
        targets = frozenset().union(*(t.y.sources for s in reported for t in self.trained(s) if t.y is not None))
        others = [
            predict
            for predict in self.predicts
            if any(
                overlap(predict.rows, train.rows) is not Overlap.YES
                and (train.y is None or not targets or not train.y.sources or targets & train.y.sources)
                for train in self.trained(predict)
            )
        ]
        if others or any(s.model is None for s in self.scores):
            return
        for score in reported:
            trains = self.trained(score)
            if score.kind != "score" or score not in self.run or _origin(score.site).path != self._main_path():
                continue
            if (
                all(t.rows == score.rows for t in trains)
                and not any(self._uncertain(score.rows))
                and self._is_predictor(score)
            ):
                trace = (
                    self.step(f"{trains[0].what} is trained on `{trains[0].name}` here", trains[0].site),
                    self.step("and scored on the same rows here", score.site),
                )
                yield TrainingScore(trains[0].what, score.name, self.location(score.site), self.unique(list(trace)))
                return

    def _is_predictor(self, score: Score) -> bool:
        return all(t.y is not None or t.kind == "fit" for t in self.trained(score))

    def _uncertain(self, rows: Rows) -> Iterator[bool]:
        for root, steps in rows:
            unsure = any(not cut.explicit or cut.kind is not CutKind.RANDOM for cut, _ in steps)
            unsure = unsure or bool({role_of_word(w) for w in self._words(rows)} & {"test", "validation"})
            yield root.kind in ("parameter", "unknown", "positions") or root.role in ("train", "test") or unsure

    def _main_path(self) -> str:
        return self.program.main.path if self.program.main is not None else ""

    # --- the test set used to choose -----------------------------------------------------------------------------

    def _words(self, rows: Rows) -> set[str]:
        return {w for name in self.program.names.get(rows, ()) for w in split_words(name)}

    def _roles(self, name: str) -> set[str]:
        return {role_of_word(word) for word in split_words(name)} - {""}

    def _parts_named(self, rows: Rows) -> set[str]:
        """The names of these rows that say which part they are."""
        return {name for name in self.program.names.get(rows, ()) if self._roles(name)}

    def called(self, score: Score) -> str:
        """What the author calls the scored rows: what says which part they are, before the name of a batch."""
        names = list(self.program.names.get(score.rows, ()))
        if self._roles(score.name) and (score.name in names or not names):
            return score.name
        names = [name for name in names if self._roles(name)] or names
        names = [name for name in names if "." not in name] or names
        loaders = [name for name in names if not _LOADER_WORDS.isdisjoint(split_words(name))]
        return next(iter(loaders or names), score.name)

    def is_test(self, rows: Rows) -> bool:
        """Whether rows are test rows: by their names, else by the splitter's own word."""
        if not rows:
            return False
        for _, steps in rows:
            if any(cut.kind in (CutKind.FOLD, CutKind.VALIDATION) or part == "one group" for cut, part in steps):
                return False
            if any(cut.inner for cut, _ in steps):
                return False  # what `fit` cuts off the rows that it learns from are validation rows
        by_source = roles(rows) == {"test"}
        # The first name that says a role counts, the caller's before a helper's: that one may call its argument, or
        # what it returns, anything.
        names = self.program.names.get(rows, {})
        for name in sorted(names, key=names.__getitem__):
            saying = {w for w in split_words(name) if role_of_word(w)}
            if saying and not (by_source and saying == {"eval"}):  # a trainer's `eval_dataset` may be the test part
                return {role_of_word(w) for w in saying} == {"test"}
        return by_source

    def untouched_elsewhere(self, rows: Rows, choosing: Iterable[Score]) -> bool:
        """Whether other held-out rows stay for the final score, so that these served for validation."""
        used = {score.rows for score in choosing}
        called = set().union(*(self._roles(score.name) for score in choosing))
        known, names = {root for root, _ in rows}, self._parts_named(rows)
        trained = [t.rows for t in self.trains]
        events: list[Score | Predict] = [*self.scores, *self.predicts]
        for event in events:
            if event.rows in used or not event.rows:
                continue
            shares = overlap(event.rows, rows)
            if shares is Overlap.UNKNOWN and called == {"validation"} and self._roles(event.name) == {"test"}:
                return True  # the code tells its validation rows from its test rows, wherever these come from
            if shares is not Overlap.NO:
                continue
            if any(overlap(event.rows, t) is Overlap.YES for t in trained):
                continue
            if not known & {root for root, _ in event.rows} and names & self._parts_named(event.rows):
                continue  # the same rows, loaded again
            if any(cut.kind in (CutKind.FOLD, CutKind.VALIDATION) for _, steps in event.rows for cut, _ in steps):
                continue
            named = {role_of_word(w) for w in self._words(event.rows)}
            if "validation" in named and "test" not in named:
                continue
            if self.is_test(event.rows) or any(root.role == "test" for root, _ in event.rows):
                return True
        return False

    def _choices(self) -> Iterator[ChoiceLeak]:
        seen: set[Site] = set()
        for choose in self.chooses:
            scores = [s for s in choose.scores if self.is_test(s.rows) or self._scored_folds(choose, s)]
            folded = [] if scores else self._folds_of_all(choose)
            if not (scores or folded) or not self._compares(choose, scores or list(choose.scores)):
                continue
            scores = scores or folded
            rows = scores[0].rows
            if self.untouched_elsewhere(rows, choose.scores):
                continue
            choice = self._what_is_chosen(choose, scores)
            if choose.how in ("stopping", "calibration") and not self._reported(rows, choose):
                continue
            if choose.what == "by default" and self._roles(scores[0].name) == {"validation"}:
                continue
            # Taking the best index and the best value of the same scores is one choice.
            sites = {choose.site.bare()} | ({s.site.bare() for s in scores} if choose.how == "extremum" else set())
            if sites & seen:
                continue
            seen |= sites
            trace = [self.step(self._chosen_label(choice), choose.site)]
            if folded:
                label = f"compared on folds of `{choose.scores[0].name}`, the test rows among them, here"
                trace.append(self.step(label, choose.scores[0].site))
            for score in scores[:3]:
                for train in self.trained(score)[:1]:
                    trace.append(self.step(f"{train.what} is trained here", train.site))
                trace.append(self.step(f"scored on the test rows `{self.called(score)}` here", score.site))
                trace += self.callers(score.site)
            cut = self._last_cut(rows)
            if cut is not None:
                trace.append(self.step("the test rows are held out here", cut.site))
            yield ChoiceLeak(
                choice,
                self.called(scores[0]),
                self.location(choose.site),
                self.unique(trace),
                self.confidence(rows),
                choose.scores[0].name if folded else "",
                any(self._scored_folds(choose, score) for score in scores),
            )
        yield from self._choices_by_name(seen)

    def _choices_by_name(self, seen: set[Site]) -> Iterator[ChoiceLeak]:
        """Where the flow is not known but names say it: a test score compared with the best so far, a validation
        loader over the rows of the test loader."""
        for site, name in self.program.named_choices.items():
            if site not in seen:
                trace = (self.step("the best is kept here", site),)
                yield ChoiceLeak(Choice.STOPPING, name, self.location(site), trace, Confidence.LIKELY)
        for name, site, *held in self.program.loaders:
            if self._roles(name) != {"validation"} or site in seen:
                continue
            test = next(
                (n for n, _, *other in self.program.loaders if other == held and self._roles(n) == {"test"}), ""
            )
            if test:
                trace = (self.step(f"the validation loader holds the rows of `{test}`", site),)
                yield ChoiceLeak(Choice.STOPPING, test, self.location(site), trace, Confidence.LIKELY)

    def _scored_folds(self, choose: Choose, score: Score) -> bool:
        """Each fold stops the training that it then scores."""
        if choose.how != "stopping" or not any(
            cut.role(part) == "fold" for _, steps in score.rows for cut, part in steps
        ):
            return False
        return any(s.rows == score.rows and s.model == score.model and s is not score for s in self.scores)

    def _folds_of_all(self, choose: Choose) -> list[Score]:
        """The later scores on test rows that had been among the rows whose folds decided."""
        if choose.how not in ("comparison", "extremum"):
            return []
        folded = [score.rows for score in choose.scores if score.kind == "fold"]
        before = [frozenset((root, _before_folds(steps)) for root, steps in rows) for rows in folded]
        return [
            score
            for score in self.scores
            if score.serial > choose.serial
            and score.kind == "score"
            and self.is_test(score.rows)
            and any(within(score.rows, rows) and split_within(score.rows, rows) for rows in before)
        ][:1]

    def _chosen_label(self, choice: Choice) -> str:
        return {
            Choice.SETTING: "the best is kept here",
            Choice.STOPPING: "training stops, or its best state is kept, by these rows",
            Choice.THRESHOLD: "the best threshold is kept here",
            Choice.SEED: "the best seed is kept here",
        }[choice]

    def _compares(self, choose: Choose, scores: list[Score]) -> bool:
        """Whether several configurations stood to choose from."""
        if choose.how in ("stopping", "search", "threshold", "calibration"):
            return True
        if any(loop.over == "folds" for score in scores for loop in score.loops):
            return False
        if any(score.kind == "curve" for score in scores):
            return True
        if len(set(self._models_at_places(choose, scores))) > 1:
            return True
        rounds = choose.loops if choose.how == "comparison" else ()
        if choose.what == "of this round" and choose.loops:
            inside = [(score, set(score.loops) - set(choose.loops)) for score in scores if self.trained(score)]
            return any(self._varies(score, loops) for score, loops in inside)
        return any(self._varies(score, {*rounds, *score.loops}) for score in scores)

    def _models_at_places(self, choose: Choose, scores: list[Score]) -> Iterable[object]:
        """The models that are compared. One value may be that of one of several: in a loop over their predictions, or
        where one was picked before."""
        collected = not choose.loops and any(score.loops for score in scores)
        if choose.what != "of this round" or collected:
            return (score.model for score in scores)
        at_place: dict[tuple[Site, tuple[Loop, ...]], set[int | None]] = {}
        for score in scores:
            at_place.setdefault((score.site, score.loops), set()).add(score.model)
        return map(frozenset, at_place.values())

    def _varies(self, score: Score, loops: set[Loop]) -> bool:
        """Whether the rounds of a loop score different things: a model trained anew, or another threshold."""
        trains = self.trained(score)
        if not trains:
            return not loops.isdisjoint(score.loops)
        trained = {loop for train in trains for loop in (*train.loops, *train.born)}
        return any(loop in trained or loop.over == "thresholds" for loop in loops)

    def _what_is_chosen(self, choose: Choose, scores: list[Score]) -> Choice:
        if choose.how == "stopping":
            return Choice.STOPPING
        loops = [loop for score in scores for loop in score.loops]
        if choose.how in ("threshold", "calibration") or any(loop.over == "thresholds" for loop in loops):
            return Choice.THRESHOLD
        trains = [t for s in scores for t in self.trained(s)]
        one = len({train.site.bare() for train in trains}) < 2  # not several methods, each in every round
        # What stands inside a loop over seeds is chosen anew for each of them.
        inner = next((loop for loop in reversed(scores[0].loops) if loop.over != "folds"), None)
        if inner is not None and (inner.over == "seeds" or (one and self._split_in(inner, scores[0].rows))):
            return Choice.SEED
        if any(loop.over == "epochs" for loop in loops) and not any(
            loop.over == "epochs" and loop in t.born for t in trains for loop in loops
        ):
            return Choice.STOPPING
        return Choice.SETTING

    def _reported(self, rows: Rows, choose: Choose) -> bool:
        if any(s.rows == rows and s.kind not in ("validation", "loss") for s in self.scores):
            return True
        # Training prints the score of these rows; where the code calls them the test rows, that is the result.
        return choose.what == "on request" and "test" in {role_of_word(w) for w in self._words(rows)}

    def _reuses(self) -> Iterator[TestReuse]:
        chosen = {s.rows for c in self.chooses for s in c.scores if self.is_test(s.rows)}
        # Models of different targets are no rivals.
        by_rows: dict[tuple[Rows, frozenset[Column]], list[Score]] = {}
        for score in self.scores:
            counts = score.kind in ("score", "own", "curve") and score.model is not None and not score.baseline
            if counts and not self._learning_curve(score):
                targets = [t.y.sources for t in self.trained(score) if t.y is not None]
                by_rows.setdefault((score.rows, targets[0] if targets else frozenset()), []).append(score)
        for (rows, _), scores in by_rows.items():
            if not self.is_test(rows) or rows in chosen or self._split_anew(rows, scores):
                continue
            count, first, last = self._compared_configurations(scores)
            if (count is not None and count < 2) or last is None:
                continue
            if self.untouched_elsewhere(rows, scores):
                continue
            trace = []
            for score in dict.fromkeys([*first, last]):
                for train in self.trained(score)[:1]:
                    trace.append(self.step(f"{train.what} is trained here", train.site))
                trace.append(self.step("and scored on the test rows here", score.site))
                trace += self.callers(score.site)
            cut = self._last_cut(rows)
            if cut is not None:
                trace.append(self.step("the test rows are held out here", cut.site))
            yield TestReuse(
                count,
                self.side_by_side(scores),
                self.called(last),
                self.location(last.site),
                self.unique(trace),
                self.confidence(rows),
            )

    def _learning_curve(self, score: Score) -> bool:
        """Whether each round of a loop trains on another part of the training rows."""
        trained = [cut for train in self.trained(score) for _, steps in train.rows for cut, _ in steps]
        return any(set(cut.loops) & {id(loop) for loop in score.loops} for cut in trained)

    def _split_in(self, loop: Loop, rows: Rows) -> bool:
        """Whether each round of this loop has its own test rows."""
        return any(id(loop) in cut.loops for _, steps in rows for cut, _ in steps)

    def _split_anew(self, rows: Rows, scores: list[Score]) -> bool:
        """Whether each round of a loop has its own test rows."""
        loops = {id(loop) for score in scores for loop in score.loops}
        return any(set(cut.loops) & loops for _, steps in rows for cut, _ in steps)

    def side_by_side(self, scores: list[Score]) -> bool:
        return self._compared_configurations(scores, side_by_side=True)[2] is not None

    def _at_one_place(self, scores: list[Score]) -> bool:
        """Whether one statement trains several of the models, or predicts with them: not a mere metric of one's own."""
        models, rows = {score.model for score in scores}, {score.rows for score in scores}
        events: list[Train | Predict] = [train for score in scores for train in self.trained(score)]
        events += [predict for predict in self.predicts if predict.model in models and predict.rows in rows]
        at_place: dict[Site, set[int]] = {}
        for event in events:
            at_place.setdefault(event.site.bare(), set()).add(event.model)
        return any(len(found) > 1 for found in at_place.values())

    def _one_method(self, scores: list[Score]) -> bool:
        """Whether one method is scored in three settings or more."""
        models = {(t.model, t.what) for score in scores for t in self.trained(score)[:1]}
        methods = [what for _, what in models]
        return max(map(methods.count, methods), default=0) >= 3

    def _compared_configurations(
        self, scores: list[Score], *, side_by_side: bool = False
    ) -> tuple[int | None, list[Score], Score | None]:
        """The configurations that one metric scores (those whose scores stand side by side).

        Side by side are the rounds of a loop and the calls of one function. Scores written out one by one may be those
        of different methods, which is a comparison to report; the same method in three settings is a search.
        """
        best: tuple[int | None, list[Score], Score | None] = (0, [], None)
        for what in dict.fromkeys(score.what for score in scores):
            same = [score for score in scores if score.what == what]
            found = self._configurations(same)
            # Outside of loops several models at one score are those of which one was chosen before.
            first = {score.site: score.model for score in reversed(same)}
            same = [score for score in same if score.loops or first[score.site] == score.model]
            shared = self._at_one_place(same)
            looped = any(self._times(t, score) != 1 for score in same for t in self.trained(score))
            if side_by_side and not (looped or shared or self._one_method(same)):
                continue
            if found[0] is None or (best[0] is not None and found[0] > best[0]):
                best = found
        return best

    def _configurations(self, scores: list[Score]) -> tuple[int | None, list[Score], Score | None]:
        total: int | None = 0
        places: set[Site] = set()
        seen: dict[tuple[int, Site], Score] = {}
        others: set[tuple[int, Site]] = set()
        last: Score | None = None
        for score in scores:
            for train in self.trained(score):
                if train.baseline:
                    continue
                site = train.site.bare() if train.kind != "loop" else score.site
                key = (train.model, site if train.kind != "loop" else Site("", None, (0, 0, 0, 0)))
                if key in seen or any(
                    self._more_rows(train, other) for s in seen.values() for other in self.trained(s)
                ):
                    continue
                if key in others:
                    continue
                if not score.loops and score.site in places:
                    others.add(key)  # one of several models, whichever was chosen before
                    continue
                places.add(score.site)
                seen[key] = score
                last = score
                times = self._times(train, score)
                total = None if total is None or times is None else total + times
        models = len({model for model, _ in seen})
        if total is not None and models < 2 and total < 2:
            return (1 if seen else 0), [], last
        if (
            total is not None
            and models < 2
            and len(seen) == total
            and not any(self._times(t, s) != 1 for s in seen.values() for t in self.trained(s))
        ):
            # One model object, fitted again: a continued or repeated training, not another configuration.
            return 1, [], last
        return total, list(seen.values())[:3], last

    def _more_rows(self, train: Train, other: Train) -> bool:
        """Whether two trainings differ in their rows alone: a learning curve, or the same thing tried on parts."""
        return train.site.bare() == other.site.bare() and train.what == other.what and train.rows != other.rows

    def _times(self, train: Train, score: Score) -> int | None:
        """How many configurations one training site stands for."""
        times: int | None = 1
        if train.y is not None and "some column" in train.y.flags:
            return 1  # each round has a target of its own
        if train.x is not None and "window" in train.x.flags:
            return 1  # each round has more rows, or others: a learning curve
        drawn = {loop for _, steps in train.rows for cut, _ in steps if not cut.explicit for loop in cut.loops}
        for loop in train.born:
            if loop in score.loops and loop.over in ("configurations", "items") and id(loop) not in drawn:
                times = None if times is None or loop.count is None else times * loop.count
        return times

    # --- the target among the features ---------------------------------------------------------------------------

    def _target_columns(self) -> Iterator[TargetColumn]:
        seen: set[tuple[Site, str]] = set()
        for train in self.trains:
            x, y = train.x, train.y
            if (
                x is None
                or y is None
                or x.columns is None
                or train.selects_columns
                or _of_other_rows(y)
                or "window" in x.flags
                or ("numeric" in x.flags and not _predicts_number(train))
            ):
                continue
            if len(y.sources) != 1:
                continue
            frame, target = next(iter(y.sources))
            columns = x.columns
            if columns.frame != frame or target.startswith(("#", "*")):
                continue
            if target in columns.named or (columns.open and target not in columns.dropped):
                named = columns.named.get(target)
                if (named is not None and (frame, target) not in named.sources) or (
                    named is not None and _of_other_rows(named)
                ):
                    continue
                key = (train.site.bare(), target)
                if key not in seen:
                    seen.add(key)
                    steps = [self.step(f"{train.what} is trained on `{target}` among the features here", train.site)]
                    steps += self._made_features(frame, target, x.rows)
                    yield TargetColumn(
                        target, target, self.location(train.site), self.unique(steps), self.confidence(x.rows)
                    )
                continue
            windows: list[tuple[str, Site]] = []
            for name, column in columns.named.items():
                if (frame, target) not in column.sources or column.made_at is None:
                    continue
                if _of_other_rows(column):
                    if "own" in column.flags and x.rows == y.rows:
                        windows.append((name, column.made_at))
                    continue
                if any(
                    isinstance(m, Learn) and m.category in ("group-statistic", "target-encoding", "statistic")
                    for m in column.marks
                ):
                    continue
                site = column.made_at
                if (site.bare(), name) in seen:
                    continue
                seen.add((site.bare(), name))
                steps = [self.step(f"`{name}` is made from the target `{target}` here", site)]
                steps.append(self.step(f"{train.what} is trained on it here", train.site))
                yield TargetColumn(target, name, self.location(site), self.unique(steps), self.confidence(x.rows))
            if windows and (windows[0][1].bare(), windows[0][0]) not in seen:
                seen |= {(site.bare(), name) for name, site in windows}
                steps = [self.step(f"`{name}` takes in the row's own `{target}` here", site) for name, site in windows]
                steps.append(self.step(f"{train.what} is trained on it here", train.site))
                name, site = windows[0]
                yield TargetColumn(target, name, self.location(site), self.unique(steps), self.confidence(x.rows))

    def _made_features(self, frame: int, target: str, rows: Rows) -> list[TraceStep]:
        """Where the features were put together before they were split."""
        steps: list[TraceStep] = []
        for split in self.splits:
            if not any(cut is split.cut for _, cuts in rows for cut, _ in cuts):
                continue
            for data in split.data:
                columns = data.columns
                if columns is not None and columns.frame == frame and target not in columns.dropped and data.made_at:
                    steps.append(self.step(f"`{data.name}` still holds `{target}` here", data.made_at))
        return steps

    # --- places --------------------------------------------------------------------------------------------------

    def location(self, site: Site) -> Location:
        first, column, last, end = site.span
        return Location(site.path, site.cell, first, column, last, end)

    def step(self, label: str, site: Site) -> TraceStep:
        return TraceStep(label, self.location(site))

    def callers(self, site: Site) -> list[TraceStep]:
        steps: list[TraceStep] = []
        caller = site.caller
        while caller is not None and len(steps) < 6:
            steps.append(self.step("called from here", caller))
            caller = caller.caller
        return steps

    def _where(self, site: Site, seen_from: Site) -> str:
        line = site.span[0]
        if site.path != seen_from.path:
            return f"in {site.path} on line {line}"
        if site.cell is not None:
            return f"in cell {site.cell}, line {line}"
        return f"on line {line}"

    def confidence(self, rows: Rows, mark: Learn | Draw | None = None) -> Confidence:
        if isinstance(mark, Learn) and mark.by_name:
            return Confidence.LIKELY
        unsure = any(
            root.kind in ("parameter", "unknown")
            or any(isinstance(part, tuple) and part[:1] == ("named",) for _, part in steps)
            for root, steps in rows
        )
        return Confidence.LIKELY if unsure else Confidence.SURE

    def unique(self, steps: Iterable[TraceStep]) -> tuple[TraceStep, ...]:
        """The steps of a trace, each place once."""
        seen: set[Location] = set()
        kept = []
        for step in steps:
            if step.location not in seen:
                seen.add(step.location)
                kept.append(step)
        return tuple(kept)


def _before_folds(steps: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(step for step in steps if step[0].kind is not CutKind.FOLD)


def _predicts_number(train: Train) -> bool:
    """Whether the target is a number: columns picked by their type keep it then."""
    name = train.predictor.name.rsplit(".", 1)[-1] if train.predictor is not None else ""
    return name in _REGRESSORS or name.endswith("Regressor")


def _on_one_line(leaks: Iterable[LearnLeak]) -> Iterator[LearnLeak]:
    """What one line computes, `(x - x.mean()) / x.std()`, told once."""
    lines: dict[object, list[LearnLeak]] = {}
    for leak in leaks:
        place = leak.location
        key = (place.path, place.cell, place.line, leak.learned, leak.hold_out, leak.rows, leak.confidence)
        lines.setdefault(leak if leak.fitted else key, []).append(leak)
    for first, *more in lines.values():
        names = list(dict.fromkeys(leak.what for leak in (first, *more)))
        what = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else first.what
        yield replace(first, what=what)


def _of_other_rows(data: Data) -> bool:
    """Whether a value was shifted or taken over a window: it is not that of the same row."""
    shifted = (TieKind.EARLIER, TieKind.LATER)
    return "lag" in data.flags or any(isinstance(m, Tie) and m.kind in shifted for m in data.marks)
