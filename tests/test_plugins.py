"""Rules of the project and of installed packages: found, selected, shown, and refused with one line where broken."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from leakcheck import plugins
from leakcheck.cli import main

ROOT = Path(__file__).parents[1]
FIXTURE = ROOT / "fixtures/plugin"

RULE = """\
from leakcheck.findings import Severity
from leakcheck.flow.facts import ProgramFacts
from leakcheck.rule import Rule


class Ours(Rule[ProgramFacts]):
    code = "ACME002"
    name = "our-rule"
    leak_class = "L1.2"
    severity = Severity.WARNING
    since = "1"
    help = "Do it otherwise."

    def check(self, facts):
        for leak in facts.learned:
            yield self.finding(leak.location, "ours")
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The fixture's project, without its tests, as the working folder."""
    folder = tmp_path / "project"
    shutil.copytree(FIXTURE, folder, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    monkeypatch.chdir(folder)
    plugins._installed.cache_clear()
    yield folder
    plugins._installed.cache_clear()
    plugins.use_project_rules(folder, ())


def codes(capsys: pytest.CaptureFixture[str], *options: str) -> set[str]:
    main(["scan", "--output-format", "json", *options])
    return {finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]}


def add_rule(text: str, name: str = "ours.py") -> None:
    Path("tools/leakcheck", name).write_text(text, encoding="utf-8")


def test_the_projects_rule_and_table_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert codes(capsys) == {"ACME001", "LK101"}
    assert codes(capsys, "--isolated") == set()


def test_its_authors_tests_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(FIXTURE / "tests")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_a_page_that_does_not_hold_is_said_with_its_line(project: Path) -> None:
    from leakcheck.testing import check_page

    page = project / "tools/leakcheck/one_look_at_the_test.md"
    text = page.read_text(encoding="utf-8").replace('"2 models"', '"3 models"').replace("## Known misses", "## Misses")
    page.write_text(text, encoding="utf-8")
    form, block, *_ = check_page(
        page, apis=[project / "tools/leakcheck/acme.toml"], rules=[project / "tools/leakcheck"]
    )
    assert form.startswith("the sections are What it finds,")
    assert block.startswith("line 16: not found: one-look-at-the-test at example.py:12 with '3 models'")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--select", "ACME"], {"ACME001"}),
        (["--select", "ACME00"], {"ACME001"}),
        (["--select", "one-look-at-the-test"], {"ACME001"}),
        (["--ignore", "ACME001"], {"LK101"}),
        (["--per-file-ignores", "src/compare_models.py:ACME"], {"LK101"}),
        (["--select", "ALL", "--ignore", "LK"], {"ACME001"}),
    ],
)
def test_in_house_codes_are_selected_like_others(
    options: list[str], found: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert codes(capsys, *options) == found


def test_a_part_of_the_prefix_selects_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "--select", "AC"]) == 2
    assert "unknown rule 'AC' in select" in capsys.readouterr().err


def test_a_comment_silences_an_in_house_rule(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "src/compare_models.py"
    text = file.read_text(encoding="utf-8").rstrip() + "  # leakcheck: ignore[ACME001] agreed\n"
    file.write_text(text, encoding="utf-8")
    assert codes(capsys) == {"LK101"}


def test_the_json_is_that_of_the_schema_and_leads_to_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    main(["scan", "--output-format", "json"])
    record = json.loads(capsys.readouterr().out)
    jsonschema.validate(record, json.loads((ROOT / "docs/json-schema.json").read_text(encoding="utf-8")))
    assert record["findings"][0]["url"] == "tools/leakcheck/one_look_at_the_test.md"


def test_rule_lists_and_shows_in_house_rules(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rule"])
    assert "ACME001  one-look-at-the-test" in capsys.readouterr().out
    assert main(["rule", "acme001"]) == 0
    assert capsys.readouterr().out.startswith("# one-look-at-the-test (ACME001)\n")
    add_rule(RULE)
    assert main(["rule", "ACME002"]) == 2
    assert "tools/leakcheck/ours.md" in capsys.readouterr().err


def test_nothing_is_written_beside_a_rule_and_tests_there_are_not_run(project: Path) -> None:
    add_rule("raise SystemExit('run')", "test_ours.py")
    add_rule("raise SystemExit('run')", "_helper.py")
    add_rule("raise SystemExit('run')", "conftest.py")
    before = sorted(project.rglob("*"))
    assert main(["scan", "--quiet", "--no-cache"]) == 1
    assert sorted(project.rglob("*")) == before


def test_a_rule_file_named_by_itself_holds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_rule(RULE)
    config = 'rules = ["tools/leakcheck/ours.py"]\napis = ["tools/leakcheck/acme.toml"]\n'
    (project / "leakcheck.toml").write_text(config, encoding="utf-8")
    assert codes(capsys) == {"ACME002", "LK101"}


def test_rules_of_one_project_do_not_reach_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ACME001" in codes(capsys)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/leakcheck.toml").write_text("", encoding="utf-8")
    assert main(["scan", "--select", "ACME001", str(tmp_path / "other")]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (\n", "tools/leakcheck/ours.py, line 1: the rule file doesn't parse: '(' was never closed"),
        (
            "import absent_package\n",
            "tools/leakcheck/ours.py, line 1: the rule file fails: ModuleNotFoundError: No module",
        ),
        ("import sys\nsys.exit(3)\n", "tools/leakcheck/ours.py, line 2: the rule file fails: SystemExit: 3"),
        ("x = 1\n", "tools/leakcheck/ours.py: no rule (expected a class derived from leakcheck.rule.Rule with a code)"),
        (RULE.replace("ACME002", "LK101"), "rule Ours: the code 'LK101' belongs to leakcheck"),
        (RULE.replace("ACME002", "acme-2"), "the code is not usable (expected 2 to 10 capitals and 3 digits"),
        (RULE.replace("our-rule", "Our rule"), "the name is not usable"),
        (RULE.replace('    help = "Do it otherwise."\n', ""), "rule Ours: 'help' is not usable (expected a text)"),
        (RULE.replace("Severity.WARNING", "'warning'"), "'severity' is not usable"),
        (RULE.replace("Rule[ProgramFacts]", "Rule"), "it doesn't say which facts it reads"),
        (RULE.replace("def check", "def chekc"), "it can't be made"),
        (RULE.replace("ACME002", "ACME001"), "two rules have the code 'ACME001': tools/leakcheck/"),
        (
            RULE.replace("our-rule", "fit-on-test"),
            "two rules have the name 'fit-on-test': LK106 and tools/leakcheck/",
        ),
    ],
)
def test_a_broken_rule_file_is_one_line_and_status_2(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add_rule(text)
    assert main(["scan"]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tools/absent", "tools/absent: no such rule file or folder"),
        ("tools/leakcheck/acme.toml", "tools/leakcheck/acme.toml: not a rule file"),
        ("src/empty", "src/empty: the folder holds no rule"),
    ],
)
def test_a_place_without_rules_is_refused(
    name: str, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "src/empty").mkdir()
    (project / "leakcheck.toml").write_text(f'rules = ["{name}"]\n', encoding="utf-8")
    assert main(["scan"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("yield 1 / 0", "ours.py:16:1: LK001 [error] the rule ACME002 fails: ZeroDivisionError: division by zero"),
        ("yield 'found'", "ours.py:1:1: LK001 [error] the rule ACME002 yields what is no finding of it: 'found'"),
    ],
)
def test_a_rule_that_fails_is_an_error_and_costs_no_other_finding(
    body: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add_rule(RULE.replace('yield self.finding(leak.location, "ours")', body))
    assert main(["scan", "--output-format", "concise"]) == 2
    captured = capsys.readouterr()
    assert "ACME001" in captured.out
    assert "LK101" in captured.out
    assert captured.err == f"tools/leakcheck/{message}\n"


def test_a_rule_of_prose_that_fails_costs_no_other_finding_either(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = RULE.replace("leakcheck.flow.facts import ProgramFacts", "leakcheck.claims.prose_facts import ProseFacts")
    add_rule(text.replace("Rule[ProgramFacts]", "Rule[ProseFacts]").replace("for leak in facts.learned:", "if 1 / 0:"))
    (project / "README.md").write_text("Ours beats the baseline by 3 points of accuracy.\n", encoding="utf-8")
    assert main(["scan", "--output-format", "concise"]) == 2
    captured = capsys.readouterr()
    assert "ACME001" in captured.out
    assert (
        captured.err == "tools/leakcheck/ours.py:15:1: LK001 [error] the rule ACME002 fails: ZeroDivisionError: "
        "division by zero\n"
    )


def test_audit_and_compare_use_the_projects_rules_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RULE.replace("leakcheck.flow.facts import ProgramFacts", "leakcheck.claims.facts import ClaimFacts")
    text = text.replace("Rule[ProgramFacts]", "Rule[ClaimFacts]").replace("for leak in facts.learned:", "for _ in '1':")
    add_rule(text.replace("leak.location", "facts.claim.location"))
    (project / "runs.csv").write_text("seed,a,b\n1,0.5,0.6\n2,0.5,0.6\n3,0.4,0.6\n", encoding="utf-8")
    main(["compare", "runs.csv", "--output-format", "concise"])
    assert "ACME002 [warning] ours" in capsys.readouterr().out


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package `acme_rules` with one rule and an entry point for it."""
    site = tmp_path / "site"
    (site / "acme_rules-1.0.dist-info").mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n"
    (site / "acme_rules-1.0.dist-info/METADATA").write_text(metadata, encoding="utf-8")
    (site / "acme_rules.py").write_text(RULE, encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "acme_rules", raising=False)
    return site


def declare(site: Path, value: str) -> None:
    entry = f"[leakcheck.rules]\nacme = {value}\n"
    (site / "acme_rules-1.0.dist-info/entry_points.txt").write_text(entry, encoding="utf-8")


@pytest.mark.parametrize("value", ["acme_rules:Ours", "acme_rules"])
def test_an_installed_package_adds_its_rules(value: str, package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declare(package, value)
    assert codes(capsys, "--isolated", "--config", 'apis = ["tools/leakcheck/acme.toml"]') == {"ACME002", "LK101"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("acme_rules:Absent", "plugin 'acme' of acme-rules: acme_rules:Absent can't be loaded: AttributeError"),
        ("absent_package", "plugin 'acme' of acme-rules: absent_package can't be loaded: ModuleNotFoundError"),
        ("acme_rules:Severity", "plugin 'acme' of acme-rules: acme_rules:Severity is no rule"),
    ],
)
def test_a_broken_package_is_one_line_and_status_2(
    value: str, message: str, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(package, value)
    assert main(["scan"]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_package_and_the_project_may_not_share_a_code(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declare(package, "acme_rules:Ours")
    add_rule(RULE.replace("our-rule", "other-name"))
    assert main(["scan"]) == 2
    assert "two rules have the code 'ACME002'" in capsys.readouterr().err
