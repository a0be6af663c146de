"""`leakcheck scan -`: a file from standard input under a name."""

import io
from pathlib import Path

import pytest

from leakcheck.cli import main

ROOT = Path(__file__).parents[2]
LEAK = (ROOT / "fixtures/odd_files/00_plain_leak.py").read_bytes()
NOTEBOOK = (ROOT / "fixtures/example/notebooks/depth.ipynb").read_bytes()


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leakcheck.toml").write_text('extend-exclude = ["old/"]\n', encoding="utf-8")
    return tmp_path


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str) -> int:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    return main(["scan", "--output-format", "concise", *arguments])


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["-"], "-:7:6: LK101"),
        (["--stdin-filename", "src/train.py", "-"], "src/train.py:7:6: LK101"),
        (["--stdin-filename", "src/train.py"], "src/train.py:7:6: LK101"),
        (["--stdin-filename", "old/train.py", "-"], "old/train.py:7:6: LK101"),
    ],
)
def test_source_is_reported_under_its_name(
    arguments: list[str], place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert piped(monkeypatch, LEAK, *arguments) == 1
    assert capsys.readouterr().out.startswith(place)


def test_full_output_shows_the_lines_of_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    piped(monkeypatch, LEAK, "-", "--output-format", "full")
    assert "7 | Xs = StandardScaler().fit_transform(X)" in capsys.readouterr().out


def test_a_notebook_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert piped(monkeypatch, NOTEBOOK, "--stdin-filename", "notebooks/new.ipynb", "-") == 1
    assert capsys.readouterr().out.startswith("notebooks/new.ipynb:cell 4:5:8: LK202")


def test_a_notebook_without_a_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert piped(monkeypatch, NOTEBOOK, "-") == 2
    assert "a notebook: name it with --stdin-filename NAME.ipynb" in capsys.readouterr().err
    assert piped(monkeypatch, b'{"cells": [x for x in range(3)]}\n', "-") == 0


def test_what_is_on_disk_under_that_name_is_not_read(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.py").write_bytes(LEAK)
    assert piped(monkeypatch, b"print('nothing')\n", "--stdin-filename", "train.py", "-") == 0
    (project / "train.py").write_text("print('nothing')\n", encoding="utf-8")
    assert piped(monkeypatch, LEAK, "--stdin-filename", "train.py", "-") == 1


def test_modules_beside_the_name_are_followed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, tail = LEAK.decode().partition("Xs = StandardScaler().fit_transform(X)\n")
    (project / "src").mkdir()
    helper = "def scale(X):\n    return StandardScaler().fit_transform(X)\n"
    (project / "src/prep.py").write_text(
        f"from sklearn.preprocessing import StandardScaler\n{helper}", encoding="utf-8"
    )
    source = f"{head}from prep import scale\nXs = scale(X)\n{tail}".encode()
    assert piped(monkeypatch, source, "--stdin-filename", "src/train.py", "-") == 1
    assert capsys.readouterr().out.startswith("src/prep.py:3:12: LK101")


def test_an_excluded_name_is_left_out_where_that_is_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert piped(monkeypatch, LEAK, "--stdin-filename", "old/train.py", "--force-exclude", "-") == 0


def test_broken_source_is_an_error_at_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert piped(monkeypatch, b"import sklearn\nx = (\n", "--stdin-filename", "train.py", "-") == 2
    assert capsys.readouterr().err.startswith("train.py:2:")


def test_standard_input_is_checked_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert piped(monkeypatch, LEAK, "-", "src") == 2
    assert "standard input is checked alone (expected no other path beside -, found src)" in capsys.readouterr().err
