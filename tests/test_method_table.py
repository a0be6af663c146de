"""The table in docs/method-table.md is complete, and every test it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "method-table.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [AB]\d\d ", line)
]


def test_every_row_has_its_place() -> None:
    assert [row[0] for row in ROWS] == [f"A{n:02d}" for n in range(1, 70)] + [f"B{n:02d}" for n in range(1, 40)]
    assert all(len(row) == 3 and row[1] and row[2] for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_named_tests_exist(row: list[str]) -> None:
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[2]):
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{file}::{name}"
