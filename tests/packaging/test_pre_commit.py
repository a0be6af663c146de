"""The hooks work when pre-commit installs them from a git URL."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed (it is in the dev extra)")
if shutil.which("git") is None:
    pytest.skip("git is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]
LEAK = """\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

frame = pd.read_csv("patients.csv")
y = frame.pop("outcome")
X = StandardScaler().fit_transform(frame)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(LogisticRegression().fit(X_train, y_train).score(X_test, y_test))
"""


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with what a clone of this project holds of the package."""
    clone = tmp_path_factory.mktemp("clone")
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone / name)
    for name in ("leakcheck", "rules"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    return _commit(clone)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository with one leak."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "leak.py").write_text(LEAK, encoding="utf-8")
    (folder / "clean.py").write_text("print('nothing to learn from')\n", encoding="utf-8")
    (folder / "excluded.py").write_text(LEAK, encoding="utf-8")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": LEAK}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "leak.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    for number in range(30):  # enough for pre-commit to start several processes, if it may
        (folder / f"note_{number}.txt").write_text("text\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.leakcheck]\nextend-exclude = ["excluded.py"]\n', encoding="utf-8")
    return _commit(folder)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pre-commit's store: one for the module, so that the hook is installed once."""
    return tmp_path_factory.mktemp("store")


def test_hook_reports_the_leak_of_a_changed_file(hooks: Path, project: Path, home: Path) -> None:
    done = _try_repo(hooks, project, home, "leakcheck", "leak.py")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "leak.py:8:" in done.stdout
    assert "LK101" in done.stdout


def test_hook_reports_the_leak_of_a_changed_notebook(hooks: Path, project: Path, home: Path) -> None:
    done = _try_repo(hooks, project, home, "leakcheck", "leak.ipynb", "note_0.txt")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "leak.ipynb:cell 1:8:" in done.stdout
    assert "leak.py" not in done.stdout


def test_hook_is_skipped_where_no_python_changed(hooks: Path, project: Path, home: Path) -> None:
    done = _try_repo(hooks, project, home, "leakcheck", "note_0.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Skipped" in done.stdout


def test_hook_passes_clean_and_excluded_files(hooks: Path, project: Path, home: Path) -> None:
    done = _try_repo(hooks, project, home, "leakcheck", "clean.py", "excluded.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_project_hook_looks_once_at_all_files_whatever_changed(hooks: Path, project: Path, home: Path) -> None:
    changed = ["clean.py", *(f"note_{number}.txt" for number in range(30))]
    done = _try_repo(hooks, project, home, "leakcheck-project", *changed)
    assert done.returncode == 1, done.stdout + done.stderr
    assert (done.stdout.count("leak.py:8:"), done.stdout.count("leak.ipynb:cell 1:8:")) == (1, 1)
    assert done.stdout.count("Found 2 findings") == 1


def _try_repo(hooks: Path, project: Path, home: Path, hook: str, *files: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--color", "never", "--files", *files]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))}
    environment["PRE_COMMIT_HOME"] = str(home)
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=600)


def _commit(folder: Path) -> Path:
    author = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    _git("init", "-q", cwd=folder)
    _git("add", "-A", cwd=folder)
    _git(*author, "commit", "-q", "--no-verify", "-m", "all", cwd=folder)
    return folder


def _git(*arguments: str, cwd: Path) -> None:
    subprocess.run(["git", *arguments], cwd=cwd, check=True, timeout=60)
