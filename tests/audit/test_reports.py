"""What people reported of released data sets and of audit tools, each in its smallest form.

Pictures are compared by their bytes, or by their values where they are given as arrays; a picture that was only
compressed again is not found, and nothing here says that it is.
"""

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


def test_same_bytes_twice_in_one_split_are_a_note(tmp_path: Path) -> None:
    for name, content in {
        "train/a.jpg": b"one",
        "train/b.jpg": b"one",
        "train/c.jpg": b"two",
        "test/d.jpg": b"x",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"\xff\xd8" + content)
    (repeat,) = leakcheck.audit(train=tmp_path / "train", test=tmp_path / "test").findings
    assert (repeat.code, repeat.severity.value, Path(repeat.location.path).name) == ("LK605", "note", "b.jpg")
    assert Path(repeat.trace[0].location.path).name == "a.jpg"


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


TASK = """def {name}({items}: list[float], {limit}: float) -> bool:
    \"\"\"Check if in the given list of numbers any two numbers are closer to each other than the given limit, and
    return whether there are such two, where the list may be empty or hold a single number.\"\"\"
"""


def test_a_task_with_other_names_is_near_and_the_method_says_so() -> None:
    test = pd.DataFrame({"task": [TASK.format(name="has_close_elements", items="numbers", limit="threshold")]})
    train = pd.DataFrame({"task": [TASK.format(name="any_two_near", items="values", limit="eps")]})
    strict = audit(train, test, text="task")
    assert strict.findings == ()
    assert any("at or above 0.8; 0 rows of test found" in check for check in strict.facts.checks)
    (found,) = audit(train, test, text="task", threshold=0.6).findings
    assert found.code == "LK602"
    assert "word 3-grams at or above 0.6" in found.message


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


TEMPLATE = "Order {} was shipped to the customer in {} on the same day as it was ordered by phone or by letter"


def test_templates_are_near_and_show_their_similarity() -> None:
    train, test = [TEMPLATE.format(1001, "Paris")], [TEMPLATE.format(2002, "Paris")]
    (found,) = audit(train, test, text="text").findings
    assert (found.code, found.severity.value) == ("LK602", "warning")
    assert "similarity 0.8" in found.message
    assert "all of them differ in numbers only" in found.message
    assert audit(train, test, text="text", threshold=0.95).findings == ()
    # another word, or another number of numbers, is more than a template
    for other in (TEMPLATE.format(2002, "Rome"), TEMPLATE.format(2002, "Paris") + " 7"):
        (found,) = audit(train, [other, *test], text="text", threshold=0.6).findings
        assert (found.code, found.severity.value) == ("LK602", "error")


def test_short_templates_need_a_smaller_n_gram() -> None:
    train, test = ["Order 1001 was shipped to Paris"], ["Order 2002 was shipped to Paris"]
    assert audit(train, test, text="text").findings == ()
    (found,) = audit(train, test, text="text", shingle="words:1", threshold=0.7).findings
    assert "similarity 0.714; exact join, Jaccard similarity of word 1-grams at or above 0.7" in found.message


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


def test_a_brighter_picture_is_near_and_its_copy_is_not() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.integers(0, 250, (60, 8, 8), np.uint8), rng.integers(0, 250, (20, 8, 8), np.uint8)
    test[3], test[4] = train[7], train[7] + 1
    result = audit(train, test)
    assert [(o.kind, o.touched, o.examples[0].first.row) for o in result.facts.overlaps] == [
        (Kind.ROW, 1, 4),
        (Kind.NEAR_ROW, 1, 5),
    ]


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
