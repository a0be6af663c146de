"""Imports between the files of a project."""

from dataclasses import replace
from pathlib import Path

import pytest

from leakcheck.project.config import Config
from leakcheck.project.discover import Found
from leakcheck.project.modules import Modules


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (
        "train.py",
        "prep.py",
        "pkg/__init__.py",
        "pkg/a.py",
        "pkg/sub/__init__.py",
        "pkg/sub/b.py",
        "space/c.py",
        "src/core/__init__.py",
        "src/core/d.py",
        "lib/e.py",
        "notebooks/n.ipynb",
        "notebooks/help.py",
        "random.py",
        ".venv/lib/sklearn/__init__.py",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}" if name.endswith("ipynb") else "x = 1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("importer", "module", "level", "expected"),
    [
        ("train.py", "prep", 0, "prep.py"),
        ("train.py", "pkg", 0, "pkg/__init__.py"),
        ("train.py", "pkg.sub.b", 0, "pkg/sub/b.py"),
        ("train.py", "space", 0, None),
        ("train.py", "space.c", 0, "space/c.py"),
        ("train.py", "core.d", 0, "src/core/d.py"),
        ("train.py", "random", 0, None),
        ("train.py", "sklearn", 0, None),
        ("train.py", "prep.absent", 0, None),
        ("train.py", "train", 0, None),
        ("pkg/a.py", "", 1, "pkg/__init__.py"),
        ("pkg/a.py", "sub.b", 1, "pkg/sub/b.py"),
        ("pkg/sub/b.py", "a", 2, "pkg/a.py"),
        ("pkg/sub/b.py", "prep", 0, "prep.py"),
        ("pkg/sub/__init__.py", "b", 1, "pkg/sub/b.py"),
        ("notebooks/n.ipynb", "help", 0, "notebooks/help.py"),
        ("notebooks/n.ipynb", "pkg.a", 0, "pkg/a.py"),
    ],
)
def test_an_import_means_a_file(project: Path, importer: str, module: str, level: int, expected: str | None) -> None:
    modules = Modules(Config(project))
    source = modules.load(Found(importer, str(project / importer), True)).source
    found = modules.find_module(module, level, source)
    assert (found.path if found else None) == expected


def test_the_configuration_names_import_roots(project: Path) -> None:
    modules = Modules(replace(Config(project), src=("lib",)))
    source = modules.load(Found("train.py", str(project / "train.py"), True)).source
    found = modules.find_module("e", 0, source)
    assert found is not None
    assert found.path == "lib/e.py"


def test_a_file_is_one_source_however_it_is_reached(project: Path) -> None:
    modules = Modules(Config(project))
    source = modules.load(Found("train.py", str(project / "train.py"), True)).source
    given = modules.load(Found("./pkg/a.py", str(project / "pkg/a.py"), True)).source
    assert modules.find_module("pkg.a", 0, source) is given
