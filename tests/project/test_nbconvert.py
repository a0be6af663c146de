"""Scripts exported from notebooks."""

import pytest

from leakcheck.project.nbconvert import inline_magic_code


@pytest.mark.parametrize(
    ("text", "inlined"),
    [
        ('get_ipython().run_cell_magic("time", "", "a = f(x)\\nb = 2\\n")\nc = 3', "a = f(x); b = 2\nc = 3"),
        ('get_ipython().run_cell_magic(\n    "time",\n    "",\n    "a = 1",\n)\nc = 3', "a = 1\n\n\n\n\nc = 3"),
        ('get_ipython().run_line_magic("time", "a = f(x)")', "0; a = f(x)"),
        ("get_ipython().magic('time a = f(x)')", "0; a = f(x)"),
        ("if a:\n    get_ipython().run_line_magic('matplotlib', 'inline')", "if a:\n    pass"),
        ("get_ipython().run_cell_magic('bash', '', 'ls')", "pass"),
        ("é = 'é'; get_ipython().run_line_magic('time', 'a = 1')", "é = 'é'; 0; a = 1"),
    ],
)
def test_code_in_the_string_of_a_magic_is_put_back(text: str, inlined: str) -> None:
    assert inline_magic_code(text) == inlined


@pytest.mark.parametrize(
    "text",
    [
        'get_ipython().run_cell_magic("time", "", "for i in x:\\n    f(i)")',
        'get_ipython().run_cell_magic("time", "", body)',
        'get_ipython().system("ls")',
        'get_ipython().run_cell_magic("time", "", "print 1")',
        'get_ipython().run_line_magic("time", "x"\nprint "old"',
    ],
)
def test_what_cannot_be_put_on_a_line_stays(text: str) -> None:
    assert inline_magic_code(text) == text
