"""`leakcheck rule --new` writes a rule and a page that hold together, and overwrites nothing."""

import shutil
from pathlib import Path

import pytest

from leakcheck.cli import main
from leakcheck.scaffold import FAMILIES
from leakcheck.testing import check_page

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What tells a clone of leakcheck from another project, with the rules of two families."""
    (tmp_path / "leakcheck/rules").mkdir(parents=True)
    shutil.copy(ROOT / "leakcheck/rules/__init__.py", tmp_path / "leakcheck/rules/__init__.py")
    for family in ("apis", "separation", "selection"):
        shutil.copytree(ROOT / "rules" / family, tmp_path / "rules" / family)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "leakcheck.toml").write_text('rules = ["tools/single.py", "tools/rules"]\n', encoding="utf-8")
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    return tmp_path


def written(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.removeprefix("wrote ") for line in capsys.readouterr().out.splitlines() if line.startswith("wrote ")]


def new(*arguments: str) -> int:
    return main(["rule", "--new", *arguments])


@pytest.mark.parametrize("family", FAMILIES)
def test_both_files_hold_together_as_they_are(family: str, project: Path) -> None:
    assert new("our-rule", "--code", "ACME001", "--family", family) == 0
    folder = project / "tools/rules"
    assert check_page(folder / "our_rule.md", rules=[folder]) == []


def test_in_a_checkout_the_rule_goes_to_its_family_with_the_next_code(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new("scale_twice", "--family", "separation") == 0
    assert written(capsys) == ["rules/separation/scale_twice.py", "rules/separation/scale_twice.md"]
    page = (checkout / "rules/separation/scale_twice.md").read_text(encoding="utf-8")
    assert page.startswith("# scale-twice (LK112)\n")
    assert "class ScaleTwice(Rule[ProgramFacts])" in (checkout / "rules/separation/scale_twice.py").read_text()
    assert new("scale-thrice", "--code", "LK120") == 0
    assert written(capsys)[0] == "rules/separation/scale_thrice.py"


def test_codes_that_are_promised_are_not_given_away(checkout: Path) -> None:
    assert new("late-feature", "--family", "time") == 0
    assert "LK305" in (checkout / "rules/time/late_feature.py").read_text(encoding="utf-8")


def test_in_a_project_the_rule_goes_to_the_first_folder_and_codes_go_on(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new("first-rule", "--code", "ACME001") == 0
    assert new("second-rule") == 0
    assert written(capsys)[2:] == ["../tools/rules/second_rule.py", "../tools/rules/second_rule.md"]
    page = (project / "tools/rules/second_rule.md").read_text(encoding="utf-8")
    assert page.startswith("# second-rule (ACME002)\n")


def test_nothing_is_overwritten(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project / "tools/rules"
    folder.mkdir(parents=True)
    (folder / "our_rule.md").write_text("notes\n", encoding="utf-8")
    assert new("our-rule", "--code", "ACME001") == 2
    assert [file.name for file in folder.iterdir()] == ["our_rule.md"]
    assert (folder / "our_rule.md").read_text(encoding="utf-8") == "notes\n"
    assert "../tools/rules/our_rule.md: the file exists; nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Scale Twice"], "the name is not usable"),
        (["scale-twice"], "--new needs the rule's family (expected --family, one of separation, selection,"),
        (["scale-twice", "--family", "separation", "--code", "LK201"], "codes of separation start with LK1"),
        (["scale-twice", "--code", "LK101"], "the code LK101 is taken"),
        (["scale-twice", "--code", "ACME001"], "the code is not usable (expected LK, a digit from 1 to 8"),
        (["fit-on-test", "--family", "separation"], "there is a rule 'fit-on-test' already"),
        (["scale-twice", "LK101"], "--new starts one rule"),
    ],
)
def test_mistakes_in_a_checkout(
    arguments: list[str], message: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(checkout.rglob("*"))
    assert new(*arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert sorted(checkout.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["our-rule"], "the first rule of a project needs a code (expected --code, such as ACME001)"),
        (["our-rule", "--code", "LK101"], "the code is not usable (expected 2 to 10 capitals (not LK)"),
        (["fit-on-test", "--code", "ACME001"], "there is a rule 'fit-on-test' already"),
    ],
)
def test_mistakes_in_a_project(
    arguments: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert new(*arguments) == 2
    assert message in capsys.readouterr().err


def test_a_project_whose_configuration_names_no_folder(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "leakcheck.toml").write_text("rules = []\n", encoding="utf-8")
    assert new("our-rule", "--code", "ACME001") == 2
    assert "../leakcheck.toml: the configuration names no folder for rules (expected a line" in capsys.readouterr().err


def test_options_of_a_new_rule_need_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "--code", "ACME001"]) == 2
    assert "expected --new NAME" in capsys.readouterr().err


def test_a_project_inside_a_checkout_gets_its_own_rule(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = checkout / "fixtures/inside"
    inside.mkdir(parents=True)
    (inside / "leakcheck.toml").write_text('rules = ["tools"]\n', encoding="utf-8")
    monkeypatch.chdir(inside)
    assert new("our-rule", "--code", "ACME001") == 0
    assert written(capsys) == ["tools/our_rule.py", "tools/our_rule.md"]
