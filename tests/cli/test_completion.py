"""The completion scripts, run by the shells that are installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from leakcheck.cli import COMMANDS, main


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def run(shell: str, text: str, cwd: Path) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    environment = {**os.environ, "HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd)}
    done = subprocess.run([shell], input=text, capture_output=True, text=True, cwd=cwd, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def in_bash(words: list[str], capsys: pytest.CaptureFixture[str], cwd: Path) -> set[str]:
    """What bash offers for the last word."""
    typed = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _leakcheck; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return set(run("bash", f"{script('bash', capsys)}\n{asked}\n", cwd).split())


def test_bash_registers_the_function(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    registered = run("bash", f"{script('bash', capsys)}\ncomplete -p leakcheck\n", tmp_path)
    assert registered.strip() == "complete -o bashdefault -o default -F _leakcheck leakcheck"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["leakcheck", "sc"], {"scan"}),
        (["leakcheck", "scan", "--output-fo"], {"--output-format"}),
        (["leakcheck", "scan", "--color", "a"], {"auto", "always"}),
        (["leakcheck", "scan", "--select", "LK20"], {"LK201", "LK202", "LK203", "LK204", "LK205"}),
        (["leakcheck", "rule", "LK11"], {"LK110", "LK111"}),
        (["leakcheck", "scan", "--report", "re"], {"report.html"}),
        (["leakcheck", "completion", "z"], {"zsh"}),
        (["leakcheck", "scan", "--per-file-ignores", "x"], set()),
    ],
)
def test_bash_offers(words: list[str], offered: set[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("", encoding="utf-8")
    assert in_bash(words, capsys, tmp_path) == offered


def test_bash_offers_every_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert in_bash(["leakcheck", ""], capsys, tmp_path) == {*COMMANDS, "--help", "--version"}


def test_fish_offers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = script("fish", capsys)
    offered = run("fish", f"{text}\ncomplete -C 'leakcheck sc'\ncomplete -C 'leakcheck scan --color a'\n", tmp_path)
    assert [line.split("\t")[0] for line in offered.splitlines()] == ["scan", "always", "auto"]


def test_zsh_takes_the_script(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = "autoload -U compinit; compinit -D\nsource ./_leakcheck\nprint $_comps[leakcheck]\n"
    (tmp_path / "_leakcheck").write_text(script("zsh", capsys), encoding="utf-8")
    assert run("zsh", asked, tmp_path).strip() == "_leakcheck"


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
