"""Can the task be solved by a shortcut? Cross-validated scores of small models, each with an interval and chance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from decimal import Decimal
from math import sqrt
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.columns import Columns, canonical, is_number
from leakcheck.audit.facts import Ablation, Carrier, Distinguishable, Interval, Score, SingleScore
from leakcheck.audit.splits import Options, Split
from leakcheck.audit.times import microseconds

MOST_ROWS = 5_000  # sampled from larger splits, with a fixed seed
FEWEST_ROWS = 40  # fewer rows tell nothing apart from chance
FEWEST_OF_A_CLASS = 10
MOST_CLASSES = 30
FOLDS = 5
MARGIN = 0.15  # AUC above chance from which an ablated input is a shortcut
SPLIT_MARGIN = 0.10  # AUC above chance from which splits are told apart
WORTH_A_FACT = 0.3  # lower scores (R2 or AUC) are not kept
NEEDS_OTHERS = 0.5  # scores from here on are held against all other columns together
_LEVEL = 0.05
_ONE_TO_ONE = 0.995

_Matrix = NDArray[np.float64]


def single_scores(split: Split, columns: Columns, options: Options) -> tuple[list[SingleScore], list[str]]:
    """Scores of each column, its absence, the row order, the identifiers and the files; and what was left out."""
    task = _Task.of(split, options)
    if isinstance(task, str):
        return [], [task]
    notes: list[str] = []
    features = [
        c for c in split.frame.columns if c not in (options.target, *columns.ids, *columns.text, *options.group)
    ]
    features = [c for c in features if c not in (options.time, options.prediction_time)]
    frame = split.frame.iloc[task.rows]
    encoded: dict[str, _Matrix] = {}
    for column in features:
        if frame[column].isna().sum() + frame[column].map(canonical).nunique() < 2 or _constant(frame[column]):
            notes.append(f"{split.name}: column {column!r} is constant and was left out of the target checks")
        else:
            encoded[column] = _encode(frame[column])
    trials: list[tuple[Carrier, str, _Matrix]] = [(Carrier.COLUMN, c, x) for c, x in encoded.items()]
    for column in encoded:
        absent = frame[column].isna().to_numpy()
        if FEWEST_OF_A_CLASS <= absent.sum() <= len(absent) - FEWEST_OF_A_CLASS:
            trials.append((Carrier.ABSENCE, column, absent.astype(float)[:, None]))
    trials += [(Carrier.IDENTIFIER, c, _encode_id(frame[c])) for c in columns.ids if c in frame]
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


def ablations(split: Split, columns: Columns, options: Options) -> list[Ablation]:
    """Scores of each text column alone, where the input has several."""
    texts = [c for c in columns.text if c in split.frame]
    if len(texts) < 2:
        return []
    task = _Task.of(split, options)
    if isinstance(task, str):
        return []
    frame = split.frame.iloc[task.rows]
    full = task.score_texts([frame[c].fillna("").astype(str).tolist() for c in texts], len(texts))
    found = []
    for column in texts:
        score = task.score_texts([frame[column].fillna("").astype(str).tolist()], len(texts))
        removed = ", ".join(c for c in texts if c != column)
        found.append(Ablation(column, removed, score, full, MARGIN, split.place(0), len(texts)))
    return found


def distinguishable(training: Split, held_out: Split, columns: Columns, options: Options) -> Distinguishable | None:
    """How well a model tells the rows of the two splits apart; None for too few rows."""
    left_out = {options.target, options.time, options.prediction_time, *columns.ids, *options.group, *columns.times}
    names = [c for c in columns.common if c not in left_out and c not in columns.text]
    frames = [_sampled(split.frame) for split in (training, held_out)]
    if min(map(len, frames)) < FEWEST_ROWS or not (names or columns.text):
        return None
    frame = pd.concat(frames, ignore_index=True)
    y = np.repeat([0, 1], [len(one) for one in frames])
    task = _Task(np.arange(len(y)), y, 2, None, False)
    encoded = {c: _encode(frame[c]) for c in names if not _constant(frame[c])}
    looks = 1 + len(columns.text)
    scores = [task.score_all(np.hstack(list(encoded.values())), looks)] if encoded else []
    scores += [task.score_texts([frame[c].fillna("").astype(str).tolist()], looks) for c in columns.text]
    if not scores:
        return None
    best = max(scores, key=lambda score: score.interval.low)
    telling: list[tuple[str, float]] = []
    if best.interval.low > best.chance + SPLIT_MARGIN:
        telling = sorted(((c, task.score(x, looks).value) for c, x in encoded.items()), key=lambda one: -one[1])[:5]
    return Distinguishable(training.name, held_out.name, best, SPLIT_MARGIN, tuple(telling), held_out.place(0))


class _Task:
    """Rows with a target, and cross-validated scores on them."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        y: NDArray[np.int64] | _Matrix,
        classes: int,
        groups: NDArray[np.int64] | None,
        sorted_by_target: bool,
    ) -> None:
        self.rows, self.y, self.classes, self.groups = rows, y, classes, groups
        self.sorted_by_target = sorted_by_target

    @classmethod
    def of(cls, split: Split, options: Options) -> _Task | str:
        """The task that the target sets, or why there is none."""
        target = options.target
        if target is None or target not in split.frame:
            return f"{split.name}: no target, so the target checks were left out"
        values = split.frame[target]
        if is_number(values):
            values = values.replace([np.inf, -np.inf], np.nan)
        rows = np.flatnonzero(values.notna().to_numpy())
        if len(rows) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
        if len(rows) < FEWEST_ROWS:
            return (
                f"{split.name}: {len(rows)} rows with a target are too few for the target checks ({FEWEST_ROWS} needed)"
            )
        values = values.iloc[rows]
        numeric = is_number(values) and not pd.api.types.is_bool_dtype(values)
        groups = None
        if options.group:
            groups = pd.factorize(split.frame[options.group[0]].iloc[rows].map(canonical))[0]
            if len(np.unique(groups)) < FOLDS:
                groups = None
        if numeric and values.nunique() > MOST_CLASSES:
            y = values.to_numpy(float)
            return cls(rows, y, 0, groups, bool((np.diff(y) >= 0).all() or (np.diff(y) <= 0).all()))
        codes, names = pd.factorize(values.map(canonical))
        counts = np.bincount(codes)
        if len(names) < 2:
            return f"{split.name}: the target {target!r} is constant, so the target checks were left out"
        if len(names) > MOST_CLASSES:
            return f"{split.name}: the target {target!r} has too many classes for the target checks ({len(names)})"
        usable = counts[codes] >= FEWEST_OF_A_CLASS
        if len(np.unique(codes[usable])) < 2:
            return f"{split.name}: too few rows of a class of {target!r} for the target checks"
        rows, codes = rows[usable], pd.factorize(codes[usable])[0]
        if groups is not None:
            groups = groups[usable]
        blocks = int((np.diff(codes) != 0).sum())
        return cls(rows, codes, int(codes.max()) + 1, groups, blocks == int(codes.max()))

    def maps_to(self, values: pd.Series) -> bool:
        """Whether the column is (nearly) one to one with the target, beyond what few rows give by chance."""
        if not self.classes:
            if not is_number(values) or values.isna().any() or values.nunique() < 20:
                return False
            x = values.to_numpy(float)
            return bool(abs(np.corrcoef(x, np.asarray(self.y, float))[0, 1]) > 1 - 1e-9)
        codes, names = pd.factorize(values.map(canonical))
        if not 2 <= len(names) <= self.classes:
            return False
        table = np.zeros((len(names), self.classes))
        np.add.at(table, (codes, np.asarray(self.y, np.int64)), 1)
        forth, back = table.max(axis=1).sum() / len(codes), table.max(axis=0).sum() / len(codes)
        rarest = min(table.sum(axis=0).min(), table.sum(axis=1).min())
        return bool(min(forth, back) >= _ONE_TO_ONE and rarest >= 5)

    def score(self, x: _Matrix, looks: int) -> Score:
        """A small tree on one column, cross-validated."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        tree = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        model = tree(max_depth=4, min_samples_leaf=max(5, len(x) // 200), random_state=0)
        return self._summary(self._predict(model, x), looks)

    def score_all(self, x: _Matrix, looks: int, enough: float = 1.0) -> Score:
        """The better of a linear model and a forest, cross-validated; the linear one alone where that is `enough`."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300) if self.classes else Ridge())
        first = self._summary(self._predict(linear, np.nan_to_num(x)), looks)
        if first.value >= enough:
            return first
        forest = RandomForestClassifier if self.classes else RandomForestRegressor
        model = forest(n_estimators=50, max_depth=8, min_samples_leaf=3, max_features="sqrt", random_state=0)
        return max(first, self._summary(self._predict(model, x), looks), key=lambda score: score.value)

    def score_texts(self, texts: Sequence[list[str]], looks: int) -> Score:
        """TF-IDF of each text and logistic (or ridge) regression, cross-validated."""
        from scipy.sparse import hstack
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.pipeline import make_pipeline

        # hashing learns nothing from the rows; the weights are learned inside each fold
        x = hstack([HashingVectorizer(n_features=1 << 16, alternate_sign=False).transform(t) for t in texts]).tocsr()
        model = LogisticRegression(max_iter=500) if self.classes else Ridge()
        return self._summary(self._predict(make_pipeline(TfidfTransformer(), model), x), looks)

    def _predict(self, model: Any, x: Any) -> _Matrix:
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, cross_val_predict

        if self.groups is not None:
            folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0) if self.classes else GroupKFold(FOLDS)
        elif self.classes:
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        else:
            folds = KFold(FOLDS, shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted: _Matrix = cross_val_predict(
                model, x, self.y, cv=folds, groups=self.groups, method="predict_proba" if self.classes else "predict"
            )
            return predicted

    def _summary(self, predicted: _Matrix, looks: int) -> Score:
        from scipy.stats import norm
        from sklearn.metrics import r2_score, roc_auc_score

        z = float(norm.ppf(1 - _LEVEL / (2 * looks)))  # Bonferroni over the looks
        if not self.classes:
            value = max(0.0, float(r2_score(self.y, predicted)))
            # standard error of R2 of large samples (Olkin and Finn 1995)
            half = z * sqrt(4 * value * (1 - value) ** 2 / len(self.y))
            return Score("R2", value, Interval(max(0.0, value - half), min(1.0, value + half)), 0.0)
        aucs, spreads = [], []
        for c in range(1 if self.classes == 2 else 0, self.classes):
            positive = np.asarray(self.y) == c
            auc = float(roc_auc_score(positive, predicted[:, c]))
            aucs.append(auc)
            spreads.append(_hanley_mcneil(auc, int(positive.sum()), int((~positive).sum())))
        value, half = float(np.mean(aucs)), z * float(np.max(spreads))
        return Score("AUC", value, Interval(max(0.0, value - half), min(1.0, value + half)), 0.5)


def _hanley_mcneil(auc: float, positives: int, negatives: int) -> float:
    """Standard error of an AUC (Hanley and McNeil 1982)."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (positives - 1) * (q1 - auc**2) + (negatives - 1) * (q2 - auc**2)
    return sqrt(max(variance, 0.0) / (positives * negatives))


def _constant(values: pd.Series) -> bool:
    return bool(values.map(canonical).nunique() < 2)


def _encode(values: pd.Series) -> _Matrix:
    """Numbers as they are (missing as NaN), dates as instants, categories by code with the frequent ones apart."""
    if pd.api.types.is_timedelta64_dtype(values):
        values = values.dt.total_seconds()
    elif pd.api.types.is_datetime64_any_dtype(values):
        return np.where(values.notna(), microseconds(values), np.nan)[:, None]
    elif values.dtype == object and all(isinstance(v, Decimal | Real) for v in values.dropna()):
        values = values.astype("float64")
    if is_number(values) and not pd.api.types.is_bool_dtype(values):
        x = values.to_numpy(float, na_value=np.nan).copy()
        x[~np.isfinite(x)] = np.nan
        return x[:, None]
    spelled = values.map(canonical)
    frequent = spelled.value_counts().index[:20]
    codes = pd.Categorical(spelled).codes.astype(float)
    return np.column_stack([codes, *(spelled == name for name in frequent)]).astype(float)


def _encode_id(values: pd.Series) -> _Matrix:
    if is_number(values):
        return _encode(values)
    spelled = values.map(canonical)
    digits = pd.to_numeric(spelled.str.extract(r"(\d{1,15})")[0], errors="coerce").to_numpy(float)
    prefix = pd.Categorical(spelled.str.extract(r"^([^\d]*)")[0]).codes.astype(float)
    return np.column_stack([np.nan_to_num(digits, nan=-1.0), prefix, spelled.str.len().to_numpy(float)])


def _sampled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sample(MOST_ROWS, random_state=0) if len(frame) > MOST_ROWS else frame
