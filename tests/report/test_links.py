"""Colour and links: only where a terminal shows them."""

import os
import pty
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from leakcheck.findings import Location
from leakcheck.report.ansi import wants_colour
from leakcheck.report.links import place_url, rule_url, wants_links

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\x1b\]8;;(.*?)\x1b\\(.*?)\x1b\]8;;\x1b\\")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4803"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7200"}, False),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux-0"}, False),
        ({}, False),
    ],
)
def test_links_are_for_terminals_that_are_known_to_show_them(environment: dict[str, str], wanted: bool) -> None:
    assert wants_links(Terminal(), environment) is wanted
    assert not wants_links(StringIO(), environment)


@pytest.mark.parametrize(
    ("variables", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR_FORCE": "0"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_variables_that_decide_on_colour(
    variables: dict[str, str], terminal: bool, pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(Terminal(), "auto") is terminal
    assert wants_colour(StringIO(), "auto") is pipe
    assert wants_colour(StringIO(), "always")
    assert not wants_colour(Terminal(), "never")


def test_a_place_leads_to_its_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_url(Location("my code.py", None, 7, 3, 7, 9)).endswith(f"{tmp_path}/my%20code.py#7")
    assert place_url(Location("n\udce9.py", None, 1, 1, 1, 1)).endswith(f"{tmp_path}/n%E9.py#1")
    assert place_url(Location("a.ipynb", 2, 7, 3, 7, 9)).endswith(f"{tmp_path}/a.ipynb")
    assert rule_url("LK101").endswith("rules/separation/preprocess_before_split.md")
    assert rule_url("LK002").endswith("rules/driver/unused_suppression.md")
    assert rule_url("XX001") == ""


def in_a_terminal(*arguments: str, **variables: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TMUX", "CI")}
    environment |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-kitty", **variables}
    command = [sys.executable, "-m", "leakcheck", *arguments]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment):
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:
                break
            if not chunk:
                break
            chunks.append(chunk)
    os.close(ours)
    return b"".join(chunks).decode()


LEAK = "fixtures/odd_files/00_plain_leak.py"


@pytest.mark.parametrize("output_format", ["full", "concise"])
def test_a_known_terminal_gets_links_around_places_and_codes(output_format: str) -> None:
    shown = in_a_terminal("scan", "--output-format", output_format, LEAK)
    links = {text: url for url, text in LINK.findall(shown)}
    assert links[f"{LEAK}:7:6"].endswith(f"{ROOT}/{LEAK}#7")
    assert links["LK101"].endswith("preprocess_before_split.md")


def test_no_links_without_colour_or_in_an_unknown_terminal() -> None:
    assert not LINK.search(in_a_terminal("scan", LEAK, TERM="xterm"))
    assert not LINK.search(in_a_terminal("scan", "--color", "never", LEAK))
    assert not LINK.search(in_a_terminal("scan", LEAK, NO_COLOR="1"))


def test_a_pipe_gets_colour_but_no_links_when_colour_is_forced() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-kitty"}
    command = [sys.executable, "-m", "leakcheck", "scan", "--color", "always", LEAK]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=60)
    assert "\x1b[1;33m" in done.stdout
    assert "\x1b]8" not in done.stdout
