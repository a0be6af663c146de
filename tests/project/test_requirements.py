"""Which packages a project asks for, and which of them it pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from leakcheck.errors import LeakcheckError
from leakcheck.project.requirements import read_requirements
from leakcheck.run import scan

SCRIPT = """\
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

tides = pd.read_csv("tides.csv")
print(cross_val_score(Ridge(), tides.drop(columns="level"), tides["level"]).mean())
"""


def asked(folder: Path, name: str, text: str) -> dict[str, bool]:
    """The packages that one file asks for, and whether each is pinned."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return {requirement.name: requirement.pinned for requirement in read_requirements([folder]).asked}


@pytest.mark.parametrize(
    ("line", "name", "pinned"),
    [
        ("pandas", "pandas", False),
        ("pandas>=2,<3", "pandas", False),
        ("pandas==2.*", "pandas", False),
        ("pandas==2.2.2", "pandas", True),
        ("pandas == 2.2.2 # why", "pandas", True),
        ("pandas===2.2.2", "pandas", True),
        ("Scikit_Learn[all]==1.5.1; python_version < '3.13'", "scikit-learn", True),
        ("torch @ https://example.org/torch-2.3-cp311.whl", "torch", True),
        ("acme @ git+https://example.org/acme.git", "acme", False),
        ("acme @ git+https://example.org/acme.git@4f2c9e1", "acme", True),
        ("git+https://example.org/acme.git@v1#egg=acme", "acme", True),
        ("git+https://example.org/acme.git#egg=acme", "acme", False),
    ],
)
def test_lines_of_pip(tmp_path: Path, line: str, name: str, pinned: bool) -> None:
    assert asked(tmp_path, "requirements.txt", line + "\n") == {name: pinned}


@pytest.mark.parametrize("line", ["-r base.txt", "--index-url https://example.org", "-e .", "./acme", "# pandas", ""])
def test_lines_of_pip_that_ask_for_no_package(tmp_path: Path, line: str) -> None:
    assert asked(tmp_path, "requirements.txt", line + "\n") == {}


@pytest.mark.parametrize(
    ("item", "pinned"),
    [
        ("pandas", False),
        ("pandas>=2", False),
        ("pandas=2.*", False),
        ("'pandas>=2,<3'", False),
        ("pandas=2.2", True),
        ("pandas==2.2.2", True),
        ("pandas 2.2.2", True),
        ("pandas=2.2.2=py311_0", True),
        ("conda-forge::pandas=2.2.2", True),
    ],
)
def test_items_of_conda(tmp_path: Path, item: str, pinned: bool) -> None:
    assert asked(tmp_path, "environment.yml", f"name: x\ndependencies:\n  - {item}\n") == {"pandas": pinned}


@pytest.mark.parametrize(
    ("version", "pinned"),
    [('"2.2.2"', True), ('"==2.2.2"', True), ('"^2.2"', False), ('"~2.2"', False), ('"*"', False), ('">=2,<3"', False),
     ('{ version = "2.2.2", optional = true }', True), ('{ git = "https://example.org/p.git" }', False),
     ('{ git = "https://example.org/p.git", rev = "4f2c9e1" }', True)],
)  # fmt: skip
def test_versions_of_poetry(tmp_path: Path, version: str, pinned: bool) -> None:
    text = f'[tool.poetry.group.main.dependencies]\npython = "^3.11"\npandas = {version}\n'
    assert asked(tmp_path, "pyproject.toml", text) == {"pandas": pinned}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["pandas==2.2.2", "numpy"]\n'),
        ("pyproject.toml", '[project.optional-dependencies]\nall = ["pandas==2.2.2", "numpy"]\n'),
        ("pyproject.toml", '[dependency-groups]\ndev = ["pandas==2.2.2", "numpy", { include-group = "x" }]\n'),
        ("Pipfile", '[packages]\npandas = "==2.2.2"\nnumpy = "*"\n'),
        ("setup.cfg", "[options]\ninstall_requires =\n    pandas==2.2.2\n    numpy\n"),
        ("setup.py", 'from setuptools import setup\nsetup(install_requires=["pandas==2.2.2", "numpy"])\n'),
        ("setup.py", 'import setuptools\nBASE = ["pandas==2.2.2", "numpy"]\nsetuptools.setup(install_requires=BASE)\n'),
        ("requirements/train.txt", "pandas==2.2.2\nnumpy\n"),
        ("requirements-dev.in", "pandas==2.2.2\nnumpy\n"),
        ("constraints.txt", "pandas==2.2.2\nnumpy\n"),
        ("Dockerfile", "FROM x\nRUN pip install -r all.txt && pip install --no-cache-dir pandas==2.2.2 \\\n  numpy\n"),
        ("docker/gpu.Dockerfile", "RUN conda install -y -c conda-forge pandas=2.2.2 numpy\n"),
        ("environment.yaml", "dependencies:\n- pip\n- pandas=2.2.2\n- pip:\n  - numpy\n"),
    ],
)
def test_every_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    found = asked(tmp_path, name, text)
    found.pop("pip", None)
    assert found == {"pandas": True, "numpy": False}


@pytest.mark.parametrize(
    "lock", ["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pixi.lock", "conda-lock.yml", "pylock.toml"]
)
def test_a_lock_file_pins_everything(tmp_path: Path, lock: str) -> None:
    (tmp_path / "requirements.txt").write_text("pandas\n")
    (tmp_path / lock).write_text("")
    assert read_requirements([tmp_path]).locked


@pytest.mark.parametrize(
    ("name", "text"),
    [("pyproject.toml", "[project\n"), ("setup.py", "setup(\n"), ("setup.cfg", "no section\n"), ("Pipfile", "x = \n")],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(LeakcheckError, match=f"{name}: the packages that it asks for can't be read"):
        asked(tmp_path, name, text)


def project(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    monkeypatch.chdir(folder)
    for name, text in {"leakcheck_toml": "", "train_py": SCRIPT, **files}.items():
        (folder / name.replace("_", ".")).write_text(text)


def test_a_broken_file_ends_the_scan_that_wants_it_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, monkeypatch, Pipfile="[packages\n")
    assert scan().exit_status == 0
    result = scan(select=["LK505"])
    assert result.exit_status == 2
    assert "Pipfile" in result.errors[0].message


def test_named_files_alone_do_not_ask_for_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, monkeypatch)
    assert scan("train.py", select=["LK505"]).findings == ()
    assert [finding.code for finding in scan(select=["LK505"]).findings] == ["LK505"]


def test_a_project_that_scores_nothing_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, monkeypatch, train_py="import pandas as pd\nprint(pd.read_csv('tides.csv').mean())\n")
    assert scan(select=["LK505"]).findings == ()


def test_the_file_that_asks_may_stand_above_or_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, monkeypatch, train_py="")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(SCRIPT)
    (tmp_path / "requirements.txt").write_text("pandas\nscikit-learn\n")
    (finding,) = scan(select=["LK505"]).findings
    assert (finding.location.path, finding.location.line) == ("requirements.txt", 1)
    (tmp_path / "src" / "requirements.txt").write_text("pandas==2.2.2\nscikit-learn==1.5.1\n")
    assert scan(select=["LK505"]).findings == ()
