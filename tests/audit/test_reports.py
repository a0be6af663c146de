"""What people reported of released data sets and of audit tools, each in its smallest form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import leakcheck
from leakcheck.audit.facts import Kind, Overlap
from leakcheck.audit.result import AuditResult
from leakcheck.cli import main


def overlaps(result: AuditResult, kind: Kind) -> list[Overlap]:
    return [overlap for overlap in result.facts.overlaps if overlap.kind is kind]


def audit(train: Any, test: Any, **options: Any) -> AuditResult:
    return leakcheck.audit(train=train, test=test, **options)


def test_one_picture_in_both_splits_and_repeats_apart() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.integers(0, 256, (60, 8, 8), np.uint8), rng.integers(0, 256, (20, 8, 8), np.uint8)
    train[7] = test[2]
    train[11] = train[10]
    result = audit(train, test)
    (shared,) = overlaps(result, Kind.ROW)
    assert shared.touched == 1
    assert (shared.examples[0].second.row, shared.examples[0].first.row) == (8, 3)
    assert [repeat.rows for repeat in result.facts.repeats] == [1]


def test_the_same_file_twice_is_one_finding(tmp_path: Path) -> None:
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("text\n" + "\n".join(f"sentence number {i} of the file" for i in range(9)) + "\n")
    result = leakcheck.audit(train=tmp_path / "train.csv", test=tmp_path / "test.csv")
    assert [f.code for f in result.findings] == ["LK601"]
    assert "identical" in result.findings[0].message
    same = leakcheck.audit(train=tmp_path / "test.csv", test=tmp_path / "test.csv")
    assert "are one file" in same.findings[0].message


def test_same_bytes_under_other_file_names(tmp_path: Path) -> None:
    for folder, names in {"train": ["00012.jpg", "1.jpg"], "test": ["90034.jpg"]}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_bytes(b"\xff\xd8same" if name != "1.jpg" else b"\xff\xd8other")
    result = leakcheck.audit(train=tmp_path / "train", test=tmp_path / "test")
    assert result.by_code == {"LK601": 1}


def test_new_pairs_of_old_questions() -> None:
    first, second = "how do planes stay in the air", "why is the sky blue at noon"
    third, fourth = "what do whales eat in winter", "when was the first train built"
    train = pd.DataFrame({"a": [first, first], "b": [second, third]})
    test = pd.DataFrame({"a": [fourth], "b": ["who wrote the longest poem"]})
    assert audit(train, test, text=["a", "b"]).findings == ()
    test["a"] = [first]
    result = audit(train, test, text=["a", "b"])
    assert not overlaps(result, Kind.ROW)
    assert [(o.what, o.touched) for o in overlaps(result, Kind.TEXT)] == [("a", 1)]


def test_every_pair_of_splits_is_checked() -> None:
    dev = pd.DataFrame({"id": [1, 2], "text": ["a man sleeps on the bench", "two dogs run over the field"]})
    train = pd.DataFrame({"id": [3], "text": ["nobody is at home this evening"]})
    result = leakcheck.audit(splits={"train": train, "dev": dev, "test": dev.iloc[1:]})
    (shared,) = overlaps(result, Kind.ROW)
    assert (shared.training, shared.held_out, shared.touched) == ("dev", "test", 1)


def test_overlap_is_attributed_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "hand.csv").write_text("text\nthe cat sat on the mat\n")
    (tmp_path / "synthetic.csv").write_text("text\nall birds can sing in spring\n")
    (tmp_path / "test.csv").write_text("text\nall birds can sing in spring\nsomething else to be said here\n")
    files = [tmp_path / "hand.csv", tmp_path / "synthetic.csv"]
    (shared,) = overlaps(leakcheck.audit(train=files, test=[tmp_path / "test.csv"], text="text"), Kind.ROW)
    assert [(Path(file).name, count) for file, count in shared.by_file] == [("synthetic.csv", 1)]


def test_boilerplate_is_a_note() -> None:
    train = pd.DataFrame({"text": ["Yes .", "the weather will be fine tomorrow"], "label": [1, 0]})
    test = pd.DataFrame({"text": ["Yes .", "nobody has seen him since monday"], "label": [0, 1]})
    result = audit(train, test, text="text", target="label")
    assert [(f.code, f.severity.value) for f in result.findings] == [("LK601", "note")]
    assert result.exit_status == 0


def test_method_is_stated_with_nothing_found() -> None:
    result = audit(["one two three four five six"], ["seven eight nine ten eleven twelve"])
    assert any("exact join, Jaccard similarity of word 3-grams at or above 0.8" in c for c in result.facts.checks)


def test_code_with_another_indent_is_the_same() -> None:
    train = pd.DataFrame({"code": ["def area(r):\n    return pi * r * r"]})
    test = pd.DataFrame({"code": ["def area(r):\n\treturn pi * r * r", "def side(a): return a ** 0.5 + 1"]})
    (shared,) = overlaps(audit(train, test, text="code"), Kind.ROW)
    assert (shared.touched, shared.total) == (1, 2)


def test_short_texts_match_only_themselves() -> None:
    result = audit(["cat", "dog"], ["cat", "cow"], text="text", shingle="words:5")
    assert [(o.kind, o.touched) for o in result.facts.overlaps] == [(Kind.BOILERPLATE, 1)]


def test_texts_without_words_are_counted_and_left_out() -> None:
    result = audit(["", "!!!", "hello world out there"], ["...", "hello people in here"], text="text")
    assert result.findings == ()
    assert any("3 texts without a word" in note for note in result.facts.notes)


def test_templates_are_near_and_show_their_similarity() -> None:
    template = "Order {} was shipped to the customer in Paris on the same day as it was ordered by phone or by letter"
    result = audit([template.format(1001)], [template.format(2002)], text="text")
    assert [f.code for f in result.findings] == ["LK602"]
    assert "similarity 0.8" in result.findings[0].message
    assert audit([template.format(1001)], [template.format(2002)], text="text", threshold=0.95).findings == ()


def test_dates_lists_arrays_and_dicts_are_compared() -> None:
    day = pd.Timestamp("2024-05-01 10:00")
    cells = {"when": [day], "list": [[1, 2]], "array": [np.array([1.0, 2.0])], "dict": [{"a": 1, "b": None}]}
    (shared,) = overlaps(audit(pd.DataFrame(cells), pd.DataFrame(cells)), Kind.ROW)
    assert shared.touched == 1


def test_values_not_their_formatting(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("a,b,c\n1.0,x,\n2.5,y,0.25\n")
    (tmp_path / "test.jsonl").write_text('{"a": 1, "b": "x", "c": null}\n{"a": 3, "b": "z", "c": 4.5}\n')
    (shared,) = overlaps(leakcheck.audit(train=tmp_path / "train.csv", test=tmp_path / "test.jsonl"), Kind.ROW)
    assert shared.touched == 1


def test_exact_pairs_are_not_counted_as_near() -> None:
    text = " ".join(f"word{i}" for i in range(30))
    result = audit([text], [text, text + " more"], text="text")
    assert [(o.kind, o.touched) for o in result.facts.overlaps] == [(Kind.ROW, 1), (Kind.NEAR_TEXT, 1)]


def test_target_in_words() -> None:
    rng = np.random.default_rng(0)
    survived = rng.integers(0, 2, 80)
    frame = pd.DataFrame({"survived": survived, "alive": np.where(survived, "yes", "no"), "age": rng.normal(size=80)})
    result = audit(frame[:60], frame[60:], target="survived")
    assert [(f.code, f.severity.value) for f in result.findings] == [("LK703", "error")]


@pytest.mark.filterwarnings("error")
def test_constant_columns_and_two_rows() -> None:
    frame = pd.DataFrame({"constant": [1, 1], "x": [0, 1], "y": [0, 1]})
    assert audit(frame, frame.assign(x=[5, 6], y=[1, 1]), target="y").findings == ()


BAD = {
    "rows.csv": (b"a,b\n1,2\n3\n", "Expected 2 columns"),
    "latin.csv": "name\ncafé\n".encode("latin-1"),
    "empty.csv": (b"a,b\n", "no rows"),
    "cut.csv.gz": (bytes.fromhex("1f8b0800000000000003"), "can't be read"),
    "model.pkl": (b"\x80\x04", "refused"),
    "mixed.jsonl": (b'{"a": 1}\n{"a": "x"}\n', "can't be read"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_files_are_one_message(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, said = BAD[name] if isinstance(BAD[name], tuple) else (BAD[name], "UTF-8")
    (tmp_path / name).write_bytes(content)
    (tmp_path / "test.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    assert main(["audit", name, "test.csv", "--write-clean", "clean"]) == 2
    shown = capsys.readouterr()
    assert said.lower() in shown.err.lower()
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "clean").exists()


def test_missing_column_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    assert main(["audit", str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--text", "question"]) == 2
    assert "no column 'question'" in capsys.readouterr().err


def test_clean_splits_leave_the_leak_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.csv").write_text("text\nthe cat sat on the mat\n")
    (tmp_path / "test.csv").write_text("text\nthe cat sat on the mat\nsomething else to be said here\n")
    monkeypatch.chdir(tmp_path)
    assert main(["audit", "train.csv", "test.csv", "--text", "text", "--write-clean", "clean"]) == 1
    assert pd.read_parquet("clean/test.parquet")["text"].tolist() == ["something else to be said here"]
    assert main(["audit", "clean/train.parquet", "clean/test.parquet", "--text", "text"]) == 0
    assert main(["audit", "train.csv", "test.csv", "--write-clean", "clean"]) == 2  # never over what is there


def test_a_column_that_names_the_splits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "split,text\ntrain,the cat sat on the mat\ntest,something else to be said here\n"
    (tmp_path / "both.csv").write_text(rows)
    assert main(["audit", str(tmp_path / "both.csv"), "--split-column", "split", "--text", "text"]) == 0
    (tmp_path / "both.csv").write_text(rows + "test,the cat sat on the mat\n")
    assert main(["audit", str(tmp_path / "both.csv"), "--split-column", "split", "--text", "text"]) == 1
    assert "both.csv:row 3" in capsys.readouterr().out


def test_every_kind_of_file_gives_the_same(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    train = pd.DataFrame({"text": ["the cat sat on the mat", "all birds can sing in spring"], "label": [0, 1]})
    test = pd.DataFrame({"text": ["the cat sat on the mat", "something else to be said here"], "label": [0, 1]})
    found = []
    for name, frame in (("train", train), ("test", test)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_csv(tmp_path / f"{name}.tsv.gz", index=False, sep="\t")
        frame.to_json(tmp_path / f"{name}.jsonl.gz", orient="records", lines=True)
        frame.to_json(tmp_path / f"{name}.jsonl.zst", orient="records", lines=True)
        frame.to_parquet(tmp_path / f"{name}.parquet")
        frame.to_feather(tmp_path / f"{name}.feather")
        datasets.Dataset.from_pandas(frame).save_to_disk(tmp_path / "saved" / name)
    for suffix in ("csv", "tsv.gz", "jsonl.gz", "jsonl.zst", "parquet", "feather"):
        result = leakcheck.audit(train=tmp_path / f"train.{suffix}", test=tmp_path / f"test.{suffix}", text="text")
        found.append([finding.message.partition(" (all in")[0] for finding in result.findings])
    saved = leakcheck.audit(train=tmp_path / "saved" / "train", test=tmp_path / "saved" / "test", text="text")
    found.append([finding.message.partition(" (all in")[0] for finding in saved.findings])
    assert len(found[0]) == 1
    assert all(one == found[0] for one in found)


def test_reports_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.csv").write_text("text\nthe <b>cat</b> sat on the mat\n")
    (tmp_path / "test.csv").write_text("text\nthe <b>cat</b> sat on the mat\n")
    (tmp_path / "train2.csv").write_text("text\nthe <b>cat</b> sat on the mat\na second row of this file\n")
    monkeypatch.chdir(tmp_path)
    for report in ("r.md", "r.json", "r.html"):
        assert main(["audit", "train2.csv", "test.csv", "--text", "text", "--redact", "--report", report]) == 1
        content = (tmp_path / report).read_text()
        assert "LK601" in content
        assert "sat on" not in content
