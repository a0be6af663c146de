"""Comparisons and extremes of scores: where something is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from leakcheck.flow import steps as s
from leakcheck.flow.events import Choose, Learn, Mark, Predict, Score
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import (
    ORDERINGS,
    STATISTICS,
    no_args,
    role_of_word,
    scores_of,
    selecting,
    split_words,
)
from leakcheck.flow.rows import Overlap, Rows, Site, overlap
from leakcheck.flow.values import (
    NO_MARKS,
    Const,
    Data,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Interpreter

_LIMITS = frozenset(
    [
        "ylim",
        "xlim",
        "set_ylim",
        "set_xlim",
        "set",
        "axis",
        "axhline",
        "axvline",
        "hlines",
        "vlines",
        "annotate",
        "text",
        "fill_between",
        "linspace",
        "arange",
        "max",
        "min",
        "yticks",
        "xticks",
        "set_yticks",
        "set_xticks",
        "scatter",
        "plot",
    ]
)

_METRIC_WORDS = frozenset(
    [
        "acc",
        "accuracy",
        "loss",
        "auc",
        "f",
        "score",
        "error",
        "err",
        "mse",
        "rmse",
        "mae",
        "recall",
        "precision",
        "map",
        "miou",
        "dice",
        "psnr",
        "bleu",
        "rouge",
        "ndcg",
        "hit",
        "mrr",
        "cost",
        "r",
        "perplexity",
        "ppl",
        "wer",
    ]
)


_ENDS = {
    "max": "max", "amax": "max", "nanmax": "max", "min": "min", "amin": "min", "nanmin": "min",
    "first item": "first", "last item": "last",  # of a sorted list
}  # fmt: skip
BOTH_ENDS = ({"max", "min"}, {"first", "last"})
_PLACES = {"argmax": "max", "nanargmax": "max", "idxmax": "max", "argmin": "min", "nanargmin": "min", "idxmin": "min"}
_WORST = {"max": "lower", "min": "higher"}  # of scores that are better so


class Choices(Operations):
    """Comparisons and extremes of scores."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.ends: dict[tuple[Score, ...], set[str]] = {}  # of scores: whether their largest, their smallest was taken

    def choices(self, held: Data) -> frozenset[Mark]:
        return frozenset(
            m for m in held.marks if isinstance(m, Learn | Score) and (not held.rows or held.kind != "frame")
        )

    def scored(self, several: list[Data], site: Site) -> frozenset[Mark]:
        """Predictions set against something that is no prediction, of the same rows: a score in the making."""
        for data in several:
            predictions = [m for m in data.marks if isinstance(m, Predict)]
            if not predictions or any(isinstance(m, Score) for m in data.marks):
                continue
            for other in several:
                if other is data or not other.rows or any(isinstance(m, Predict) for m in other.marks):
                    continue
                if overlap(other.rows, data.rows) is Overlap.NO and not _parallel(other.rows, data.rows):
                    continue
                return frozenset(self.i.scoring.score("own arithmetic", p, site, kind="own") for p in predictions)
        return NO_MARKS

    def same_scores(self, several: list[Data]) -> bool:
        """Two scores on the same rows are compared (this round's against the best so far)."""
        if len(several) != 2:
            return False
        left = [m for m in several[0].marks if isinstance(m, Score)]
        right = [m for m in several[1].marks if isinstance(m, Score)]
        if set(left) == set(right) and not any(score.loops for score in left):
            return False  # a score and what was worked out from it
        # The same score on both sides is another round's, unless none of the loops around repeats it, or both sides
        # were worked out from one value: a cell of a confusion matrix against the largest.
        again = set(self.i.loops)
        if self.heap.origins(several[0].number) & self.heap.origins(several[1].number):
            again = set()
        return any(a.rows == b.rows and a.rows and (a is not b or again & {*a.loops}) for a in left for b in right)

    def note_choice(self, test: Value, node: s.Node, body: s.Block | None) -> None:
        data = self.heap.load(test)
        if not isinstance(data, Data):
            return
        if "compared" not in data.flags:
            if body is not None and self.i.loops and not data.marks and _keeps_best_test(node, body):
                self.i.named_choices.setdefault(self.i.site(node).bare(), _name_compared(node))
            return
        if body is not None and not _has_effect(body):
            return
        scores = tuple(m for m in data.marks if isinstance(m, Score))
        self.choose(scores, self.i.site(node), "comparison")

    def choose(self, scores: Sequence[Score], site: Site, how: str, what: str = "") -> Choose | None:
        if not scores:
            return None
        ordered = in_order(scores)
        chosen: Choose = self.i.emit((site, how, ordered), Choose(ordered, site, how, self.i.loops, what))
        return chosen

    def extremum(self, name: str, values: list[Value], site: Site) -> Value:
        """The best of several: a choice, where what is compared are scores."""
        several = [self.heap.data(value) for value in values]
        if len(values) == 1 and several[0].rows and not any(isinstance(m, Score) for m in several[0].marks):
            if name not in STATISTICS:
                return several[0].but(number=self.heap.fresh(), columns=None)
            return self.i.operators.statistic(name, several[0], no_args(), site)
        scores: dict[Score, None] = {}
        for data in several:
            for mark in data.marks:
                if isinstance(mark, Score) and not (mark.kind == "own" and data.rows):  # an error a row is no score
                    scores[mark] = None
        rows = {score.rows for score in scores}
        flags: frozenset[str] = frozenset()
        looked_at = set(self.i.enclosing) & _LIMITS  # the range of an axis, or a part of a larger comparison
        if len(rows) > 1 and len(values) > 1:
            looked_at.add("scores of different rows")
        compared = {frozenset(m for m in data.marks if isinstance(m, Score)) for data in several}
        own = len(scores) > 1 and all(score.kind == "own" for score in scores)
        if len(values) > 1 and len(compared) == 1 and own and not self.i.loops:
            looked_at.add("numbers worked out from the same scores")
        if len(values) > 1 and sum(not isinstance(self.heap.load(value), Const) for value in values) == 1:
            looked_at.add("a score and its bound")
        if (
            scores
            and not looked_at
            and not (len(values) == 1 and self._of_one_model(scores) and not any(map(self._repeated, scores)))
        ):
            by_rows = [tuple(sc for sc in scores if sc.rows == r) for r in rows]
            for group in by_rows:
                curve = any(sc.kind == "curve" for sc in group)
                keeps_place = self._keeps_place(name, values)
                if curve and not keeps_place:
                    # The largest distance of two curves, the best recall at a precision: no threshold is kept so far.
                    flags = frozenset({"top of curve"})
                    continue
                this_round = len(values) == 1 and isinstance(self.heap.load(values[0]), Data)
                what = "of this round" if this_round else ""
                if name in _ENDS and not (keeps_place and name.endswith("item")):
                    self.ends.setdefault(in_order(group), set()).add(_ENDS[name])
                if self._worst(name, several, group):
                    continue
                self.choose(group, site, "threshold" if curve else "extremum", what)
        marks = NO_MARKS.union(*(d.marks for d in several)) if several else NO_MARKS
        picked = self.heap.join_all(values) if len(values) > 1 else self.i.containers.element(values[0])
        held = self.heap.load(picked)
        if isinstance(held, Data | Const) or name.startswith(("arg", "idx")):
            of_columns = any(d.kind == "columns" for d in several)
            kind = "columns" if of_columns and name.startswith("n") else "scalar"
            names = name.startswith(("n", "arg", "idx"))  # those of the columns, where each has a test of its own
            if not of_columns:
                marks = scores_of(marks) | (selecting(marks) if names else NO_MARKS)
            number = self.heap.number(name, several[0].number) if len(several) == 1 else self.heap.fresh()
            return Data(kind=kind, number=number, marks=marks, flags=flags)
        return picked

    def look_up(self, several: list[Data], site: Site) -> None:
        """The point of a curve that equals its largest value: a threshold is kept after all."""
        curves = [{m for m in data.marks if isinstance(m, Score) and m.kind == "curve"} for data in several]
        if any("top of curve" in data.flags for data in several) and len(curves) == 2 and curves[0] & curves[1]:
            self.choose([*curves[0] & curves[1]], site, "threshold")

    def _keeps_place(self, name: str, values: list[Value]) -> bool:
        """Whether an extreme tells where it stands, or what stands beside it, and not its value alone."""
        if name not in _ENDS or len(values) > 1:
            return True
        compared = self.heap.load(values[0])
        if not name.endswith("item") and not isinstance(compared, Data):
            compared = self.heap.load(self.i.containers.element(values[0]))
        return not isinstance(compared, Data | Const)

    def _worst(self, name: str, several: list[Data], scores: Iterable[Score]) -> bool:
        """Whether an extreme is the worst of the scores, which nobody chooses."""
        better = _WORST.get(_ENDS.get(name) or _PLACES.get(name, ""), "")
        plain = not any("turned" in data.flags for data in several)
        return plain and bool(better) and all(score.better == better and score.kind == "score" for score in scores)

    def _of_one_model(self, scores: Iterable[Score]) -> bool:
        """Whether all is one score, or was worked out from one model's errors (by group of rows, say)."""
        return len({(sc.model, sc.trains) if sc.kind == "own" else sc for sc in scores}) == 1

    def _repeated(self, score: Score) -> bool:
        """Whether a score stands for several: one a round of a loop, or one a threshold."""
        return score.kind == "curve" or len(score.loops) > len(self.i.loops)


def in_order(scores: Iterable[Score]) -> tuple[Score, ...]:
    return tuple(sorted(scores, key=lambda score: (score.site.path, score.site.cell or 0, score.site.span)))


def _name_compared(node: s.Node) -> str:
    if isinstance(node, s.Op):
        return next((o.id for o in node.operands if isinstance(o, s.Name) and "best" not in split_words(o.id)), "")
    return ""


def _keeps_best_test(node: s.Node, body: s.Block) -> bool:
    """`if test_acc > best_acc: best_acc = test_acc`, by the names alone."""
    if not isinstance(node, s.Op) or node.op not in ORDERINGS or len(node.operands) != 2:
        return False
    names = [o.id for o in node.operands if isinstance(o, s.Name)]
    if len(names) != 2:
        return False
    best = next((n for n in names if {"best", "max", "min", "lowest", "highest"} & set(split_words(n))), None)
    tested = next((n for n in names if n != best), None)
    if best is None or tested is None:
        return False
    words = split_words(tested)
    if "test" not in {role_of_word(w) for w in words} or not set(words) & _METRIC_WORDS:
        return False
    targets = {t.id for stmt in body if isinstance(stmt, s.Assign) for t in stmt.targets if isinstance(t, s.Name)}
    return best in targets


def _parallel(a: Rows, b: Rows) -> bool:
    """Rows of different roots that went through the same cuts: features and target kept in two arrays."""
    return {steps for _, steps in a} == {steps for _, steps in b}


def _has_effect(block: s.Block) -> bool:
    """Whether a branch keeps something: assigns, saves, returns or leaves."""
    for node in block:
        if isinstance(node, s.Assign | s.AugAssign | s.Return | s.Jump):
            return True
        if isinstance(node, s.ExprStmt) and isinstance(node.value, s.Call):
            name = node.value.func.name if isinstance(node.value.func, s.Attr) else getattr(node.value.func, "id", "")
            if any(
                word in name.lower()
                for word in ("save", "dump", "copy", "update", "append", "load_state", "checkpoint", "setattr")
            ):
                return True
        if isinstance(node, s.If | s.For | s.While | s.With | s.Try) and _has_effect(node.body):
            return True
    return False
