"""`leakcheck clean` removes a cache, and nothing else."""

from pathlib import Path

import pytest

from leakcheck.cli import main

TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# made by leakcheck\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "leakcheck.toml").write_text("", encoding="utf-8")
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    return tmp_path


def make_cache(folder: Path, tag: str = TAG) -> Path:
    (folder / "0.1.0").mkdir(parents=True)
    (folder / "0.1.0/steps").write_bytes(b"\x00")
    (folder / "CACHEDIR.TAG").write_text(tag, encoding="utf-8")
    return folder


def test_the_projects_cache_goes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = make_cache(project / ".leakcheck_cache")
    assert main(["clean"]) == 0
    assert not cache.exists()
    assert (project / "leakcheck.toml").exists()
    assert capsys.readouterr().out == "removed ../.leakcheck_cache\n"


def test_no_cache_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == "there is no cache at ../.leakcheck_cache\n"


def test_another_folder_can_be_named(project: Path) -> None:
    own, other = make_cache(project / ".leakcheck_cache"), make_cache(project / "elsewhere")
    assert main(["clean", "--cache-dir", str(other)]) == 0
    assert own.exists()
    assert not other.exists()


@pytest.mark.parametrize("tag", ["", "Signature: 0000\n"])
def test_a_folder_that_is_no_cache_stays(project: Path, tag: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_cache(project / "data", tag)
    assert main(["clean", "--cache-dir", str(folder)]) == 2
    assert (folder / "0.1.0/steps").exists()
    assert "../data: not a cache; nothing was removed" in capsys.readouterr().err


def test_a_link_to_a_cache_is_not_followed(project: Path) -> None:
    cache = make_cache(project / "real")
    (project / ".leakcheck_cache").symlink_to(cache)
    assert main(["clean"]) == 2
    assert (cache / "0.1.0/steps").exists()
