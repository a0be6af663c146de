"""The command line as people use it."""

import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

import leakcheck
from leakcheck.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
LEAK = (ROOT / "fixtures/odd_files/00_plain_leak.py").read_text(encoding="utf-8")
CLEAN = (ROOT / "fixtures/odd_files/00_plain_clean.py").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "leak.py").write_text(LEAK, encoding="utf-8")
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def in_a_process(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options}  # type: ignore[dict-item]
    return subprocess.run(
        [sys.executable, "-m", "leakcheck", *arguments], capture_output=True, env=environment, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["scan", "clean.py"], 0),
        (["scan", "leak.py"], 1),
        (["scan"], 1),
        (["scan", "leak.py", "--exit-zero"], 0),
        (["scan", "leak.py", "--ignore", "LK101"], 0),
        (["scan", "leak.py", "--select", "LK2"], 0),
        (["scan", "leak.py", "--select", ""], 2),
        (["scan", "leak.py", "--ignore", ""], 1),
        (["scan", "leak.py", "--per-file-ignores", "leak.py:LK101"], 0),
        (["scan", "leak.py", "--exclude", "leak.py"], 1),
        (["scan", "leak.py", "--exclude", "leak.py", "--force-exclude"], 0),
        (["scan", ".", "--exclude", "leak.py"], 0),
        (["scan", "leak.py", "--no-cache", "--no-data", "--no-claims", "--isolated"], 1),
        (["scan", "absent.py"], 2),
        (["scan", "leak.py", "--select", "LK9"], 2),
        (["scan", "leak.py", "--output-format", "xml"], 2),
        (["scan", "leak.py", "--config", "absent.toml"], 2),
        (["scan", "--slect", "LK1"], 2),
        (["scna"], 2),
        ([], 2),
        (["--version"], 0),
        (["--help"], 0),
        (["scan", "--help"], 0),
        (["rule"], 0),
        (["rule", "LK101"], 0),
        (["rule", "LK002"], 0),
        (["rule", "preprocess-before-split"], 0),
        (["rule", "LK1001"], 2),
    ],
)
def test_exit_status(arguments: list[str], status: int) -> None:
    assert main(arguments) == status


def test_unreadable_wins_over_findings_and_over_exit_zero(project: Path) -> None:
    (project / "bad.py").write_bytes(b"\xff\n")
    assert main(["scan"]) == 2
    assert main(["scan", "--exit-zero"]) == 2
    assert main(["scan", "--ignore", "LK001"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scna"], "did you mean 'scan'"),
        (["leak.py"], "did you mean `leakcheck scan leak.py`"),
        (["scan", "--slect", "LK1"], "did you mean '--select'"),
        (["scan", "absent.py"], "leakcheck: absent.py: no such file"),
        (["rule", "preproces-before-split"], "did you mean 'preprocess-before-split'"),
        (["scan", "--per-file-ignores", "LK1"], "expected PATTERN:CODE"),
    ],
)
def test_mistakes_get_one_line_on_stderr(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(arguments)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_results_go_to_stdout_and_the_rest_to_stderr(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bad.py").write_bytes(b"\xff\n")
    main(["scan", "--output-format", "concise"])
    captured = capsys.readouterr()
    finding, summary = captured.out.splitlines()
    assert finding.startswith("leak.py:7:6: LK101 [warning] ")
    assert summary == "Found 1 finding (1 warning) in 1 of 3 files; 1 file or cell could not be read."
    assert captured.err.startswith("bad.py:1:1: LK001 [error] not UTF-8 text")


def test_a_clean_run_says_so_and_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "clean.py"])
    assert capsys.readouterr().out == "All checks passed: 1 file.\n"
    main(["scan", "clean.py", "--quiet"])
    assert capsys.readouterr() == ("", "")


def test_full_shows_the_line_and_colour_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "leak.py"])
    plain = capsys.readouterr().out
    assert "7 | Xs = StandardScaler().fit_transform(X)" in plain
    assert "\x1b" not in plain
    main(["scan", "leak.py", "--color", "always"])
    assert "\x1b[1;33mwarning[LK101]\x1b[0m" in capsys.readouterr().out


def test_json_is_one_object_with_the_errors_in_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bad.py").write_bytes(b"\xff\n")
    main(["scan", "--output-format", "json", "--select", "ALL"])
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    jsonschema.validate(record, json.loads((ROOT / "docs/json-schema.json").read_text(encoding="utf-8")))
    assert "LK101" in {finding["code"] for finding in record["findings"]}
    assert [error["location"]["path"] for error in record["errors"]] == ["bad.py"]
    assert captured.err == ""


def test_json_lines_and_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "--output-format", "json-lines"])
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["location"]["path"] == "leak.py"
    main(["scan", "--statistics", "--quiet"])
    assert capsys.readouterr().out == "1  LK101  preprocess-before-split\n"


def test_rules_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rule"])
    listed = capsys.readouterr().out
    assert listed.splitlines()[0].split() == ["LK001", "unreadable-file", "error"]
    assert "LK101  preprocess-before-split" in listed
    main(["rule", "lk1"])
    assert {line[:3] for line in capsys.readouterr().out.splitlines()} == {"LK1"}
    main(["rule", "LK101"])
    assert capsys.readouterr().out.startswith("# preprocess-before-split (LK101)\n")


def test_the_configuration_of_the_project_holds(project: Path) -> None:
    (project / "leakcheck.toml").write_text('ignore = ["LK101"]\n', encoding="utf-8")
    assert main(["scan"]) == 0
    assert main(["scan", "--select", "LK101"]) == 1
    assert main(["scan", "--isolated"]) == 1
    (project / "leakcheck.toml").write_text('ignroe = ["LK101"]\n', encoding="utf-8")
    assert main(["scan"]) == 2


def test_as_a_module_in_a_terminal_without_utf8(project: Path) -> None:
    os.rename("leak.py", "né.py")
    run = in_a_process("scan", "--output-format", "concise", PYTHONIOENCODING="ascii")
    assert (run.returncode, run.stderr) == (1, b"")
    assert run.stdout.startswith(b"n\\xe9.py:7:6: LK101")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_that_its_parser_takes(command: str) -> None:
    module = import_module(f"leakcheck.cli.{command}")
    lines = [line.strip() for line in module.EXAMPLES.splitlines()[1:]]
    assert len(lines) >= 2
    for line in lines:
        typed = re.split(r"\s{2,}| [<>] ", line)[0]
        assert typed.startswith(f"leakcheck {command}")
        module.build_parser().parse_args(shlex.split(typed)[2:])


def test_modules_of_the_working_folder_are_not_imported(project: Path) -> None:
    for name in ("argparse", "json", "pathspec", "libcst", "plugin"):
        (project / f"{name}.py").write_text(f"open('{name}_was_run', 'w')\n", encoding="utf-8")
    (project / "x-1.dist-info").mkdir()
    entry = "[leakcheck.rules]\nx = plugin\n"
    (project / "x-1.dist-info/entry_points.txt").write_text(entry, encoding="utf-8")
    run = in_a_process("scan", "leak.py", "--isolated", "--output-format", "json")
    assert json.loads(run.stdout)["summary"]["by_code"] == {"LK101": 1}
    assert not list(project.glob("*_was_run"))


def test_version_is_that_of_the_package() -> None:
    run = in_a_process("--version")
    assert run.stdout.decode().strip() == f"leakcheck {leakcheck.__version__}"


def test_the_start_loads_nothing_heavy() -> None:
    code = "import sys, leakcheck.cli; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    loaded = set(run.stdout.split())
    assert loaded.isdisjoint(
        {"libcst", "pathspec", "tomllib", "json", "dataclasses", "pathlib", "numpy", "leakcheck.run"}
    )


def test_a_reader_that_goes_away_leaves_no_traceback(project: Path) -> None:
    for number in range(200):
        (project / f"leak{number}.py").write_text(LEAK, encoding="utf-8")
    command = f"{sys.executable} -m leakcheck scan | head -n 1"
    run = subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert run.stdout.startswith("warning[LK101]")
    assert run.stderr == ""


def test_closed_streams_are_no_fault() -> None:
    command = f"{sys.executable} -m leakcheck scan >&- 2>&-; echo status $?"
    run = subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert run.stdout == "status 1\n"


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from leakcheck.cli import scan

    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(scan, "run", interrupted)
    assert main(["scan"]) == 130
    assert capsys.readouterr() == ("", "")
