"""From splits to facts to findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from leakcheck.audit.columns import columns_of
from leakcheck.audit.duplicates import Duplicates
from leakcheck.audit.facts import AuditFacts
from leakcheck.audit.order import entity_overlap, late_columns, time_overlap
from leakcheck.audit.result import AuditResult
from leakcheck.audit.shingles import parse_shingling
from leakcheck.audit.shortcuts import ablations, distinguishable, single_scores
from leakcheck.audit.similarity import DEFAULT_MEMORY, Asked, Settings
from leakcheck.audit.splits import Options, Split, from_frames, read_splits
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding

FAMILIES = ("duplicates", "shortcuts", "time")
Progress = Callable[[str, int, int], None]


def _silent(what: str, done: int, total: int) -> None:
    """Progress for nobody."""


def make_options(
    *,
    text: str | Sequence[str] = (),
    target: str | None = None,
    group: str | Sequence[str] = (),
    time: str | None = None,
    prediction_time: str | None = None,
    gap: str = "0s",
    ids: str | Sequence[str] = (),
    contained: bool = False,
    threshold: float = 0.8,
    shingle: str | None = None,
    method: str = "auto",
    memory: int = DEFAULT_MEMORY,
    threads: int = 0,
    redact: bool = False,
    max_evidence: int = 10,
) -> Options:
    """Options as users write them.

    Raises
    ------
    LeakcheckError
        When a value is outside what it may be.
    """
    if not 0.0 < threshold <= 1.0:
        raise LeakcheckError("the threshold is a similarity", expected="above 0, at most 1", found=f"{threshold:g}")
    if method not in {asked.value for asked in Asked}:
        raise LeakcheckError("unknown method", expected="auto, exact or minhash", found=repr(method))
    shingling = parse_shingling(shingle) if shingle else None
    settings = Settings(threshold, shingling, Asked(method), memory, threads)
    several = [(one,) if isinstance(one, str) else tuple(one) for one in (text, group, ids)]
    return Options(
        several[0],
        target,
        several[1],
        time,
        prediction_time,
        gap,
        several[2],
        contained,
        redact,
        max_evidence,
        settings,
    )


def audit_tables(
    train: Any = None, test: Any = None, *, splits: Mapping[str, Any] | None = None, **given: Any
) -> AuditResult:
    """Audit tables or paths; see `leakcheck.audit`."""
    options = make_options(**given)
    sides = {
        **({} if train is None else {"train": train}),
        **({} if test is None else {"test": test}),
        **(splits or {}),
    }
    paths = {name: _as_paths(value) for name, value in sides.items()}
    if all(value is not None for value in paths.values()):
        patterns = {name: value for name, value in paths.items() if value is not None}
        return audit_splits(read_splits(patterns, Path.cwd(), options), options)
    return audit_splits(from_frames(sides, options), options)


def _as_paths(value: Any) -> list[str] | None:
    if isinstance(value, str | Path):
        return [str(value)]
    if isinstance(value, list) and value and all(isinstance(one, Path) for one in value):
        return [str(one) for one in value]
    return None


def audit_splits(splits: Sequence[Split], options: Options, progress: Progress = _silent) -> AuditResult:
    """Compute the facts of every pair of splits and put them to the rules."""
    columns = columns_of(splits, options)
    pairs = list(combinations(range(len(splits)), 2))
    total = 2 * len(pairs) + 2
    progress("hashing rows", 0, total)
    duplicates = Duplicates(splits, columns, options)
    identical = duplicates.identical()
    same = {(one.training.path, one.held_out.path) for one in identical}
    overlaps, times, told = [], [], []
    for k, (a, b) in enumerate(pairs):
        training, held_out = splits[a], splits[b]
        progress(f"comparing {training.name} and {held_out.name}", 1 + 2 * k, total)
        if not all((t, h) in same for t in training.files for h in held_out.files):
            overlaps += duplicates.overlaps(a, b)
        overlaps += [o for c in options.group for o in [entity_overlap(training, held_out, c, options)] if o]
        if options.time and (overlap := time_overlap(training, held_out, options)):
            times.append(overlap)
        progress(f"telling {training.name} from {held_out.name}", 2 + 2 * k, total)
        if one := distinguishable(training, held_out, columns, options):
            told.append(one)
    progress("looking for shortcuts", total - 1, total)
    singles, notes = single_scores(splits[0], columns, options)
    if columns.ids:
        notes.append(f"left out of the comparison of rows as identifiers: {', '.join(columns.ids)}")
    empty = {c: sum(int((w == 0).sum()) for w in duplicates.words[c]) for c in columns.text}
    notes += [f"column {c!r}: {n} texts without a word were left out of near matching" for c, n in empty.items() if n]
    facts = AuditFacts(
        overlaps=tuple(overlaps),
        identical=tuple(identical),
        conflicts=tuple(duplicates.conflicts()),
        repeats=tuple(duplicates.repeats()),
        times=tuple(times),
        late=tuple(one for split in splits for one in late_columns(split, options)) if options.prediction_time else (),
        singles=tuple(singles),
        ablations=tuple(ablations(splits[0], columns, options)),
        distinguishable=tuple(told),
        notes=tuple(notes),
        checks=duplicates.checks(),
    )
    rows = {split.name: len(split) for split in splits}
    return AuditResult(findings_of(facts), facts, rows, tuple(splits), duplicates.leaking)


def findings_of(facts: AuditFacts) -> tuple[Finding, ...]:
    """What the rules say of the facts."""
    from leakcheck.rules import check, rules

    found = [finding for rule in rules(FAMILIES) if rule.facts_type is AuditFacts for finding in check(rule, facts)]
    return tuple(sorted(found, key=Finding.sort_key))
