"""A data set declared in the configuration is audited as the command would, and a bad table is one message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import leakcheck
from leakcheck.audit.declared import audit_declared
from leakcheck.audit.result import AuditResult
from leakcheck.cli import main
from leakcheck.errors import LeakcheckError

ROOT = Path(__file__).parents[2]
CLINIC = {
    "id": "clinic",
    "splits": {"train": "clinic-leaky/train.parquet", "test": ["clinic-leaky/te*.parquet"]},
    "text": ["question", "note"],
    "target": "label",
    "group": ["patient"],
    "time": "visited",
    "prediction-time": "admitted",
    "gap": "7d",
    "id-columns": "row_id",
    "threshold": 0.7,
    "contained": True,
    "shingle": "words:3",
    "method": "exact",
}


def declared(table: dict[str, Any], root: Path = ROOT / "fixtures" / "data") -> AuditResult:
    return audit_declared(table, root, lambda what, done, total: None)


def test_every_key_reaches_the_audit() -> None:
    found = declared(CLINIC)
    folder = ROOT / "fixtures" / "data" / "clinic-leaky"
    same = leakcheck.audit(
        folder / "train.parquet",
        folder / "test.parquet",
        text=["question", "note"],
        target="label",
        group="patient",
        time="visited",
        prediction_time="admitted",
        gap="7d",
        ids="row_id",
        threshold=0.7,
        contained=True,
        shingle="words:3",
        method="exact",
    )
    assert [(one.code, one.message) for one in found.findings] == [(one.code, one.message) for one in same.findings]
    assert found.options == same.options
    assert len(found.by_code) == 12


def test_paths_are_relative_to_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    for name in ("train", "dev", "test"):
        (tmp_path / "data" / f"{name}.csv").write_text(f"text\na sentence that stands in {name} only\n")
    monkeypatch.chdir(tmp_path / "data")
    table = {"splits": {"test": "data/test.csv", "dev": "data/dev.csv", "train": "data/train.csv"}, "text": "text"}
    assert list(declared(table, tmp_path).rows) == ["train", "dev", "test"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"targt": "label"}, "unknown key 'targt'"),
    ({"splits": {"train": "clinic/train.parquet"}}, "`splits` names two splits at least"),
    ({"splits": ["clinic/train.parquet", "clinic/test.parquet"]}, "`splits` names two splits at least"),
    (
        {"splits": {"train": 1, "test": "clinic/test.parquet"}},
        r"`splits.train` is not usable \(expected a text or a list",
    ),
    ({"splits": {"train": "absent.csv", "test": "clinic/test.parquet"}}, "no data file there"),
    ({"splits": {"train": [], "test": "clinic/test.parquet"}}, "the split 'train' has no files"),
    ({"text": 3}, "`text` is not usable"),
    ({"text": "absent"}, "has no column 'absent'"),
    ({"target": ["label"]}, r"`target` is not usable \(expected a text"),
    ({"gap": 7}, "`gap` is not usable"),
    ({"gap": "soon"}, "can't read the gap"),
    ({"threshold": "high"}, r"`threshold` is not usable \(expected a number"),
    ({"threshold": 1.5}, "the threshold is a similarity"),
    ({"contained": "yes"}, r"`contained` is not usable \(expected true or false"),
    ({"shingle": "letters"}, "cannot read the shingle"),
    ({"method": "fast"}, "unknown method"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_a_bad_table_is_one_message(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LeakcheckError, match=said) as raised:
        declared({**CLINIC, **change})
    assert "\n" not in str(raised.value)


def test_scan_reports_what_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("train", "test"):
        (tmp_path / f"{name}.csv").write_text(
            "text,user\na sentence that stands in both splits,ann\n" + f"{name} x y z,b\n"
        )
    splits = 'splits = { train = "train.csv", test = "test.csv" }'
    table = f'[[datasets]]\nid = "release"\n{splits}\ntext = "text"\ngroup = "user"\n'
    (tmp_path / "leakcheck.toml").write_text(table)
    monkeypatch.chdir(tmp_path)
    assert main(["scan", "--output-format", "concise"]) == 1
    shown = capsys.readouterr().out
    assert "test.csv:row 1: LK601" in shown
    assert "test.csv:row 1: LK702" in shown


def test_a_claim_says_that_its_data_could_not_be_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs.csv").write_text("seed,a,b\n" + "".join(f"{i},0.{50 + i},0.{60 + 2 * i}\n" for i in range(8)))
    claim = 'results = "runs.csv"\na = "a"\nb = "b"\nmetric = "accuracy"\ndirection = "higher"\npair = "seed"\n'
    (tmp_path / "leakcheck.toml").write_text(
        '[[datasets]]\nid = "release"\nsplits = { train = "absent.csv", test = "absent.csv" }\n'
        f'[[claims]]\nid = "named"\n{claim}datasets = ["release"]\n[[claims]]\nid = "unnamed"\n{claim}'
    )
    monkeypatch.chdir(tmp_path)
    assert main(["scan"]) == 2
    said = capsys.readouterr().err
    assert "data set 'release' cannot be audited" in said
    assert said.count("judged without it: 'named', 'unnamed'") == 1
