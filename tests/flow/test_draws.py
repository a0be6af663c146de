"""What the tables say of scikit-learn's draws is what the library does: two runs differ, or they don't."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree
from sklearn.datasets import make_friedman1

from leakcheck.testing import scan_files

SPACE = {
    name: value
    for module in (ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree)
    for name, value in vars(module).items()
}
SOURCE = """\
import numpy as np
import pandas as pd
from sklearn.ensemble import *
from sklearn.linear_model import *
from sklearn.naive_bayes import *
from sklearn.neighbors import *
from sklearn.neural_network import *
from sklearn.svm import *
from sklearn.tree import *

train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")
model = {model}
model.fit(train[["a", "b"]], train["y"])
print(model.score(test[["a", "b"]], test["y"]))
"""


def differs(model: str) -> bool:
    """Whether the predictions of two fits differ where only NumPy's global generator does."""
    x, y = make_friedman1(n_samples=240, noise=3, random_state=0)
    if "Classifier" in model or model.startswith(("SVC", "LogisticRegression", "GaussianNB", "LinearSVC")):
        y = (y > y.mean()).astype(int)
    predictions = []
    for seed in (1, 2, 3):
        np.random.seed(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = eval(model, dict(SPACE)).fit(x[:160], y[:160])
        ask = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
        predictions.append(ask(x[160:]))
    return any(not np.array_equal(predictions[0], other) for other in predictions[1:])


@pytest.mark.parametrize(
    "model",
    [
        "RandomForestClassifier(10)",
        "ExtraTreesRegressor(10)",
        "BaggingClassifier(n_estimators=5)",
        "AdaBoostRegressor(n_estimators=5)",
        "AdaBoostClassifier(n_estimators=5)",
        "AdaBoostClassifier(DecisionTreeClassifier(max_features=2), n_estimators=5)",
        "GradientBoostingClassifier(n_estimators=10)",
        "GradientBoostingRegressor(n_estimators=10, subsample=0.5)",
        "HistGradientBoostingRegressor(max_iter=10)",
        "HistGradientBoostingRegressor(max_iter=10, early_stopping=True)",
        "DecisionTreeRegressor()",
        "MLPClassifier(max_iter=20)",
        "SGDClassifier()",
        "LogisticRegression(max_iter=500)",
        "LogisticRegression(solver='saga', max_iter=5)",
        "LinearRegression()",
        "Ridge()",
        "Ridge(solver='sag', max_iter=5)",
        "Lasso()",
        "Lasso(alpha=0.01, selection='random', max_iter=1)",
        "SVC()",
        "SVR()",
        "LinearSVR(max_iter=50)",
        "KNeighborsClassifier()",
        "GaussianNB()",
    ],
)
def test_a_learner_is_said_to_draw_where_two_runs_differ(model: str) -> None:
    found = {finding.code for finding in scan_files({"fit.py": SOURCE.format(model=model)})}
    assert ("LK501" in found) is differs(model)
