"""Which files a run looks at."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from leakcheck.errors import LeakcheckError
from leakcheck.project.config import Config
from leakcheck.project.discover import Discovered, discover


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(project: Path, *names: str) -> None:
    for name in names:
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", encoding="utf-8")


def found(project: Path, *paths: str, **changes: object) -> list[str]:
    return [entry.path for entry in looked_at(project, *paths, **changes).files]


def looked_at(project: Path, *paths: str, **changes: object) -> Discovered:
    return discover([Path(path) for path in paths or (".",)], replace(Config(project), **changes))  # type: ignore[arg-type]


def test_python_files_and_notebooks_in_sorted_order(project: Path) -> None:
    touch(project, "b.py", "a/z.ipynb", "a/y.pyw", "c.pyi", "d.txt", "e.pyc")
    assert found(project) == ["a/y.pyw", "a/z.ipynb", "b.py"]


def test_tools_and_environments_are_left_out(project: Path) -> None:
    touch(
        project, ".venv/a.py", "x/node_modules/a.py", "build/a.py", ".ipynb_checkpoints/a-checkpoint.ipynb", "mine/a.py"
    )
    touch(project, "mine/pyvenv.cfg", "env/a.py")
    assert found(project) == ["env/a.py"]


def test_excludes(project: Path) -> None:
    touch(project, "a.py", "old/b.py", "x/old/c.py", "x/d_test.py", "build/e.py")
    assert found(project, extend_exclude=("old",)) == ["a.py", "x/d_test.py"]
    assert found(project, extend_exclude=("/old", "*_test.py")) == ["a.py", "x/old/c.py"]
    assert found(project, exclude=("x/old/",)) == ["a.py", "build/e.py", "old/b.py", "x/d_test.py"]


def test_gitignore_files_are_honoured_down_the_tree(project: Path) -> None:
    touch(project, "a.py", "gen/b.py", "sub/c.py", "sub/d.py", "sub/keep/e.py", "keep/f.py")
    (project / ".gitignore").write_text("gen/\nkeep/\n# sub/\n", encoding="utf-8")
    (project / "sub/.gitignore").write_text("/d.py\n!keep/\n", encoding="utf-8")
    assert found(project) == ["a.py", "sub/c.py", "sub/keep/e.py"]
    assert "gen/b.py" in found(project, respect_gitignore=False)


def test_a_gitignore_above_holds_up_to_the_repository(project: Path) -> None:
    touch(project, "repo/sub/a.py", "repo/sub/gen/b.py")
    (project / "repo/.git").mkdir()
    (project / ".gitignore").write_text("*.py\n", encoding="utf-8")
    (project / "repo/.gitignore").write_text("gen/\n", encoding="utf-8")
    assert found(project / "repo", "repo/sub") == ["repo/sub/a.py"]


def test_what_was_asked_for_is_looked_at_even_if_ignored(project: Path) -> None:
    touch(project, "build/a.py", "gen/b.py")
    (project / ".gitignore").write_text("gen/\n", encoding="utf-8")
    assert found(project, "build", "gen", "gen/b.py") == ["build/a.py", "gen/b.py"]


def test_force_exclude(project: Path) -> None:
    touch(project, "build/a.py", "b.py", "old/c.py")
    config = {"force_exclude": True, "extend_exclude": ("old/",)}
    assert found(project, "build/a.py", "b.py", "old/c.py", **config) == ["b.py"]


def test_one_file_under_several_names_is_taken_once(project: Path) -> None:
    touch(project, "sub/a.py")
    files = looked_at(project, "sub", "./sub/a.py", str(project / "sub/../sub/a.py")).files
    assert [(entry.path, entry.named) for entry in files] == [("sub/a.py", True)]


def test_links_in_a_circle_end(project: Path) -> None:
    touch(project, "sub/a.py")
    os.symlink(project, project / "sub/up")
    os.symlink(project / "sub/a.py", project / "sub/b.py")
    assert found(project) == ["sub/a.py"]


def test_a_script_is_known_by_its_first_line(project: Path) -> None:
    (project / "train").write_text("#!/usr/bin/env python3\nx = 1\n", encoding="utf-8")
    assert found(project, "train") == ["train"]


@pytest.mark.parametrize(("name", "is_error"), [("data.csv", True), ("stubs.pyi", False)])
def test_other_files_are_told(project: Path, name: str, is_error: bool) -> None:
    touch(project, name)
    result = looked_at(project, name)
    assert result.files == []
    assert [problem.error for problem in result.problems] == [is_error]


def test_a_saved_copy_of_jupyter_is_no_source(project: Path) -> None:
    touch(project, ".ipynb_checkpoints/a-checkpoint.ipynb")
    result = looked_at(project, ".ipynb_checkpoints/a-checkpoint.ipynb")
    assert (result.files, [problem.error for problem in result.problems]) == ([], [False])


def test_a_missing_path_is_an_error(project: Path) -> None:
    with pytest.raises(LeakcheckError, match=r"absent\.py"):
        looked_at(project, "absent.py")


def test_a_broken_link_is_told(project: Path) -> None:
    os.symlink(project / "nowhere", project / "a.py")
    assert [problem.error for problem in looked_at(project, "a.py").problems] == [True]
    assert found(project) == []
