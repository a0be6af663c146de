"""What an audit gives back: text, JSON, Markdown, HTML and Python values, with evidence capped and texts escaped."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import leakcheck
from leakcheck.audit.describe import differences
from leakcheck.cli import main

ROOT = Path(__file__).parents[2]
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:1) | ` * \x1b[31m \u202e"
SECRET = "Alice was seen by doctor Brown on the third of May"


def write(folder: Path, **splits: pd.DataFrame) -> list[str]:
    for name, frame in splits.items():
        frame.to_parquet(folder / f"{name}.parquet")
    return [str(folder / f"{name}.parquet") for name in splits]


def leaky(text: str = SECRET, rows: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every row of the test split is in train, one of them edited."""
    texts = [f"{text} in row {i} of this table" for i in range(rows)]
    train = pd.DataFrame({"row_id": range(rows), "user": "Alice", "text": texts})
    test = pd.DataFrame({"row_id": range(50, 50 + rows), "user": "Alice", "text": [*texts[1:], texts[0] + " again"]})
    return train, test


OPTIONS = ["--text", "text", "--group", "user", "--id", "row_id"]


def test_json_is_valid_and_holds_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ROOT / "fixtures" / "data" / "clinic-leaky"
    options = ["--text", "question,note", "--target", "label", "--time", "visited", "--group", "patient"]
    assert main(["audit", str(data), *options, "--output-format", "json", "--report", str(tmp_path / "r.json")]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads((tmp_path / "r.json").read_text())
    jsonschema.validate(record, json.loads((ROOT / "docs" / "json-schema.json").read_text()))
    audit = record["audit"]
    assert audit["parameters"] == {
        "text": ["question", "note"],
        "target": "label",
        "group": ["patient"],
        "time": "visited",
        "gap": "0s",
        "contained": False,
        "threshold": 0.8,
        "method": "auto",
    }
    (train, test) = audit["splits"]
    assert (train["rows"], test["rows"]) == (320, 120)
    assert train["files"][0]["sha256"] == hashlib.sha256((data / "train.parquet").read_bytes()).hexdigest()
    assert {score["code"] for score in audit["scores"]} == {"LK703", "LK704", "LK705", "LK706"}
    for score in audit["scores"]:
        assert score["score"]["interval"]["low"] <= score["score"]["value"] <= score["score"]["interval"]["high"]
        assert score["score"]["chance"] in (0.0, 0.5)
    assert any("LK603 (items inside longer texts), LK707 (a prediction time)" in note for note in audit["notes"])


def test_evidence_is_capped_and_says_how_much_was_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write(tmp_path, train=leaky()[0], test=leaky()[1])
    for most, shown in ((3, 3), (100, 11), (0, 1)):
        main(["audit", *paths, *OPTIONS, "--max-evidence", str(most), "--output-format", "json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        (exact,) = [one["evidence"] for one in findings if one["code"] == "LK601"]
        assert (exact["touched"], len(exact["examples"]), exact["left_out_of_examples"]) == (11, shown, 11 - shown)


def test_evidence_shows_both_texts_their_keys_and_what_differs() -> None:
    train, test = leaky()
    result = leakcheck.audit(train, test, text="text", ids="row_id")
    (near,) = [one for one in result.findings if one.code == "LK602"]
    assert near.evidence is not None
    (example,) = near.evidence["examples"]
    assert example == {
        "first": {"path": "test", "row": 12},
        "second": {"path": "train", "row": 1},
        "similarity": 15 / 16,
        "first_text": f"{SECRET} in row 0 of this table again",
        "second_text": f"{SECRET} in row 0 of this table",
        "first_key": "row_id=61",
        "second_key": "row_id=0",
        "only_first": "again",
        "only_second": "",
    }
    assert near.trace[0].label.endswith("[only here: again]")


def test_differences_are_words_in_runs() -> None:
    assert differences("a b c d e", "a x c d") == ("b ... e", "x")
    assert differences("a b", "a b") == ("", "")
    assert len(differences("y " * 500, "z " * 500)[0]) < 130


@pytest.mark.parametrize("report", ["r.json", "r.md", "r.html"])
def test_redacted_reports_hold_no_text_but_rows(
    report: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, train=leaky()[0], test=leaky()[1])
    monkeypatch.chdir(tmp_path)
    arguments = ["audit", "train.parquet", "test.parquet", *OPTIONS, "--report", report]
    for redact in ([], ["--redact"]):
        assert main([*arguments, *redact]) == 1
        printed = capsys.readouterr().out + ("" if report == "r.md" else Path(report).read_text())
        assert ("doctor Brown" in printed) is not bool(redact)
        assert ("row_id=61" in printed) is not bool(redact)
        assert ("Alice" in printed) is not bool(redact)
        assert "LK601" in Path(report).read_text()
    assert "doctor Brown" not in Path(report).read_text()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_texts_and_names_are_escaped_in_every_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    column = f"text {HOSTILE}"
    for name, frame in zip(("train", "test"), leaky(HOSTILE), strict=True):
        frame.rename(columns={"text": column}).to_parquet(tmp_path / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    assert main(["audit", ".", "--text", column, "--report", "r.html"]) == 1
    assert "\x1b" not in capsys.readouterr().out
    result = leakcheck.audit(tmp_path / "train.parquet", tmp_path / "test.parquet", text=column)
    markdown = result.to_markdown()
    for page in (result._repr_html_(), Path("r.html").read_text(), markdown):
        assert "\x1b" not in page
        assert "\u202e" not in page
        if page is not markdown:
            tags = Tags()
            tags.feed(page)
            assert not {"script", "img"} & tags.seen
            assert "onerror" not in tags.attributes
    outside_of_code = re.sub(r"`[^`]*`", "", markdown.replace(r"\`", ""))
    assert "<script" not in outside_of_code
    assert "[x](" not in outside_of_code
    rows = [line for line in markdown.splitlines() if line.startswith("| LK")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)


def test_markdown_is_a_section_of_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, train=leaky()[0], test=leaky()[1])
    monkeypatch.chdir(tmp_path)
    main(["audit", "train.parquet", "test.parquet", *OPTIONS, "--report", "card.md", "-q"])
    card = Path("card.md").read_text()
    digest = hashlib.sha256(Path("test.parquet").read_bytes()).hexdigest()
    assert card.startswith("## Leakage audit\n")
    assert f"| test | test.parquet | 12 | `{digest}` |" in card
    assert r"Declared: text text; group user; identifiers row\_id; contained False; threshold 0.8; method auto." in card
    assert "- equal texts of `text`: after NFKC" in card
    assert "| LK601 exact-duplicates-across-splits | error | test.parquet row 1 | 11 of 12 rows of test" in card


def test_markdown_of_a_clean_audit_promises_no_more_than_it_did() -> None:
    card = leakcheck.audit(["one text about a dog"], ["another text of a cat"], text="text").to_markdown()
    assert "Nothing was found by these methods." in card
    assert "not checked, since not asked for: LK603" in card
    assert "| train | train | 1 | `(in memory)` |" in card


def test_html_shows_hashes_and_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, train=leaky()[0], test=leaky()[1])
    monkeypatch.chdir(tmp_path)
    main(["audit", "train.parquet", "test.parquet", *OPTIONS, "--report", "page.html", "-q"])
    page = Path("page.html").read_text()
    assert "doctor Brown" in page
    assert "11 of 12 rows of test" in page


def test_an_unknown_kind_of_report_is_said_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "absent.csv", "absent.csv", "--report", str(tmp_path / "report.doc")]) == 2
    assert "unknown kind of report (expected .html, .md or .json, found '.doc')" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write(tmp_path, train=leaky()[0], test=leaky()[1])
    assert main(["audit", *paths, "-q", "--report", str(tmp_path / "no" / "report.md")]) == 2
    shown = capsys.readouterr().err
    assert "report.md" in shown
    assert shown.count("\n") == 1


# -- in Python -------------------------------------------------------------------------------------------------------


def as_polars(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("polars").from_pandas(frame)


def as_arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("convert", [lambda frame: frame, as_polars, as_arrow, lambda frame: frame.to_dict("list")])
def test_tables_of_every_library_give_the_same(convert: Any) -> None:
    train, test = leaky()
    result = leakcheck.audit(train=convert(train), test=convert(test), text="text", group="user", ids="row_id")
    assert result.by_code == {"LK601": 1, "LK602": 1, "LK702": 1}
    assert result.rows == {"train": 12, "test": 12}
    assert [one.message for one in result.findings] == [
        one.message for one in leakcheck.audit(train, test, text="text", group="user", ids="row_id").findings
    ]


def test_a_path_and_a_table_can_be_compared(tmp_path: Path) -> None:
    train, test = leaky()
    (path,) = write(tmp_path, train=train)
    assert leakcheck.audit(train=path, test=test, text="text", ids="row_id").by_code == {"LK601": 1, "LK602": 1}
    assert leakcheck.audit(train=[Path(path)], test=test, text="text", ids="row_id").by_code["LK601"] == 1


def test_the_result_is_a_frame_a_dict_and_a_page() -> None:
    result = leakcheck.audit(*leaky(), text="text", ids="row_id")
    frame = result.to_frame()
    assert frame["code"].tolist() == ["LK601", "LK602"]
    assert frame["line"].tolist() == [1, 12]
    assert [one["code"] for one in result.to_dict()["findings"]] == ["LK601", "LK602"]
    json.dumps(result.to_dict())
    page = result._repr_html_()
    assert "2 findings (train: 12 rows, test: 12 rows)" in page
    assert page.count("<tr>") == 3
    clean = leakcheck.audit(["one text about a dog"], ["another text of a cat"])
    assert clean.to_frame().empty
    assert "<table>" not in clean._repr_html_()


def test_the_tables_of_the_caller_stay_as_they_are() -> None:
    train, test = (frame.rename(columns={"text": 5}) for frame in leaky())
    before = train.copy(deep=True), test.copy(deep=True)
    leakcheck.audit(train, test)
    pd.testing.assert_frame_equal(train, before[0])
    pd.testing.assert_frame_equal(test, before[1])


def test_numpy_arrays_and_lists_of_texts() -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(30, 3)), rng.normal(size=(10, 3))
    assert leakcheck.audit(train, test).findings == ()
    test[4] = train[7]
    (finding,) = leakcheck.audit(train, test).findings
    assert (finding.code, finding.location.line) == ("LK601", 5)
