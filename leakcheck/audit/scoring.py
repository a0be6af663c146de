"""Cross-validated scores of small models against chance, each with an interval."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from math import atanh, sqrt, tanh
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from leakcheck.audit.columns import Columns, canonical, is_number
from leakcheck.audit.facts import Interval, Score
from leakcheck.audit.long_texts import strings
from leakcheck.audit.splits import Options, Split
from leakcheck.audit.times import microseconds

MOST_ROWS = 5_000  # sampled from larger splits, with a fixed seed
FEWEST_ROWS = 40  # fewer rows tell nothing apart from chance
FEWEST_OF_A_CLASS = 10
MOST_CLASSES = 30
FOLDS = 5
_LEVEL = 0.05
_ALL_BUT_ONE = 1.0 - 1e-12  # the largest correlation that has an inverse hyperbolic tangent
_ONE_TO_ONE = 0.995
_HASHED_WORDS = 1 << 16
_LARGEST = 1e38  # of a number in single precision

Matrix = NDArray[np.float64]


class Task:
    """Rows with a target, and cross-validated scores on them."""

    def __init__(
        self,
        rows: NDArray[np.int64],
        y: NDArray[np.int64] | Matrix,
        classes: int,
        groups: NDArray[np.int64] | None,
        sorted_by_target: bool,
    ) -> None:
        self.rows, self.y, self.classes, self.groups = rows, y, classes, groups
        self.sorted_by_target = sorted_by_target

    @classmethod
    def of(cls, split: Split, options: Options) -> Task | str:
        """The task that the target sets, or why there is none."""
        target = options.target
        assert target is not None
        values = _counted(split.frame[target])
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
            if np.ptp(x) == 0.0 or np.ptp(self.y) == 0.0:  # whole numbers too large to differ as floats
                return False
            return bool(abs(np.corrcoef(x, np.asarray(self.y, float))[0, 1]) > 1 - 1e-9)
        codes, names = pd.factorize(values.map(canonical))
        if not 2 <= len(names) <= self.classes:
            return False
        table = np.zeros((len(names), self.classes))
        np.add.at(table, (codes, np.asarray(self.y, np.int64)), 1)
        forth, back = table.max(axis=1).sum() / len(codes), table.max(axis=0).sum() / len(codes)
        rarest = min(table.sum(axis=0).min(), table.sum(axis=1).min())
        return bool(min(forth, back) >= _ONE_TO_ONE and rarest >= 5)

    def score(self, x: Matrix, looks: int) -> Score:
        """The better of a small tree and, for a single number, a linear model on one column, cross-validated."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        tree = DecisionTreeClassifier if self.classes else DecisionTreeRegressor
        model = tree(max_depth=4, min_samples_leaf=max(5, len(x) // 200), random_state=0)
        first = self._summary(self._predict(model, x), looks)
        if x.shape[1] > 1:
            return first
        # a tree of few leaves blurs what rises evenly
        return max(first, self._summary(self._predict(self._linear(), x), looks), key=lambda score: score.value)

    def score_all(self, x: Matrix, looks: int, enough: float = 1.0) -> Score:
        """The better of a linear model and a forest, cross-validated; the linear one alone where that is `enough`."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        first = self._summary(self._predict(self._linear(), x), looks)
        if first.value >= enough:
            return first
        forest = RandomForestClassifier if self.classes else RandomForestRegressor
        model = forest(n_estimators=50, max_depth=8, min_samples_leaf=3, max_features="sqrt", random_state=0)
        return max(first, self._summary(self._predict(model, x), looks), key=lambda score: score.value)

    def _linear(self) -> Any:
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = LogisticRegression(max_iter=300) if self.classes else Ridge()
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), model)

    def score_texts(self, texts: Sequence[pd.Series], looks: int, others: Matrix | None = None) -> Score:
        """TF-IDF of the texts, with other columns where given, and logistic (or ridge) regression, cross-validated."""
        from scipy.sparse import csr_matrix, hstack
        from sklearn.compose import ColumnTransformer
        from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, StandardScaler

        # hashing learns nothing from the rows; the weights are learned inside each fold
        vectorizer = HashingVectorizer(n_features=_HASHED_WORDS, alternate_sign=False)
        words = hstack([vectorizer.transform(strings(text).fill_null("").to_pylist()) for text in texts]).tocsr()
        used = np.flatnonzero(words.getnnz(axis=0))
        x = words[:, used if len(used) else [0]]
        steps: list[tuple[str, Any, slice]] = [("texts", TfidfTransformer(), slice(0, x.shape[1]))]
        if others is not None:
            scaled = make_pipeline(FunctionTransformer(csr_matrix.toarray, accept_sparse=True), StandardScaler())
            steps.append(("others", scaled, slice(x.shape[1], x.shape[1] + others.shape[1])))
            x = hstack([x, csr_matrix(np.nan_to_num(others))]).tocsr()
        # with more words than rows the dual problem is the small one; not so beside other columns
        logistic = LogisticRegression(solver="liblinear", dual=others is None, max_iter=500, random_state=0)
        model = OneVsRestClassifier(logistic) if self.classes else Ridge()
        return self._summary(self._predict(make_pipeline(ColumnTransformer(steps), model), x), looks)

    def _predict(self, model: Any, x: Any) -> Matrix:
        from sklearn.model_selection import cross_val_predict

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted: Matrix = cross_val_predict(
                model, x, self.y, cv=self._folds, method="predict_proba" if self.classes else "predict"
            )
            return predicted

    @cached_property
    def _folds(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Training and scored rows of each fold: cut once, for many groups take longer than the models do."""
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        if self.groups is not None:
            folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0) if self.classes else GroupKFold(FOLDS)
        elif self.classes:
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        else:
            folds = KFold(FOLDS, shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a class is rare
            return list(folds.split(self.rows, self.y, self.groups))

    def _summary(self, predicted: Matrix, looks: int) -> Score:
        from scipy.stats import norm
        from sklearn.metrics import r2_score, roc_auc_score

        z = float(norm.ppf(1 - _LEVEL / (2 * looks)))  # Bonferroni over the looks
        if not self.classes:
            value = max(0.0, float(r2_score(self.y, predicted)))
            # the interval of the correlation (Fisher 1921), squared
            middle, half = atanh(min(sqrt(value), _ALL_BUT_ONE)), z / sqrt(len(self.y) - 3)
            return Score("R2", value, Interval(tanh(max(0.0, middle - half)) ** 2, tanh(middle + half) ** 2), 0.0)
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


def is_constant(values: pd.Series) -> bool:
    plain = is_number(values) or pd.api.types.is_datetime64_any_dtype(values)
    return bool((values if plain else values.map(canonical)).nunique(dropna=False) < 2)


def encode(values: pd.Series) -> Matrix:
    """Numbers and dates (missing as NaN), categories by code with the frequent ones apart."""
    if pd.api.types.is_datetime64_any_dtype(values):
        return _centred(np.where(values.notna(), microseconds(values), np.nan))
    values = _counted(values)
    if is_number(values) and not pd.api.types.is_bool_dtype(values):
        return _centred(values.to_numpy(np.float64, na_value=np.nan))
    spelled = values.map(canonical)
    frequent = spelled.value_counts().index[:20]
    codes = pd.Categorical(spelled).codes.astype(float)
    return np.column_stack([codes, *(spelled == name for name in frequent)]).astype(float)


def _counted(values: pd.Series) -> pd.Series:
    """Durations and decimals as numbers."""
    if pd.api.types.is_timedelta64_dtype(values):
        return pd.Series(values.dt.total_seconds())
    present = values.dropna() if values.dtype == object else values[:0]
    if len(present) and all(isinstance(value, Decimal | Real) and not isinstance(value, bool) for value in present):
        return values.astype("float64")
    return values


def _centred(values: Matrix) -> Matrix:
    """Around zero, as one column: the trees work in single precision, which would merge dates and large numbers."""
    finite = np.where(np.isfinite(values), values, np.nan)
    # leakcheck: ignore[LK105] trees don't see a shift
    middle = np.nanmedian(finite) if np.isfinite(finite).any() else 0.0
    return np.clip(finite - middle, -_LARGEST, _LARGEST)[:, None]


def encode_id(values: pd.Series) -> Matrix:
    if is_number(values):
        return encode(values)
    spelled = values.map(canonical)
    digits = pd.to_numeric(spelled.str.extract(r"(\d{1,15})")[0], errors="coerce").to_numpy(float)
    prefix = pd.Categorical(spelled.str.extract(r"^([^\d]*)")[0]).codes.astype(float)
    return np.column_stack([np.nan_to_num(digits, nan=-1.0), prefix, spelled.str.len().to_numpy(float)])


def features_of(frame: pd.DataFrame, columns: Columns, options: Options) -> tuple[dict[str, Matrix], list[str]]:
    """The columns that could be features, encoded, and the names of the constant ones, which are left out.

    Texts, identifiers, entities and declared times are no features here.
    """
    roles = {options.target, options.time, options.prediction_time, *columns.ids, *columns.text, *options.group}
    names = [column for column in frame.columns if column not in roles]
    constant = [column for column in names if is_constant(frame[column])]
    return {column: encode(frame[column]) for column in names if column not in constant}, constant
