"""The report: one document, and what Markdown and HTML make of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest

import leakcheck
from leakcheck.audit.declared import AuditedData
from leakcheck.claims.facts import Budget, ClaimFacts
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Confidence, Finding, Location, Severity, Suppressed, TraceStep
from leakcheck.report.document import Document, build
from leakcheck.report.page import render, to_html, to_json, write_report
from leakcheck.report.pictures import interval_picture, pairs_picture, ranking_picture

HOSTILE = "\"><script>alert(1)</script> '--\u202egnp.exe\u2066 <img src=x onerror=alert(1)> | ` * [x](javascript:1)"


def claim(
    b: tuple[float, ...] = (0.83, 0.82, 0.85, 0.81, 0.84), threshold: float = 0.01, name: str = "ours"
) -> ClaimFacts:
    found = leakcheck.compare(
        [0.80, 0.80, 0.81, 0.80, 0.81][: len(b)],
        b,
        threshold=threshold,
        names=("base", name),
        metric="accuracy",
        unit="fraction",
    )
    return found.facts


def finding(
    code: str = "LK202", severity: Severity = Severity.ERROR, message: str = "chosen on the test rows"
) -> Finding:
    place = Location("src/train.py", None, 33, 1, 33, 9)
    split = Location("src/train.py", None, 15, 1, 15, 9)
    trace = (TraceStep("split here", split), TraceStep("chosen here", place))
    return Finding(
        code, "a-rule", "S 4.2", severity, Confidence.SURE, message, "Choose on validation rows.", place, trace
    )


RELEASE = AuditedData(
    id="release",
    parameters={"text": ["question"], "threshold": 0.8},
    splits=[{"name": "train", "rows": 900, "files": [{"path": "data/train.csv", "rows": 900, "sha256": "ab12"}]}],
    checks=[f"near duplicates of `question`: exact join {HOSTILE}"],
    notes=["left out as identifiers: row"],
)


def three_legs() -> Document:
    data = replace(
        finding("LK602", message=f"37 rows are near-duplicates: {HOSTILE}"),
        trace=(),
        evidence={
            "method": "exact join",
            "held_out": "test",
            "training": f"train {HOSTILE}",
            "by_file": [("data/train.csv", 37)],
            "interval": {"low": 0.01234567, "high": 0.2},
            "columns": [{"name": HOSTILE, "score": n / 7} for n in range(30)],
            "examples": [
                {
                    "first": {"path": "data/test.csv", "row": n + 1},
                    "second": {"path": "data/train.csv", "row": 900 - n},
                    "similarity": 0.91,
                    "first_text": f"text {n}",
                    "second_text": "x" * 1_000_000 if n else HOSTILE,
                }
                for n in range(30)
            ],
            "left_out_of_examples": 7,
        },
    )
    lines = {33: "best = max(models, key=test_score)", 15: f"split(frame)  # {HOSTILE}"}
    return build(
        findings=[finding(), data, finding("LK807", Severity.WARNING)],
        claims=[claim(), claim((0.90, 0.91), name=HOSTILE)],
        files=14,
        datasets=[RELEASE],
        line_of=lambda place: lines.get(place.line),
        parameters={"threshold": 0.8},
    )


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


# The verdict


def test_first_words_are_the_verdict() -> None:
    html = to_html(three_legs())
    assert html.index("The score cannot be trusted yet") < html.index("<main>")
    assert build(claims=[claim()])["verdict"]["headline"] == "The claim is supported by its runs"
    assert build(claims=[claim(threshold=0.03)])["verdict"]["headline"] == "The claim is inconclusive"
    assert build(claims=[claim(), claim(threshold=0.03)])["verdict"]["headline"] == "1 of 2 claims are not supported"
    assert build(files=3)["verdict"]["headline"] == "Nothing found"
    assert (
        build(findings=[finding("LK101", Severity.WARNING)], files=3)["verdict"]["headline"]
        == "The score may be biased"
    )
    assert build(claims=[claim()], errors=["runs.csv is gone"])["verdict"]["state"] == "error"


def test_nothing_found_is_no_praise() -> None:
    assert "no proof that there is none" in build(files=3)["verdict"]["sentence"]


def test_suppressed_findings_are_counted_only() -> None:
    document = build(findings=[replace(finding(), suppressed=Suppressed("comment", "known"))], files=1)
    assert document["counts"] == {"error": 0, "warning": 0, "note": 0, "suppressed": 1}
    assert document["findings"]["code"]["total"] == 0


# The document


def test_document_is_json_and_the_same_each_time() -> None:
    assert to_json(three_legs()) == to_json(three_legs())
    assert json.loads(to_json(three_legs())) == three_legs()


def test_findings_go_to_their_leg() -> None:
    legs = three_legs()["findings"]
    assert {leg: [one["code"] for one in group["shown"]] for leg, group in legs.items()} == {
        "claims": ["LK807"],
        "code": ["LK202"],
        "data": ["LK602"],
    }


def test_path_of_a_code_finding_has_its_source_lines() -> None:
    path = three_legs()["findings"]["code"]["shown"][0]["path"]
    assert [(step["label"], step["place"]) for step in path] == [
        ("split here", "src/train.py:15:1"),
        ("chosen here", "src/train.py:33:1"),
    ]
    assert path[1]["source"] == "best = max(models, key=test_score)"


def test_evidence_is_capped_and_says_so() -> None:
    evidence = three_legs()["findings"]["data"]["shown"][0]["evidence"]
    table, examples = evidence["tables"][0], evidence["examples"]
    assert (len(table["rows"]), table["total"]) == (20, 30)
    assert (len(examples["pairs"]), examples["total"]) == (20, 37)
    assert examples["pairs"][1]["sides"][1]["text"].endswith("... (1,000,000 characters)")
    html = to_html(three_legs())
    assert "columns: 20 of 30 shown" in html
    assert "Examples: 20 of 37 shown" in html


def test_evidence_is_worded_for_readers() -> None:
    evidence = three_legs()["findings"]["data"]["shown"][0]["evidence"]
    values = {one["name"]: one["value"] for one in evidence["values"]}
    assert values["interval"] == "0.01235 to 0.2"
    assert values["by training file"] == "data/train.csv: 37"
    assert evidence["examples"]["columns"][0] == "test"
    assert evidence["examples"]["pairs"][0]["sides"][0] == {"place": "data/test.csv row 1", "text": "text 0"}


def test_examples_stand_side_by_side() -> None:
    html, markdown = to_html(three_legs()), render(Path("r.md"), three_legs())
    row = next(line for line in html.splitlines() if "text 4" in line)
    assert row.index("text 4") < row.index("train.csv row 896")
    assert "| data/test.csv row 5: text 4 | data/train.csv row 896: xxx" in markdown


def test_data_sets_say_how_they_were_checked() -> None:
    for file in ("r.html", "r.md", "r.json"):
        text = render(Path(file), three_legs())
        for words in ("near duplicates of", "exact join", "left out as identifiers: row", "ab12", "900"):
            assert words in text


def test_code_in_messages_is_set_as_code() -> None:
    html = to_html(build(findings=[finding(message="learned from `frame`, <b>`x<y`</b>")], files=1))
    assert "learned from <code>frame</code>, &lt;b&gt;<code>x&lt;y</code>&lt;/b&gt;" in html


def test_document_carries_the_declaration() -> None:
    facts = claim()
    declared = replace(
        facts.claim,
        trials=Budget(20, 20),
        search=(("space", "C in 3 values"), ("rule", "best validation accuracy")),
        controls=(("data", "equal"),),
        considered=("macro F1 instead of accuracy",),
        threshold=Decimal("0.01"),
    )
    declaration = build(claims=[replace(facts, claim=declared)])["claims"][0]["declaration"]
    assert declaration["considered"] == ["macro F1 instead of accuracy"]
    assert declaration["search"] == {"space": "C in 3 values", "rule": "best validation accuracy"}
    assert declaration["controls"] == {"data": "equal"}
    assert declaration["trials"] == {"a": 20, "b": 20}


# The loop


def test_loop_has_nine_stages_and_fails_by_findings() -> None:
    loop = {stage["name"]: stage["state"] for stage in three_legs()["loop"]}
    assert len(loop) == 9
    assert loop["Choose on validation rows"] == "failed"
    assert loop["Evaluate once on held-out rows"] == "failed"
    assert loop["Strong, matched baselines"] == "failed"
    assert loop["Ablations"] == "no evidence"
    assert {stage["state"] for stage in build()["loop"]} == {"no evidence"}


def test_baselines_of_three_tiers_are_evidence() -> None:
    facts = claim()
    tiers = (("trivial", "majority"), ("classical", "logreg"), ("published", "BERT"))
    states = []
    for baselines in (tiers, tiers[:1]):
        declared = replace(facts.claim, baselines=baselines, trials=Budget(1, 1))
        loop = build(claims=[replace(facts, claim=declared)])["loop"]
        states.append(next(stage["state"] for stage in loop if "baselines" in stage["name"]))
    assert states == ["done", "no evidence"]


def test_chances_to_be_wrong_are_counted() -> None:
    chances = build(claims=[claim()])["chances"]
    assert (chances["survived"], chances["of"]) == (1, 5)
    assert chances["states"]["independent scrutiny"] == "no evidence"


# The page


def test_page_needs_nothing_else() -> None:
    page = Page(to_html(three_legs()))
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {"src", "href", "xlink:href"} & names
    assert not [name for name in names if name.startswith("on")]
    assert "url(" not in to_html(three_legs())


def test_hostile_text_stays_text() -> None:
    html = to_html(three_legs())
    assert "<script>alert(1)</script>" in Page(html).text
    assert "\u202e" not in html
    assert "\u2066" not in html
    assert "<U+202E>" in Page(html).text
    assert len(html) < 200_000


@pytest.mark.parametrize("name", ["claims", "about-claims", "code", "data", "loop", "checked"])
def test_page_has_its_sections(name: str) -> None:
    assert f'<section id="{name}">' in to_html(three_legs())


def test_every_picture_has_its_table_and_its_words() -> None:
    html = to_html(build(claims=[claim()]))
    assert html.count("<svg") == 2
    assert html.count('role="img"') == html.count("aria-label=") == 2
    assert "What the runs say" in html
    assert "The 5 pairs" in html
    assert html.count("<figcaption>") == 2


def test_caveats_stand_in_every_report() -> None:
    for file in ("r.html", "r.md", "r.json"):
        text = render(Path(file), build(claims=[claim()]))
        for words in (
            "no protection against leakage",
            "Ids alone do not",
            "not a causal statement",
            "not a reproduction certificate",
        ):
            assert words in text


def test_pictures_keep_inside_their_frame() -> None:
    record = build(claims=[claim()])["claims"][0]
    for picture in (interval_picture(record), pairs_picture(record)):
        assert picture is not None
        positions = [x for bar in picture.bars for x in (bar.x1, bar.x2)] + [tick.x for tick in picture.ticks]
        assert all(0 <= x <= 360 for x in positions)
        assert all(0 < bar.y < picture.height for bar in picture.bars)
        assert 3 <= len(picture.ticks) <= 7


def test_many_pairs_are_drawn_as_counts() -> None:
    many = leakcheck.compare([0.0] * 60, [0.01 * (n % 7) for n in range(60)], threshold=0.0)
    picture = pairs_picture(build(claims=[many.facts])["claims"][0])
    assert picture is not None
    assert {bar.kind for bar in picture.bars} == {"bin"}
    assert sum(int(bar.value) for bar in picture.bars) == 60


def test_one_run_has_no_picture() -> None:
    record = build(claims=[claim((0.83,))])["claims"][0]
    assert interval_picture(record) is None
    assert pairs_picture(record) is None


def test_methods_that_do_not_differ_are_joined() -> None:
    ranking = {"methods": ["a", "b", "c"], "mean_ranks": [1.1, 2.0, 2.9], "groups": [["a", "b"], ["b", "c"]]}
    picture = ranking_picture(ranking)
    assert [bar.kind for bar in picture.bars] == ["rank", "rank", "rank", "group", "group"]


# Markdown and files


def test_markdown_means_nothing_but_its_text() -> None:
    text = render(Path("r.md"), three_legs())
    assert "<script>" not in text
    assert "[x](javascript" not in text
    rows = [line for line in text.splitlines() if line.lstrip().startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 4, 5}  # lines, examples, files
    assert text.startswith("## Not sound: The score cannot be trusted yet\n")


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(LeakcheckError, match="unknown kind of report"):
        write_report(tmp_path / "report.pdf", build())
    assert list(tmp_path.iterdir()) == []


def test_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(LeakcheckError, match="the file cannot be written"):
        write_report(tmp_path / "nowhere" / "report.md", build())
