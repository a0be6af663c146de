"""`leakcheck scan` of a project that declares claims."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from leakcheck.cli import main

Scan = Callable[..., tuple[int, str, str]]
PROJECT = Path(__file__).parents[2] / "fixtures" / "claims" / "project"


@pytest.fixture
def scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Scan:
    shutil.copytree(PROJECT, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["scan", *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def codes(out: str) -> list[str]:
    return sorted({finding["code"] for finding in json.loads(out)["findings"]})


def test_leak_in_the_code_puts_the_claim_at_risk(scan: Scan) -> None:
    status, out, _ = scan("--output-format", "json")
    findings = {finding["code"]: finding for finding in json.loads(out)["findings"]}
    assert status == 1
    assert {"LK202", "LK504", "LK801"} <= set(findings)
    risk = findings["LK801"]
    assert "is at-risk: open finding LK202 (tune-on-test) at src/train.py:" in risk["message"]
    assert (risk["location"]["path"], risk["location"]["line"]) == ("leakcheck.toml", 2)


def test_sound_code_leaves_the_claim_supported(scan: Scan) -> None:
    Path("src/train.py").unlink()
    _, out, _ = scan("--output-format", "json")
    assert codes(out) == ["LK504"]


def test_ignored_finding_is_not_open(scan: Scan) -> None:
    _, out, _ = scan("--output-format", "json", "--ignore", "LK202")
    assert "LK801" not in codes(out)


def test_claims_can_be_left_out(scan: Scan) -> None:
    _, out, _ = scan("--output-format", "json", "--no-claims")
    assert "LK801" not in codes(out)
    assert "LK504" in codes(out)


def test_named_files_are_all_that_is_checked(scan: Scan) -> None:
    _, out, _ = scan("src/train.py", "--output-format", "json")
    assert not {"LK504", "LK801"} & set(codes(out))


def test_broken_results_are_told_and_the_rest_goes_on(scan: Scan) -> None:
    Path("results/seeds.csv").write_text("seed,baseline,boosting\n1,0.8,\n")
    status, out, err = scan()
    assert status == 2
    assert "results/seeds.csv, line 2: the value of 'boosting' for id '1' is not usable" in err
    assert "LK202" in out


def test_mistyped_claim_ends_the_scan(scan: Scan) -> None:
    config = Path("leakcheck.toml")
    config.write_text(config.read_text().replace("threshold =", "treshold ="))
    status, _, err = scan()
    assert status == 2
    assert "unknown key 'treshold'; did you mean 'threshold'?" in err


def test_scan_of_a_folder_elsewhere_knows_the_claims_text(
    scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path.parent)
    _, out, _ = scan(tmp_path.name, "--output-format", "json")
    messages = [finding["message"] for finding in json.loads(out)["findings"] if finding["code"] == "LK504"]
    assert len(messages) == 1
    assert "The new loader" in messages[0]


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report_has_claims_and_code(scan: Scan, suffix: str) -> None:
    scan("--report", f"report.{suffix}")
    text = Path(f"report.{suffix}").read_text()
    for words in ("at-risk", "LK202", "boosting-beats-baseline", "train.py"):
        assert words in text


def test_a_file_marked_exploratory_makes_its_claim_exploratory(scan: Scan) -> None:
    code = Path("src/train.py")
    code.write_text("# leakcheck: exploratory\n" + code.read_text())
    _, out, _ = scan("--output-format", "json", "--select", "ALL", "--report", "report.json")
    severities = {finding["code"]: finding["severity"] for finding in json.loads(out)["findings"]}
    assert severities["LK202"] == "note"
    (claim,) = json.loads(Path("report.json").read_text())["claims"]
    assert claim["verdict"] == "exploratory"


SENTENCE = "Our gated model beats the plain one: accuracy 92.1 % against 90.3 %."
IGNORED = "leakcheck: ignore[LK504] see the appendix"


def test_a_comment_silences_a_sentence_in_markdown_notebooks_and_docstrings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    markdown = f"{SENTENCE} <!-- {IGNORED} -->\n"
    Path("README.md").write_text(f"{markdown}\n{SENTENCE}\n")
    cells = [{"cell_type": "markdown", "metadata": {}, "source": markdown}]
    cells.append(
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "import sklearn"}
    )
    Path("work.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    Path("model.py").write_text(f'"""{SENTENCE}"""  # {IGNORED}\nimport sklearn\n')
    Path("idle.md").write_text(f"Nothing is claimed. <!-- {IGNORED} -->\n")
    status = main(["scan", "--isolated", "--no-cache", "--output-format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert status == 1
    found = [(f["code"], f["location"]["path"], f["location"]["line"]) for f in findings]
    assert found == [("LK504", "README.md", 3), ("LK002", "idle.md", 1)]
