"""What the tests of the claims leg share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from leakcheck.cli import main

Compare = Callable[..., tuple[int, str, str]]


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Runs `leakcheck compare` in an empty folder; gives the exit status, the output and the errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["compare", *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run
