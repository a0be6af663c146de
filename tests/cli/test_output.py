"""Output formats, files, statistics, the baseline and added comments, as people use them from the command line."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
import xmlschema

from leakcheck.cli import main

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "tests/report/schemas"
LEAK = (ROOT / "fixtures/odd_files/00_plain_leak.py").read_text(encoding="utf-8")
BASELINE = ".leakcheck-baseline.json"
FORMATS = (
    "full", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit", "markdown", "html"
)  # fmt: skip


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "leak.py").write_text(LEAK, encoding="utf-8")
    return tmp_path


def schema(name: str) -> object:
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def is_valid(text: str, output_format: str) -> bool:
    """Whether the text is of its format, as far as there is a schema."""
    if output_format == "sarif":
        jsonschema.validate(json.loads(text), schema("sarif-2.1.0.json"))
    elif output_format == "gitlab":
        jsonschema.validate(json.loads(text), schema("gitlab-code-quality.json"))
    elif output_format == "junit":
        xmlschema.validate(text, str(SCHEMAS / "junit.xsd"))
    elif output_format == "json":
        jsonschema.validate(json.loads(text), json.loads((ROOT / "docs/json-schema.json").read_text(encoding="utf-8")))
    return True


@pytest.mark.parametrize("output_format", FORMATS)
def test_every_format_goes_to_stdout_or_into_a_file(
    output_format: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.py").write_bytes(b"\xff\n")
    assert main(["scan", "--output-format", output_format]) == 2
    printed = capsys.readouterr().out
    assert is_valid(printed, output_format)
    assert "LK101" in printed
    out = project / "out"
    arguments = ["scan", "--output-format", output_format, "--output-file", "out"]
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert out.read_text(encoding="utf-8") == printed
    assert "bad.py:1:1: LK001" in captured.err
    assert captured.err.splitlines()[-1].startswith("Found 1 finding")


@pytest.mark.parametrize("output_format", ["json", "sarif", "github", "gitlab", "junit"])
def test_what_could_not_be_read_stands_in_the_output(
    output_format: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.py").write_bytes(b"\xff\n")
    main(["scan", "bad.py", "--output-format", output_format])
    captured = capsys.readouterr()
    assert "LK001" in captured.out
    assert captured.err == ""


def test_a_file_does_not_depend_on_the_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main(["scan", "--output-file", "plain"])
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    main(["scan", "--output-file", "coloured"])
    assert (project / "plain").read_bytes() == (project / "coloured").read_bytes()


@pytest.mark.parametrize("place", ["absent/out", "."])
def test_a_file_that_cannot_be_written_is_one_line(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "--output-file", place]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "cannot be written" in captured.err
    assert captured.err.count("\n") == 1


def test_an_output_file_keeps_its_mode(project: Path) -> None:
    (project / "out").write_text("old")
    (project / "out").chmod(0o600)
    main(["scan", "--output-file", "out"])
    assert (project / "out").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("output_format", FORMATS)
def test_statistics(output_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["scan", "--statistics", "--output-format", output_format, "--quiet"])
    captured = capsys.readouterr()
    if output_format in ("full", "concise"):
        assert captured.out == "1  LK101  preprocess-before-split\n"
    elif output_format == "markdown":
        assert "| 1 | LK101 | preprocess-before-split |" in captured.out
    elif output_format == "json":
        assert is_valid(captured.out, "json")
        assert json.loads(captured.out)["statistics"] == [
            {"code": "LK101", "name": "preprocess-before-split", "count": 1}
        ]
    elif output_format == "json-lines":
        assert json.loads(captured.out)["count"] == 1
    else:
        assert (status, captured.out) == (2, "")
        assert captured.err.count("\n") == 1


def test_statistics_put_the_most_frequent_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(10):
        (project / f"leak{number}.py").write_text(LEAK, encoding="utf-8")
    again = LEAK.replace("StandardScaler().fit_transform(X)", "SelectKBest().fit_transform(X, y)")
    again = again.replace("import pandas", "from sklearn.feature_selection import SelectKBest\nimport pandas")
    (project / "select.py").write_text(again, encoding="utf-8")
    main(["scan", "--statistics", "--quiet"])
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["11", "LK101"], ["1", "LK102"]]


def test_exit_zero_goes_with_every_format() -> None:
    for output_format in FORMATS:
        assert main(["scan", "--exit-zero", "--output-format", output_format]) == 0


def test_suppressed_findings_stand_in_sarif_only(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "--add-ignore", "known", "--quiet"])
    capsys.readouterr()
    for output_format in FORMATS:
        assert main(["scan", "--output-format", output_format]) == 0
        assert ("LK101" in capsys.readouterr().out) == (output_format == "sarif")


# The baseline


def test_the_baseline_is_written_used_and_pruned(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline"]) == 0
    assert capsys.readouterr().out == f"Wrote 1 finding to {BASELINE}.\n"
    assert main(["scan"]) == 0
    assert capsys.readouterr().out == "All checks passed: 1 file (1 suppressed by the baseline).\n"
    assert main(["scan", "--no-baseline"]) == 1
    (project / "new.py").write_text(LEAK, encoding="utf-8")
    assert main(["scan"]) == 1
    (project / "leak.py").write_text("x = 1\n", encoding="utf-8")
    (project / "third.py").write_text(LEAK, encoding="utf-8")
    capsys.readouterr()
    assert main(["baseline", "--prune"]) == 0  # new.py takes the place that leak.py leaves; third.py stays new
    assert capsys.readouterr().out == f"Wrote 1 finding to {BASELINE} (1 moved).\n"
    assert main(["scan"]) == 1
    assert main(["baseline"]) == 0
    assert main(["scan"]) == 0


def test_a_run_says_what_is_gone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["baseline", "--quiet"])
    (project / "leak.py").write_text("x = 1\n", encoding="utf-8")
    assert main(["scan", "--output-format", "json"]) == 0
    captured = capsys.readouterr()
    assert "1 of its 1 findings is gone" in captured.err
    assert json.loads(captured.out)["summary"]["suppressed"] == {"comment": 0, "baseline": 0}
    assert main(["baseline"]) == 0
    assert json.loads((project / BASELINE).read_text(encoding="utf-8")) == {"version": 1, "findings": []}
    assert main(["scan", "--quiet"]) == 0


def test_another_file_may_be_named(project: Path) -> None:
    assert main(["baseline", "--baseline", "other.json"]) == 0
    assert main(["scan"]) == 1
    assert main(["scan", "--baseline", "other.json"]) == 0
    assert main(["scan", "--isolated", "--baseline", "other.json"]) == 0
    assert main(["scan", "--baseline", "absent.json"]) == 2
    assert main(["baseline", "--prune", "--baseline", "absent.json"]) == 2
    assert not (project / "absent.json").exists()


def test_a_broken_baseline_is_one_line_and_is_not_overwritten(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / BASELINE).write_text("<<<<<<< ours\n", encoding="utf-8")
    for arguments in (["scan"], ["baseline"]):
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == f"leakcheck: {BASELINE}, line 1: the baseline is not valid JSON: Expecting value\n"
    assert (project / BASELINE).read_text(encoding="utf-8") == "<<<<<<< ours\n"


def test_entries_of_a_file_that_cannot_be_read_stay(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["baseline"])
    before = (project / BASELINE).read_bytes()
    (project / "leak.py").write_bytes(b"\xff\n")
    assert main(["baseline"]) == 2
    assert "leak.py:1:1: LK001" in capsys.readouterr().err
    assert (project / BASELINE).read_bytes() == before


# Added comments


def test_added_comments_make_a_scan_clean(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "--add-ignore", "accepted in review"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "Silenced 1 finding in 1 file.\n"
    assert captured.out == "All checks passed: 1 file (1 suppressed by comments).\n"
    assert "# leakcheck: ignore[LK101] accepted in review\n" in (project / "leak.py").read_text(encoding="utf-8")
    assert main(["scan", "--require-reason"]) == 0


def test_only_what_is_shown_gets_a_comment(project: Path) -> None:
    assert main(["scan", "--select", "LK2", "--add-ignore", "known"]) == 0
    main(["baseline"])
    assert main(["scan", "--add-ignore", "known"]) == 0
    assert (project / "leak.py").read_text(encoding="utf-8") == LEAK


def test_what_gets_no_comment_is_said_and_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "README.md").write_text("Our model beats the baseline by 3.2 points (0.812 to 0.844).\n")
    assert main(["scan", "--add-ignore", "known", "--output-format", "concise"]) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "note: README.md:1:1: LK504 is not about code, so no comment was written; a baseline can accept it",
        "Silenced 1 finding in 1 file.",
    ]
    assert captured.out.splitlines()[0].startswith("README.md:1:1: LK504")


def test_a_file_that_cannot_be_written_makes_the_status_2(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "leak.py").chmod(0o444)
    (project / "other.py").write_text(LEAK, encoding="utf-8")
    assert main(["scan", "--add-ignore", "known", "--exit-zero"]) == 2
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "leakcheck: leak.py: the file is read-only; nothing was written",
        "Silenced 1 finding in 1 file.",
    ]
    assert (project / "leak.py").read_text(encoding="utf-8") == LEAK


def test_a_reason_is_needed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "--add-ignore", "two\nlines"]) == 2
    assert "expected a reason" in capsys.readouterr().err
    assert main(["scan", "--add-ignore"]) == 2
    assert os.listdir(project) and (project / "leak.py").read_text(encoding="utf-8") == LEAK


# The other commands


DATA = {
    "train.csv": "id,text,label\n1,the cat sat on the mat,0\n2,a dog barked,1\n",
    "test.csv": "id,text,label\n9,the cat sat on the mat,0\n",
}


@pytest.mark.parametrize("output_format", FORMATS)
def test_audit_has_the_same_formats(output_format: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in DATA.items():
        (project / name).write_text(content, encoding="utf-8")
    arguments = ["audit", "train.csv", "test.csv", "--output-format", output_format]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert is_valid(printed, output_format)
    assert "LK601" in printed
    assert main([*arguments, "--output-file", "out"]) == 1
    assert capsys.readouterr().out == ""
    assert (project / "out").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize("output_format", FORMATS)
def test_compare_has_the_same_formats(output_format: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "runs.csv").write_text("seed,base,ours\n1,0.8,0.81\n2,0.81,0.80\n3,0.8,0.82\n", encoding="utf-8")
    arguments = ["compare", "runs.csv", "--a", "base", "--b", "ours", "--output-format", output_format]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert output_format == "json" or is_valid(printed, output_format)
    assert "LK801" in printed
    assert main([*arguments, "--output-file", "out"]) == 1
    assert (project / "out").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--report", "x.pdf"], "x.pdf: unknown kind of report (expected .html, .md or .json, found '.pdf')"),
        (["--report", "nowhere/x.html"], "nowhere/x.html: the file cannot be written: there is no such folder"),
        (["--output-file", "nowhere/x.txt"], "nowhere/x.txt: the file cannot be written: there is no such folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_run(
    project: Path, option: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scan", *option]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"leakcheck: {message}\n")


def test_markdown_named_by_itself(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "README.md").write_text("# Notes\n", encoding="utf-8")
    assert main(["scan", "README.md"]) == 2
    assert "Markdown is read where its folder is scanned; name the folder" in capsys.readouterr().err


def test_the_baseline_follows_a_renamed_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["baseline"])
    (project / "leak.py").rename(project / "renamed.py")
    capsys.readouterr()
    main(["baseline", "--prune"])
    assert capsys.readouterr().out == f"Wrote 1 finding to {BASELINE} (1 moved).\n"
