"""Joins events about the order of rows: features that look ahead, and splits that pay no heed to time or entities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leakcheck.findings import Confidence
from leakcheck.flow.events import Entities, Mark, Split, Tie, TieKind, Train
from leakcheck.flow.facts import Blind, BlindSplit, LookAhead
from leakcheck.flow.operations.common import split_words
from leakcheck.flow.operations.series import fits
from leakcheck.flow.rows import Cut, CutKind, Overlap, Rows, Site, never_both, overlap

if TYPE_CHECKING:
    from leakcheck.flow.leaks import HeldOut, Joiner

# What shows that rows follow each other, the strongest first.
_TIME = (TieKind.EARLIER, TieKind.LATER, TieKind.INDEXED, TieKind.SORTED)
_SERIES = frozenset({TieKind.EARLIER, TieKind.WINDOW, TieKind.INDEXED, TieKind.SORTED})
_ORDER_ONLY = frozenset({TieKind.INDEXED, TieKind.SORTED})
_FIRST = (Blind.WINDOWS, Blind.TIME, Blind.ENTITIES)  # of several, the one that is told
# The next word of a text is known when this one is tagged.
_TEXT_WORDS = frozenset(
    ["char", "character", "lemma", "letter", "pos", "sentence", "syllable", "tag", "text", "token", "tokens", "word"]
)


# A column named by such words alone says what the calendar says, which is known for the days to come.
_CALENDAR = frozenset(
    ["calendar", "date", "day", "dow", "holiday", "month", "quarter", "season", "week", "weekday", "weekend", "year"]
)
_BESIDE_CALENDAR = frozenset(["code", "flag", "id", "index", "is", "name", "no", "num", "number", "of", "type"])


def _ties(marks: frozenset[Mark]) -> list[Tie]:
    return [m for m in marks if isinstance(m, Tie)]


def _any_order(joiner: Joiner) -> bool:
    return any(isinstance(e, Tie | Entities) for e in joiner.program.events.values())


# --- features that look ahead ----------------------------------------------------------------------------------------


def look_aheads(joiner: Joiner) -> Iterator[LookAhead]:
    """Features of trained models that are computed from later rows."""
    if not _any_order(joiner):
        return
    seen: set[Site] = set()
    for train in joiner.trains:
        if train.x is None or train.y is None:
            continue  # features and target of a batch are not told apart
        series = any(t.kind in _SERIES for t in _ties(train.x.marks | train.y.marks))
        for tie in _ties(train.x.marks):
            if not _among_features(tie, train) or tie.site.bare() in seen or _target_beyond(tie, train):
                continue
            held_out = _reached(joiner, tie, train)
            if tie.kind in (TieKind.FILLED, TieKind.WHOLE):
                # Without an order of time a fill is imputation, and within the training rows it does no harm.
                if not series or held_out is None or held_out.cut is None or held_out.cut.shuffled:
                    continue
            elif tie.kind is not TieKind.LATER or _is_calendar(tie) or (not series and _is_text(tie)):
                continue
            seen.add(tie.site.bare())
            trace = [joiner.step(f"`{tie.what}` takes later rows in here", tie.site), *joiner.callers(tie.site)]
            if held_out is not None and held_out.split is not None:
                trace.append(joiner.step("the rows are cut apart here", held_out.split))
            trace.append(joiner.step(f"{train.what} is trained on it here", train.site))
            sure = series and not tie.unsure
            yield LookAhead(
                tie.what,
                tie.column[1] if tie.column is not None else "",
                train.what,
                joiner.location(tie.site),
                joiner.unique(trace),
                joiner.confidence(train.rows) if sure else Confidence.LIKELY,
            )


def _among_features(tie: Tie, train: Train) -> bool:
    """Whether the features hold it for sure: what the target holds too may be the label alone."""
    assert train.x is not None and train.y is not None
    if tie.column is not None and "*" in tie.column[1] and tie.kind is TieKind.LATER:
        dropped = train.x.columns.dropped if train.x.columns is not None else frozenset()
        labels = {name for _, name in train.y.sources} | dropped
        if tie.column[1] == "*" or any(fits(tie.column[1], name) for name in labels):
            return False
    if tie not in train.y.marks or (tie.whole and tie.kind in (TieKind.FILLED, TieKind.WHOLE)):
        return True
    columns = train.x.columns
    if columns is None or tie.column is None:
        return False
    column = columns.named.get(tie.column[1])
    return column is not None and tie in column.marks and "made" in column.flags


def _target_beyond(tie: Tie, train: Train) -> bool:
    """Whether what is predicted may lie beyond the later rows.

    Of windows classified by labels kept apart all is known, and nothing later is predicted.
    """
    assert train.x is not None and train.y is not None
    if _starts_later(train.y.rows, train.x.rows):
        return True  # the target stands further on, by how much is not known
    series = {root for root, _ in tie.rows}
    apart = bool(train.y.rows) and not any(root in series for root, _ in train.y.rows)
    return apart and any(t.kind is TieKind.WINDOW for t in _ties(train.x.marks))


def _starts_later(rows: Rows, others: Rows) -> bool:
    """Whether rows were cut to begin further on than others of the same table."""
    cuts = {cut for _, steps in others for cut, _ in steps}
    return any(c.kind is CutKind.POSITION and part == 1 and c not in cuts for _, steps in rows for c, part in steps)


def _is_text(tie: Tie) -> bool:
    names = (*tie.keys, tie.column[1] if tie.column is not None else "")
    return any(not _TEXT_WORDS.isdisjoint(split_words(name)) for name in names)


def _is_calendar(tie: Tie) -> bool:
    words = [split_words(name) for name in tie.keys]
    return bool(words) and all(not _CALENDAR.isdisjoint(w) and set(w) <= _CALENDAR | _BESIDE_CALENDAR for w in words)


def _reached(joiner: Joiner, tie: Tie, train: Train) -> HeldOut | None:
    """The hold-out of rows that the tie reaches into, one in the order of time first."""
    reached = [h for h in joiner.held_outs if h.train.model == train.model and overlap(tie.rows, h.rows) is Overlap.YES]
    return min(reached, key=lambda h: h.cut is None or h.cut.shuffled, default=None)


# --- splits that pay no heed to order or entities --------------------------------------------------------------------


def blind_splits(joiner: Joiner) -> Iterator[BlindSplit]:
    """Splits by chance of rows that follow each other or belong together; one fact for each split."""
    if not _any_order(joiner):
        return
    best: dict[Site, tuple[tuple[bool, bool, int], BlindSplit]] = {}
    entities = [e for e in joiner.program.events.values() if isinstance(e, Entities)]
    split_rows = {e.cut: e.rows for e in joiner.splits}
    for held_out in joiner.held_outs:
        cut = held_out.cut
        if cut is None or not _by_chance(cut) or _by_label(split_rows.get(cut), held_out.train.rows):
            continue
        leak = _blind(joiner, held_out, cut, entities)
        if leak is not None:
            rank = (leak.honest_test, leak.weak, _FIRST.index(leak.to))
            if cut.site.bare() not in best or rank < best[cut.site.bare()][0]:
                best[cut.site.bare()] = (rank, leak)
    for _, leak in best.values():
        yield leak


def _by_chance(cut: Cut) -> bool:
    """Whether rows come to the parts one by one, whatever they belong to."""
    return cut.kind in (CutKind.RANDOM, CutKind.FOLD, CutKind.POSITION) and not cut.apart


def _by_label(split: Rows | None, rows: Rows) -> bool:
    """Whether the cut was made on something else than these rows: on the names of entities."""
    if split is None:
        return False
    roots = {root for root, _ in split}
    return not any(root in roots for root, _ in rows) and not any(root.kind == "positions" for root in roots)


def _blind(joiner: Joiner, held_out: HeldOut, cut: Cut, entities: list[Entities]) -> BlindSplit | None:
    train = held_out.train
    marks = (train.x.marks if train.x is not None else frozenset()) | (
        train.y.marks if train.y is not None else frozenset()
    )
    # A lag of another table that was joined on says nothing about these rows.
    ties = [t for t in _ties(marks) if overlap(t.rows, train.rows) is Overlap.YES]
    site: Site | None = None
    weak = unsure = False
    windows = next((t for t in _ties(marks) if t.kind is TieKind.WINDOW), None)
    times = sorted((t for t in ties if t.kind in _TIME), key=lambda t: _TIME.index(t.kind))
    if cut.shuffled and windows is not None:
        to, site = Blind.WINDOWS, windows.site
        evidence = "overlapping windows of a series"
        label = "overlapping windows are cut here"
    elif cut.shuffled and times:
        first = times[0]
        to, site, weak = Blind.TIME, first.site, all(t.kind is TieKind.SORTED for t in times)
        unsure = all(t.kind in _ORDER_ONLY for t in times)
        evidence, label = _time_evidence(first)
    elif cut.kind is not CutKind.POSITION:
        met = (e for e in entities if not never_both(e.arms, cut.arms))
        named = next((e for e in met if overlap(e.rows, train.rows | held_out.rows) is Overlap.YES), None)
        grouped = next((t for t in ties if t.kind is TieKind.GROUPED and not _knows(train, t.keys)), None)
        to = Blind.ENTITIES
        if named is not None:
            site, evidence = named.site, f"`{named.name}`"
            label = f"the code says that rows of one `{named.name}` belong together here"
        elif grouped is not None:
            site, unsure, evidence = grouped.site, True, f"`{grouped.keys[0]}`"
            label = f"features are computed for each `{grouped.keys[0]}` here"
    if site is None:
        return None
    split = held_out.split or cut.site
    how = "the rows are split at random here" if cut.shuffled else "the rows are split one by one here"
    trace = [joiner.step(label, site), *joiner.callers(site)] if site.bare() != split.bare() else []
    trace.append(joiner.step(how, split))
    trace.append(joiner.step(f"{train.what} is trained on one part here", train.site))
    if held_out.score is not None:
        trace.append(joiner.step("and scored on the other here", held_out.score.site))
    event = next((e for e in joiner.splits if e.cut is cut), None)
    return BlindSplit(
        to,
        event.what if event is not None else "a random choice",
        evidence,
        _what_is_split(joiner, event, train),
        weak,
        _honest(joiner, cut, train),
        joiner.location(split),
        joiner.unique(trace),
        Confidence.LIKELY if unsure else joiner.confidence(train.rows),
    )


def _what_is_split(joiner: Joiner, event: Split | None, train: Train) -> str:
    data = event.data[0] if event is not None and event.data else None
    if data is None or any(root.kind == "positions" for root, _ in data.rows):
        return train.name  # what stands at these positions
    return joiner.program.data.called(data)


def _knows(train: Train, keys: tuple[str, ...]) -> bool:
    """Whether the entity itself is among the features: the model is meant for those it knows."""
    columns = train.x.columns if train.x is not None else None
    return columns is not None and any(columns.has(key) is not False for key in keys)


def _time_evidence(tie: Tie) -> tuple[str, str]:
    if tie.kind is TieKind.EARLIER:
        return f"features from earlier rows (`{tie.what}`)", "values of earlier rows become features here"
    if tie.kind is TieKind.INDEXED:
        return "time in the index", "the table gets time as its index here"
    if tie.kind is TieKind.SORTED:
        return "the order of time", "the rows are put in the order of time here"
    return f"values from later rows (`{tie.what}`)", "values of later rows are taken in here"


def _honest(joiner: Joiner, cut: Cut, train: Train) -> bool:
    """Whether rows that were held out before, in another way, are scored in the end."""
    outer = set()
    for _, steps in train.rows:
        for other, _ in steps:
            if other is cut:
                break
            if not (other.shuffled and not other.apart):
                outer.add(other)
    return any(
        h.score is not None and (h.cut in outer or (_kept_in_order(h.cut) and h.train.model == train.model))
        for h in joiner.held_outs
    )


def _kept_in_order(cut: Cut | None) -> bool:
    """Whether rows were held out as one stretch."""
    return cut is not None and cut.kind is CutKind.POSITION and not cut.shuffled
