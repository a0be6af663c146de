"""Broken variants of the fixtures, as benchmarks/fuzz.py makes them by the thousand."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/fuzz.py"


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="the time limit needs a timer")
def test_no_variant_breaks_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    assert spec is not None and spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fuzz", fuzz)
    spec.loader.exec_module(fuzz)
    assert [failure for failure, _ in fuzz.fuzz(tmp_path, seed=2, numbers=range(150))] == []
