"""`leakcheck config`, and `--config` on the command line."""

import json
import tomllib
from pathlib import Path

import pytest

from leakcheck.cli import main

PYPROJECT = """\
[project]
name = "churn"
description = '''
[tool.leakcheck]
ignore = ["LK999"]
'''

[tool.leakcheck]
select = [
  "LK1",
  "LK2",
]
ignore = ["LK101"]
"per-file-ignores" = { "eda/*" = ["LK2"] }

[[tool.leakcheck.datasets]]
id = "release"
splits = { train = "train.csv", test = "test.csv" }
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """The lines that `leakcheck config` prints, by key."""
    assert main(["config", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    return {line.removeprefix("# ").split(" ")[0].rstrip(":"): line for line in lines}


def test_each_value_is_shown_with_its_origin(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--ignore", "LK2", "--require-reason")
    assert lines["configuration:".rstrip(":")] == "# configuration: pyproject.toml; paths are relative to ."
    assert lines["select"] == 'select = ["LK1", "LK2"]  # pyproject.toml:9'
    assert lines["ignore"] == 'ignore = ["LK101", "LK2"]  # pyproject.toml:13, command line'
    assert lines["per-file-ignores"] == 'per-file-ignores = {"eda/*" = ["LK2"]}  # pyproject.toml:14'
    assert lines["require-reason"] == "require-reason = true  # command line"
    assert lines["respect-gitignore"] == "respect-gitignore = true  # default"
    assert lines["datasets"].endswith("  # pyproject.toml:16")
    assert lines["baseline"] == "# baseline: none  # default"


def test_what_is_shown_is_a_configuration_that_says_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["config"])
    first = capsys.readouterr().out
    (project / "leakcheck.toml").write_text(first, encoding="utf-8")
    main(["config"])
    assert tomllib.loads(capsys.readouterr().out) == tomllib.loads(first)


def test_select_on_the_command_line_drops_what_the_file_selects(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--select", "LK202")
    assert lines["select"] == 'select = ["LK202"]  # command line'
    assert lines["ignore"] == "ignore = []  # default"


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--output-format", "json", "--config", "src=['lib']"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["file"], record["root"]) == ("pyproject.toml", ".")
    assert record["values"]["ignore"] == {"value": ["LK101"], "from": ["pyproject.toml:13"]}
    assert record["values"]["src"] == {"value": ["lib"], "from": ["command line"]}
    assert record["values"]["select"]["value"] == ["LK1", "LK2"]


def test_isolated_shows_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--isolated")
    assert lines["select"] == "# select: errors and warnings  # default"
    assert lines["ignore"] == "ignore = []  # default"


def test_the_file_for_a_path_is_the_nearest_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "sub").mkdir()
    (project / "sub/leakcheck.toml").write_text("# first line\nignore = ['LK102']\n", encoding="utf-8")
    assert shown(capsys, "sub/train.py")["ignore"] == 'ignore = ["LK102"]  # sub/leakcheck.toml:2'


def test_keys_set_on_the_command_line_stand_in_place_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--config", 'ignore = ["LK103"]', "--config", "require-reason=true", "--ignore", "LK104")
    assert lines["ignore"] == 'ignore = ["LK103", "LK104"]  # command line'
    assert lines["require-reason"] == "require-reason = true  # command line"
    assert lines["select"].endswith("# pyproject.toml:9")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "ignore=LK101"], "--config ignore=LK101: not TOML"),
        (["--config", "ignroe=['LK101']"], "--config: unknown key 'ignroe'; did you mean 'ignore'?"),
        (["--config", "ignore='LK101'"], "--config, key 'ignore': wrong type of value (expected a list of texts"),
        (["--config", "a.toml", "--config", "b.toml"], "expected one --config FILE, found a.toml, b.toml"),
        (["--config", "pyproject.toml", "--isolated"], "--isolated uses no configuration file"),
    ],
)
def test_mistakes_get_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)


def test_a_file_with_an_equals_sign_in_its_name_is_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "seed=1.toml").write_text("ignore = ['LK102']\n", encoding="utf-8")
    assert shown(capsys, "--config", "seed=1.toml")["ignore"] == 'ignore = ["LK102"]  # seed=1.toml:1'


def test_an_unknown_code_is_refused_as_by_a_scan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--ignore", "LK999"]) == 2
    refused = capsys.readouterr().err
    assert main(["scan", "--ignore", "LK999"]) == 2
    assert capsys.readouterr().err == refused
