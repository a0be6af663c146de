"""Writes the files that the benchmark scans: machine-learning scripts of the usual kinds, and code without any."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from string import Template

_NAMES = ("patients", "orders", "houses", "loans", "visits", "sensors", "tickets", "flights", "claims", "meters")
_TARGETS = ("outcome", "price", "defaulted", "returned", "delay", "load", "churned", "label")
_COLUMNS = ("age", "income", "distance", "weight", "duration", "visits", "region", "channel", "score", "level", "hour")
_SCALERS = ("StandardScaler", "MinMaxScaler", "RobustScaler", "QuantileTransformer")
_MODELS = ("RandomForestClassifier", "GradientBoostingClassifier", "ExtraTreesClassifier")

_SKLEARN_HEAD = """\
\"\"\"Trains a model of $target from the $frame table.\"\"\"

import argparse
import logging
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import $model
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import $scaler

logger = logging.getLogger(__name__)
NUMERIC = ["$a", "$b", "$c"]
TARGET = "$target"
"""

_SKLEARN_PARTS = (
    """
def read_$frame(folder: Path) -> pd.DataFrame:
    parts = []
    for file in sorted(folder.glob("*.csv")):
        part = pd.read_csv(file, parse_dates=["date"])
        part.columns = [name.strip().lower().replace(" ", "_") for name in part.columns]
        if len(part) == 0:
            logger.warning("%s is empty", file)
            continue
        parts.append(part)
    $frame = pd.concat(parts, ignore_index=True)
    return $frame.drop_duplicates().dropna(subset=[TARGET])
""",
    """
def add_features_$n($frame: pd.DataFrame) -> pd.DataFrame:
    $frame = $frame.copy()
    $frame["${a}_log"] = np.log1p($frame["$a"].clip(lower=0))
    $frame["${a}_per_$b"] = $frame["$a"] / ($frame["$b"] + 1)
    $frame["weekday"] = $frame["date"].dt.dayofweek
    $frame["is_late"] = ($frame["date"].dt.hour > 20) & ($frame["weekday"] < 5)
    for column in ("$a", "$b"):
        $frame[f"{column}_squared"] = $frame[column] ** 2
    return $frame.drop(columns=["date"])
""",
    """
class Cleaner_$n:
    \"\"\"Keeps the bounds of the rows it was fitted on.\"\"\"

    def __init__(self, low: float = 0.01, high: float = 0.99) -> None:
        self.low, self.high = low, high
        self.bounds: dict[str, tuple[float, float]] = {}

    def fit(self, table: pd.DataFrame) -> "Cleaner_$n":
        for column in NUMERIC:
            self.bounds[column] = (table[column].quantile(self.low), table[column].quantile(self.high))
        return self

    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        table = table.copy()
        for column, (low, high) in self.bounds.items():
            table[column] = table[column].clip(low, high)
        return table
""",
    """
def evaluate_$n($frame: pd.DataFrame) -> float:
    X, y = $frame[NUMERIC], $frame[TARGET]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=$n)
    scaler = $scaler().fit(X_train)
    model = $model(random_state=$n)
    model.fit(scaler.transform(X_train), y_train)
    predicted = model.predict(scaler.transform(X_test))
    logger.info("accuracy %.3f, F1 %.3f", accuracy_score(y_test, predicted), f1_score(y_test, predicted))
    return accuracy_score(y_test, predicted)
""",
    """
def evaluate_scaled_$n($frame: pd.DataFrame) -> float:
    values = $scaler().fit_transform($frame[NUMERIC])
    X_train, X_test, y_train, y_test = train_test_split(values, $frame[TARGET], random_state=$n)
    model = LogisticRegression(C=0.1, max_iter=500).fit(X_train, y_train)
    return roc_auc_score(y_test, model.predict_proba(X_test)[:, 1])
""",
    """
def cross_validate_$n($frame: pd.DataFrame) -> dict[str, float]:
    X, y = $frame[NUMERIC].to_numpy(), $frame[TARGET].to_numpy()
    scores = []
    for fold, (train, test) in enumerate(KFold(5, shuffle=True, random_state=$n).split(X)):
        imputer = SimpleImputer(strategy="median")
        X_train, X_test = imputer.fit_transform(X[train]), imputer.transform(X[test])
        model = $model(n_estimators=200, random_state=fold)
        model.fit(X_train, y[train])
        scores.append(model.score(X_test, y[test]))
        logger.info("fold %d: %.3f", fold, scores[-1])
    return {"mean": float(np.mean(scores)), "std": float(np.std(scores))}
""",
    """
def search_$n($frame: pd.DataFrame) -> float:
    best = 0.0
    for depth in (2, 4, 8):
        for trees in (50, 100):
            model = $model(max_depth=depth, n_estimators=trees)
            steps = Pipeline([("impute", SimpleImputer()), ("scale", $scaler()), ("model", model)])
            scores = cross_val_score(steps, $frame[NUMERIC], $frame[TARGET], cv=3)
            if scores.mean() > best:
                best = scores.mean()
                print(f"depth={depth} trees={trees}: {best:.3f}")
    return best
""",
    """
def report_$n($frame: pd.DataFrame, file: Path) -> None:
    summary = $frame.groupby("$c")[NUMERIC[0]].agg(["mean", "std", "count"])
    lines = [f"{name}: {row['mean']:.2f} ({int(row['count'])})" for name, row in summary.iterrows()]
    share = {key: round(value / len($frame), 3) for key, value in $frame["$c"].value_counts().items()}
    try:
        file.write_text("\\n".join(lines) + f"\\n{share}\\n", encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"can't write {file}: {error}") from error
""",
)

_SKLEARN_TAIL = """

def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    $frame = pd.read_csv(options.folder / "$frame.csv")
    train, test = train_test_split($frame, test_size=0.2, random_state=options.seed)
    median = train[NUMERIC].median()
    train, test = train.fillna(median), test.fillna(median)
    model = $model(random_state=options.seed).fit(train[NUMERIC], train[TARGET])
    print("accuracy", model.score(test[NUMERIC], test[TARGET]))


if __name__ == "__main__":
    main()
"""

_TORCH_HEAD = """\
\"\"\"A network that predicts $target.\"\"\"

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

BATCH = 64
"""

_TORCH_PARTS = (
    """
class Network_$n(nn.Module):
    def __init__(self, inputs: int, hidden: int = 128, classes: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(0.2), nn.Linear(hidden, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x.flatten(1))
""",
    """
def loaders_$n(file: str) -> tuple[DataLoader, DataLoader, DataLoader]:
    $frame = np.load(file)
    features = torch.tensor($frame["$a"], dtype=torch.float32)
    labels = torch.tensor($frame["$target"], dtype=torch.long)
    dataset = TensorDataset(features, labels)
    size = int(0.7 * len(dataset))
    rest = (len(dataset) - size) // 2
    train, valid, test = random_split(dataset, [size, rest, len(dataset) - size - rest])
    return DataLoader(train, BATCH, shuffle=True), DataLoader(valid, BATCH), DataLoader(test, BATCH)
""",
    """
def epoch_$n(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    total = 0.0
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)
""",
    """
@torch.no_grad()
def accuracy_$n(model: nn.Module, loader: DataLoader) -> float:
    model.eval()
    right = 0
    for inputs, labels in loader:
        right += (model(inputs).argmax(dim=1) == labels).sum().item()
    return right / len(loader.dataset)
""",
    """
def fit_$n(model: nn.Module, train: DataLoader, valid: DataLoader, test: DataLoader, epochs: int = 30) -> float:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best, state = 0.0, None
    for epoch in range(epochs):
        for inputs, labels in train:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
        correct = sum((model(x).argmax(1) == y).sum().item() for x, y in valid) / len(valid.dataset)
        print(f"epoch {epoch}: {correct:.3f}")
        if correct > best:
            best, state = correct, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(state)
    return sum((model(x).argmax(1) == y).sum().item() for x, y in test) / len(test.dataset)
""",
)

_SKLEARN = (_SKLEARN_HEAD, _SKLEARN_PARTS, _SKLEARN_TAIL)
_TORCH = (_TORCH_HEAD, _TORCH_PARTS, "")

_PLAIN_HEAD = '"""Keeps the records of $frame."""\n\nfrom __future__ import annotations\n\nimport json\nimport os\n'
_PLAIN_PARTS = (
    """
class Record_$n:
    def __init__(self, $a: int, $b: str) -> None:
        self.$a = $a
        self.$b = $b

    def as_text(self) -> str:
        return json.dumps({"$a": self.$a, "$b": self.$b}, sort_keys=True)
""",
    """
def read_$n(path: str) -> list[dict[str, object]]:
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                found.append(json.loads(line))
    return found
""",
    """
def newest_$n(folder: str) -> str | None:
    names = [name for name in os.listdir(folder) if name.endswith(".$c")]
    return max(names, key=lambda name: os.path.getmtime(os.path.join(folder, name)), default=None)
""",
)


def write_ml_scripts(folder: Path, files: int, seed: int = 0) -> int:
    """Write scripts that use scikit-learn, pandas, NumPy and PyTorch; a third of them hold a leak.

    Returns
    -------
    int
        Lines written.
    """
    return _write(folder, files, random.Random(seed), _ml_script)


def write_plain_modules(folder: Path, files: int, seed: int = 0) -> int:
    """Write modules that name no library the tables know, in nested folders; return the lines written."""
    return _write(folder, files, random.Random(seed), _plain_module)


def _write(folder: Path, files: int, draw: random.Random, make: Callable[[random.Random], str]) -> int:
    lines = 0
    for number in range(files):
        file = folder / f"part{number % 40:02}" / f"module{number:04}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = make(draw)
        file.write_text(text, encoding="utf-8")
        lines += text.count("\n")
    return lines


def _ml_script(draw: random.Random) -> str:
    head, parts, tail = draw.choices((_SKLEARN, _TORCH), weights=(3, 1))[0]
    names = _some_names(draw)
    chosen = draw.choices(parts, k=draw.randint(6, 14))
    body = [Template(part).substitute(names, n=number) for number, part in enumerate(chosen)]
    return "\n".join([Template(head).substitute(names), *body]) + Template(tail).substitute(names)


def _plain_module(draw: random.Random) -> str:
    names = _some_names(draw)
    chosen = draw.choices(_PLAIN_PARTS, k=draw.randint(5, 45))  # 200 lines on average, as in large projects
    return "\n".join(
        [Template(_PLAIN_HEAD).substitute(names), *(Template(p).substitute(names, n=n) for n, p in enumerate(chosen))]
    )


def _some_names(draw: random.Random) -> dict[str, str]:
    a, b, c = draw.sample(_COLUMNS, 3)
    return {
        "frame": draw.choice(_NAMES),
        "target": draw.choice(_TARGETS),
        "scaler": draw.choice(_SCALERS),
        "model": draw.choice(_MODELS),
        "a": a,
        "b": b,
        "c": c,
    }
