"""Joins the events of one program into leak facts: what was learned or chosen, from which rows, and what it reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leakcheck.findings import Confidence, Location, TraceStep
from leakcheck.flow.choosing import choices, reuses
from leakcheck.flow.events import Choose, Column, Draw, Learn, Mark, Pick, Predict, Score, Split, Train
from leakcheck.flow.facts import (
    HoldOut,
    Learned,
    LearnLeak,
    OverlapLeak,
    ProgramFacts,
    TrainingScore,
    Unknown,
)
from leakcheck.flow.hygiene import Hygiene
from leakcheck.flow.operations.choices import BOTH_ENDS
from leakcheck.flow.operations.common import STATISTICS, role_of_word, roles_in, split_words
from leakcheck.flow.operations.data import is_copying
from leakcheck.flow.order import blind_splits, look_aheads
from leakcheck.flow.rows import (
    Cut,
    CutKind,
    Overlap,
    Root,
    Rows,
    Site,
    last_cut,
    narrow,
    overlap,
    roles,
    within,
)
from leakcheck.flow.target_columns import target_columns

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
        ranges = {scores for scores, ends in program.choices.ends.items() if any(pair <= ends for pair in BOTH_ENDS)}
        self.chooses = [e for e in events if isinstance(e, Choose) and not (e.how == "extremum" and e.scores in ranges)]
        self.splits = [e for e in events if isinstance(e, Split)]
        self.by_model: dict[int, list[Train]] = {}
        for train in self.trains:
            self.by_model.setdefault(train.model, []).append(train)
        self.in_sample: dict[Train, Learn] = {}  # what a model's predictions for its own rows tell
        self.targets = self._targets()
        self.held_outs = self._held_outs()

    def facts(self) -> ProgramFacts:
        overlaps = tuple(self._overlaps())
        hygiene = Hygiene(self.program, self)
        return ProgramFacts(
            learned=tuple(self._learned()),
            overlaps=overlaps,
            training_scores=() if overlaps else tuple(self._training_scores()),
            choices=tuple(choices(self)),
            reuses=tuple(reuses(self)),
            target_columns=tuple(target_columns(self)),
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
        scored = [
            self._held_out(score.rows, train, score)
            for score in self.scores
            for train in self.trained(score)
            if overlap(score.rows, train.rows) is not Overlap.YES
        ]
        return scored + [
            self._held_out(rows, train, None) for train in self.trains for rows in self._other_parts(train)
        ]

    def _other_parts(self, train: Train) -> Iterator[Rows]:
        """The held-out parts of the splits whose training part was used."""
        for root, steps in train.rows:
            for n, (cut, part) in enumerate(steps):
                whole: Rows = frozenset({(root, steps[:n])})
                if train.kind == "handed on" and (cut.kind is CutKind.POSITION or cut.order):
                    rest = narrow(whole, cut, 1)
                    named = any(map(split_words, self.program.names.get(rest, ())))
                    if part == 0 and (cut, 1) in self.program.cuts_used and named:
                        yield rest
                elif cut.explicit and cut.role(part) == "train" and cut.kind is not CutKind.VALIDATION:
                    for other, role in enumerate(cut.roles):
                        if role != "train" and other != part:
                            yield narrow(whole, cut, other)

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
        return last_cut(rows)

    # --- learning before the hold-out ----------------------------------------------------------------------------

    def _learned(self) -> Iterator[LearnLeak]:
        best: dict[tuple[Site, str], tuple[int, LearnLeak]] = {}
        for held_out in self.held_outs:
            for mark in self._marks_of(held_out.train):
                rows = mark.rows
                if overlap(rows, held_out.rows) is not Overlap.YES or self._of_one_item(mark, held_out):
                    continue
                if _within_groups(mark, held_out) or _copies_together(mark, held_out):
                    continue
                if self._prior_of_encoding(mark, held_out.train):
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

    def _prior_of_encoding(self, mark: Learn | Draw, train: Train) -> bool:
        """Whether it is the target's statistic that smooths an encoding, or fills its gaps: a part of that."""
        if not isinstance(mark, Learn) or mark.category != "statistic" or not mark.columns:
            return False
        if train.x is None or not mark.columns <= self.targets:
            return False
        columns = train.x.columns
        together = [c.marks for c in columns.named.values()] if columns is not None else [train.x.marks]
        if columns is not None:
            together += [columns.rest, columns.extra]
        return any(
            isinstance(other, Learn) and other.rows == mark.rows and self._kind_of(other) == (Learned.TARGET, True)
            for marks in together
            if mark in marks
            for other in marks
        )

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
        yield from self._marks_of_features(train)
        if train.y is not None:
            for mark in train.y.marks:
                if isinstance(mark, Learn) and mark.category in _MATTERS_IN_TARGET:
                    yield mark

    def _marks_of_features(self, train: Train) -> Iterator[Learn | Draw]:
        for mark in train.x.marks if train.x is not None else ():
            if isinstance(mark, Learn | Draw):
                yield mark
            elif isinstance(mark, Predict):
                yield from self._in_sample(mark, train)

    def _in_sample(self, predict: Predict, train: Train) -> Iterator[Learn]:
        """What a model told of the target of the rows it was fitted on, where its predictions for them are features."""
        x, y = train.x, train.y
        if x is None or y is None or (x.columns is None and x.kind in ("frame", "part", "unknown")):
            return
        if x.columns is not None and not any(predict in column.marks for column in x.columns.named.values()):
            return
        for fit in predict.trains:
            if fit.kind != "fit" or fit.y is None or not _one_target(fit.y, y):
                continue
            if overlap(fit.rows, predict.rows) is not Overlap.YES:
                continue
            if fit not in self.in_sample:
                told = (fit.what, "target-encoding", fit.rows, fit.site, True, fit.y.sources, True, fit.loops, fit.name)
                self.in_sample[fit] = Learn(*told)
            yield self.in_sample[fit]

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
        if how is HoldOut.TOGETHER and (place := self.program.combining.put_together.get(mark.rows)):
            trace.append(self.step("train and test rows are put together here", place))
        if held_out.split is not None:
            label = "these rows are folded here" if held_out.kind == "folds" else "these rows are held out here"
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
        return given and not {"test", "validation"} & self.roles_named(rows)

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
        return "test" in roles_in(self.program.root_names.get(root, ""))

    def _other_hold_out(self, held_out: HeldOut) -> bool:
        return any(h.kind == "split" and h.train.model == held_out.train.model for h in self.held_outs)

    def _honest_test(self, mark: Learn | Draw) -> bool:
        """Whether what was learned is also tried on rows that were not learned from: the reported score is right."""
        return any(
            h.score is not None
            and (h.kind == "split" or (h.kind == "folds" and all((h.cut, 0) in steps for _, steps in mark.rows)))
            and mark in self._marks_of_features(h.train)
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
                if train.kind == "fold" or overlap(train.rows, score.rows) is not Overlap.YES or _apart(train, score):
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
                cut = last_cut(score.rows)
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
        cuts = (last_cut(trained), last_cut(scored))
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
        if roles_in(score.name) == {"train"}:
            return False  # a training score, and called so
        split = any(cut.explicit and cut.role(part) == "train" for _, steps in train.rows for cut, part in steps)
        return split and not any(h.score is not None and h.train.model == train.model for h in self.held_outs)

    def _second_split(self, trained: Rows, scored: Rows) -> Site | None:
        for _, steps in trained:
            for cut, _ in steps:
                if cut.explicit and not any(c is cut for _, more in scored for c, _ in more):
                    return cut.site
        return None

    def _presented_as_held_out(self, score: Score) -> bool:
        said = self.roles_named(score.rows) | roles_in(score.name)
        if any(roles_in(name) == {"train"} for name in (*self.program.names.get(score.rows, ()), score.name)):
            return False
        for _, steps in score.rows:
            if not steps:
                return False
            cut, part = steps[-1]
            if cut.role(part) in ("test", "validation", "fold"):
                return True
            if cut.kind is not CutKind.FILTER and said & {"test", "validation"}:
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
                all(t.rows == score.rows and not _of_unknown_parts(t, score) and not _apart(t, score) for t in trains)
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
            unsure = unsure or bool({"test", "validation"} & self.roles_named(rows))
            yield root.kind in ("parameter", "unknown", "positions") or root.role in ("train", "test") or unsure

    def _main_path(self) -> str:
        return self.program.main.path if self.program.main is not None else ""

    # --- what the code calls rows --------------------------------------------------------------------------------

    def roles_named(self, rows: Rows) -> set[str]:
        """The roles that the names of these rows say."""
        return {role for name in self.program.names.get(rows, ()) for role in roles_in(name)}

    def called(self, score: Score) -> str:
        """What the author calls the scored rows: what says which part they are, before the name of a batch."""
        names = list(self.program.names.get(score.rows, ()))
        if roles_in(score.name) and (score.name in names or not names):
            return score.name
        names = [name for name in names if roles_in(name)] or names
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
                return roles_in(name) == {"test"}
        return by_source

    # --- the target among the features ---------------------------------------------------------------------------

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


def _within_groups(mark: Learn | Draw, held_out: HeldOut) -> bool:
    """Whether it was learned of each group by itself, and a group is held out as a whole."""
    if not isinstance(mark, Learn) or held_out.cut is None:
        return False
    met = {cut for _, steps in mark.rows for cut, part in steps if _is_value_met(part)}
    return not held_out.cut.keys.isdisjoint(mark.keys.union(*(cut.keys for cut in met)))


def _copies_together(mark: Learn | Draw, held_out: HeldOut) -> bool:
    """Whether copies of a row go to one side, or are no copies: another target, or another column, stands beside each.

    They stand next to each other, and have the same values: only a random split tells them apart.
    """
    if not is_copying(mark):
        return False
    cut, x, y = held_out.cut, held_out.train.x, held_out.train.y
    torn = cut is not None and cut.shuffled and not cut.apart
    columns = x.columns.named.values() if x is not None and x.columns is not None else ()
    alike = y is not None and all(any(map(is_copying, part.marks)) for part in (y, *columns))
    return not torn or not alike


def _is_value_met(part: object) -> bool:
    """Whether a part holds the rows with one value of a column, which a loop meets in turn."""
    return isinstance(part, tuple) and part[:1] == ("is",) and isinstance(part[1], tuple)


def _apart(train: Train, score: Score) -> bool:
    """Whether some of the rows were picked for training and others, for all that is known, for the score."""
    return train.x is not None and any(isinstance(m, Pick) and m not in score.marks for m in train.x.marks)


def _one_target(y: Data, other: Data) -> bool:
    """Whether two targets are the same column, or of the same array."""
    if y.sources or other.sources:
        return not y.sources.isdisjoint(other.sources)
    return not {root for root, _ in y.rows}.isdisjoint(root for root, _ in other.rows)


def _of_unknown_parts(train: Train, score: Score) -> bool:
    """Whether a function that is not known returned what was trained on and, under another name, what was scored."""
    return train.x is not None and "call" in train.x.flags and train.name != score.name


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
