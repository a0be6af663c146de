"""Which files are worth parsing, told by their bytes."""

import json

import pytest

from leakcheck.flow.prefilter import imported_names, names_library

LIBRARIES = frozenset({"sklearn", "pandas"})


@pytest.mark.parametrize(
    "source",
    [
        "import pandas",
        "import pandas as pd\n",
        "import os, sys as system, pandas as pd",
        "from sklearn.model_selection import train_test_split",
        "try:\n    import\tsklearn\nexcept ImportError:\n    pass\n",
        "x = 1; from sklearn import svm\r\n",
        "# é\nfrom pandas import (\n    DataFrame,\n)",
    ],
)
def test_every_form_of_import_counts(source: str) -> None:
    assert names_library(source.encode(), LIBRARIES)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "pandas = 1",
        "import pandas_profiling",
        "import mypandas",
        "from .pandas import tools",
        "from tools import pandas_like",
        "import a.pandas",
    ],
)
def test_names_that_only_look_like_a_library_do_not_count(source: str) -> None:
    assert not names_library(source.encode(), LIBRARIES)


@pytest.mark.parametrize("lines", [["import os\n", "import pandas as pd\n"], "import os\nfrom sklearn import svm\n"])
def test_notebook_sources_count_as_lists_and_as_one_string(lines: object) -> None:
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": lines}]})
    assert names_library(notebook.encode(), LIBRARIES)


def test_no_library_matches_nothing() -> None:
    assert not names_library(b"import pandas", frozenset())


def test_imported_names_are_dotted_and_keep_their_dots() -> None:
    source = (
        "import os, numpy.linalg as la\n"
        "from . import prep\n"
        "from ..data.load import read_all as read\n"
        "if True:\n    from src.features import (\n        build,  # not, this\n        scale as s,\n    )\n"
        "import a; import b\n"
        "from c import \\\n    d\n"
        "from e import *\n"
    )
    assert imported_names(source) == {
        "os", "numpy.linalg", ".", ".prep", "..data.load", "..data.load.read_all",
        "src.features", "src.features.build", "src.features.scale", "a", "b", "c", "c.d", "e",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["from x import (\n" * 20_000, "from" + " " * 50_000 + "x", "import " + "a, " * 50_000]
)
def test_broken_imports_do_not_hold_the_search_up(text: str) -> None:
    assert imported_names(text) <= {"x", "a"}


def test_words_that_are_no_imports_are_left_alone() -> None:
    assert imported_names("important = 1\nx = 'y'  # import z\nraise E from error\n") == frozenset()
