"""Which files the analysis needs."""

import json
from pathlib import Path

import pytest

from leakcheck.project.config import Config
from leakcheck.project.discover import discover
from leakcheck.project.modules import Modules
from leakcheck.project.relevant import read_relevant

LIBRARIES = frozenset(("sklearn",))
NAMING = "import sklearn\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def relevant(project: Path, files: dict[str, str], *paths: str) -> list[str]:
    for name, text in files.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".ipynb"):
            text = json.dumps({"cells": [{"cell_type": "code", "source": text}]})
        file.write_text(text, encoding="utf-8")
    config = Config(project)
    found = discover([Path(path) for path in paths or (".",)], config)
    result = read_relevant(found, Modules(config), LIBRARIES, lambda *_: None)
    return [source.path for source in result.sources]


@pytest.mark.parametrize(
    "text",
    [
        "import prep",
        "import os, prep as p",
        "from prep import scale",
        "from prep import (\n    scale,\n    cut,\n)",
        "from prep import \\\n    scale",
        "def f():\n    from prep import scale",
        "x = 1; import prep",
    ],
)
def test_every_form_of_import_counts(project: Path, text: str) -> None:
    assert relevant(project, {"a.py": text + "\n", "b.py": "x = 'prep'\n", "prep.py": NAMING}) == ["a.py", "prep.py"]


def test_imports_are_followed_through_modules_that_name_no_library(project: Path) -> None:
    files = {
        "a.py": "import b",
        "b.py": "from c import *",
        "c.py": "import prep",
        "d.py": "import e",
        "e.py": "",
        "prep.py": NAMING,
    }
    assert relevant(project, files) == ["a.py", "b.py", "c.py", "prep.py"]


def test_imports_in_a_circle_end(project: Path) -> None:
    files = {"a.py": "import b", "b.py": "import a", "prep.py": NAMING}
    assert relevant(project, files) == ["prep.py"]
    assert relevant(project, {"b.py": "import a, prep"}) == ["a.py", "b.py", "prep.py"]


def test_packages_and_relative_imports(project: Path) -> None:
    files = {
        "main.py": "from pkg import fit",
        "pkg/__init__.py": "from .inner.models import fit",
        "pkg/inner/__init__.py": "",
        "pkg/inner/models.py": NAMING,
        "pkg/inner/use.py": "from . import (\n    models,\n)",
        "pkg/inner/up.py": "from .. import fit",
        "pkg/inner/none.py": "from . import none",
    }
    assert relevant(project, files) == [
        "main.py", "pkg/__init__.py", "pkg/inner/models.py", "pkg/inner/up.py", "pkg/inner/use.py"
    ]  # fmt: skip


def test_a_notebook_reaches_a_library_through_a_module(project: Path) -> None:
    files = {"n.ipynb": "%load_ext autoreload\nfrom prep import scale", "m.ipynb": "import os", "prep.py": NAMING}
    assert relevant(project, files) == ["n.ipynb", "prep.py"]


def test_modules_outside_of_the_given_files_count(project: Path) -> None:
    files = {"a.py": "from prep import scale", "b.py": "import os", "prep.py": NAMING, "sub/c.py": "import prep"}
    assert relevant(project, files, "a.py", "b.py") == ["a.py"]
    assert relevant(project, files, "sub") == ["sub/c.py"]


def test_outputs_of_a_notebook_are_not_its_code(project: Path) -> None:
    cells = [{"cell_type": "code", "source": "x = 1", "outputs": [{"text": "import sklearn"}]}]
    (project / "n.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert relevant(project, {}) == []
