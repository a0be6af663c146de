"""Programs made to be too much: each ends, and a note says what was not followed."""

from pathlib import Path

import pytest

from leakcheck.run import ScanResult, scan

LEAK = """
df = pd.read_csv("table.csv")
y = df.pop("y")
X = {prepare}
a, b, c, d = train_test_split(X, y)
print(SVC().fit(a, c).score(b, d))
"""
IMPORTS = """import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
"""


def result_of(tmp_path: Path, text: str) -> ScanResult:
    file = tmp_path / "program.py"
    file.write_text(text)
    result = scan(file, isolated=True)
    assert not result.errors
    return result


def test_a_leak_300_calls_deep_is_found(tmp_path: Path) -> None:
    calls = ["def f0(x):\n    return StandardScaler().fit_transform(x)"]
    calls += [f"def f{n}(x):\n    if x is not None:\n        return f{n - 1}(x)\n    return x" for n in range(1, 300)]
    result = result_of(tmp_path, IMPORTS + "\n".join(calls) + LEAK.format(prepare="f299(df)"))
    assert [finding.code for finding in result.findings] == ["LK101"]


def test_calls_that_double_at_each_level_are_cut_and_noted(tmp_path: Path) -> None:
    calls = ["def g0(x):\n    return x.abs()"]
    calls += [f"def g{n}(x):\n    return g{n - 1}(x) + g{n - 1}(x)" for n in range(1, 30)]
    result = result_of(tmp_path, IMPORTS + "\n".join(calls) + '\nprint(g29(pd.read_csv("table.csv")))\n')
    (note,) = result.notices
    assert "limit of work" in note and "g0()" in note


def test_long_functions_that_only_set_things_up_leave_room_for_the_rest(tmp_path: Path) -> None:
    lines = "".join(f"    a{n} = {n}\n" for n in range(600)) + "    return a0\n"
    setting_up = "".join(f"def {name}():\n{lines}" + f"{name}()\n" * 75 for name in ("first", "second"))
    prepare = "def prepare(x):\n    return StandardScaler().fit_transform(x)\n"
    result = result_of(tmp_path, IMPORTS + setting_up + prepare + LEAK.format(prepare="prepare(df)"))
    assert [finding.code for finding in result.findings] == ["LK101"]
    (note,) = result.notices
    assert "first(), second() (" in note


def test_recursion_ends(tmp_path: Path) -> None:
    text = IMPORTS + "def a(x, n):\n    return b(x, n - 1)\ndef b(x, n):\n    return a(x, n) + a(x, n)\n"
    assert result_of(tmp_path, text + 'a(pd.read_csv("table.csv"), 9)\n').findings == ()


def test_loops_in_loops_are_cut_and_noted(tmp_path: Path) -> None:
    loops = "".join("    " * depth + f"for i{depth} in values:\n" for depth in range(18))
    text = IMPORTS + "values = open('values')\nx = pd.read_csv('table.csv')\n" + loops + "    " * 18 + "x = x + i17\n"
    assert any("a loop inside too many others" in note for note in result_of(tmp_path, text).notices)


def test_a_script_of_two_thousand_lines_is_followed_to_its_end(tmp_path: Path) -> None:
    lines = [f"df['c{n}'] = df['a{n % 7}'] * {n}\nif df['c{n}'].max() > {n}:\n    print({n})" for n in range(660)]
    text = IMPORTS + 'df = pd.read_csv("table.csv")\n' + "\n".join(lines)
    result = result_of(tmp_path, text + LEAK.format(prepare="StandardScaler().fit_transform(df)"))
    assert [finding.code for finding in result.findings] == ["LK101"]


@pytest.mark.parametrize("count", [5_000])
def test_a_long_display_is_cut_and_noted(tmp_path: Path, count: int) -> None:
    text = IMPORTS + "names = [" + ", ".join(f"'n{n}'" for n in range(count)) + "]\n"
    assert any("items" in note for note in result_of(tmp_path, text).notices)
