"""A small data set as it would be released: with a fault for each rule of the audit, and without any."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

import leakcheck
from leakcheck.cli import main

DATA = Path(__file__).parents[2] / "fixtures" / "data"
OPTIONS = ["--text", "question,note", "--target", "label", "--group", "patient", "--time", "visited", "--contained"]
OPTIONS += ["--prediction-time", "admitted", "--id", "row_id"]
# code, what the message says first, file and first row
PLANTED = [
    ("LK601", "6 of 120 rows of test", "test", 1),
    ("LK601", "6 of 120 rows of test", "test", 1),
    ("LK602", "5 of 120 rows of test", "test", 25),
    ("LK603", "4 of 120 rows of test", "test", 41),
    ("LK604", "2 groups of rows with equal question, note and different `label` (4 rows)", "train", 11),
    ("LK605", "5 of 320 rows of train repeat", "train", 102),
    ("LK701", "3 of 320 rows of train", "train", 201),
    ("LK702", "8 of 120 rows of test", "test", 61),
    ("LK703", "column `outcome_code` is one to one", "train", 1),
    ("LK704", "the identifier `row_id` predicts", "train", 1),
    ("LK705", "from `question` alone", "train", 1),
    ("LK706", "a simple model tells rows of test from train", "test", 1),
    ("LK707", "6 of 120 rows of test have a `reported` later", "test", 101),
]


def test_every_planted_fault_is_found_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(DATA / "clinic-leaky"), *OPTIONS, "--output-format", "json"]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    found = sorted(findings, key=lambda one: one["code"])
    places = [(one["code"], Path(one["location"]["path"]).stem, one["location"]["line"]) for one in found]
    assert places == [(code, file, row) for code, _, file, row in PLANTED]
    assert all(one["message"].startswith(said) for one, (_, said, _, _) in zip(found, PLANTED, strict=True))


def test_nothing_is_found_without_faults(capsys: pytest.CaptureFixture[str]) -> None:
    train, test = (str(DATA / "clinic" / f"{name}.parquet") for name in ("train", "test"))
    assert main(["audit", train, test, *OPTIONS]) == 0
    assert "0 findings in train 320 rows, test 120 rows" in capsys.readouterr().out


def test_clean_splits_of_the_leaky_set_hold_no_copies(tmp_path: Path) -> None:
    assert main(["audit", str(DATA / "clinic-leaky"), *OPTIONS, "--write-clean", str(tmp_path / "clean"), "-q"]) == 1
    paths = [tmp_path / "clean" / f"{name}.parquet" for name in ("train", "test")]
    result = leakcheck.audit(*paths, text=["question", "note"], ids="row_id", contained=True)
    assert not {"LK601", "LK602", "LK603"} & set(result.by_code)
    assert result.rows == {"train": 320, "test": 120 - 6 - 5 - 4}


def test_the_script_makes_these_tables(tmp_path: Path) -> None:
    import pandas as pd

    spec = importlib.util.spec_from_file_location("make_clinic", DATA / "make_clinic.py")
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.main(tmp_path)
    for file in sorted(DATA.rglob("*.parquet")):
        made = tmp_path / file.relative_to(DATA)
        pd.testing.assert_frame_equal(pd.read_parquet(made), pd.read_parquet(file))
