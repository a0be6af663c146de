"""The JSON holds what its schema says."""

import json
from pathlib import Path

import jsonschema

from leakcheck.findings import Confidence, Edit, Finding, Fix, Location, Severity, TraceStep
from leakcheck.project.config import Config
from leakcheck.project.modules import Modules
from leakcheck.project.source import Problem
from leakcheck.report.json import to_json, to_json_lines
from leakcheck.run import ScanResult

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/json-schema.json").read_text(encoding="utf-8"))
PLACE = Location("né.ipynb", 2, 3, 4, 3, 9)


def result() -> ScanResult:
    finding = Finding(
        "LK101",
        "preprocess-before-split",
        "L1.2",
        Severity.WARNING,
        Confidence.SURE,
        "message",
        "help",
        PLACE,
        trace=(TraceStep("here", PLACE),),
        fix=Fix("split first", (Edit(PLACE, "x"),), safe=False),
        evidence={"k": 3},
        fingerprint="0123456789abcdef",
    )
    problem = Problem("not UTF-8", Location("b.py", None, 1, 1, 1, 1))
    return ScanResult((finding,), (problem,), (), (), 2, 1, Modules(Config(Path.cwd())))


def test_a_result_fits_the_schema() -> None:
    record = json.loads(to_json(result()))
    jsonschema.validate(record, SCHEMA)
    assert record["summary"] == {
        "files": 2, "skipped": 1, "findings": 1, "by_code": {"LK101": 1}, "suppressed": {"comment": 0, "baseline": 0}
    }  # fmt: skip
    assert record["findings"][0]["location"] == {
        "path": "né.ipynb", "cell": 2, "line": 3, "column": 4, "end_line": 3, "end_column": 9
    }  # fmt: skip
    assert record["findings"][0]["fix"]["applicability"] == "unsafe"
    assert record["errors"][0]["code"] == "LK001"


def test_json_lines_are_the_same_findings() -> None:
    (line,) = to_json_lines(result())
    assert json.loads(line) == json.loads(to_json(result()))["findings"][0]


def test_every_terminal_can_print_it() -> None:
    assert to_json(result()).isascii()


def test_the_page_of_the_rule_exists() -> None:
    url = json.loads(to_json(result()))["findings"][0]["url"]
    assert (Path(__file__).parents[2] / url).is_file()


def test_frame_and_html() -> None:
    frame = result().to_frame()
    assert frame[["code", "path", "cell", "line"]].values.tolist() == [["LK101", "né.ipynb", 2, 3]]
    assert "né.ipynb:cell 2:3:4" in result()._repr_html_()
