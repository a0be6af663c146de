"""Notebooks of every form that people have."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leakcheck.project.read import Loaded, load

PYTHON = {"kernelspec": {"language": "python", "name": "python3"}}


def read(content: Any) -> Loaded:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return load(data, "a.ipynb", Path("a.ipynb"))


def code(source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": [], **more}


def test_cells_are_counted_over_all_cells() -> None:
    cells = [{"cell_type": "markdown", "source": "x"}, code(["a = 1\n", "b = 2"], execution_count=7), code("c = 3")]
    chunks = read({"cells": cells, "metadata": PYTHON}).source.chunks
    assert [(chunk.cell, chunk.text, chunk.execution_count) for chunk in chunks] == [
        (2, "a = 1\nb = 2", 7),
        (3, "c = 3", None),
    ]


def test_format_3_keeps_its_cells_in_worksheets() -> None:
    cell = {"cell_type": "code", "language": "python", "input": ["a = 1"], "prompt_number": 4}
    chunks = read(
        {"worksheets": [{"cells": [{"cell_type": "heading", "source": ""}, cell]}], "nbformat": 3}
    ).source.chunks
    assert [(chunk.cell, chunk.text, chunk.execution_count) for chunk in chunks] == [(2, "a = 1", 4)]


def test_people_see_a_cell_as_it_was_written() -> None:
    loaded = read({"cells": [code("%time x = 1\r\n!ls")]})
    assert loaded.original(1) == "%time x = 1\n!ls"
    assert loaded.source.chunks[0].text == "0;    x = 1\n"


@pytest.mark.parametrize(
    ("metadata", "is_python"),
    [
        ({}, True),
        ({"kernelspec": {"name": "my-env"}}, True),
        ({"kernelspec": {"language": "Python"}}, True),
        ({"language_info": {"name": "python"}}, True),
        ({"kernelspec": {"name": "ir", "language": "R"}}, False),
        ({"kernelspec": {"name": "ir"}}, False),
        ({"kernelspec": {"name": "julia-1.9"}}, False),
        ({"language_info": {"name": "scala"}}, False),
        ({"kernelspec": None, "language_info": []}, True),
    ],
)
def test_another_language_is_passed_over_with_one_notice(metadata: dict[str, Any], is_python: bool) -> None:
    source = read({"cells": [code("x = 1")], "metadata": metadata}).source
    assert bool(source.chunks) == is_python
    assert [problem.error for problem in source.problems] == ([] if is_python else [False])


def test_cells_of_another_language_are_not_python() -> None:
    cells = [code("select 1", metadata={"vscode": {"languageId": "sql"}}), code("x = 1")]
    assert [chunk.cell for chunk in read({"cells": cells}).source.chunks] == [2]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
        ([1, 2], "expected an object, found a list"),
        ({"nbformat": 4}, "no cells"),
        ({"cells": "x"}, "no cells"),
    ],
)
def test_what_is_no_notebook_gives_one_notice(content: Any, part: str) -> None:
    (problem,) = read(content).source.problems
    assert part in problem.message
    assert not problem.error


@pytest.mark.parametrize(
    ("content", "cell", "line", "part"),
    [
        (b'{"cells": [\n1\n2]}', None, 3, "not valid JSON"),
        (b'{"cells": ["\xe9"]}', None, 1, "byte 0xe9"),
        (b"[" * 100_000, None, 1, "nested"),
        ({"cells": [3]}, 1, 1, "found a number"),
        ({"cells": [code("x = 1"), code([1])]}, 2, 1, "found a list"),
        ({"cells": [code(None)]}, 1, 1, "found null"),
        ({"cells": [code("x = 1\ny = '\0'")]}, 1, 2, "NUL"),
    ],
)
def test_a_broken_notebook_is_an_error_with_its_place(content: Any, cell: int | None, line: int, part: str) -> None:
    (problem,) = read(content).source.problems
    assert problem.error
    assert part in problem.message
    assert (problem.location.cell, problem.location.line) == (cell, line)


def test_half_a_surrogate_pair_does_not_reach_the_parser() -> None:
    (chunk,) = read(b'{"cells": [{"cell_type": "code", "source": "x = \'\\ud83d\'"}]}').source.chunks
    assert chunk.text == "x = '?'"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "metadata", "kernelspec", "language", "worksheets"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(json_values)
def test_any_json_is_read_without_a_crash(content: Any) -> None:
    source = read(content).source
    assert source.chunks or source.problems or source.path
