"""The formats for services: valid by their schemas, at the right place, and proof against odd names and messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st

from leakcheck.findings import Confidence, Edit, Finding, Fix, Location, Severity, Suppressed, TraceStep, Within
from leakcheck.project.source import Problem
from leakcheck.report.document import build
from leakcheck.report.formats import Results, render

SCHEMAS = Path(__file__).parent / "schemas"
SARIF = jsonschema.Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0.json").read_text(encoding="utf-8")))
GITLAB = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "gitlab-code-quality.json").read_text(encoding="utf-8")))
JUNIT = xmlschema.XMLSchema(SCHEMAS / "junit.xsd")

FITTED = Location("src/prep.py", None, 17, 26, 17, 76)
SPLIT = Location("train.py", None, 13, 40, 14, 9)
FINDING = Finding(
    "LK101",
    "preprocess-before-split",
    "L1.2",
    Severity.WARNING,
    Confidence.SURE,
    "StandardScaler is fitted on all rows, 25% of them held out",
    "split first",
    FITTED,
    trace=(TraceStep("learns here", FITTED), TraceStep("held out here", SPLIT)),
    fingerprint="0123456789abcdef",
)
PROBLEM = Problem("not UTF-8 text", Location("bad.py", None, 3, 2, 3, 2))
ODD = [
    "with space.py",
    "a,b.py",
    "a:b.py",
    "100%25.py",
    "new\nline.py",
    "back\\slash.py",
    "quote\"'<&>.py",
    "né名😀.py",
    "esc\x1b[31m.py",
    "half\udce9.py",
    "a](b).py",
    "::error file=x::.py",
]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(*findings: Finding, **more: Any) -> Results:
    return Results(findings, lambda: build(findings=findings, files=1), **more)


def sarif(*findings: Finding, **more: Any) -> dict[str, Any]:
    log = json.loads(render("sarif", results(*findings, **more)))
    SARIF.validate(log)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def gitlab(*findings: Finding, **more: Any) -> list[dict[str, Any]]:
    issues = json.loads(render("gitlab", results(*findings, **more)))
    GITLAB.validate(issues)
    assert isinstance(issues, list)
    return issues


def junit(*findings: Finding, **more: Any) -> Any:
    text = render("junit", results(*findings, **more))
    JUNIT.validate(text)
    from xml.etree import ElementTree

    return ElementTree.fromstring(text)


def github(*findings: Finding, **more: Any) -> list[tuple[str, dict[str, str], str]]:
    """Commands as the runner reads them: https://github.com/actions/runner, ActionCommand."""
    return list(commands(render("github", results(*findings, **more))))


def commands(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    def decoded(value: str, *more: tuple[str, str]) -> str:
        for code, character in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
            value = value.replace(code, character)
        return value

    for line in text.split("\n"):
        if line.startswith("::"):
            head, _, message = line[2:].partition("::")
            name, _, properties = head.partition(" ")
            pairs = (pair.split("=", 1) for pair in properties.split(","))
            yield name, {key: decoded(value, ("%3A", ":"), ("%2C", ",")) for key, value in pairs}, decoded(message)


def with_path(path: str) -> Finding:
    place = replace(FITTED, path=path)
    return replace(FINDING, location=place, trace=(TraceStep(f"learns in {path}", place),))


# SARIF


def test_sarif_has_the_rule_the_place_the_path_and_the_fingerprint() -> None:
    run = sarif(FINDING)
    (found,) = run["results"]
    rule = run["tool"]["driver"]["rules"][found["ruleIndex"]]
    assert (found["ruleId"], rule["id"], rule["name"]) == ("LK101", "LK101", "preprocess-before-split")
    assert (found["level"], rule["defaultConfiguration"]["level"]) == ("warning", "warning")
    assert rule["help"]["markdown"].startswith("# preprocess-before-split (LK101)\n")
    assert rule["help"]["text"].startswith("preprocess-before-split (LK101)\n")
    assert "```" not in rule["help"]["text"]
    assert rule["fullDescription"]["text"].startswith("A statistic is learned")
    assert found["message"]["text"] == FINDING.message
    assert found["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "src/prep.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 17, "startColumn": 26, "endLine": 17, "endColumn": 76},
            }
        }
    ]
    steps = found["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == ["learns here", "held out here"]
    assert steps[1]["location"]["physicalLocation"]["region"]["endLine"] == 14
    assert found["partialFingerprints"] == {"leakcheck/v1": "0123456789abcdef"}
    assert "%SRCROOT%" in run["originalUriBaseIds"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize("severity", list(Severity))
def test_sarif_levels_are_the_severities(severity: Severity) -> None:
    (found,) = sarif(replace(FINDING, severity=severity))["results"]
    assert found["level"] == severity.value


def test_sarif_says_what_could_not_be_read() -> None:
    run = sarif(errors=(PROBLEM,), notices=("n.ipynb: the notebook's language is R, not Python; skipped",))
    (invocation,) = run["invocations"]
    error, notice = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"]
    assert (error["level"], error["descriptor"]["id"]) == ("error", "LK001")
    assert error["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert [entry["id"] for entry in run["tool"]["driver"]["notifications"]] == ["LK001"]
    assert (notice["level"], "language is R" in notice["message"]["text"]) == ("note", True)
    assert run["results"] == []


def test_sarif_marks_suppressed_findings() -> None:
    by_comment = replace(FINDING, suppressed=Suppressed("comment", "fixed ranges"))
    by_baseline = replace(FINDING, suppressed=Suppressed("baseline", ""))
    open_one, commented, accepted = sarif(FINDING, suppressed=(by_comment, by_baseline))["results"]
    assert "suppressions" not in open_one
    assert commented["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "fixed ranges"}]
    assert accepted["suppressions"] == [{"kind": "external", "status": "accepted"}]


def test_sarif_carries_a_fix() -> None:
    fix = Fix("split first", (Edit(Location("train.py", None, 3, 1, 3, 1), "x\n"), Edit(FITTED, "y")), safe=True)
    (found,) = sarif(replace(FINDING, fix=fix))["results"]
    (written,) = found["fixes"]
    first, second = written["artifactChanges"]
    assert first["replacements"] == [
        {
            "deletedRegion": {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 1},
            "insertedContent": {"text": "x\n"},
        }
    ]
    assert second["artifactLocation"]["uri"] == "src/prep.py"


def test_sarif_has_evidence_of_any_kind() -> None:
    import numpy as np

    evidence = {"k": np.int64(3), "rows": [{"similarity": np.float64(0.5)}]}
    (found,) = sarif(replace(FINDING, evidence=evidence))["results"]
    assert found["properties"]["evidence"] == {"k": 3, "rows": [{"similarity": 0.5}]}


def test_paths_are_those_of_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "sub").mkdir()
    monkeypatch.chdir(repository / "sub")
    inside, outside = with_path("prep.py"), with_path("../../elsewhere/x y.py")
    uris = [
        found["locations"][0]["physicalLocation"]["artifactLocation"] for found in sarif(inside, outside)["results"]
    ]
    assert uris[0] == {"uri": "sub/prep.py", "uriBaseId": "%SRCROOT%"}
    assert unquote(urlsplit(uris[1]["uri"]).path) == str(repository.parent / "elsewhere/x y.py")
    assert [command[1]["file"] for command in github(inside)] == ["sub/prep.py"]
    assert gitlab(inside)[0]["location"]["path"] == "sub/prep.py"


# Odd names and messages, in all of them


@pytest.mark.parametrize("name", ODD)
def test_odd_names_come_back_as_they_were(name: str) -> None:
    finding = with_path(name)
    (found,) = sarif(finding)["results"]
    uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (urlsplit(uri).scheme, urlsplit(uri).path) == ("", uri)  # a relative reference, all of it path
    assert os.fsdecode(unquote(uri, errors="surrogateescape").encode("utf-8", "surrogateescape")) == name
    assert gitlab(finding)[0]["location"]["path"] == name
    ((command, properties, _),) = github(finding)
    assert (command, properties["file"], properties["line"]) == ("warning", name, "17")
    (case,) = junit(finding).iter("testcase")
    visible = "".join(c if c.isprintable() else "\ufffd" for c in name)
    assert case.get("file") == visible
    for output_format in ("sarif", "gitlab", "junit", "html"):
        assert render(output_format, results(finding)).isascii()


@given(st.text(min_size=1))
def test_any_message_keeps_every_format_whole(message: str) -> None:
    finding = replace(FINDING, message=message, help=message)
    problem = Problem(message, PROBLEM.location)
    assert len(sarif(finding, errors=(problem,))["results"]) == 1
    assert len(gitlab(finding, errors=(problem,))) == 2
    assert len(list(junit(finding, errors=(problem,)).iter("testcase"))) == 2
    lines = render("github", results(finding, errors=(problem,))).split("\n")
    assert [line[:3] for line in lines] == ["::w", "::e", ""]


def test_a_huge_message_is_kept() -> None:
    finding = replace(FINDING, message="x" * 1_000_000)
    assert len(sarif(finding)["results"][0]["message"]["text"]) == 1_000_000
    assert len(gitlab(finding)[0]["description"]) > 1_000_000


# The others


def test_github_commands() -> None:
    note = replace(FINDING, severity=Severity.NOTE, location=SPLIT)
    error = replace(FINDING, severity=Severity.ERROR)
    (warning, properties, message), second, third, unreadable = github(FINDING, note, error, errors=(PROBLEM,))
    assert warning == "warning"
    assert properties == {
        "file": "src/prep.py",
        "line": "17",
        "endLine": "17",
        "col": "26",
        "endColumn": "76",
        "title": "LK101 preprocess-before-split",
    }
    assert message == f"{FINDING.message}\nsplit first"
    assert (second[0], second[1]["endLine"], "col" in second[1]) == ("notice", "14", False)
    assert third[0] == "error"
    assert (unreadable[0], unreadable[1]["file"], unreadable[1]["line"]) == ("error", "bad.py", "3")


def test_gitlab_severities_and_fingerprints() -> None:
    other = replace(FINDING, severity=Severity.ERROR, fingerprint="f" * 16)
    issues = gitlab(FINDING, other, errors=(PROBLEM, replace(PROBLEM, message="binary")))
    assert [issue["severity"] for issue in issues] == ["major", "critical", "blocker", "blocker"]
    assert issues[0]["location"] == {"path": "src/prep.py", "lines": {"begin": 17, "end": 17}}
    assert len({issue["fingerprint"] for issue in issues}) == 4


def test_junit_counts_and_a_clean_run() -> None:
    root = junit(FINDING, replace(FINDING, location=SPLIT), errors=(PROBLEM,))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "2", "1")
    assert [suite.get("name") for suite in root] == ["bad.py", "src/prep.py", "train.py"]
    clean = junit()
    assert (clean.get("tests"), clean.get("failures")) == ("1", "0")  # no tests at all are a failure for some services


def test_html_and_markdown_are_the_pages_of_the_report() -> None:
    assert render("html", results(FINDING)).startswith("<!doctype html>")
    assert "StandardScaler is fitted" in render("markdown", results(FINDING))


# Notebooks and data


def notebook(folder: Path, source: list[str] | str, **how: Any) -> Path:
    file = folder / "n.ipynb"
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# t\n", "text"]},
        {"cell_type": "code", "metadata": {}, "outputs": [{"text": ["{\n"]}], "source": source},
    ]
    file.write_text(json.dumps({"cells": cells, "metadata": {}}, **how), encoding="utf-8")
    return file


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_notebook_finding_stands_on_its_line_of_the_file(repository: Path, ascii_only: bool) -> None:
    file = notebook(repository, ["x = 'é😀'; y = 1\n", "fit(x)\n"], indent=1, ensure_ascii=ascii_only)
    place = Location("n.ipynb", 2, 1, 11, 1, 16)
    finding = replace(FINDING, location=place, trace=(TraceStep("here", place),))
    (found,) = sarif(finding)["results"]
    region = found["locations"][0]["physicalLocation"]["region"]
    line = file.read_text(encoding="utf-8").split("\n")[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "y = 1"
    assert found["message"]["text"].startswith("cell 2:1: StandardScaler")
    assert gitlab(finding)[0]["location"]["lines"]["begin"] == region["startLine"]
    ((_, properties, message),) = github(finding)
    assert (int(properties["line"]), message[:10]) == (region["startLine"], "cell 2:1: ")
    (case,) = junit(finding).iter("testcase")
    assert int(case.get("line")) == region["startLine"]


def test_a_fix_in_a_notebook_is_one_of_its_json(repository: Path) -> None:
    file = notebook(repository, ["x = 1\n", "fit(x)\n"], indent=1)
    place = Location("n.ipynb", 2, 2, 5, 2, 6)
    finding = replace(FINDING, location=place, trace=(), fix=Fix("quote", (Edit(place, '"x"'),), safe=True))
    (found,) = sarif(finding)["results"]
    (replacement,) = found["fixes"][0]["artifactChanges"][0]["replacements"]
    region = replacement["deletedRegion"]
    lines = file.read_text(encoding="utf-8").split("\n")
    line = lines[region["startLine"] - 1]
    start, end = region["startColumn"] - 1, region["endColumn"] - 1
    lines[region["startLine"] - 1] = line[:start] + replacement["insertedContent"]["text"] + line[end:]
    assert json.loads("\n".join(lines))["cells"][1]["source"] == ["x = 1\n", 'fit("x")\n']
    over_lines = replace(finding, fix=Fix("no", (Edit(replace(place, line=1), "x"),), safe=True))
    assert "fixes" not in sarif(over_lines)["results"][0]


def test_a_notebook_that_is_gone_keeps_its_findings() -> None:
    finding = replace(FINDING, location=Location("gone.ipynb", 4, 12, 5, 12, 9), trace=())
    (found,) = sarif(finding)["results"]
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert found["message"]["text"].startswith("cell 4:12: ")


def test_rows_of_data_are_no_lines() -> None:
    finding = replace(FINDING, code="LK601", location=Location("test.csv", None, 7, 1, 7, 1, Within.ROWS), trace=())
    (found,) = sarif(finding)["results"]
    assert "region" not in found["locations"][0]["physicalLocation"]
    assert found["message"]["text"].startswith("row 7: ")
    ((_, properties, _),) = github(finding)
    assert "line" not in properties
    assert gitlab(finding)[0]["location"]["lines"] == {"begin": 1}


def test_no_format_is_loaded_that_was_not_asked_for(repository: Path) -> None:
    (repository / "clean.py").write_text("x = 1\n", encoding="utf-8")
    code = (
        "import sys; from leakcheck.cli import main; main(['scan', 'clean.py']);"
        "print(*(m for m in sys.modules if m.startswith('leakcheck.report')))"
    )
    root = str(Path(__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": root}
    )
    formats = {"sarif", "github", "gitlab", "junit", "page", "markdown_page", "formats", "places", "json"}
    assert {name.rpartition(".")[2] for name in run.stdout.split()}.isdisjoint(formats)
