"""`leakcheck scan` of a project with all three legs: code, declared data sets, declared claims."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leakcheck
from leakcheck.cli import main

Scan = Callable[..., tuple[int, str, str]]
FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Scan:
    shutil.copytree(FIXTURES / "three_legs", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["scan", *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def findings(out: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(out)["findings"]
    return found


def places(out: str) -> set[tuple[str, str, int]]:
    return {(one["code"], one["location"]["path"], one["location"]["line"]) for one in findings(out)}


def verdicts(scan: Scan, *arguments: str) -> dict[str, str]:
    scan("--report", "report.json", *arguments)
    return {claim["id"]: claim["verdict"] for claim in json.loads(Path("report.json").read_text())["claims"]}


def test_findings_of_all_legs(scan: Scan) -> None:
    status, out, err = scan("--output-format", "json")
    assert (status, err) == (1, "")
    assert places(out) == {
        ("LK101", "src/scaling.py", 7),
        ("LK601", "data/readmission/test.csv", 17),
        ("LK602", "data/readmission/test.csv", 13),
        ("LK702", "data/readmission/test.csv", 3),
        ("LK801", "leakcheck.toml", 16),
        ("LK801", "leakcheck.toml", 54),
        ("LK802", "leakcheck.toml", 54),
    }
    data = {one["code"]: one["evidence"]["dataset"] for one in findings(out) if one["code"] < "LK8" and one["evidence"]}
    assert data == {"LK601": "readmission", "LK602": "readmission", "LK702": "readmission"}


def test_finding_in_the_data_puts_its_claim_at_risk_and_no_other(scan: Scan) -> None:
    assert verdicts(scan) == {
        "readmission-forest": "at-risk",
        "triage-forest": "supported",
        "triage-boosting": "inconclusive",
    }
    claim = json.loads(Path("report.json").read_text())["claims"][0]
    assert [risk["code"] for risk in claim["risks"]] == ["LK702", "LK602", "LK601"]
    assert "open finding LK702 (entity-overlap) at data/readmission/test.csv:row 3 and 2 more" in claim["reason"]


@pytest.mark.parametrize(
    "options", [("--no-data",), ("--ignore", "LK6,LK702"), ("--per-file-ignores", "data/*:LK6,LK702")]
)
def test_what_is_not_looked_for_is_no_risk(scan: Scan, options: tuple[str, ...]) -> None:
    assert verdicts(scan, *options)["readmission-forest"] == "supported"


def test_data_without_claims(scan: Scan) -> None:
    _, out, _ = scan("--no-claims", "--output-format", "json")
    assert {one["code"] for one in findings(out)} == {"LK101", "LK601", "LK602", "LK702"}


def test_named_files_leave_the_data_alone(scan: Scan) -> None:
    _, out, _ = scan("src/readmission.py", "--output-format", "json")
    assert {one["code"] for one in findings(out)} == {"LK101"}


def test_python_call_leaves_data_out(scan: Scan) -> None:
    assert "LK702" in leakcheck.scan(".").by_code
    assert "LK702" not in leakcheck.scan(".", data=False).by_code


def test_paths_are_those_seen_from_the_working_folder(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path.parent)
    _, out, _ = scan(tmp_path.name, "--output-format", "json")
    assert ("LK702", f"{tmp_path.name}/data/readmission/test.csv", 3) in places(out)
    assert ("LK801", f"{tmp_path.name}/leakcheck.toml", 16) in places(out)


def test_rows_of_the_worst_pair_are_shown(scan: Scan) -> None:
    _, out, _ = scan()
    assert (
        "--> data/readmission/test.csv:row 13: this row (visit=v113): Cook had a fever for three days; the old rhythm"
        in out
    )
    assert "::: data/readmission/train.csv:row 23: is nearly the same as this one (visit=v023): Cook had a fever" in out


BROKEN = [
    ("data/triage/test.csv", "pulse,oxygen\n1,2,3\n", "leakcheck.toml:11:1: LK001 [error] data set 'triage' cannot be"),
    ("data/triage/test.csv", "", "data set 'triage' cannot be audited: data/triage/test.csv: the file is empty"),
    ("data/triage/test.csv", "pulse,oxygen\n", "data set 'triage' cannot be audited"),
]


@pytest.mark.parametrize(("file", "content", "message"), BROKEN, ids=["cells", "empty", "no rows"])
def test_broken_data_is_one_line_and_the_rest_goes_on(scan: Scan, file: str, content: str, message: str) -> None:
    Path(file).write_text(content)
    status, out, err = scan("--quiet", "--ignore", "LK001")
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert all(code in out for code in ("LK101", "LK702", "at-risk", "inconclusive"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('target = "urgent"', 'taget = "urgent"', "unknown key 'taget'; did you mean 'target'?"),
        ('target = "urgent"', 'target = "urgency"', "has no column 'urgency'"),
        ("threshold = 0.7", 'threshold = "high"', "`threshold` is not usable (expected a number, found 'high')"),
        ("threshold = 0.7", "threshold = nan", "the threshold is a similarity"),
        ("threshold = 0.7", "contained = 1", "`contained` is not usable (expected true or false, found 1)"),
        ('text = ["note"]', "text = [1]", "`text` is not usable"),
        ('test = "data/triage/test.csv"', "test = 3", "`splits.test` is not usable"),
        ('test = "data/triage/test.csv"', 'test = "data/*.pkl"', "data/*.pkl: no data file there"),
    ],
)
def test_mistyped_data_set_is_one_line_at_its_place(scan: Scan, old: str, new: str, message: str) -> None:
    config = Path("leakcheck.toml")
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    status, out, err = scan("--quiet")
    assert status == 2
    assert message in err
    assert err.startswith(("leakcheck.toml:2:1: LK001", "leakcheck.toml:11:1: LK001"))
    assert err.count("\n") == 1
    assert "LK101" in out


def test_claim_on_a_data_set_that_is_not_declared(scan: Scan) -> None:
    config = Path("leakcheck.toml")
    config.write_text(config.read_text().replace('datasets = ["triage"]', 'datasets = ["triages"]'))
    status, _, err = scan()
    assert status == 2
    assert (
        err == "leakcheck: leakcheck.toml, claim 'triage-forest': the data set 'triages' is not declared; "
        "did you mean 'triage'?\n"
    )


def test_missing_extra_is_one_line(scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Path("leakcheck.toml")
    first = config.read_text().split("[[datasets]]")[1]
    config.write_text("[[datasets]]" + first)
    monkeypatch.setattr("leakcheck.audit.PACKAGES", ("no_such_package",))
    status, out, err = scan("--quiet")
    assert status == 2
    assert "the audit needs no_such_package: install them with `pip install 'leakcheck-lint[data]'`" in err
    assert err.count("\n") == 1
    assert "LK101" in out


def test_baseline_accepts_findings_of_all_legs(scan: Scan, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline"]) == 0
    capsys.readouterr()
    status, out, err = scan()
    assert (status, err) == (0, "")
    assert "7 suppressed by the baseline" in out
    status, _, err = scan("--no-data")  # what nobody looked for is not gone
    assert (status, err) == (0, "")


def test_nothing_heavy_is_loaded_where_nothing_is_declared() -> None:
    code = (
        "import sys, leakcheck; leakcheck.scan('.'); print(sorted({'numpy', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FIXTURES / "example", capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


# The report


def test_page_of_all_legs(scan: Scan) -> None:
    scan("--report", "page.html")
    page = Path("page.html").read_text()
    head = page[: page.index("<main>")]
    assert "The score cannot be trusted yet" in head
    for claim in ("readmission-forest", "triage-forest", "triage-boosting"):
        assert claim in head
    steps = [
        "StandardScaler learns from",
        "called from here",
        "these rows are held out here",
        "is trained on the result",
    ]
    places_of_steps = [page.index(step) for step in [*steps, "scored on the held-out rows"]]
    assert places_of_steps == sorted(places_of_steps)
    assert page.count("<svg") == 6
    assert page.count("What the runs say") == page.count("The 6 pairs") == 3
    assert "the old rhythm was irregular" in page
    assert "readmission-forest is at-risk; triage-boosting is inconclusive" in page
    assert "Jaccard similarity of word 3-grams at or above 0.7" in page


def test_document_of_all_legs(scan: Scan) -> None:
    scan("--report", "report.json")
    document = json.loads(Path("report.json").read_text())
    assert document["verdict"]["state"] == "bad"
    totals = {leg: group["total"] for leg, group in document["findings"].items()}
    assert totals == {"claims": 3, "code": 1, "data": 3}
    checked = document["checked"]
    assert checked["files"] == 3
    assert [data["id"] for data in checked["datasets"]] == ["readmission", "triage"]
    assert checked["datasets"][0]["parameters"] == {
        "text": "note",
        "target": "readmitted",
        "group": "patient",
        "id-columns": "visit",
        "threshold": 0.7,
    }
    assert [split["rows"] for split in checked["datasets"][0]["splits"]] == [60, 20]
    loop = {stage["name"]: stage["state"] for stage in document["loop"]}
    assert loop["Evaluate once on held-out rows"] == loop["Decision on the claim"] == "failed"


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report_is_the_same_bytes_each_time(scan: Scan, suffix: str) -> None:
    for name in ("first", "second"):
        scan("--report", f"{name}.{suffix}")
    assert Path(f"first.{suffix}").read_bytes() == Path(f"second.{suffix}").read_bytes()


def test_hostile_rows_stay_text(scan: Scan) -> None:
    hostile = "\"><script>alert('x')</script> | `a` \u202egnp.exe\u2066 [x](javascript:1) ]]> \x1b[31m"
    train, test = Path("data/readmission/train.csv"), Path("data/readmission/test.csv")
    cell = '"' + hostile.replace('"', '""') + '"'
    long = "q" * 1_000_000
    for file, name in ((train, "p08"), (test, "q02")):
        text = file.read_text().replace(f",{name},", f",{cell},").replace(f",{name[0]}05,", f",{long},")
        file.write_text(text)
    _, out, _ = scan()
    assert "\x1b[31m" not in out
    assert "\u202e" not in out
    for suffix in ("html", "md", "json"):
        scan("--report", f"page.{suffix}")
    page, markdown = Path("page.html").read_text(), Path("page.md").read_text()
    for text in (page, markdown):
        assert "<script" not in text
        assert not set("\u202e\u2066\x1b") & set(text)
        assert len(text) < 200_000
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in page
    assert "(1,000,000 characters)" in page
    assert "[x](javascript" not in markdown
    assert json.loads(Path("page.json").read_text())["findings"]["data"]["total"] >= 3
