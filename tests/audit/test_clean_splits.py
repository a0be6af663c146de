"""`--write-clean`: the folder appears whole or not at all, and rows stay what they were."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from leakcheck.cli import main

TRAIN = pa.table(
    {
        "text": ["the cat sat on the mat", "all birds can sing in spring"],
        "votes": pa.array([3, None], pa.int16()),
        "tags": pa.array([["a", "b"], []], pa.list_(pa.string())),
        "price": pa.array([None, None], pa.decimal128(8, 2)),
    }
)
TEST = pa.table(
    {
        "text": ["the cat sat on the mat", "something else to be said here", "nobody is at home"],
        "votes": pa.array([3, None, 7], pa.int16()),
        "tags": pa.array([["a", "b"], ["c"], None], pa.list_(pa.string())),
        "price": pa.array([None, None, None], pa.decimal128(8, 2)),
    }
)


@pytest.fixture
def splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, table in (("train", TRAIN), ("test", TEST)):
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(*arguments: str) -> int:
    return main(["audit", *arguments, "--text", "text", "-q", "--output-format", "concise"])


def test_rows_that_leak_are_left_out_and_the_rest_keeps_its_types(splits: Path) -> None:
    assert audit("train.parquet", "test.parquet", "--write-clean", "out/clean") == 1
    assert pyarrow.parquet.read_table("out/clean/train.parquet").equals(TRAIN)
    assert pyarrow.parquet.read_table("out/clean/test.parquet").equals(TEST.slice(1))
    assert audit("out/clean/train.parquet", "out/clean/test.parquet") == 0


def test_the_manifest_says_what_was_dropped_from_what(splits: Path) -> None:
    audit("train.parquet", "test.parquet", "--write-clean", "clean")
    train, test = json.loads(Path("clean/manifest.json").read_text())["splits"]
    assert (train["rows"], train["dropped"]) == (2, [])
    assert (test["rows"], test["sources"], test["dropped"]) == (
        2,
        ["test.parquet"],
        [{"file": "test.parquet", "row": 1}],
    )
    assert test["sha256"] == hashlib.sha256(Path("clean/test.parquet").read_bytes()).hexdigest()


def test_only_a_new_folder_is_written_and_that_is_said_before_the_work(
    splits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in (".", "train.parquet"):
        assert audit("train.parquet", "test.parquet", "--write-clean", target) == 2
        shown = capsys.readouterr()
        assert "the folder for the clean splits must be new" in shown.err
        assert shown.out == ""
    Path("empty").mkdir()
    assert audit("train.parquet", "test.parquet", "--write-clean", "empty") == 1
    assert sorted(file.name for file in Path("empty").iterdir()) == ["manifest.json", "test.parquet", "train.parquet"]


def test_names_of_splits_cannot_lead_elsewhere(splits: Path) -> None:
    """The names come from a column of the data."""
    rows = ["../up", "a/b", "A/b", "a_b", ".."]
    frame = pd.DataFrame({"split": rows, "text": [f"a text of its own for row {i} and no more {i}" for i in range(5)]})
    frame.to_csv("all.csv", index=False)
    assert audit("all.csv", "--split-column", "split", "--write-clean", "deep/clean") in (0, 1)
    written = sorted(file.name for file in Path("deep/clean").iterdir())
    assert written == ["A_b.parquet", "__.parquet", "___up.parquet", "a_b-2.parquet", "a_b-3.parquet", "manifest.json"]
    assert sorted(file.name for file in Path().iterdir()) == ["all.csv", "deep", "test.parquet", "train.parquet"]
    kept = {one["split"]: one["file"] for one in json.loads(Path("deep/clean/manifest.json").read_text())["splits"]}
    assert set(kept) == {"../up", "a/b", "A/b", "a_b", ".."}
    assert "split" not in pd.read_parquet(Path("deep/clean") / kept["a/b"]).columns


def test_shards_that_do_not_fit_together_are_one_message(splits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("train").mkdir()
    Path("train/0.csv").write_text("text,votes\nsome words to be compared here,1\n")
    Path("train/1.jsonl").write_text('{"text": "other words to be compared here", "votes": [1]}\n')
    assert audit("train", "test.parquet", "--write-clean", "clean") == 2
    shown = capsys.readouterr().err
    assert "the files of the split 'train' don't fit together" in shown
    assert shown.count("\n") == 1
    assert not Path("clean").exists()
    assert not list(Path().glob(".clean-*"))


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("killed_at", [1, 2])
def test_a_killed_run_leaves_no_half_written_folder(killed_at: int, splits: Path) -> None:
    before = {file: file.read_bytes() for file in splits.glob("*.parquet")}
    script = f"""
import os, signal
import pyarrow.parquet
from leakcheck.cli import main

real, calls = pyarrow.parquet.write_table, []

def write_half(table, file):
    real(table, file)
    calls.append(file)
    if len(calls) == {killed_at}:
        os.truncate(file, os.path.getsize(file) // 2)
        os.kill(os.getpid(), signal.SIGKILL)

pyarrow.parquet.write_table = write_half
main(["audit", "train.parquet", "test.parquet", "--text", "text", "--write-clean", "clean"])
"""
    killed = subprocess.run([sys.executable, "-c", script], cwd=splits, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert not (splits / "clean").exists()
    assert {file: file.read_bytes() for file in splits.glob("*.parquet")} == before
    # and the next run is not in its way
    assert audit("train.parquet", "test.parquet", "--write-clean", "clean") == 1
    assert pyarrow.parquet.read_table("clean/test.parquet").num_rows == 2


def test_other_people_can_read_the_folder(splits: Path) -> None:
    umask = os.umask(0o022)
    try:
        audit("train.parquet", "test.parquet", "--write-clean", "clean")
    finally:
        os.umask(umask)
    assert Path("clean").stat().st_mode & 0o777 == 0o755
