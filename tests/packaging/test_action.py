"""The GitHub Action: its scripts, run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
if shutil.which("bash") is None:
    pytest.skip("bash is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
LEAK = (ROOT / "fixtures/odd_files/00_plain_leak.py").read_text(encoding="utf-8")


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A working folder of a job, with one leak in a path that has a space."""
    (tmp_path / "temp").mkdir()
    (tmp_path / "work/my code").mkdir(parents=True)
    (tmp_path / "work/my code/leak.py").write_text(LEAK, encoding="utf-8")
    (tmp_path / "work/clean.py").write_text("print('nothing')\n", encoding="utf-8")
    launcher = tmp_path / "leakcheck"
    launcher.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m leakcheck "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    return tmp_path


def run_step(name: str, runner: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script as `shell: bash` does."""
    script = runner / "step.sh"
    script.write_text(STEPS[name]["run"], encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "PYTHON"))}
    variables |= {f"GITHUB_{name}": str(runner / name) for name in ("ENV", "OUTPUT", "STEP_SUMMARY")}
    variables |= {"RUNNER_TEMP": str(runner / "temp"), "LEAKCHECK": str(runner / "leakcheck"), **environment}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=runner / "work", env=variables, capture_output=True, text=True, timeout=300)


def scan(runner: Path, paths: str = ".", args: str = "", fail: str = "true") -> subprocess.CompletedProcess[str]:
    return run_step("Scan", runner, PATHS=paths, ARGS=args, FAIL=fail)


def outputs(runner: Path) -> dict[str, str]:
    lines = (runner / "OUTPUT").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_each_input_is_used_and_each_step_hands_its_inputs_on_by_environment() -> None:
    text = json.dumps(STEPS)
    for name in ACTION["inputs"]:
        assert f"inputs.{name} " in text
    for step in STEPS.values():
        assert "${{" not in step.get("run", ""), "an expression in a script would run what an input holds"
        if "run" in step:
            assert step["shell"] == "bash"


def test_the_documentation_lists_the_inputs_with_their_defaults() -> None:
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| (?:`([^`]*)`)? ?\|", page, re.MULTILINE))
    assert listed == {name: given["default"] for name, given in ACTION["inputs"].items()}
    for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        assert yaml.safe_load(block)


def test_findings_fail_the_job_with_annotations_summary_and_sarif(runner: Path) -> None:
    done = scan(runner)
    assert done.returncode == 1, done.stderr
    assert "::warning " in done.stdout
    assert "file=my code/leak.py,line=7" in done.stdout
    assert "LK101" in (runner / "STEP_SUMMARY").read_text(encoding="utf-8")
    given = outputs(runner)
    assert given["status"] == "1"
    sarif = json.loads(Path(given["sarif-file"]).read_text(encoding="utf-8"))
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["LK101"]


def test_findings_are_let_pass_when_asked(runner: Path) -> None:
    assert scan(runner, fail="false").returncode == 0
    assert outputs(runner)["status"] == "1"


def test_paths_and_options_are_split_into_words_with_their_quotes(runner: Path) -> None:
    assert scan(runner, paths='clean.py\n"my code/leak.py"').returncode == 1
    assert scan(runner, args="--config 'ignore = [\"LK101\"]'").returncode == 0
    assert scan(runner, paths="clean.py", args=" ").returncode == 0


def test_nothing_in_an_input_is_run(runner: Path) -> None:
    assert scan(runner, paths="$(touch made) `touch made` *.py; touch made").returncode == 2
    assert not (runner / "work/made").exists()


def test_what_could_not_be_done_fails_the_job_even_if_findings_do_not(runner: Path) -> None:
    done = scan(runner, paths="absent.py", fail="false")
    assert done.returncode == 2
    assert "absent.py: no such file" in done.stderr
    assert outputs(runner) == {"status": "2"}


def test_the_checkout_of_the_action_is_installed(runner: Path) -> None:
    done = run_step(
        "Install leakcheck", runner, PYTHON=sys.executable, VERSION="", EXTRAS="", ACTION_PATH=str(ROOT),
        REPOSITORY="", SERVER="",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = (runner / "ENV").read_text(encoding="utf-8").splitlines()
    command = line.removeprefix("LEAKCHECK=")
    assert subprocess.run([command, "--version"], capture_output=True, timeout=60).returncode == 0
