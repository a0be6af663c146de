"""Rows that a slice, a condition or drawn numbers hold out, and that nothing calls test rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from leakcheck.flow.events import Choose, Loop, Predict, Score
from leakcheck.flow.rows import Cut, CutKind, Overlap, Rows, Site, overlap

if TYPE_CHECKING:
    from leakcheck.flow.leaks import Joiner


def all_that_is_held_out(joiner: Joiner, choose: Choose, rows: Rows) -> bool:
    """Whether rows that no name calls test rows are the only ones held out, and their score is the result.

    One slice or condition cuts them off the training rows, nothing else is cut, scored or predicted, and the score is
    printed as that of the test, or worked out anew once the training was stopped or the model calibrated by it.
    """
    loops = {loop for score in choose.scores for loop in score.loops}
    if not rows or joiner.splits or not all(steps and _cut_by_hand(steps[-1][0]) for _, steps in rows):
        return False
    if split_anew(rows, loops) and not same_each_round(rows, loops):
        return False
    whole = _base(rows)
    rest = {t.rows for t in joiner.trains if _base(t.rows) == whole and overlap(t.rows, rows) is Overlap.NO}
    learned_from = {*rest, whole, *([rows] if choose.how == "calibration" else [])}
    events: list[Score | Predict] = [*joiner.scores, *joiner.predicts]
    if not rest or any(train.rows not in learned_from for train in joiner.trains):
        return False
    if any(event.rows != rows and event.rows not in rest for event in events):
        return False
    if any({"test", "validation"} & joiner.roles_named(named) for named in joiner.program.names):
        return False
    scores = [score for score in joiner.scores if score.rows == rows]
    called = set().union(*(joiner.program.showing.called.get(score, ()) for score in scores))
    if choose.how in ("stopping", "calibration"):
        after = any(score.serial > choose.serial and score.kind in ("score", "own") for score in scores)
        return after and called <= {"test"}
    return called == {"test"}


def _cut_by_hand(cut: Cut) -> bool:
    """Whether a slice, a condition or drawn numbers cut rows."""
    by_hand = cut.kind in (CutKind.POSITION, CutKind.MASK) and not cut.explicit
    drawn = cut.kind is CutKind.RANDOM and not any(cut.roles)
    return (by_hand or drawn) and not cut.inner


def same_each_round(rows: Rows, loops: Iterable[Loop]) -> bool:
    """Whether slices at a given number cut the same rows in each round of these loops over settings."""
    around = {id(loop): loop for loop in loops}
    for root, steps in rows:
        for cut, _ in steps:
            for loop in [around[n] for n in cut.loops if n in around]:
                fixed = cut.kind is CutKind.POSITION and cut.bound is not None and loop.over != "items"
                if not fixed or _stands_in(root.site, loop.site):
                    return False
    return True


def _stands_in(site: Site | None, loop: Site) -> bool:
    """Whether a place, or a call that led to it, stands in a loop."""
    first, _, last, _ = loop.span
    while site is not None:
        if (site.path, site.cell) == (loop.path, loop.cell) and first <= site.span[0] <= last:
            return True
        site = site.caller
    return False


def _base(rows: Rows) -> Rows:
    """Rows before their last cut."""
    return frozenset((root, steps[:-1]) for root, steps in rows)


def split_anew(rows: Rows, loops: Iterable[Loop]) -> bool:
    """Whether each round of one of these loops cuts the rows anew."""
    around = {id(loop) for loop in loops}
    return any(not around.isdisjoint(cut.loops) for _, steps in rows for cut, _ in steps)
