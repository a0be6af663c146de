"""Result files as people's tools write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest

Compare = Callable[..., tuple[int, str, str]]

A = (0.80, 0.80, 0.81, 0.80, 0.81)
B = (0.83, 0.82, 0.85, 0.81, 0.84)
SUPPORTED = "[0.01184, 0.04016] (95 %, decides)"


def wide_rows() -> list[dict[str, float]]:
    return [{"id": seed, "a": a, "b": b} for seed, (a, b) in enumerate(zip(A, B, strict=True), start=1)]


def test_json_lines(compare: Compare) -> None:
    Path("runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in wide_rows()))
    assert SUPPORTED in compare("runs.jsonl", "--threshold", "0.01")[1]


def test_json_list(compare: Compare) -> None:
    Path("runs.json").write_text(json.dumps(wide_rows()))
    assert SUPPORTED in compare("runs.json", "--threshold", "0.01")[1]


def test_parquet(compare: Compare) -> None:
    pandas.DataFrame(wide_rows()).to_parquet("runs.parquet")
    assert SUPPORTED in compare("runs.parquet", "--threshold", "0.01")[1]


def test_float32_keeps_its_decimals(compare: Compare) -> None:
    pandas.DataFrame(wide_rows()).astype({"a": "float32", "b": "float32"}).to_parquet("runs.parquet")
    assert "0.026" in compare("runs.parquet", "--threshold", "0.01")[1]


@pytest.mark.parametrize(("suffix", "mark"), [("csv", ";"), ("tsv", "\t"), ("csv", ",")])
def test_other_delimiters_and_a_byte_order_mark(compare: Compare, suffix: str, mark: str) -> None:
    lines = [mark.join(("id", "a", "b")), *(mark.join(map(str, row.values())) for row in wide_rows())]
    Path(f"runs.{suffix}").write_text("\r\n".join(lines), encoding="utf-8-sig")
    assert SUPPORTED in compare(f"runs.{suffix}", "--threshold", "0.01")[1]


def test_mlflow_table_of_runs(compare: Compare) -> None:
    rows = [
        {
            "run_id": f"{model}{seed}",
            "status": "FINISHED",
            "params.model": model,
            "params.seed": seed,
            "metrics.acc": value,
        }
        for model, values in (("base", A), ("ours", B))
        for seed, value in enumerate(values)
    ]
    pandas.DataFrame(rows).to_csv("runs.csv")
    _, out, _ = compare(
        "runs.csv", "--a", "base", "--b", "ours", "--metric", "acc", "--pair", "seed", "--threshold", "0.01"
    )
    assert SUPPORTED in out


def test_weights_and_biases_table_of_runs(compare: Compare) -> None:
    rows = [
        {
            "Name": f"{model}-{seed}",
            "State": "finished",
            "Runtime": 12,
            "model": model,
            "seed": seed,
            "test/accuracy": value,
        }
        for model, values in (("base", A), ("ours", B))
        for seed, value in enumerate(values)
    ]
    pandas.DataFrame(rows).to_csv("wandb.csv", index=False)
    arguments = ("--a", "base", "--b", "ours", "--metric", "test/accuracy", "--pair", "seed", "--threshold", "0.01")
    assert SUPPORTED in compare("wandb.csv", *arguments)[1]


def test_chart_export_is_refused(compare: Compare) -> None:
    Path("chart.csv").write_text("Step,ours - accuracy,ours - accuracy__MIN\n1,0.5,0.5\n2,0.6,0.6\n")
    status, _, err = compare("chart.csv", "--a", "ours", "--b", "base", "--metric", "accuracy")
    assert status == 2
    assert "steps of one run" in err


@pytest.fixture
def search() -> pandas.DataFrame:
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    x, y = load_iris(return_X_y=True)
    noisy = x + np.random.default_rng(0).normal(0, 1.0, x.shape)
    found = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.0001, 0.01, 1.0]}, cv=5).fit(noisy, y)
    return pandas.DataFrame(found.cv_results_)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_folds_of_a_search_get_the_corrected_t(compare: Compare, search: pandas.DataFrame, suffix: str) -> None:
    if suffix == "csv":
        search.to_csv("search.csv", index=False)
    else:
        Path("search.json").write_text(json.dumps(search.drop(columns="params").to_dict("list")))
    _, out, _ = compare(f"search.{suffix}", "--a", "C=0.0001", "--b", "C=1.0", "--threshold", "0.01")
    folds = [f"split{fold}_test_score" for fold in range(5)]
    differences = (search[folds].iloc[2] - search[folds].iloc[0]).to_numpy(float)
    error = differences.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    low = differences.mean() - 2.776445 * error
    assert "corrected resampled t interval" in out
    assert f"[{low:.4g}, " in out
    assert "percentile bootstrap" not in out
    assert "Folds share most of their training rows" in out


def test_best_candidate_of_a_search_is_the_best_of_k(compare: Compare, search: pandas.DataFrame) -> None:
    search.to_csv("search.csv", index=False)
    _, out, _ = compare("search.csv", "--a", "0", "--b", "C=1.0", "--threshold", "0.01")
    best = int(search["rank_test_score"].iloc[2]) == 1
    assert ("best of 3" in out) == best


def samples(folder: str, correct: list[int]) -> None:
    Path(folder).mkdir(parents=True)
    lines = [{"doc_id": doc, "target": "A", "filtered_resps": ["A"], "acc": value} for doc, value in enumerate(correct)]
    file = Path(folder, "samples_arc_easy_2026-10-01T10-00-00.123456.jsonl")
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path(folder, "results_2026-10-01T10-00-00.123456.json").write_text(json.dumps({"results": {"acc": 0.5}}))


def test_examples_of_one_evaluation_are_one_run(compare: Compare) -> None:
    samples("base", [0, 1] * 500)
    samples("ours", [1, 1] * 500)
    status, out, _ = compare("base", "ours", "--metric", "acc", "--threshold", "0.01", "--a", "base", "--b", "ours")
    assert status == 1
    assert "1 paired run" in out
    assert "1000 in 1 runs" in out
    assert "LK802" in out


def test_sample_logs_of_several_runs(compare: Compare) -> None:
    for seed in range(4):
        samples(f"base/seed{seed}", [int((doc + seed) % 3 > 0) for doc in range(60)])
        samples(f"ours/seed{seed}", [int((doc + seed) % (5 + seed) > 0) for doc in range(60)])
    status, out, _ = compare("base", "ours", "--metric", "acc", "--threshold", "0.01", "--a", "base", "--b", "ours")
    assert status == 0
    assert "4 paired runs, paired by run and document" in out
    assert "240 in 4 runs" in out


def test_sample_logs_of_other_documents_are_refused(compare: Compare) -> None:
    samples("base", [0, 1, 1])
    samples("ours", [0, 1])
    status, _, err = compare("base", "ours", "--metric", "acc", "--a", "base", "--b", "ours")
    assert status == 2
    assert "1 id of 'base' has no row of 'ours': 2" in err


CARD = """---
license: mit
model-index:
- name: {name}
  results:
  - task: {{type: text-classification}}
    dataset: {{name: imdb, type: imdb}}
    metrics:
    - type: accuracy
      value: {value}
    - type: f1
      value: 0.5
---
# {name}
"""


def test_model_cards_are_one_run_each(compare: Compare) -> None:
    Path("base.md").write_text(CARD.format(name="base", value=91.0))
    Path("ours.md").write_text(CARD.format(name="ours", value=91.8))
    arguments = ("--metric", "accuracy", "--unit", "points", "--threshold", "0.5", "--a", "base", "--b", "ours")
    status, out, _ = compare("base.md", "ours.md", *arguments)
    assert status == 1
    assert "0.8 percentage points" in out
    assert "LK802" in out


def test_model_card_without_the_metric(compare: Compare) -> None:
    Path("base.md").write_text("# just a readme\n")
    Path("ours.md").write_text(CARD.format(name="ours", value="'n/a'"))
    assert "no YAML front matter" in compare("base.md", "ours.md", "--metric", "accuracy")[2]
    assert "found 'n/a'" in compare("ours.md", "base.md", "--metric", "accuracy")[2]
    assert "found none" in compare("ours.md", "base.md", "--metric", "bleu")[2]


def test_dvc_metrics_are_one_run_each(compare: Compare) -> None:
    Path("old.json").write_text(json.dumps({"eval": {"accuracy": 0.80, "loss": 0.4}}))
    Path("new.json").write_text(json.dumps({"eval": {"accuracy": 0.83, "loss": 0.3}}))
    status, out, _ = compare("old.json", "new.json", "--metric", "eval.accuracy", "--threshold", "0.01")
    assert status == 1
    assert "mean difference         0.03\n" in out
    assert "LK802" in out


def test_dvc_metrics_diff(compare: Compare) -> None:
    diff = {"metrics.json": {"eval": {"accuracy": {"old": 0.80, "new": 0.83, "diff": 0.03}}}}
    Path("diff.json").write_text(json.dumps(diff))
    status, out, _ = compare("diff.json", "--a", "old", "--b", "new", "--metric", "accuracy", "--threshold", "0.01")
    assert status == 1
    assert "mean difference         0.03\n" in out


def test_dvc_metrics_of_several_runs_pair_by_what_differs(compare: Compare) -> None:
    for method, values in (("base", A), ("ours", B)):
        for seed, value in enumerate(values):
            Path("runs", method, f"seed{seed}").mkdir(parents=True)
            Path("runs", method, f"seed{seed}", "metrics.json").write_text(json.dumps({"acc": value}))
    _, out, _ = compare(
        "runs/base/*/metrics.json", "runs/ours/*/metrics.json", "--metric", "acc", "--threshold", "0.01"
    )
    assert SUPPORTED in out


def test_card_of_another_shape_is_one_message(compare: Compare) -> None:
    Path("odd.md").write_text("---\nmodel-index:\n- name: a\n  results: [text, {metrics: [1]}]\n---\n")
    status, _, err = compare("odd.md", "odd.md", "--metric", "acc")
    assert status == 2
    assert "found none" in err


def test_missing_extra_is_one_line(compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    import leakcheck.claims.extra as extra

    monkeypatch.setattr(extra, "find_spec", lambda name: None if name == "statsmodels" else object())
    status, out, err = compare("runs.csv")
    assert (status, out) == (2, "")
    assert err == (
        "leakcheck: comparing runs needs statsmodels: install it with pip install 'leakcheck-lint[claims]'\n"
    )
