"""Does a single column, an identifier or the order give the target away, and do the splits differ?

Cross-validated scores of small models, each with an interval and chance.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from leakcheck.audit.columns import Columns
from leakcheck.audit.facts import Carrier, Distinguishable, SingleScore
from leakcheck.audit.long_texts import plain
from leakcheck.audit.scoring import (
    FEWEST_OF_A_CLASS,
    FEWEST_ROWS,
    MOST_ROWS,
    Matrix,
    Task,
    encode,
    encode_id,
    features_of,
    is_constant,
)
from leakcheck.audit.splits import Options, Split

FIRST_ROWS = 1_500  # of a split that are looked at first
SPLIT_MARGIN = 0.10  # AUC above chance from which splits are told apart
WORTH_A_FACT = 0.3  # lower scores (R2 or AUC) are not kept
_TELLING = 5  # columns named that tell splits apart
NEEDS_OTHERS = 0.5  # scores from here on are held against all other columns together


def single_scores(task: Task, split: Split, columns: Columns, options: Options) -> tuple[list[SingleScore], list[str]]:
    """Scores of each column, its absence, the row order, the identifiers and the files; and what was left out."""
    notes: list[str] = []
    frame = split.rows(task.rows)
    encoded, constant = features_of(frame, columns, options)
    notes += [f"{split.name}: column {one!r} is constant and was left out of the target checks" for one in constant]
    trials: list[tuple[Carrier, str, Matrix]] = [(Carrier.COLUMN, c, x) for c, x in encoded.items()]
    for column in encoded:
        absent = frame[column].isna().to_numpy()
        if FEWEST_OF_A_CLASS <= absent.sum() <= len(absent) - FEWEST_OF_A_CLASS:
            trials.append((Carrier.ABSENCE, column, absent.astype(float)[:, None]))
    trials += [(Carrier.IDENTIFIER, c, encode_id(frame[c])) for c in columns.ids if c in frame]
    if len(split.files) > 1:
        trials.append((Carrier.FILE, "file", split.file_of[task.rows].astype(float)[:, None]))
    if options.time is None and not task.sorted_by_target:
        trials.append((Carrier.ORDER, "row order", task.rows.astype(float)[:, None]))
    if task.sorted_by_target:
        notes.append(
            f"{split.name}: the rows are sorted by {options.target!r}; shuffle them before a split by position"
        )
    looks = max(len(trials), 1)
    found = []
    place = split.place(0)
    for carrier, name, x in trials:
        score = task.score(x, looks)
        mapped = carrier is Carrier.COLUMN and task.maps_to(frame[name])
        if not mapped and score.interval.low < WORTH_A_FACT:
            continue
        rest = [value for column, value in encoded.items() if column != name]
        others = None
        if rest and score.interval.low >= NEEDS_OTHERS:
            others = task.score_all(np.hstack(rest), looks, enough=score.interval.low)
        found.append(SingleScore(carrier, name, score, others, mapped, place, looks))
    return found, notes


def distinguishable(training: Split, held_out: Split, columns: Columns, options: Options) -> Distinguishable | None:
    """How well a model tells the rows of the two splits apart; None for too few rows.

    A few rows of large splits are looked at first, which nearly always settles it; else more are. The intervals are
    widened for the second look.
    """
    left_out = {options.target, options.time, options.prediction_time, *columns.ids, *options.group, *columns.times}
    names = [c for c in columns.common if c not in left_out and c not in columns.text]
    if min(len(training), len(held_out)) < FEWEST_ROWS or not (names or columns.text):
        return None
    longest = max(len(training), len(held_out))
    stages = (FIRST_ROWS, MOST_ROWS) if longest > FIRST_ROWS else (MOST_ROWS,)
    looks = (1 + len(columns.text)) * len(stages)
    for most in stages:
        frames = [plain(_sampled(split.frame, most)) for split in (training, held_out)]
        frame = pd.concat(frames, ignore_index=True)
        y = np.repeat([0, 1], [len(one) for one in frames])
        task = Task(np.arange(len(y)), y, 2, None, False)
        encoded = {c: encode(frame[c]) for c in names if not is_constant(frame[c])}
        scores = [task.score_all(np.hstack(list(encoded.values())), looks)] if encoded else []
        scores += [task.score_texts([frame[c]], looks) for c in columns.text]
        if not scores:
            return None
        best = max(scores, key=lambda score: score.interval.low)
        apart = best.interval.low > best.chance + SPLIT_MARGIN
        if apart or all(score.interval.high < score.chance + SPLIT_MARGIN / 2 for score in scores):
            break
    telling: list[tuple[str, float]] = []
    if apart:
        alone = sorted(((c, task.score(x, looks).value) for c, x in encoded.items()), key=lambda one: -one[1])
        telling = [one for one in alone if one[1] > best.chance + SPLIT_MARGIN][:_TELLING]
    sampled = most if longest > most else 0
    return Distinguishable(training.name, held_out.name, best, SPLIT_MARGIN, tuple(telling), held_out.place(0), sampled)


def _sampled(frame: pd.DataFrame, most: int) -> pd.DataFrame:
    return frame.sample(most, random_state=0) if len(frame) > most else frame
