"""Every kind of file gives the same findings; what can't be read is one message, exit status 2, and nothing written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from leakcheck.cli import main

TRAIN = pd.DataFrame(
    {
        "id": range(6),
        "text": [f"the cat of house {i} sat on the mat in front of door {i}" for i in range(5)] + ["yes"],
        "label": [0, 1, 0, 1, 0, 1],
    }
)
TEST = pd.DataFrame(
    {
        "id": [10, 11, 12],
        "text": [TRAIN["text"][2], "something else that has to be said here", "no, thank you very much indeed"],
        "label": [0, 1, 1],
    }
)


def save_folder(frame: pd.DataFrame, folder: Path, packed: bool) -> None:
    """As `datasets.Dataset.save_to_disk` does, with a file that `map` has cached."""
    folder.mkdir(parents=True)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    name = "data-00000-of-00001.arrow"
    for file in (name, "cache-0123456789abcdef.arrow"):
        with pa.OSFile(str(folder / file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}], "_split": None}))
    (folder / "dataset_info.json").write_text("{}")
    if packed:
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()


def write(frame: pd.DataFrame, file: Path) -> None:
    plain = file.with_suffix("") if file.suffix in (".gz", ".zst") else file
    if plain.suffix in (".csv", ".tsv"):
        frame.to_csv(plain, index=False, sep="\t" if plain.suffix == ".tsv" else ",")
    elif plain.suffix in (".jsonl", ".json"):
        frame.to_json(plain, orient="records", lines=plain.suffix == ".jsonl")
    else:
        (frame.to_parquet if plain.suffix == ".parquet" else frame.to_feather)(plain)
    if file != plain:
        with pa.output_stream(str(file), compression={".gz": "gzip", ".zst": "zstd"}[file.suffix]) as stream:
            stream.write(plain.read_bytes())
        plain.unlink()


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, str, int]]:
    status = main(["audit", *arguments, "--text", "text", "--target", "label", "--output-format", "json"])
    shown = capsys.readouterr()
    assert status == 1, shown.err
    findings = json.loads(shown.out)["findings"]
    return [(one["code"], one["message"].partition(" (all in")[0], one["location"]["line"]) for one in findings]


EXPECTED = [("LK601", "1 of 3 rows of test (33.3 %, 95 % interval 6.1 to 79.2 %) are in train too", 1)]
KINDS = "csv csv.gz csv.zst tsv tsv.gz jsonl jsonl.gz jsonl.zst json json.gz parquet parquet.gz feather arrow arrow.gz"


@pytest.mark.parametrize("kind", KINDS.split())
def test_every_kind_of_file_gives_the_same(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, frame in (("train", TRAIN), ("test", TEST)):
        write(frame, tmp_path / f"{name}.{kind}")
    assert found(capsys, str(tmp_path / f"train.{kind}"), str(tmp_path / f"test.{kind}")) == EXPECTED


@pytest.mark.parametrize("packed", [False, True])
def test_a_saved_data_set_gives_the_same(packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, frame in (("train", TRAIN), ("test", TEST)):
        save_folder(frame, tmp_path / "saved" / name, packed)
    (tmp_path / "saved" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert found(capsys, str(tmp_path / "saved")) == EXPECTED
    assert found(capsys, str(tmp_path / "saved" / "train"), str(tmp_path / "saved" / "test")) == EXPECTED


def test_folders_and_globs_of_shards_give_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train").mkdir()
    write(TRAIN[:2], tmp_path / "train" / "train-0.csv")
    write(TRAIN[2:], tmp_path / "train" / "train-1.parquet")
    write(TEST, tmp_path / "test.jsonl")
    assert found(capsys, str(tmp_path)) == EXPECTED
    assert found(capsys, str(tmp_path / "train"), str(tmp_path / "test.jsonl")) == EXPECTED
    assert found(capsys, "--train", str(tmp_path / "train" / "*"), "--test", str(tmp_path / "test.jsonl")) == EXPECTED


def test_a_folder_of_text_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, texts in {"train": TRAIN["text"], "test": TEST["text"]}.items():
        (tmp_path / name).mkdir()
        for number, text in enumerate(texts):
            (tmp_path / name / f"{number}.txt").write_text(text)
    assert main(["audit", str(tmp_path), "--output-format", "concise"]) == 1
    assert "test/0.txt:row 1: LK601 [error] 1 of 3 rows of test" in capsys.readouterr().out


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.csv").write_bytes(b"\xef\xbb\xbf" + TRAIN.to_csv(index=False).encode())
    write(TEST, tmp_path / "test.csv")
    assert found(capsys, str(tmp_path / "train.csv"), str(tmp_path / "test.csv")) == EXPECTED


ROWS = gzip.compress(b"a,b\n" + b"1,2\n" * 5_000)
WIDTH = "the row has another number of columns than the header"
LATIN = "the file is not UTF-8 (found the byte 0xe9)"
# file, content, the message
BAD = [
    ("short.csv", b"a,b\n1,2\n3\n", f"short.csv, row 2: {WIDTH} (expected 2, found 1: '3')"),
    ("long.csv", b"a,b\n1,2\n3,4,5\n", f"long.csv, row 2: {WIDTH} (expected 2, found 3: '3,4,5')"),
    ("quote.csv", b'a,b\n1,"2\n3,4\n5,6\n', "quote.csv, row 1: a quoted value is not closed"),
    ("latin.csv", "a,b\n1,caf\xe9\n".encode("latin-1"), f"latin.csv, line 2: {LATIN}"),
    ("header.csv", "caf\xe9,b\n1,2\n".encode("latin-1"), "header.csv, line 1: the file is not UTF-8"),
    ("wide.csv", "a,b\n1,2\n".encode("utf-16"), "wide.csv, line 1: the file is not UTF-8"),
    ("latin.jsonl", '{"a": "caf\xe9"}\n'.encode("latin-1"), "latin.jsonl, line 1: the file is not UTF-8"),
    ("latin.txt", "caf\xe9".encode("latin-1"), "latin.txt, line 1: the file is not UTF-8"),
    ("semicolons.csv", b"a;b\n1;2\n", "the columns are separated by semicolons (expected commas, found a;b)"),
    ("twice.csv", b"a,a\n1,2\n", "two columns have the same name (found 'a')"),
    ("header_only.csv", b"a,b\n", "header_only.csv: the split 'train' has no rows"),
    ("empty.csv", b"", "empty.csv: the file is empty (expected rows)"),
    ("empty.json", b"[]", "the split 'train' has no rows"),
    ("cut.csv.gz", ROWS[: len(ROWS) // 2], "cut.csv.gz: can't be read: Compressed file ended before"),
    ("sum.csv.gz", ROWS[:-8] + b"12345678", "sum.csv.gz: can't be read: CRC check failed"),
    ("plain.csv.gz", b"a,b\n1,2\n", "plain.csv.gz: can't be read: Not a gzipped file"),
    ("cut.csv.zst", b"\x28\xb5\x2f\xfdjunk", "cut.csv.zst: can't be read"),
    ("mixed.jsonl", b'{"a": 1, "b": 2}\n{"a": "x", "b": 2}\n', "mixed.jsonl, row 2: can't be read: Column(/a) changed"),
    ("broken.jsonl", b'{"a": 1, "b": 2}\n{"a": 1, "b"\n', "broken.jsonl, row 2: can't be read"),
    ("mixed.json", b'[{"a": 1}, {"a": "x"}]', "mixed.json: can't be read: Could not convert 'x'"),
    ("broken.json", b'[{"a": 1}, {"a": ]', "broken.json: can't be read: Expecting value: line 1 column 18"),
    ("numbers.json", b"[1, 2]", "numbers.json, row 1: the row is no object"),
    ("junk.parquet", b"PAR1 and no more", "junk.parquet: can't be read"),
    ("junk.arrow", b"and no more", "junk.arrow: can't be read"),
    ("model.pkl", b"\x80\x04.", "model.pkl: pickled objects can run code when they are read, so they are refused"),
    ("model.pkl.gz", b"\x1f\x8b", "model.pkl.gz: pickled objects can run code"),
    ("arrays.npz", b"PK", "arrays.npz: pickled objects can run code"),
    ("book.xlsx", b"PK", "book.xlsx: unknown kind of data file"),
    ("others.csv", b"x,y\n1,2\n", "the splits share no column (expected columns of train: x, y, found in test: a, b)"),
]


@pytest.mark.parametrize(("name", "content", "said"), BAD, ids=[name for name, _, _ in BAD])
def test_what_cannot_be_read_is_one_message(
    name: str,
    content: bytes,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "test.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert main(["audit", name, "test.csv", "--write-clean", "clean", "--report", "report.json"]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_with_a_pickle_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("train", "test"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text("a,b\n1,2\n")
    (tmp_path / "train" / "rows.pkl").write_bytes(b"\x80\x04.")
    assert main(["audit", str(tmp_path)]) == 2
    assert "pickled objects can run code" in capsys.readouterr().err


Break = Callable[[Path], None]
BROKEN_FOLDERS: list[tuple[Break, str]] = [
    (lambda folder: (folder / "train" / "state.json").write_text("{}"), "state.json: no list of data files there"),  # type: ignore[list-item, return-value]
    (lambda folder: (folder / "dataset_dict.json").write_text("["), "dataset_dict.json: no list of splits there"),  # type: ignore[list-item, return-value]
    (lambda folder: (folder / "train" / "data-00000-of-00001.arrow").unlink(), "a data file is missing"),
]


@pytest.mark.parametrize(("spoil", "said"), BROKEN_FOLDERS)
def test_a_broken_saved_data_set(spoil: Break, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, frame in (("train", TRAIN), ("test", TEST)):
        save_folder(frame, tmp_path / name, False)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    spoil(tmp_path)
    assert main(["audit", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


def test_a_whole_saved_data_set_is_no_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert main(["audit", str(tmp_path), str(tmp_path)]) == 2
    assert "the folder holds several splits" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [(f"--{name}", "absent") for name in ("text", "target", "group", "id", "time", "prediction-time", "split-column")],
)
def test_a_missing_column_is_named(option: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    paths = [str(tmp_path / "train.csv"), str(tmp_path / "test.csv")]
    assert main(["audit", *(paths[:1] if option == "--split-column" else paths), option, value]) == 2
    shown = capsys.readouterr().err
    assert "has no column 'absent' (expected 'absent', found a, b)" in shown
    assert shown.count("\n") == 1


def test_a_target_may_be_missing_in_the_evaluation_split_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x\n7\n")
    assert main(["audit", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--target", "y"]) == 0
    assert main(["audit", str(tmp_path / "b.csv"), str(tmp_path / "a.csv"), "--target", "y"]) == 2
    assert "no column 'y'" in capsys.readouterr().err


def test_columns_of_different_kinds_are_compared_by_value_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.csv").write_text("a,b,c\n1.0,0.25,7.13\n2.5,0.75,8.91\nunknown,0.1,3.3\n")
    (tmp_path / "test.csv").write_text("a,b,c\n1,0.25,7.13\n7,0.9,1.2\n")
    assert main(["audit", str(tmp_path / "train.csv"), str(tmp_path / "test.csv")]) == 1
    shown = capsys.readouterr().out
    assert "1 of 2 rows of test" in shown
    assert "column 'a' holds values of different kinds: text in train, numbers in test" in shown


def test_columns_that_one_split_lacks_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.csv").write_text("a,b,c\n1.5,2,3\n2.25,4,5\n")
    (tmp_path / "test.csv").write_text("a,b\n1.75,2\n")
    assert main(["audit", str(tmp_path / "train.csv"), str(tmp_path / "test.csv")]) == 0
    assert "left out, since not every split has them: c" in capsys.readouterr().out


def test_a_row_without_a_split_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "all.csv").write_text("split,a\ntrain,1\n,2\ntest,3\n")
    assert main(["audit", str(tmp_path / "all.csv"), "--split-column", "split"]) == 2
    assert "all.csv, row 2, column 'split': 1 row without a split" in capsys.readouterr().err


def test_a_file_of_a_folder_that_belongs_to_no_split_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("train", "test", "all"):
        (tmp_path / f"{name}.csv").write_text(f"text\nnothing but {name} here\n")
    assert main(["audit", str(tmp_path)]) == 0
    assert "all.csv belongs to no split and is left out" in capsys.readouterr().err


def test_a_split_in_two_formats_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("train.csv", "train.jsonl", "test.csv"):
        (tmp_path / name).write_text("text\na\n")
    assert main(["audit", str(tmp_path)]) == 2
    assert "the split 'train' stands there in several formats" in capsys.readouterr().err
