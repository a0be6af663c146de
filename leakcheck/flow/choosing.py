"""What is chosen by scores on test rows, and how often these are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from leakcheck.findings import Confidence, TraceStep
from leakcheck.flow.events import Choose, Column, Loop, Predict, Score, Train
from leakcheck.flow.facts import Choice, ChoiceLeak, TestReuse
from leakcheck.flow.held_by_hand import all_that_is_held_out, same_each_round, split_anew
from leakcheck.flow.operations.common import roles_in
from leakcheck.flow.rows import CutKind, Overlap, Part, Root, Rows, Site, last_cut, overlap, split_within, within

if TYPE_CHECKING:
    from leakcheck.flow.leaks import Joiner

_CHOSEN = {
    Choice.SETTING: "the best is kept here",
    Choice.STOPPING: "training stops, or its best state is kept, by these rows",
    Choice.THRESHOLD: "the best threshold is kept here",
    Choice.SEED: "the best seed is kept here",
}
_BY_SCORE = frozenset({"comparison", "extremum"})  # the code itself sets scores against each other
_MOST_SHOWN = 3  # scores in one trace
_ANY_PLACE = Site("", None, (0, 0, 0, 0))  # a network trained in a loop is one model, wherever its steps stand


class Configurations(NamedTuple):
    """What was tried on the same test rows."""

    number: int | None  # None where it is not known and may be more than one
    first: list[Score]
    last: Score | None


def choices(joiner: Joiner) -> Iterator[ChoiceLeak]:
    """Settings, stops, thresholds and seeds that scores on test rows decided."""
    seen: set[Site] = set()
    for choose in joiner.chooses:
        scores = [s for s in choose.scores if joiner.is_test(s.rows) or _scored_folds(joiner, choose, s)]
        unnamed = not scores
        if unnamed:
            scores = [s for s in choose.scores if all_that_is_held_out(joiner, choose, s.rows)]
        if choose.how in _BY_SCORE:
            scores = [s for s in scores if _told_apart(joiner, s) and not _part_of_its_own(joiner, s)]
            scores = _rivals(joiner, scores)
        folded = [] if scores else _folds_of_all(joiner, choose)
        if not (scores or folded) or not _compares(joiner, choose, scores or list(choose.scores)):
            continue
        scores = scores or folded
        rows = scores[0].rows
        if untouched_elsewhere(joiner, rows, choose.scores):
            continue
        choice = _what_is_chosen(joiner, choose, scores)
        if choose.how in ("stopping", "calibration") and not _reported(joiner, rows, choose):
            continue
        if choose.what == "by default" and roles_in(scores[0].name) == {"validation"}:
            continue
        # Taking the best index and the best value of the same scores is one choice.
        sites = {choose.site.bare()} | ({s.site.bare() for s in scores} if choose.how == "extremum" else set())
        if sites & seen:
            continue
        seen |= sites
        trace = [joiner.step(_CHOSEN[choice], choose.site)]
        if folded:
            label = f"compared on folds of `{choose.scores[0].name}`, the test rows among them, here"
            trace.append(joiner.step(label, choose.scores[0].site))
        trace += _scored_here(joiner, rows, scores[:_MOST_SHOWN])
        yield ChoiceLeak(
            choice,
            joiner.called(scores[0]),
            joiner.location(choose.site),
            joiner.unique(trace),
            Confidence.LIKELY if unnamed and not folded else joiner.confidence(rows),
            choose.scores[0].name if folded else "",
            any(_scored_folds(joiner, choose, score) for score in scores),
        )
    yield from _choices_by_name(joiner, seen)


def _scored_here(joiner: Joiner, rows: Rows, scores: Iterable[Score]) -> list[TraceStep]:
    """Where the models were trained and scored, and what held the test rows out."""
    trace: list[TraceStep] = []
    for score in scores:
        for train in joiner.trained(score)[:1]:
            trace.append(joiner.step(f"{train.what} is trained here", train.site))
        trace.append(joiner.step(f"scored on the test rows `{joiner.called(score)}` here", score.site))
        trace += joiner.callers(score.site)
    cut = last_cut(rows)
    if cut is not None:
        trace.append(joiner.step("the test rows are held out here", cut.site))
    return trace


def _told_apart(joiner: Joiner, score: Score) -> bool:
    """Whether the scored rows are known to be others than the training rows, and not called test rows alone."""
    trains = joiner.trained(score)
    return not trains or any(overlap(train.rows, score.rows) is not Overlap.YES for train in trains)


def _choices_by_name(joiner: Joiner, seen: set[Site]) -> Iterator[ChoiceLeak]:
    """Where the flow is not known but names say it: a test score compared with the best so far, a validation
    loader over the rows of the test loader."""
    for site, name in joiner.program.named_choices.items():
        if site not in seen:
            trace = (joiner.step(_CHOSEN[Choice.SETTING], site),)
            yield ChoiceLeak(Choice.STOPPING, name, joiner.location(site), trace, Confidence.LIKELY)
    for name, site, *held in joiner.program.loaders:
        if roles_in(name) != {"validation"} or site in seen:
            continue
        test = next((n for n, _, *other in joiner.program.loaders if other == held and roles_in(n) == {"test"}), "")
        if test:
            trace = (joiner.step(f"the validation loader holds the rows of `{test}`", site),)
            yield ChoiceLeak(Choice.STOPPING, test, joiner.location(site), trace, Confidence.LIKELY)


def _folds_of_all(joiner: Joiner, choose: Choose) -> list[Score]:
    """The later scores on test rows that had been among the rows whose folds decided."""
    if choose.how not in _BY_SCORE:
        return []
    folded = [score.rows for score in choose.scores if score.kind == "fold"]
    before = [frozenset((root, _before_folds(steps)) for root, steps in rows) for rows in folded]
    return [
        score
        for score in joiner.scores
        if score.serial > choose.serial
        and score.kind == "score"
        and joiner.is_test(score.rows)
        and any(within(score.rows, rows) and split_within(score.rows, rows) for rows in before)
    ][:1]


def _scored_folds(joiner: Joiner, choose: Choose, score: Score) -> bool:
    """Each fold stops the training that it then scores."""
    if choose.how != "stopping" or not any(cut.role(part) == "fold" for _, steps in score.rows for cut, part in steps):
        return False
    return any(s.rows == score.rows and s.model == score.model and s is not score for s in joiner.scores)


def _compares(joiner: Joiner, choose: Choose, scores: list[Score]) -> bool:
    """Whether several configurations stood to choose from."""
    if choose.how in ("stopping", "search", "threshold", "calibration"):
        return True
    if any(loop.over == "folds" for score in scores for loop in score.loops):
        return False
    if any(score.kind == "curve" for score in scores):
        return True
    if len(set(_models_at_places(joiner, choose, scores))) > 1:
        return True
    rounds = choose.loops if choose.how == "comparison" else ()
    if choose.what == "of this round" and choose.loops:
        inside = [(score, set(score.loops) - set(choose.loops)) for score in scores if joiner.trained(score)]
        return any(_varies(joiner, score, loops) for score, loops in inside)
    return any(_varies(joiner, score, {*rounds, *score.loops}) for score in scores)


def _models_at_places(joiner: Joiner, choose: Choose, scores: list[Score]) -> Iterable[object]:
    """The models that are compared. One value may be that of one of several: in a loop over their predictions, or
    where one was picked before."""
    collected = not choose.loops and any(score.loops for score in scores)
    if choose.what != "of this round" or collected:
        return (score.model for score in scores)
    at_place: dict[tuple[Site, tuple[Loop, ...]], set[int | None]] = {}
    for score in scores:
        at_place.setdefault((score.site, score.loops), set()).add(score.model)
    return map(frozenset, at_place.values())


def _varies(joiner: Joiner, score: Score, loops: set[Loop]) -> bool:
    """Whether the rounds of a loop score different things: a model trained anew, or another threshold."""
    trains = joiner.trained(score)
    if not trains:
        return not loops.isdisjoint(score.loops)
    trained = {loop for train in trains for loop in (*train.loops, *train.born)}
    return any(loop in trained or loop.over == "thresholds" for loop in loops)


def _what_is_chosen(joiner: Joiner, choose: Choose, scores: list[Score]) -> Choice:
    if choose.how == "stopping":
        return Choice.STOPPING
    loops = [loop for score in scores for loop in score.loops]
    if choose.how in ("threshold", "calibration") or any(loop.over == "thresholds" for loop in loops):
        return Choice.THRESHOLD
    trains = [t for s in scores for t in joiner.trained(s)]
    one = len({train.site.bare() for train in trains}) < 2  # not several methods, each in every round
    # What stands inside a loop over seeds is chosen anew for each of them.
    inner = next((loop for loop in reversed(scores[0].loops) if loop.over != "folds"), None)
    anew = inner is not None and split_anew(scores[0].rows, [inner]) and not same_each_round(scores[0].rows, [inner])
    if inner is not None and (inner.over == "seeds" or (one and anew)):
        return Choice.SEED
    if any(loop.over == "epochs" for loop in loops) and not any(
        loop.over == "epochs" and loop in t.born for t in trains for loop in loops
    ):
        return Choice.STOPPING
    return Choice.SETTING


def _reported(joiner: Joiner, rows: Rows, choose: Choose) -> bool:
    for score in joiner.scores:
        around = within(rows, score.rows) and joiner.is_test(score.rows)  # some of the test rows decided
        if (score.rows == rows or around) and score.kind not in ("validation", "loss"):
            return True
    # Training prints the score of these rows; where the code calls them the test rows, that is the result.
    return choose.what == "on request" and "test" in joiner.roles_named(rows)


def untouched_elsewhere(joiner: Joiner, rows: Rows, choosing: Iterable[Score]) -> bool:
    """Whether other held-out rows stay for the final score, so that these served for validation."""
    used = {score.rows for score in choosing}
    called = set().union(*(roles_in(score.name) for score in choosing))
    known, names = {root for root, _ in rows}, _parts_named(joiner, rows)
    around = known.union(*(_learned_from(joiner, score) for score in choosing))
    trained = [t.rows for t in joiner.trains]
    events: list[Score | Predict] = [*joiner.scores, *joiner.predicts]
    for event in events:
        if event.rows in used or not event.rows:
            continue
        shares = overlap(event.rows, rows)
        if shares is Overlap.UNKNOWN and called == {"validation"} and roles_in(event.name) == {"test"}:
            return True  # the code tells its validation rows from its test rows, wherever these come from
        if shares is not Overlap.NO:
            continue
        if any(overlap(event.rows, t) is Overlap.YES for t in trained):
            continue
        if not known & {root for root, _ in event.rows}:
            if names & _parts_named(joiner, event.rows):
                continue  # the same rows, loaded again
            learned_from = _learned_from(joiner, event)
            if learned_from and not learned_from & around:
                continue  # of another table, and another model
        if any(cut.kind in (CutKind.FOLD, CutKind.VALIDATION) for _, steps in event.rows for cut, _ in steps):
            continue
        named = joiner.roles_named(event.rows)
        if "validation" in named and "test" not in named:
            continue
        if joiner.is_test(event.rows) or any(root.role == "test" for root, _ in event.rows):
            return True
    return False


def _learned_from(joiner: Joiner, event: Score | Predict) -> set[Root]:
    """The tables that the model behind a score or a prediction was trained on."""
    return {root for train in joiner.trained(event) for root, _ in train.rows}


def _parts_named(joiner: Joiner, rows: Rows) -> set[str]:
    """The names of these rows that say which part they are."""
    return {name for name in joiner.program.names.get(rows, ()) if roles_in(name)}


def reuses(joiner: Joiner) -> Iterator[TestReuse]:
    """Test rows that several configurations are scored on, without a choice that the code makes."""
    chosen = {s.rows for c in joiner.chooses for s in c.scores if joiner.is_test(s.rows)}
    # Models of different targets are no rivals.
    by_rows: dict[tuple[Rows, frozenset[Column]], list[Score]] = {}
    for score in joiner.scores:
        counts = score.kind in ("score", "own", "curve") and score.model is not None and not score.baseline
        if counts and not _learning_curve(joiner, score):
            targets = [t.y.sources for t in joiner.trained(score) if t.y is not None]
            by_rows.setdefault((score.rows, targets[0] if targets else frozenset()), []).append(score)
    for (rows, _), scores in by_rows.items():
        if not any(_told_apart(joiner, score) for score in scores):
            continue
        loops = [loop for score in scores for loop in score.loops]
        if not joiner.is_test(rows) or rows in chosen or split_anew(rows, loops):
            continue
        count, first, last = _compared_configurations(joiner, scores)
        if (count is not None and count < 2) or last is None:
            continue
        if untouched_elsewhere(joiner, rows, scores):
            continue
        yield TestReuse(
            count,
            side_by_side(joiner, scores),
            joiner.called(last),
            joiner.location(last.site),
            joiner.unique(_scored_here(joiner, rows, dict.fromkeys([*first, last]))),
            joiner.confidence(rows),
        )


def _learning_curve(joiner: Joiner, score: Score) -> bool:
    """Whether each round of a loop trains on another part of the training rows."""
    return any(split_anew(train.rows, score.loops) for train in joiner.trained(score))


def _rivals(joiner: Joiner, scores: list[Score]) -> list[Score]:
    """The scores but for those of models that differ in their target: one for each label."""
    if any(len(score.loops) != 1 for score in scores):
        return scores  # settings may be tried for each target
    targets = {s: [t.y for t in joiner.trained(s) if t.y is not None] for s in scores}
    named = {s.model: frozenset().union(*(y.sources for y in found)) for s, found in targets.items()}
    if len(named) > 1 and len({*named.values()} - {frozenset()}) == len(named):
        return []
    return [s for s in scores if not any("column of round" in y.flags for y in targets[s])]


def _part_of_its_own(joiner: Joiner, score: Score) -> bool:
    """Whether each round of a loop trains and scores on other rows of a table: a model for each site or group."""
    if len(score.loops) != 1:
        return False  # settings may be tried on each part
    trains, around = joiner.trained(score), id(score.loops[0])
    cuts = {cut for _, steps in score.rows for cut, _ in steps if cut.kind is CutKind.MASK and around in cut.loops}
    return bool(trains) and all(any(c in cuts for _, steps in t.rows for c, _ in steps) for t in trains)


def side_by_side(joiner: Joiner, scores: list[Score]) -> bool:
    """Whether scores are those of one search: rounds of a loop, calls of one function, one method in three settings."""
    return _compared_configurations(joiner, scores, side_by_side=True).last is not None


def _compared_configurations(joiner: Joiner, scores: list[Score], *, side_by_side: bool = False) -> Configurations:
    """The configurations that one metric scores (those whose scores stand side by side).

    Side by side are the rounds of a loop and the calls of one function. Scores written out one by one may be those
    of different methods, which is a comparison to report; the same method in three settings is a search.
    """
    best = Configurations(0, [], None)
    for what in dict.fromkeys(score.what for score in scores):
        same = [score for score in scores if score.what == what]
        found = _configurations(joiner, same)
        # Outside of loops several models at one score are those of which one was chosen before.
        first = {score.site: score.model for score in reversed(same)}
        same = [score for score in same if score.loops or first[score.site] == score.model]
        shared = _at_one_place(joiner, same)
        looped = any(_times(joiner, t, score) != 1 for score in same for t in joiner.trained(score))
        if side_by_side and not (looped or shared or _one_method(joiner, same)):
            continue
        if found.number is None or (best.number is not None and found.number > best.number):
            best = found
    return best


def _at_one_place(joiner: Joiner, scores: list[Score]) -> bool:
    """Whether one statement trains several of the models, or predicts with them: not a mere metric of one's own."""
    models, rows = {score.model for score in scores}, {score.rows for score in scores}
    events: list[Train | Predict] = [train for score in scores for train in joiner.trained(score)]
    events += [predict for predict in joiner.predicts if predict.model in models and predict.rows in rows]
    at_place: dict[Site, set[int]] = {}
    for event in events:
        at_place.setdefault(event.site.bare(), set()).add(event.model)
    return any(len(found) > 1 for found in at_place.values())


def _one_method(joiner: Joiner, scores: list[Score]) -> bool:
    """Whether one method is scored in three settings or more."""
    models = {(t.model, t.what) for score in scores for t in joiner.trained(score)[:1]}
    methods = [what for _, what in models]
    return max(map(methods.count, methods), default=0) >= 3


def _configurations(joiner: Joiner, scores: list[Score]) -> Configurations:
    total: int | None = 0
    places: set[Site] = set()
    seen: dict[tuple[int, Site], Score] = {}
    others: set[tuple[int, Site]] = set()
    last: Score | None = None
    for score in scores:
        for train in joiner.trained(score):
            if train.baseline:
                continue
            if any(loop.over == "seeds" and loop.turn and loop in score.loops for loop in train.born):
                continue  # the same once more, under another seed
            key = (train.model, train.site.bare() if train.kind != "loop" else _ANY_PLACE)
            if key in seen or key in others:
                continue
            if any(_more_rows(train, other) for s in seen.values() for other in joiner.trained(s)):
                continue
            if not score.loops and score.site in places:
                others.add(key)  # one of several models, whichever was chosen before
                continue
            places.add(score.site)
            seen[key] = score
            last = score
            times = _times(joiner, train, score)
            total = None if total is None or times is None else total + times
    models = len({model for model, _ in seen})
    if total is not None and models < 2 and total < 2:
        return Configurations(1 if seen else 0, [], last)
    if (
        total is not None
        and models < 2
        and len(seen) == total
        and not any(_times(joiner, t, s) != 1 for s in seen.values() for t in joiner.trained(s))
    ):
        # One model object, fitted again: a continued or repeated training, not another configuration.
        return Configurations(1, [], last)
    return Configurations(total, list(seen.values())[:_MOST_SHOWN], last)


def _more_rows(train: Train, other: Train) -> bool:
    """Whether two trainings differ in their rows alone: a learning curve, or the same thing tried on parts."""
    return train.site.bare() == other.site.bare() and train.what == other.what and train.rows != other.rows


def _times(joiner: Joiner, train: Train, score: Score) -> int | None:
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


def _before_folds(steps: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(step for step in steps if step[0].kind is not CutKind.FOLD)
