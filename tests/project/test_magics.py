"""IPython syntax blanked in place."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakcheck.project.magics import blank_magics


@pytest.mark.parametrize(
    ("cell", "blanked"),
    [
        ("x = 1\ny = x % 2\n", "x = 1\ny = x % 2\n"),
        ("%matplotlib inline\nx = 1", "\nx = 1"),
        ("!pip install a \\\n  b\nx = 1", "\n\nx = 1"),
        ("df?\n?df\ndf.head??\nx = 1", "\n\n\nx = 1"),
        ("x = !ls\ny = %sql select 1", "x = get_ipython()\ny = get_ipython()"),
        ("d['a'] = !ls", "d['a'] = get_ipython()"),
        ("a, b = !ls", "a, b = get_ipython()"),
        ("if a:\n    !ls\nelse:\n    %cd x", "if a:\n    pass\nelse:\n    pass"),
        ("pip install x\ncd ..\nx = 1", "\n\nx = 1"),
        ("ls = 1\nls -l\ncat(x)\ntime = 3", "ls = 1\nls -l\ncat(x)\ntime = 3"),
        ("s = '''\n%time\n!x\n'''", "s = '''\n%time\n!x\n'''"),
        ("x = (1\n % 3)", "x = (1\n % 3)"),
        ("x = a \\\n% 3", "x = a \\\n% 3"),
        ("if a != b: pass", "if a != b: pass"),
        ("x = 5  # = !d", "x = 5  # = !d"),
        ("print('really?')", "print('really?')"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n\n%%capture out\n%%time\nx = 1", "\n\n\n\nx = 1"),
        ("%%bash\nif [ -f a ]; then ls; fi", "\n"),
        ("%%writefile a.py\nimport sklearn\nx = 1", "\n\n"),
        ("%time", ""),
        ("%time for i in x: f(i)", "for i in x: f(i)"),
    ],
)
def test_magics_are_blanked_and_python_stays(cell: str, blanked: str) -> None:
    assert blank_magics(cell) == blanked


@pytest.mark.parametrize(
    "line",
    ["%time Xs = f(X)", "%timeit -n 10 -r3 f(X)", "%prun -s cumtime -l 10 f(X)", "%timeit -o -q f(X)", "time f(X)"],
)
def test_code_behind_a_magic_keeps_its_columns(line: str) -> None:
    blanked = blank_magics(line)
    assert blanked.index("f(X)") == line.index("f(X)")
    ast.parse(blanked)


@given(st.text(alphabet="%!?x =f()[]'\"#\\\n\t:;,-", max_size=80))
def test_any_cell_keeps_its_number_of_lines(cell: str) -> None:
    assert blank_magics(cell).count("\n") == cell.count("\n")
