"""Files read in batches, with long texts on disk, give what the same files give when they are read whole."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from leakcheck.audit import batches, texts
from leakcheck.audit.long_texts import LongTextDtype, LongTexts, texts_of
from leakcheck.audit.splits import read_split
from leakcheck.cli import main
from leakcheck.errors import LeakcheckError

KINDS = ["csv", "csv.gz", "tsv", "jsonl", "parquet", "feather"]


def table(rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    words = [f"{word}{i}" for i in range(300) for word in ("plain", "naïve", "ﬁne", "“quoted”", 'a,"b"\nc')]
    frame = pd.DataFrame(
        {
            "number": np.arange(rows),
            "float_at_last": [*range(rows - 1), 0.5],
            "gap": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "day": pd.date_range("2020-01-01", periods=rows, freq="D").strftime("%Y-%m-%d"),
            "note": [" ".join(rng.choice(words, 20)) for _ in range(rows)],
            "label": rng.choice(["yes", "no"], rows),
        }
    )
    frame.loc[::50, "note"] = None
    frame["late"] = [None] * (rows - 1) + ["there"]
    return frame


def write(frame: pd.DataFrame, path: Path) -> Path:
    kind = path.name.split(".", 1)[1]
    if kind == "csv.gz":
        with gzip.open(path, "wt", encoding="utf-8") as file:
            frame.to_csv(file, index=False)
    elif kind in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=300)
    else:
        pyarrow.feather.write_feather(frame, path, chunksize=300)
    return path


@pytest.fixture
def in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "WHOLE_BYTES", 0)
    monkeypatch.setattr(batches, "_BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr(texts, "MEMORY_BYTES", 20_000)


def values(column: pd.Series) -> list[object]:
    return [None if pd.isna(value) else value for value in column.astype(object)]


@pytest.mark.parametrize("kind", KINDS)
def test_batches_give_the_frame_of_the_whole_file(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    write(table(), tmp_path / f"one.{kind}")
    write(table(seed=1).drop(columns="note"), tmp_path / f"three.{kind}")
    write(table(seed=2), tmp_path / f"two.{kind}")
    given = [f"one.{kind}", f"three.{kind}", f"two.{kind}"]
    whole = read_split("train", given, tmp_path)
    request.getfixturevalue("in_batches")
    assert len(list(batches.read_batches(tmp_path / given[0], given[0]))) > 1
    split = read_split("train", given, tmp_path)
    assert isinstance(split.frame["note"].dtype, LongTextDtype)
    assert list(split.frame) == list(whole.frame)
    for column in whole.frame:
        assert values(split.frame[column]) == values(whole.frame[column]), column
    others = whole.frame.columns.drop("note")
    assert (split.frame.dtypes[others] == whole.frame.dtypes[others]).all()
    assert split.place(4100) == whole.place(4100)
    normal, expected = texts_of(split.frame["note"]), texts_of(whole.frame["note"])
    assert [normal.text(row) for row in range(len(split))] == [expected.text(row) for row in range(len(split))]


@pytest.mark.parametrize("kind", KINDS)
def test_the_audit_finds_the_same_in_batches(
    kind: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    train, test = table(), table(600, seed=1)
    test.loc[:9, "note"] = train.loc[5:14, "note"].to_numpy()
    test.loc[20:29, "note"] = (train.loc[101:110, "note"] + " changed").to_numpy()
    write(train, tmp_path / f"train.{kind}")
    write(test, tmp_path / f"test.{kind}")
    arguments = [
        "audit",
        f"train.{kind}",
        f"test.{kind}",
        "--target",
        "label",
        "--contained",
        "--output-format",
        "json",
    ]
    main(arguments)
    whole = json.loads(capsys.readouterr().out)
    request.getfixturevalue("in_batches")
    main(arguments)
    assert json.loads(capsys.readouterr().out) == whole
    assert {"LK601", "LK602"} <= {finding["code"] for finding in whole["findings"]}


def test_a_column_names_the_splits_of_a_table_in_batches(
    tmp_path: Path, in_batches: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame["part"] = ["train"] * 1500 + ["test"] * 500
    frame.loc[1600:1609, "note"] = frame.loc[101:110, "note"].to_numpy()
    write(frame, tmp_path / "all.parquet")
    assert main(["audit", "all.parquet", "--split-column", "part", "--output-format", "concise"]) == 1
    assert "10 of 500 rows of test" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "last", "dtype"),
    [
        ("a.csv", "not a number,x\n", "string"),
        ("a.csv", "true,x\n", "string"),  # with whole numbers before it, neither true and false nor numbers
        ("a.jsonl", '{"v": 2.5, "w": "x", "new": {"deep": [1]}}\n', "float64"),
        ("d.jsonl", '{"v": "no date", "w": "x"}\n', "string"),
    ],
)
def test_types_are_those_of_the_whole_file(
    name: str, last: str, dtype: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    first = {"a.csv": "5,x\n", "a.jsonl": '{"v": 5, "w": "x"}\n', "d.jsonl": '{"v": "2020-01-01", "w": "x"}\n'}[name]
    (tmp_path / name).write_text(("v,w\n" if name == "a.csv" else "") + first * 30_000 + last)
    whole = read_split("train", [name], tmp_path).frame
    request.getfixturevalue("in_batches")
    frame = read_split("train", [name], tmp_path).frame
    assert (frame.dtypes == whole.dtypes).all()
    assert pd.api.types.pandas_dtype(dtype).kind == frame["v"].dtype.kind
    assert values(frame["v"]) == values(whole["v"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cut.csv", b"a,b\n" + b"1,2\n" * 30_000 + b"3\n", "row 30001"),
        ("latin.csv", b"a,b\n" + b"1,2\n" * 30_000 + b"caf\xe9,2\n", "not UTF-8"),
        ("bad.jsonl", b'{"a": 1}\n' * 30_000 + b'{"a": \n', "bad.jsonl"),
        ("mixed.jsonl", b'{"a": 1}\n' * 30_000 + b'{"a": "x"}\n', "row 30001"),
        ("twice.csv", b"a,a\n" + b"1,2\n" * 30_000, "same name"),
    ],
)
def test_a_fault_far_into_a_file_is_said_with_its_place(
    name: str, content: bytes, said: str, tmp_path: Path, in_batches: None
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LeakcheckError, match=said):
        read_split("train", [name], tmp_path)


def test_texts_of_parquet_that_are_not_utf8_are_said(tmp_path: Path, in_batches: None) -> None:
    column = pa.array([b"fine words"] * 1000 + [b"caf\xe9"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), len(column), column.buffers())
    pa.parquet.write_table(pa.table({"note": column}), tmp_path / "a.parquet")
    with pytest.raises(LeakcheckError, match="UTF"):
        read_split("train", ["a.parquet"], tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_temporary_folder_is_one_message(
    tmp_path: Path, in_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "wb", buffering=0))  # noqa: SIM115
    write(table(), tmp_path / "a.csv")
    with pytest.raises(LeakcheckError, match="temporary folder: No space left"):
        read_split("train", ["a.csv"], tmp_path)


def test_texts_of_arrow_that_are_not_utf8_are_said(tmp_path: Path, in_batches: None) -> None:
    column = pa.array([b"fine words"] * 1000 + [b"caf\xe9"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), len(column), column.buffers())
    pyarrow.feather.write_feather(pa.table({"note": column}), tmp_path / "a.feather")
    with pytest.raises(LeakcheckError, match="UTF"):
        read_split("train", ["a.feather"], tmp_path)


def test_long_texts_behave_as_a_column() -> None:
    given = ["ﬁrst", None, "", "last"]
    column = pd.Series(LongTexts._from_sequence(given))
    assert values(column) == given
    assert values(column[[3, 0]]) == ["last", "ﬁrst"]
    assert values(column[column.isna()]) == [None]
    assert column.iat[-1] == "last"
    assert values(column.reindex([3, 9])) == ["last", None]
    assert values(pd.concat([column, column.iloc[::-1]])) == given + given[::-1]
    assert [texts_of(column).text(row) for row in range(4)] == ["first", "", "", "last"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_memory_does_not_grow_with_the_texts(tmp_path: Path) -> None:
    """Ten times longer texts, 200 MB more, take less than 120 MB more (the allocator keeps some)."""
    for name, length in (("short.parquet", 100), ("long.parquet", 1000)):
        pool = [" ".join(f"word{i * j % 9973}" for j in range(length)) for i in range(200)]
        with pa.parquet.ParquetWriter(tmp_path / name, pa.schema([("note", pa.string())])) as writer:
            for low in range(0, 25_000, 1000):
                rows = [f"{row} {pool[row % 200]}" for row in range(low, low + 1000)]
                writer.write_table(pa.table({"note": rows}), row_group_size=1000)
    code = (
        "import sys; from pathlib import Path; from leakcheck.audit.splits import read_split;"
        "split = read_split('train', [sys.argv[1]], Path('.'));"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    peaks = [
        int(subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], capture_output=True, check=True).stdout)
        for name in ("short.parquet", "long.parquet")
    ]
    assert peaks[1] - peaks[0] < 120_000
