"""Equal, near and contained rows and texts across splits, with what chance gives for coarse values."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.columns import Columns, hashed, listed
from leakcheck.audit.describe import differences
from leakcheck.audit.facts import BY_CHANCE, Example, IdenticalFiles, Kind, LabelConflict, Overlap, Repeats
from leakcheck.audit.long_texts import texts_of
from leakcheck.audit.pairs import Pairs
from leakcheck.audit.readers import is_row
from leakcheck.audit.shingles import normalise
from leakcheck.audit.similarity import contained_pairs, near_pairs, shingling_for, text_hashes
from leakcheck.audit.splits import Options, Split
from leakcheck.audit.texts import Texts

SHORT_WORDS = 3  # texts with fewer words are boilerplate: expected in every split
CONTAINED_SHARE = 0.8
LONG_NGRAM, SHORT_NGRAM = 13, 8  # the n-grams of the field's contamination reports
_MOST_COLUMNS = 40  # rows with more columns do not coincide by chance
_MOST_PAIRS = 200_000
FEWEST_COMBINATIONS = 10  # possible rows for each training row, below which rows coincide
_U64 = np.uint64
_SHOWN = 400  # letters of a text in the evidence

_Hashes = NDArray[np.uint64]


class Duplicates:
    """The hashes of all splits, made once, and the questions put to them."""

    def __init__(self, splits: Sequence[Split], columns: Columns, options: Options) -> None:
        self.splits, self.columns, self.options = splits, columns, options
        self.leaking: dict[str, set[int]] = {split.name: set() for split in splits}
        self._checked: list[str] = []
        others = [c for c in columns.compared if c not in columns.text]
        by_column = {c: hashed([split.frame[c] for split in splits]) for c in others}
        self.texts = {c: [texts_of(split.frame[c]) for split in splits] for c in columns.text}
        self.text_hashes: dict[str, list[_Hashes]] = {}
        self.words: dict[str, list[NDArray[np.int64]]] = {}
        for column, texts in self.texts.items():
            hashes = text_hashes(texts, options.settings)
            self.text_hashes[column] = [of_split for of_split, _ in hashes]
            self.words[column] = [words for _, words in hashes]
            by_column[column] = self.text_hashes[column]
        self.parts = [
            {c: _mix(by_column[c][i] + _salt(j)) for j, c in enumerate(columns.compared)} for i in range(len(splits))
        ]
        self.rows = [_sum(list(parts.values()), len(split)) for parts, split in zip(self.parts, splits, strict=True)]

    def identical(self) -> list[IdenticalFiles]:
        """Files that stand in two splits, byte for byte.

        Not the files of a folder that are a row each: those are compared as rows.
        """
        rows = any(len(split.paths) > 1 for split in self.splits)
        digests = [
            [(path, "" if rows and is_row(path) else _digest(path)) for path in split.paths] for split in self.splits
        ]
        found = []
        for a, b in combinations(range(len(self.splits)), 2):
            first, second = self.splits[a], self.splits[b]
            of_digest = {digest: (i, path) for i, (path, digest) in reversed(list(enumerate(digests[a]))) if digest}
            for j, (other, digest) in enumerate(digests[b]):
                if digest in of_digest:
                    i, path = of_digest[digest]
                    # one table with a split column is in both splits, with other rows
                    same_rows = np.isin(second.row_in_file[second.file_of == j], first.row_in_file[first.file_of == i])
                    if same_rows.any():
                        found.append(
                            IdenticalFiles(
                                first.place(int(np.argmax(first.file_of == i))),
                                second.place(int(np.argmax(second.file_of == j))),
                                path.resolve() == other.resolve(),
                            )
                        )
        return found

    def overlaps(self, a: int, b: int) -> list[Overlap]:
        """What the rows of split b share with those of split a (the training side)."""
        found: list[Overlap] = []
        partner = _partners(self.rows[b], self.rows[a])
        short = self._short_rows(b)
        brief = int(((partner >= 0) & short).sum())
        if brief and _tail(brief, self._expected(a, b, short=True)) <= BY_CHANCE:
            short[:] = False  # short texts, but all else is equal, too
        rows = np.flatnonzero((partner >= 0) & ~short)
        expected = self._expected(a, b) if len(rows) else 0.0
        what = ", ".join(self.columns.compared)
        if len(rows):
            equal = self._overlap(Kind.ROW, a, b, what, rows, partner[rows], "equal values", expected=expected)
            found.append(equal)
            if equal.chance > BY_CHANCE:
                self._checked.append(
                    f"{self.splits[a].name} and {self.splits[b].name}: {len(rows)} rows of {self.splits[b].name} have "
                    "an equal one, no more than chance gives for values as coarse as these"
                )
        boiler = np.flatnonzero((partner >= 0) & short)
        reported = set(rows.tolist())
        for column in self.columns.text:
            found += self._text_overlaps(column, a, b, reported, set(boiler.tolist()))
        for column in self.columns.media:
            partner = _partners(self.parts[b][column], self.parts[a][column])
            same = np.flatnonzero((partner >= 0) & self.splits[b].frame[column].notna().to_numpy())
            if len(same) and set(same.tolist()) != reported:
                found.append(self._overlap(Kind.TEXT, a, b, column, same, partner[same], "equal bytes"))
        if not self.columns.text:
            found += self._near_rows(a, b, reported)
        return found

    def conflicts(self) -> list[LabelConflict]:
        """Equal inputs with different labels, over all splits that have the target."""
        target = self.options.target
        if target is None:
            return []
        labelled = [i for i, split in enumerate(self.splits) if target in split.frame]
        inputs = [c for c in (self.columns.text or self.columns.media or self.columns.compared) if c != target]
        if not labelled or not inputs:
            return []
        owner = np.repeat(labelled, [len(self.splits[i]) for i in labelled])
        row_of = np.concatenate([np.arange(len(self.splits[i])) for i in labelled])
        if self.columns.text:
            keys = np.concatenate([_sum([_mix(self.text_hashes[c][i]) for c in inputs], 0) for i in labelled])
            words = np.concatenate([sum(self.words[c][i] for c in inputs) for i in labelled])
            usable = words >= SHORT_WORDS
        else:
            keys = np.concatenate([_sum([self.parts[i][c] for c in inputs], len(self.splits[i])) for i in labelled])
            usable = np.ones(len(keys), bool)
        labels = np.concatenate(hashed([self.splits[i].frame[target] for i in labelled]))
        frame = pd.DataFrame({"key": keys, "label": labels, "at": np.arange(len(keys))})[usable]
        frame = frame[frame.groupby("key")["label"].transform("nunique") > 1]
        if frame.empty:
            return []
        groups = frame.groupby("key", sort=False)
        if not self._distinctive:
            pooled = [np.concatenate([self.parts[i][c] for i in labelled]) for c in inputs]
            values = [pd.concat([self.splits[i].frame[c] for i in labelled], ignore_index=True) for c in inputs]
            if _tail(groups.ngroups, expected_pairs(inputs, pooled, pooled, values, values, same=True)) > BY_CHANCE:
                return []
        examples = []
        for _, group in list(groups)[: self.options.max_evidence]:
            first = group.iloc[0]
            other = group[group["label"] != first["label"]].iloc[0]
            one, two = int(first["at"]), int(other["at"])
            text = self.columns.text[0] if self.columns.text else None
            examples.append(self._example(int(owner[one]), int(row_of[one]), int(owner[two]), int(row_of[two]), text))
        return [LabelConflict(", ".join(inputs), target, groups.ngroups, len(frame), tuple(examples))]

    def repeats(self) -> list[Repeats]:
        """Rows that a split has more than once."""
        found = []
        for i, split in enumerate(self.splits):
            first = pd.Series(np.arange(len(split))).groupby(self.rows[i]).transform("min").to_numpy()
            again = np.flatnonzero(first != np.arange(len(split)))
            if not len(again):
                continue
            names = list(self.columns.compared)
            arrays, values = [self.parts[i][c] for c in names], [split.frame[c] for c in names]
            expected = 0.0 if self._distinctive else expected_pairs(names, arrays, arrays, values, values, same=True)
            examples = tuple(
                self._example(i, int(first[r]), i, int(r), self.columns.text[0] if self.columns.text else None)
                for r in again[: self.options.max_evidence]
            )
            what = ", ".join(names)
            found.append(Repeats(split.name, what, len(again), len(split), _tail(len(again), expected), examples))
        return found

    def checks(self) -> tuple[str, ...]:
        """What was compared, and how."""
        rows = f"equal rows: by the values of {listed(self.columns.compared)}"
        texts = [f"equal texts of `{c}`: after NFKC, case folding and one space for white space" for c in self.texts]
        return (rows, *texts, *self._checked)

    # -- parts -------------------------------------------------------------------------------------------------------

    def _short_rows(self, i: int) -> NDArray[np.bool_]:
        """Rows whose texts are all boilerplate."""
        if not self.columns.text:
            return np.zeros(len(self.splits[i]), bool)
        short: NDArray[np.bool_] = np.all([self.words[c][i] < SHORT_WORDS for c in self.columns.text], axis=0)
        return short

    @property
    def _distinctive(self) -> bool:
        """Whether rows hold texts, pictures or the like, which do not coincide by chance."""
        return bool(self.columns.text) or any(c in self.columns.rich for c in self.columns.compared)

    def _expected(self, a: int, b: int, short: bool = False) -> float:
        if self._distinctive and not short:
            return 0.0
        names = list(self.columns.compared)
        return expected_pairs(
            names,
            [self.parts[a][c] for c in names],
            [self.parts[b][c] for c in names],
            [self.splits[a].frame[c] for c in names],
            [self.splits[b].frame[c] for c in names],
        )

    def _text_overlaps(self, column: str, a: int, b: int, rows: set[int], boiler: set[int]) -> list[Overlap]:
        found: list[Overlap] = []
        held, training = self.text_hashes[column][b], self.text_hashes[column][a]
        partner = _partners(held, training)
        equal = (partner >= 0) & (held != 0)
        short = self.words[column][b] < SHORT_WORDS
        same = "equal after NFKC, case folding and one space for white space"
        touched = np.flatnonzero(equal & ~short)
        if len(touched) and set(touched.tolist()) != rows:
            found.append(self._overlap(Kind.TEXT, a, b, column, touched, partner[touched], same, text=column))
        brief = np.flatnonzero(equal & short)
        if len(brief):
            method = f"{same}, fewer than {SHORT_WORDS} words"
            found.append(self._overlap(Kind.BOILERPLATE, a, b, column, brief, partner[brief], method, text=column))
        left = _representatives(held, ~equal & (self.words[column][b] > 0))
        right = _representatives(training, self.words[column][a] > 0)
        texts, others = _subset(self.texts[column][b], left), _subset(self.texts[column][a], right)
        shingling = shingling_for(self.texts[column][b], self.words[column][b], self.options.settings)
        pairs, method_used = near_pairs(texts, others, shingling, self.options.settings)
        near: set[int] = set()
        if len(pairs):
            near_rows, best, similarity = _expanded(pairs, left, right, held)
            near = set(near_rows.tolist())
            overlap = self._overlap(
                Kind.NEAR_TEXT, a, b, column, near_rows, best, str(method_used), similarity=similarity, text=column
            )
            templates = all(
                _without_numbers(self.texts[column][b].text(r)) == _without_numbers(self.texts[column][a].text(s))
                for r, s in zip(near_rows.tolist(), best.tolist(), strict=True)
            )
            found.append(replace(overlap, numbers_only=templates))
        self._checked.append(
            f"{self.splits[a].name} and {self.splits[b].name}, near duplicates of `{column}`: {method_used}; "
            f"{len(near)} rows of {self.splits[b].name} found"
        )
        if self.options.contained:
            done = near | set(touched.tolist())
            found += self._contained(column, a, b, texts, others, left, right, done)
        return found

    def _contained(
        self,
        column: str,
        a: int,
        b: int,
        texts: Texts,
        others: Texts,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        done: set[int],
    ) -> list[Overlap]:
        words = self.words[column][b][left]
        parts = []
        for size, low, high in ((LONG_NGRAM, LONG_NGRAM, 1 << 62), (SHORT_NGRAM, SHORT_NGRAM, LONG_NGRAM)):
            items = np.flatnonzero((words >= low) & (words < high))
            if len(items):
                parts.append(contained_pairs(texts, others, size, items, CONTAINED_SHARE, self.options.settings))
        pairs = Pairs.joined(parts).ordered()
        if not len(pairs):
            return []
        rows, best, share = _expanded(pairs, left, right, self.text_hashes[column][b])
        keep = np.array([row not in done for row in rows.tolist()])
        if not keep.any():
            return []
        method = (
            f"{CONTAINED_SHARE:.0%} of an item's {LONG_NGRAM}-grams of words ({SHORT_NGRAM}-grams where it is shorter)"
        )
        return [
            self._overlap(
                Kind.CONTAINED, a, b, column, rows[keep], best[keep], method, similarity=share[keep], text=column
            )
        ]

    def _near_rows(self, a: int, b: int, done: set[int]) -> list[Overlap]:
        from leakcheck.audit.neighbours import near_rows

        names = [c for c in self.columns.numeric if c != self.options.target]
        same = [c for c in self.columns.compared if c not in names and c not in self.columns.times]
        keys = [_sum([self.parts[i][c] for c in same], len(self.splits[i])) for i in (a, b)]
        rows, partners, closeness = near_rows(
            self.splits[a].frame[names], self.splits[b].frame[names], keys[0], keys[1], self.rows[a], self.rows[b]
        )
        keep = np.array([row not in done for row in rows.tolist()], bool)
        if not keep.any():
            return []
        method = (
            "distance to the nearest training row, against the distances between neighbours inside training; "
            "other columns equal"
        )
        what = ", ".join(names)
        return [
            self._overlap(Kind.NEAR_ROW, a, b, what, rows[keep], partners[keep], method, similarity=closeness[keep])
        ]

    def _overlap(
        self,
        kind: Kind,
        a: int,
        b: int,
        what: str,
        rows: NDArray[np.int64],
        partners: NDArray[np.int64],
        method: str,
        *,
        similarity: NDArray[np.float64] | None = None,
        expected: float = 0.0,
        text: str | None = None,
    ) -> Overlap:
        training, held_out = self.splits[a], self.splits[b]
        text = text or (self.columns.text[0] if self.columns.text else None)
        shown = np.arange(len(rows)) if similarity is None else np.argsort(-similarity, kind="stable")
        examples = tuple(
            self._example(
                b, int(rows[k]), a, int(partners[k]), text, 1.0 if similarity is None else float(similarity[k])
            )
            for k in shown[: self.options.max_evidence]
        )
        chance = _tail(len(rows), expected)
        if kind is not Kind.BOILERPLATE and chance <= BY_CHANCE:
            self.leaking[held_out.name].update(rows.tolist())
        files = np.bincount(training.file_of[partners], minlength=len(training.files))
        return Overlap(
            kind,
            training.name,
            held_out.name,
            what,
            len(rows),
            len(held_out),
            method,
            examples,
            expected=expected,
            chance=chance,
            by_file=tuple((f, int(n)) for f, n in zip(training.files, files, strict=True) if n),
            left_out=self.columns.ids,
        )

    def _example(self, i: int, r: int, j: int, s: int, text: str | None, similarity: float = 1.0) -> Example:
        first, second = self.splits[i], self.splits[j]
        if self.options.redact:
            return Example(first.place(r), second.place(s), similarity)
        texts = (None, None) if text is None else (self.texts[text][i].text(r), self.texts[text][j].text(s))
        return Example(
            first.place(r),
            second.place(s),
            similarity,
            *(one and one[:_SHOWN] for one in texts),
            *(split.key(row, self.columns.ids) for split, row in ((first, r), (second, s))),
            *(differences(*texts) if texts[0] is not None and similarity < 1.0 else ()),
        )


def expected_pairs(
    names: Sequence[str],
    left: Sequence[_Hashes],
    right: Sequence[_Hashes],
    left_values: Sequence[pd.Series],
    right_values: Sequence[pd.Series],
    *,
    same: bool = False,
) -> float:
    """Equal pairs of rows that coarse values give by chance.

    Copies agree in every column, and rows that agree in all but one are then rare. Rows that coincide have many such
    neighbours: half of the pairs that differ by one step of a number's grid would be as likely to agree in it. The
    largest count over the columns is returned.
    """
    if not names or len(names) > _MOST_COLUMNS or not len(left[0]) or not len(right[0]):
        return 0.0
    if prod(float(len(np.unique(np.concatenate(sides)))) for sides in zip(left, right, strict=True)) <= (
        FEWEST_COMBINATIONS * len(left[0])
    ):
        # so few values can be combined that rows must coincide
        return float(len(right[0])) if same else _as_within(_sum(left, len(left[0])), _sum(right, len(right[0])))
    whole_left, whole_right = _sum(left, len(left[0])), _sum(right, len(right[0]))
    most = 0.0
    for j in range(len(names)):
        rest_left, rest_right = whole_left - left[j], whole_right - right[j]
        counts = pd.Series(rest_left).value_counts()
        pairs = float(counts.reindex(rest_right).fillna(0).sum())
        if not pairs:
            continue
        if pd.api.types.is_numeric_dtype(left_values[j]) and pairs <= _MOST_PAIRS:
            most = max(most, _one_step(rest_left, rest_right, left_values[j], right_values[j], same))
            continue
        shares = pd.Series(np.concatenate([left[j], right[j]])).value_counts(normalize=True)
        if len(shares) > 0.5 * (len(left[j]) + len(right[j])):
            continue  # nearly all distinct: its agreements are the copies themselves
        agree = float((shares**2).sum())
        equal = float(pd.Series(whole_left).value_counts().reindex(whole_right).fillna(0).sum())
        differing = (pairs - equal) / (2 if same else 1)
        most = max(most, differing * agree / (1 - agree) if agree < 1 else 0.0)
    return most


def _as_within(left: _Hashes, right: _Hashes) -> float:
    """Rows of the right side that have an equal one, were pairs across as often equal as those within a side.

    Where none within is, that is by the rule of three (Hanley and Lippman-Hand 1983).
    """
    counts = [pd.Series(side).value_counts().to_numpy() for side in (left, right)]
    equal = sum(float((count * (count - 1) / 2).sum()) for count in counts)
    pairs = sum(len(side) * (len(side) - 1) / 2 for side in (left, right))
    return min(1.0, (equal + 3) / (pairs + 3) * len(left)) * len(right)


def _one_step(left_keys: _Hashes, right_keys: _Hashes, left: pd.Series, right: pd.Series, same: bool) -> float:
    grid = np.unique(np.concatenate([left.to_numpy(float, na_value=np.nan), right.to_numpy(float, na_value=np.nan)]))
    gaps = np.diff(grid[~np.isnan(grid)])
    if not len(gaps):
        return 0.0
    step = float(np.median(gaps)) * 1.001
    one = pd.DataFrame({"key": left_keys, "v": left.to_numpy(float, na_value=np.nan)})
    two = pd.DataFrame({"key": right_keys, "w": right.to_numpy(float, na_value=np.nan)})
    both = one.merge(two, on="key")
    apart = (both["v"] - both["w"]).abs()
    return float(((apart > 0) & (apart <= step)).sum()) / (4 if same else 2)


def _tail(observed: int, expected: float) -> float:
    """Probability of so many or more events where `expected` come by chance (Poisson)."""
    if expected <= 0.0:
        return 0.0
    from scipy.special import gammainc

    return float(gammainc(observed, expected))


def _salt(column: int) -> np.uint64:
    """Keeps the columns apart in the sum of their hashes."""
    return _U64((column + 1) * 0x9E3779B97F4A7C15 % 2**64)


def _mix(h: _Hashes) -> _Hashes:
    h = (h ^ (h >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> _U64(27))) * _U64(0x94D049BB133111EB)
    return h ^ (h >> _U64(31))


def _sum(parts: Sequence[_Hashes], length: int) -> _Hashes:
    total = np.zeros(len(parts[0]) if len(parts) else length, _U64)
    for part in parts:
        total += part
    return total


def _partners(hashes: _Hashes, others: _Hashes) -> NDArray[np.int64]:
    """The first row of the other side with the same hash, or -1."""
    values, first = np.unique(others, return_index=True)
    if not len(values):
        return np.full(len(hashes), -1, np.int64)
    at = np.minimum(np.searchsorted(values, hashes), len(values) - 1)
    return np.where(values[at] == hashes, first[at], -1)


def _representatives(hashes: _Hashes, usable: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One row for each distinct text of the usable rows, ascending."""
    rows = np.flatnonzero(usable)
    _, first = np.unique(hashes[rows], return_index=True)
    return rows[np.sort(first)]


def _subset(texts: Texts, rows: NDArray[np.int64]) -> Texts:
    return texts if len(rows) == len(texts) else texts.subset(rows)


def _expanded(
    pairs: Pairs, left: NDArray[np.int64], right: NDArray[np.int64], hashes: _Hashes
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Every held-out row whose text is in a pair, with its most similar partner."""
    order = np.lexsort((pairs.right, -pairs.similarity, pairs.left))
    items, first = np.unique(pairs.left[order], return_index=True)
    best = order[first]
    wanted = hashes[left[items]]
    sorting = np.argsort(wanted)
    rows = np.flatnonzero(np.isin(hashes, wanted))
    at = sorting[np.searchsorted(wanted[sorting], hashes[rows])]
    return rows, right[pairs.right[best]][at], pairs.similarity[best][at]


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "0", normalise(text))


def _digest(path: object) -> str:
    with open(str(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
