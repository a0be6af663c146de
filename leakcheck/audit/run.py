"""From splits to facts to findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from leakcheck.audit.ablation import ablations
from leakcheck.audit.columns import columns_of, left_out
from leakcheck.audit.describe import score_lines
from leakcheck.audit.duplicates import Duplicates
from leakcheck.audit.facts import NO_GAP, AuditFacts
from leakcheck.audit.order import entities_of, entity_order, entity_overlap, late_columns, time_overlap
from leakcheck.audit.result import AuditResult
from leakcheck.audit.scoring import Task
from leakcheck.audit.shingles import parse_shingling
from leakcheck.audit.shortcuts import distinguishable, single_scores
from leakcheck.audit.similarity import DEFAULT_MEMORY, Asked, Settings
from leakcheck.audit.splits import Options, Progress, Split, from_tables, silent
from leakcheck.audit.times import gap_of, moments_of
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding

FAMILIES = ("duplicates", "shortcuts", "time")


def make_options(
    *,
    text: str | Sequence[str] = (),
    target: str | None = None,
    group: str | Sequence[str] = (),
    time: str | None = None,
    prediction_time: str | None = None,
    gap: str = NO_GAP,
    ids: str | Sequence[str] = (),
    contained: bool = False,
    threshold: float = 0.8,
    shingle: str | None = None,
    method: str = "auto",
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
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
    if threads is not None and threads < 1:
        raise LeakcheckError("the comparison needs a thread", expected="1 or more", found=str(threads))
    if memory < 1:
        raise LeakcheckError("the exact join needs memory", expected="1 MB or more", found=f"{memory} bytes")
    shingling = parse_shingling(shingle) if shingle else None
    settings = Settings(threshold, shingling, Asked(method), memory, threads)
    if gap != NO_GAP and time is None:
        raise LeakcheckError("a gap needs the time column that it is measured in", found=repr(gap))
    texts, groups, identifiers = (
        (one,) if isinstance(one, str) else tuple(dict.fromkeys(one)) for one in (text, group, ids)
    )
    for role, columns in {"a text": texts, "an entity": groups, "an identifier": identifiers}.items():
        if target in columns:
            raise LeakcheckError(f"the column {target!r} can't be both the target and {role}")
    return Options(
        text=texts,
        target=target,
        group=groups,
        time=time,
        prediction_time=prediction_time,
        gap=gap,
        ids=identifiers,
        contained=contained,
        redact=redact,
        max_evidence=max_evidence,
        settings=settings,
    )


def audit_tables(
    train: Any = None, test: Any = None, *, splits: Mapping[str, Any] | None = None, **given: Any
) -> AuditResult:
    """Audit tables or paths; see `leakcheck.audit`."""
    options = make_options(**given)
    if test is None and splits is None and isinstance(train, Mapping):
        train, splits = None, train
    sides = {
        **({} if train is None else {"train": train}),
        **({} if test is None else {"test": test}),
        **(splits or {}),
    }
    return audit_splits(from_tables(sides, Path.cwd(), options), options)


def audit_splits(splits: Sequence[Split], options: Options, progress: Progress = silent) -> AuditResult:
    """Compute the facts of every pair of splits and put them to the rules."""
    columns = columns_of(splits, options)
    pairs = list(combinations(range(len(splits)), 2))
    total = 2 * len(pairs) + 3
    progress("reading dates and entities", 0, total)
    entities = [entities_of(splits, column) for column in options.group]
    moments = moments_of(splits, options.time) if options.time else None
    if moments:
        gap_of(options.gap, moments.axis)  # a gap that can't be read is said before the work
    late, notes = late_columns(splits, options) if options.prediction_time else ([], [])
    notes = [*left_out(splits, columns), *(moments.notes if moments else ()), *notes]
    progress("hashing rows", 1, total)
    duplicates = Duplicates(splits, columns, options)
    identical = duplicates.identical()
    same = {(one.training.path, one.held_out.path) for one in identical}
    overlaps, times, orders, told = [], [], [], []
    for k, (a, b) in enumerate(pairs):
        training, held_out = splits[a], splits[b]
        progress(f"comparing {held_out.name} with {training.name}", 2 + 2 * k, total)
        if not all((t, h) in same for t in training.files for h in held_out.files):
            overlaps += duplicates.overlaps(a, b)
        overlaps += [o for one in entities if (o := entity_overlap(splits, a, b, one, options))]
        if moments and (overlap := time_overlap(splits, a, b, moments, options)):
            times.append(overlap)
            found = (entity_order(splits, a, b, moments, one, options) for one in entities)
            orders += [order for order in found if order]
        progress(f"telling {held_out.name} from {training.name}", 3 + 2 * k, total)
        if one := distinguishable(training, held_out, columns, options):
            told.append(one)
    progress("looking for shortcuts", total - 1, total)
    judged = next((split for split in splits if options.target in split.frame), splits[0])
    task = Task.of(judged, options) if options.target else None
    if isinstance(task, Task):
        singles, more = single_scores(task, judged, columns, options)
        ablated, told_of_ablations = ablations(task, judged, columns, options)
        notes += more
    else:
        singles, ablated, told_of_ablations = [], [], []
        notes += [task] if task else []
    empty = {c: sum(int((w == 0).sum()) for w in duplicates.words[c]) for c in columns.text}
    notes += [f"column {c!r}: {n} texts without a word were left out of near matching" for c, n in empty.items() if n]
    notes += _not_checked(options)
    facts = AuditFacts(
        overlaps=tuple(overlaps),
        identical=tuple(identical),
        conflicts=tuple(duplicates.conflicts()),
        repeats=tuple(duplicates.repeats()),
        times=tuple(times),
        orders=tuple(orders),
        late=tuple(late),
        singles=tuple(singles),
        ablations=tuple(ablated),
        distinguishable=tuple(told),
        notes=tuple(notes),
        checks=(*duplicates.checks(), *score_lines(judged.name, options.target, singles, told), *told_of_ablations),
    )
    rows = {split.name: len(split) for split in splits}
    return AuditResult(findings_of(facts), facts, rows, tuple(splits), duplicates.leaking, options)


def _not_checked(options: Options) -> list[str]:
    """What nobody asked for, so that nothing found is not read as nothing there."""
    asked = {
        "LK603": (options.contained, "items inside longer texts"),
        "LK701": (options.time, "a time column"),
        "LK702": (options.group, "entities"),
        "LK703 to LK705": (options.target, "a target"),
        "LK707": (options.prediction_time, "a prediction time"),
    }
    missing = [f"{codes} ({what})" for codes, (given, what) in asked.items() if not given]
    return [f"not checked, since not asked for: {', '.join(missing)}"] if missing else []


def findings_of(facts: AuditFacts) -> tuple[Finding, ...]:
    """What the rules say of the facts."""
    from leakcheck.rules import check, rules

    found = [finding for rule in rules(FAMILIES) if rule.facts_type is AuditFacts for finding in check(rule, facts)]
    return tuple(sorted(found, key=Finding.sort_key))
