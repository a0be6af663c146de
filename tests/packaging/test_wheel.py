"""The wheel holds all that `leakcheck` needs, installs little, and starts light."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"libcst", "numpy", "pandas", "pathspec", "scipy", "sklearn", "statsmodels", "pyarrow", "jinja2"}
SLOW_FROM_THE_STANDARD_LIBRARY = {"asyncio", "dataclasses", "inspect", "json", "tomllib", "typing", "multiprocessing"}

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


@dataclass(frozen=True)
class Installed:
    """An environment that holds the wheel and its base dependencies, nothing else."""

    python: Path
    command: Path

    def run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a command from another folder; nothing of the checkout is importable."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
        )

    def versions(self, cwd: Path) -> dict[str, str]:
        """The version of each distribution in the environment."""
        done = self.run(self.python, "-m", "pip", "list", "--format", "json", cwd=cwd)
        return {entry["name"].lower(): entry["version"] for entry in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    return out


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    (wheel,) = built.glob("*.whl")
    constraints = ROOT / "constraints.txt"
    _run(scripts / "python", "-m", "pip", "install", "-q", "-c", constraints, wheel, cwd=folder)
    return Installed(scripts / "python", scripts / "leakcheck")


def test_wheel_ships_every_rule_its_page_and_the_library_tables(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    rules = ROOT / "rules"
    wanted = {
        f"leakcheck/rules/{file.relative_to(rules).as_posix()}"
        for file in rules.rglob("*")
        if file.suffix in {".py", ".md", ".toml"}
    }
    assert any(name.endswith("apis/sklearn.toml") for name in wanted)
    assert wanted <= shipped
    assert "leakcheck/py.typed" in shipped


def test_wheel_holds_nothing_but_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        compiled = [name for name in archive.namelist() if name.endswith(".pyc")]
    assert {top for top in tops if not top.endswith(".dist-info")} == {"leakcheck"}
    assert not compiled


def test_sdist_holds_what_the_tests_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "constraints.txt", ".pre-commit-hooks.yaml", ".ci/run"} <= names
    assert {"action.yml", "mkdocs.yml", "docs/hooks/rule_pages.py"} <= names
    assert {"tests/packaging/test_wheel.py", "fixtures/example/src/churn/train.py"} <= names


def test_base_install_is_small(installed: Installed, tmp_path: Path) -> None:
    names = set(installed.versions(tmp_path))
    assert {"leakcheck-lint", "libcst", "pathspec"} <= names
    assert not names & {"numpy", "pandas", "scipy", "scikit-learn", "pyarrow", "jinja2"}


def test_version_is_the_distributions(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(installed.command, "--version", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == f"leakcheck {installed.versions(tmp_path)['leakcheck-lint']}"


def test_version_imports_nothing_heavy(installed: Installed, tmp_path: Path) -> None:
    """Only what bare argparse imports too, and the package's own few modules."""
    bare = _imported(installed, tmp_path, "import argparse")
    ours = _imported(installed, tmp_path, "from leakcheck.cli import main; main(['--version'])")
    tops = {name.partition(".")[0] for name in ours - bare}
    assert not tops & HEAVY
    assert not tops & SLOW_FROM_THE_STANDARD_LIBRARY


def test_every_rule_is_listed_and_has_its_page(installed: Installed, tmp_path: Path) -> None:
    listed = installed.run(installed.command, "rule", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "LK101" in listed.stdout
    page = installed.run(installed.command, "rule", "LK101", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert "preprocess-before-split" in page.stdout
    assert "train_test_split" in page.stdout


def test_a_rule_is_started_and_found_from_the_installed_wheel(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "leakcheck.toml").write_text('rules = ["tools"]\n', encoding="utf-8")
    done = installed.run(installed.command, "rule", "--new", "our-rule", "--code", "ACME001", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ACME001" in installed.run(installed.command, "rule", cwd=tmp_path).stdout


def test_leak_is_found_from_the_installed_wheel(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LEAK, encoding="utf-8")
    done = installed.run(installed.command, "scan", "--output-format", "json", ".", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert [(f["code"], f["location"]["path"], f["location"]["line"]) for f in findings] == [("LK101", "train.py", 8)]


def test_example_gives_the_same_findings_as_in_the_checkout(installed: Installed, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures" / "example", tmp_path / "example")
    done = installed.run(installed.command, "scan", "--output-format", "json", "example", cwd=tmp_path)
    found = {(f["code"], Path(f["location"]["path"]).name) for f in json.loads(done.stdout)["findings"]}
    assert found == {("LK101", "prepare.py"), ("LK202", "depth.ipynb")}


def test_rules_come_from_the_wheel_alone(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(installed.python, "-c", "import leakcheck.rules as r; print(list(r.__path__))", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(ROOT) not in done.stdout


def _imported(installed: Installed, cwd: Path, code: str) -> set[str]:
    done = installed.run(installed.python, "-X", "importtime", "-c", code, cwd=cwd)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:") and "|" in line]
    assert lines, done.stderr
    return {line.rpartition("|")[2].strip() for line in lines}


def _run(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command from another folder; nothing of the checkout is importable."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )


def _run(*command: str | Path, cwd: Path) -> None:
    """Run a command that must succeed, and show what it said when it doesn't."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
