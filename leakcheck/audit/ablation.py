"""What a model reaches with part of the input removed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from leakcheck.audit.columns import Columns
from leakcheck.audit.describe import named
from leakcheck.audit.facts import Ablation, Part, Score
from leakcheck.audit.scoring import Matrix, Task, features_of
from leakcheck.audit.splits import Options, Split

MARGIN = 0.15  # AUC above chance from which an ablated input is a shortcut
OTHERS_MARGIN = 0.40  # the same for columns beside the texts, which may be honest features


def ablations(task: Task, split: Split, columns: Columns, options: Options) -> tuple[list[Ablation], list[str]]:
    """Scores with each text, and the other columns, alone and removed; and the scores in a line.

    An input of several texts is there to be related, so one of them alone, or all but one, should not suffice; nor
    should the other columns alone nearly solve it, where the texts are declared. An input of one text and other columns
    may be solved by either.
    """
    texts = [column for column in columns.text if column in split.frame]
    if not texts:
        return [], []
    frame = split.rows(task.rows)
    encoded, _ = features_of(frame, columns, options)
    others = np.hstack(list(encoded.values())) if encoded else None
    several = len(texts) > 1
    kept: list[tuple[Part, list[str], bool, bool]] = []  # part, texts kept, others kept, judged
    if several or encoded:
        kept += [(Part.TEXT, [text], False, several) for text in texts]
    if several and encoded:
        kept.append((Part.TEXTS, texts, False, False))
    if encoded:
        kept.append((Part.OTHERS, [], True, several and bool(options.text) and task.classes > 0))
    if len(texts) > 2:
        kept += [(Part.REST, [one for one in texts if one != text], bool(encoded), True) for text in texts]
    if not kept:
        return [], []
    looks = len(kept)
    scores = [_score(task, frame, some, others if with_others else None, looks) for _, some, with_others, _ in kept]
    # a model with all of the input can always ignore a part
    full = max([*scores, _score(task, frame, texts, others, looks)], key=lambda score: score.value)
    found = []
    for (part, some, with_others, judged), score in zip(kept, scores, strict=True):
        left = [*some, *(encoded if with_others else ())]
        removed = [column for column in (*texts, *encoded) if column not in left]
        margin = OTHERS_MARGIN if part is Part.OTHERS else MARGIN
        found.append(Ablation(part, tuple(left), tuple(removed), judged, score, full, margin, split.place(0), looks))
    told = "; ".join(f"{named(one.part, one.kept)} alone {one.score}" for one in found)
    return found, [f"input ablation for `{options.target}` in {split.name}: {told}; all of the input {full}"]


def _score(task: Task, frame: pd.DataFrame, texts: Sequence[str], others: Matrix | None, looks: int) -> Score:
    if texts:
        return task.score_texts([frame[text] for text in texts], looks, others)
    assert others is not None
    return task.score_all(others, looks)
