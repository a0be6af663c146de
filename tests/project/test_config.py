"""Configuration: where it is found, and what is wrong with it."""

from pathlib import Path

import pytest

from leakcheck.errors import LeakcheckError
from leakcheck.project.config import find_config


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_every_key_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "pyproject.toml",
        """
        [tool.leakcheck]
        select = ["LK1"]
        extend-select = ["LK501"]
        ignore = ["LK101"]
        per-file-ignores = { "tests/*" = ["LK2"] }
        exclude = ["old"]
        extend-exclude = ["more"]
        respect-gitignore = false
        src = ["lib"]
        apis = ["tools/acme.toml"]
        rules = ["tools/rules"]
        require-reason = true
        baseline = "base.json"
        exploratory = ["notebooks/*"]
        [[tool.leakcheck.datasets]]
        id = "release"
        splits = { train = "a.csv" }
        [[tool.leakcheck.claims]]
        id = "ours"
        """,
    )
    config = find_config([tmp_path])
    assert config.file == file
    assert config.root == tmp_path
    assert config.select == ("LK1",)
    assert config.per_file_ignores == (("tests/*", ("LK2",)),)
    assert config.respect_gitignore is False
    assert config.exploratory == ("notebooks/*",)
    assert config.datasets[0]["splits"] == {"train": "a.csv"}
    assert config.claims[0]["id"] == "ours"


def test_the_nearest_file_that_speaks_of_leakcheck_holds(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[tool.leakcheck]\nignore = ['LK101']\n")
    write(tmp_path, "sub/pyproject.toml", "[project]\nname = 'x'\n")
    (tmp_path / "sub/deep").mkdir()
    assert find_config([tmp_path / "sub/deep/a.py"]).ignore == ("LK101",)
    write(tmp_path, "sub/leakcheck.toml", "ignore = ['LK102']\n")
    assert find_config([tmp_path / "sub/deep"]).ignore == ("LK102",)


def test_the_common_parent_of_the_paths_decides(tmp_path: Path) -> None:
    write(tmp_path, "a/leakcheck.toml", "ignore = ['LK101']\n")
    (tmp_path / "b").mkdir()
    assert find_config([tmp_path / "a", tmp_path / "b"]).file is None
    assert find_config([tmp_path / "a"]).file is not None


def test_a_given_file_and_none_at_all(tmp_path: Path) -> None:
    write(tmp_path, "leakcheck.toml", "ignore = ['LK101']\n")
    other = write(tmp_path, "ci/strict.toml", "require-reason = true\n")
    config = find_config([tmp_path], file=other)
    assert (config.ignore, config.require_reason) == ((), True)
    assert find_config([tmp_path], isolated=True).ignore == ()
    with pytest.raises(LeakcheckError, match="no such configuration"):
        find_config([tmp_path], file=tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("selct = ['LK1']", ["unknown key 'selct'", "did you mean 'select'"]),
        ("select = 'LK1'", ["'select'", "expected a list of texts", "found the text 'LK1'"]),
        ("select = ['LK1', 3]", ["'select'", "found the number 3"]),
        ("respect-gitignore = 'no'", ["'respect-gitignore'", "expected true or false"]),
        ("per-file-ignores = ['a']", ["'per-file-ignores'", "found a list"]),
        ("per-file-ignores = { 'a.py' = 'LK1' }", ["'per-file-ignores.a.py'", "found the text 'LK1'"]),
        ("baseline = 1", ["'baseline'", "expected a text", "found the number 1"]),
        ("claims = 1", ["'claims'", "[[claims]]"]),
        ("[[datasets]]\nsplits = {}", ["datasets 1", "without an id"]),
        ("[[datasets]]\nid = 3", ["datasets 1, key 'id'", "expected a text"]),
        ("[[claims]]\nid = 'a'\n[[claims]]\nid = 'a'", ["claims 2", "given twice"]),
        ("select = [\n]]", ["not valid TOML", "line 2"]),
    ],
)
def test_a_fault_names_file_key_expected_and_found(tmp_path: Path, text: str, parts: list[str]) -> None:
    write(tmp_path, "leakcheck.toml", text)
    with pytest.raises(LeakcheckError) as fault:
        find_config([tmp_path])
    for part in ["leakcheck.toml", *parts]:
        assert part in str(fault.value)


def test_selecting_on_the_command_line_starts_afresh(tmp_path: Path) -> None:
    write(tmp_path, "leakcheck.toml", "select = ['LK1']\nignore = ['LK101']\nextend-select = ['LK501']\n")
    config = find_config([tmp_path])
    fresh = config.with_options(select=["LK101"])
    assert (fresh.select, fresh.extend_select, fresh.ignore) == (("LK101",), (), ())
    more = config.with_options(ignore=["LK102"])
    assert (more.select, more.ignore) == (("LK1",), ("LK101", "LK102"))


def test_patterns_of_the_command_line_are_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "leakcheck.toml", "")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    config = find_config([tmp_path]).with_options(exclude=["gen/a.py", "*.ipynb", "./b/c"])
    assert config.extend_exclude == ("/sub/gen/a.py", "*.ipynb", "/sub/b/c")
