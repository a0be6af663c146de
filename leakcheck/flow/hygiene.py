"""What the events of one program say about how a score was obtained: seeds, single runs, baselines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leakcheck.findings import Confidence, TraceStep
from leakcheck.flow.choosing import side_by_side, untouched_elsewhere
from leakcheck.flow.events import Draw, Meet, Random, Score, Train
from leakcheck.flow.facts import Comparison, Drawn, ReportedScore, Unanchored, Unseeded
from leakcheck.flow.operations.common import last_part
from leakcheck.flow.operations.data import is_copying
from leakcheck.flow.operations.randomness import EVERY_GENERATOR, OWN_GENERATOR
from leakcheck.flow.rows import CutKind, Overlap, Rows, overlap

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Interpreter
    from leakcheck.flow.leaks import Joiner

# Words of the code, its comments and texts too, in small letters: whoever writes them knows of the matter.
_SPREAD = (
    "bootstrap", "mcnemar", "wilcoxon", "ttest", "friedman", "nemenyi", "delong", "permutation_test", "p_value",
    "pvalue", "paired", "confidence", "conf_int", "credible", "seeds", "n_runs", "n_repeats", "n_repetitions",
    "n_trials", "leakcheck.compare",
)  # fmt: skip
_BASELINE = (
    "baseline", "majority", "naive", "persistence", "no_skill", "no skill", "noskill", "zero_rule", "zero rule",
    "chance_level", "chance level", "random_chance", "random chance", "random_guess", "random guess",
    "[0, 1], [0, 1]", "[0,1],[0,1]", "[0,1], [0,1]",
)  # fmt: skip
_MOST_SHOWN = 4  # models named in one trace


class Hygiene:
    """Reads the events of one program; the joiner knows which rows are held out."""

    def __init__(self, program: Interpreter, joiner: Joiner) -> None:
        self.program = program
        self.joiner = joiner
        # What a search does on its inner folds is not reported.
        searches = {t.site for t in joiner.trains if t.kind == "search"}
        self.reported = [
            s for s in joiner.scores if s.kind in ("score", "own", "fold", "curve") and s.site not in searches
        ]

    def scores(self) -> Iterator[ReportedScore]:
        """The first reported score of each file."""
        main = self.program.main
        seen: set[str] = set()
        for score in self.reported:
            if score.site.path not in seen:
                seen.add(score.site.path)
                yield ReportedScore(
                    self.joiner.location(score.site), main.path if main is not None else "", score in self.joiner.run
                )

    def _says(self, words: tuple[str, ...]) -> bool:
        """Whether the text of the program has one of some words."""
        texts = [chunk.text.lower() for source in self.program.sources.values() for chunk in source.chunks]
        return any(word in text for text in texts for word in words)

    def _predictors(self, score: Score) -> str:
        """The methods behind a score, in words."""
        return " and ".join(dict.fromkeys(map(_called, self.joiner.trained(score)[:1])))

    # --- seeds ---------------------------------------------------------------------------------------------------

    def unseeded(self) -> Iterator[Unseeded]:
        if not self.reported:
            return
        rows = [*(train.rows for train in self.joiner.trains), *(score.rows for score in self.reported)]
        cuts = {cut for one in rows for _, steps in one for cut, _ in steps}
        keys = {cut.drawn for cut in cuts}
        models = {score.model for score in self.reported}
        marks = {mark for train in self.joiner.trains if train.x is not None for mark in train.x.marks}
        learners: list[Random] = []
        seen = set()
        for event in self.program.events.values():
            # Who calls a function that nobody calls here may have seeded before.
            if not isinstance(event, Random) or event not in self.joiner.run or event.site.bare() in seen:
                continue
            if self._seeded(event):
                continue
            if event.part == "learner":
                if event.model in models:
                    learners.append(event)
                    seen.add(event.site.bare())
            elif event.cut in cuts or event.key in keys - {""} or event.mark in marks or event.model in models:
                seen.add(event.site.bare())
                kind = Drawn.SAMPLER if event.part == "sampler" else Drawn.SPLIT
                yield self._unseeded(kind, [event])
        if learners:
            yield self._unseeded(Drawn.LEARNER, learners)

    def _seeded(self, event: Random) -> bool:
        seeded = self.program.randomness.seeded
        if event.part == "draw" and OWN_GENERATOR in seeded:
            return True
        return event.generator in seeded or EVERY_GENERATOR in seeded

    def _unseeded(self, kind: Drawn, events: list[Random]) -> Unseeded:
        first = events[0]
        more = [self.joiner.step(f"{event.what} gets no seed either", event.site) for event in events[1:]]
        reported = next((s for s in self.reported if first.model in (None, s.model)), self.reported[0])
        return Unseeded(
            tuple(event.what for event in events),
            kind,
            first.parameter,
            first.generator,
            self.joiner.location(first.site),
            self.joiner.unique(
                [
                    self.joiner.step("drawn here", first.site),
                    *self.joiner.callers(first.site),
                    *more,
                    self.joiner.step("scored here", reported.site),
                ]
            ),
        )

    # --- two methods, one run each -------------------------------------------------------------------------------

    def comparisons(self) -> Iterator[Comparison]:
        """Methods whose scores stand side by side, each from a single run."""
        best: dict[tuple[Rows, str], Meet] = {}
        for event in self.program.events.values():
            if isinstance(event, Meet):
                scores = tuple(of for of in event.scores if not any(score.baseline or score.loops for score in of))
                if len(scores) < 2 or not self._rivals(scores):
                    continue
                key = (scores[0][0].rows, scores[0][0].what)
                known = best.get(key)
                if known is None or (len(scores), not event.adjacent) > (len(known.scores), not known.adjacent):
                    best[key] = Meet(scores, event.site, event.adjacent)
        if not best or self._repeated() or self._says(_SPREAD):
            return
        claimed: set[Rows] = set()
        for (rows, _), meet in best.items():
            if rows in claimed or not self._single_run(rows):
                continue
            claimed.add(rows)
            trace: list[TraceStep] = []
            for of in meet.scores[:_MOST_SHOWN]:
                trace += [self.joiner.step(f"{t.what} is trained here", t.site) for t in self.joiner.trained(of[0])[:1]]
                trace += [self.joiner.step("and scored here", of[0].site), *self.joiner.callers(of[0].site)]
            sure = self.joiner.confidence(rows)
            yield Comparison(
                tuple(self._predictors(of[0]) for of in meet.scores),
                meet.scores[0][0].name,
                self.joiner.location(meet.site),
                self.joiner.unique([self.joiner.step("their scores stand side by side here", meet.site), *trace]),
                Confidence.LIKELY if meet.adjacent else sure,
            )

    def _rivals(self, scores: tuple[tuple[Score, ...], ...]) -> bool:
        """Whether several models answer one question: trained for one target, on rows that are not scored."""
        targets = set()
        for of in scores:
            for score in of:
                trains = self.joiner.trained(score)
                if not trains or any(overlap(t.rows, score.rows) is not Overlap.NO or t.loops for t in trains):
                    return False
                targets |= {train.y.sources for train in trains if train.y is not None}
        return len(targets) < 2

    def _repeated(self) -> bool:
        """Whether the program runs something several times: folds, seeds."""
        return any(
            score.kind == "fold" or any(loop.over in ("seeds", "folds") for loop in score.loops)
            for score in self.reported
        )

    def _single_run(self, rows: Rows) -> bool:
        joiner = self.joiner
        if any(cut.kind in (CutKind.FOLD, CutKind.VALIDATION) for _, steps in rows for cut, _ in steps):
            return False
        if any(score.rows == rows for choose in joiner.chooses for score in choose.scores):
            return False
        draws = [e for e in self.program.events.values() if isinstance(e, Draw) and not is_copying(e)]
        if any(overlap(draw.rows, rows) is Overlap.YES for draw in draws):
            return False
        scores = [s for s in self.reported if s.rows == rows and s.model is not None and not s.baseline]
        return not side_by_side(joiner, scores) and not untouched_elsewhere(joiner, rows, scores)

    # --- nothing to hold a score against -------------------------------------------------------------------------

    def unanchored(self) -> Iterator[Unanchored]:
        """The last score on held-out rows of a program that scores nothing simple beside it."""
        held_out = [
            s
            for s in self.reported
            if s.kind in ("score", "own", "fold") and s in self.joiner.run and self._held_out(s)
        ]
        if not held_out or any(score.relative for score in held_out):
            return
        trains = [t for t in self.joiner.trains if t.kind != "handed on"]
        if self.program.scoring.unpredicted or not all(map(_is_complex, trains)) or self._says(_BASELINE):
            return
        last = held_out[-1]
        train = self.joiner.trained(last)[0]
        trained = self.joiner.step(f"{_called(train)} is trained here", train.site)
        yield Unanchored(
            _called(train),
            last.name,
            self.joiner.location(last.site),
            self.joiner.unique([self.joiner.step("scored here", last.site), *self.joiner.callers(last.site), trained]),
            self.joiner.confidence(last.rows),
        )

    def _held_out(self, score: Score) -> bool:
        trains = self.joiner.trained(score)
        return bool(trains) and all(overlap(t.rows, score.rows) is Overlap.NO for t in trains)


def _called(train: Train) -> str:
    """The method by the name of its predictor, rather than of the pipeline or search around it."""
    known = train.predictor
    return last_part(known.name) if known is not None and known.part == "estimator" and known.name else train.what


def _is_complex(train: Train) -> bool:
    """Whether a model is known, and neither trivial nor classical."""
    known = train.predictor
    if known is None or train.baseline or known.classical:
        return False
    return known.part in ("estimator", "network") and known.kind != "unknown"
