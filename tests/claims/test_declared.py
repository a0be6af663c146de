"""Claims declared in a configuration, as `scan` checks them."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from leakcheck.claims import declared
from leakcheck.claims.configured import Declared
from leakcheck.claims.facts import Verdict
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Confidence, Finding, Location, Severity, Suppressed

RUNS = "seed,baseline,ours\n1,0.80,0.83\n2,0.80,0.82\n3,0.81,0.85\n4,0.80,0.81\n5,0.81,0.84\n"
CLAIM = """
[[tool.leakcheck.claims]]
id = "ours-beats-baseline"
results = "results/seeds.csv"
a = "baseline"
b = "ours"
metric = "accuracy"
unit = "fraction"
threshold = 0.01
threshold_reason = "a point is worth a day of work"
pair = "seed"
trials = { a = 20, b = 20 }
controls = { data = "equal" }
"""


@pytest.fixture(autouse=True)
def in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def project(root: Path, config: str, runs: str = RUNS) -> None:
    (root / "results").mkdir(parents=True, exist_ok=True)
    (root / "results" / "seeds.csv").write_text(runs)
    for file in ("src/train.py", "notebooks/draft.ipynb"):
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).touch()
    (root / "pyproject.toml").write_text(config)


def check(root: Path, open_findings: Sequence[Finding] = (), exploratory: Sequence[str] = ()) -> Declared:
    tables = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["leakcheck"]["claims"]
    return declared(tables, root, open_findings, exploratory=exploratory)


def finding(code: str, path: str, severity: Severity = Severity.ERROR, suppressed: Suppressed | None = None) -> Finding:
    place = Location(path, None, 7, 1, 7, 10)
    return Finding(
        code,
        "tune-on-test",
        "S 4.2",
        severity,
        Confidence.SURE,
        "chosen on the test rows",
        "",
        place,
        suppressed=suppressed,
    )


def codes(result: Declared) -> list[str]:
    return [found.code for found in result.findings]


def test_sound_claim_has_no_finding(tmp_path: Path) -> None:
    project(tmp_path, CLAIM)
    result = check(tmp_path)
    assert codes(result) == []
    assert result.facts[0].verdict is Verdict.SUPPORTED
    assert result.facts[0].missing == ()


def test_finding_stands_at_the_claims_line(tmp_path: Path) -> None:
    project(tmp_path, CLAIM.replace("0.01", "0.03"))
    found = check(tmp_path).findings[0]
    assert (found.code, found.location.path, found.location.line) == ("LK801", "pyproject.toml", 3)


def test_open_error_puts_the_claim_at_risk_and_is_named(tmp_path: Path) -> None:
    project(tmp_path, CLAIM)
    result = check(tmp_path, [finding("LK202", "src/train.py")])
    assert result.facts[0].verdict is Verdict.AT_RISK
    assert codes(result) == ["LK801"]
    assert "LK202 (tune-on-test) at src/train.py:7:1" in result.findings[0].message
    assert result.findings[0].trace[0].location.path == "src/train.py"


def test_code_behind_a_claim_is_named_from_its_configuration(tmp_path: Path) -> None:
    project(tmp_path / "inner", CLAIM + 'code = ["src/*.py"]\n')
    result = check(tmp_path / "inner", [finding("LK202", "inner/src/train.py")])
    assert result.facts[0].verdict is Verdict.AT_RISK


@pytest.mark.parametrize(
    "harmless",
    [
        finding("LK101", "src/train.py", Severity.WARNING),
        finding("LK202", "src/train.py", suppressed=Suppressed("comment", "known")),
        finding("LK202", "notebooks/draft.ipynb"),
    ],
    ids=["a warning", "suppressed", "other code"],
)
def test_what_does_not_put_a_claim_at_risk(tmp_path: Path, harmless: Finding) -> None:
    project(tmp_path, CLAIM + 'code = ["src/*.py"]\n')
    assert check(tmp_path, [harmless]).facts[0].verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("pattern", ["src", "./src/", ".", "src/**/*.py", "**/train.py", "*.py", "src/tr?in.py"])
def test_code_is_named_by_folders_and_patterns(tmp_path: Path, pattern: str) -> None:
    project(tmp_path, CLAIM + f'code = ["{pattern}"]\n')
    assert check(tmp_path, [finding("LK202", "src/train.py")]).facts[0].verdict is Verdict.AT_RISK


@pytest.mark.parametrize("pattern", ["scr/train.py", "scr/*.py", "src/*.ipynb", "*.r", "../src/*.py", "/src/*.py"])
def test_code_that_means_no_file_is_refused(tmp_path: Path, pattern: str) -> None:
    project(tmp_path, CLAIM + f'code = ["src", "{pattern}"]\n')
    result = check(tmp_path)
    assert result.facts == ()
    assert (
        f"its code matches no file (expected files and patterns relative to the configuration, found '{pattern}')"
        in (result.errors[0].message)
    )


def test_too_few_runs_go_before_risk(tmp_path: Path) -> None:
    project(tmp_path, CLAIM, "seed,baseline,ours\n1,0.8,0.9\n2,0.8,0.91\n")
    assert check(tmp_path, [finding("LK202", "a.py")]).facts[0].verdict is Verdict.INSUFFICIENT


def test_exploratory_claim_is_capped_and_its_findings_are_notes(tmp_path: Path) -> None:
    project(
        tmp_path, CLAIM.replace("trials", 'stage = "exploratory"\nignored').replace("ignored = { a = 20, b = 20 }", "")
    )
    result = check(tmp_path)
    assert result.facts[0].verdict is Verdict.EXPLORATORY
    assert {found.severity for found in result.findings} == {Severity.NOTE}
    assert codes(result) == ["LK807"]


def test_claim_on_an_exploratory_file_is_exploratory(tmp_path: Path) -> None:
    project(tmp_path, CLAIM + 'code = ["notebooks/draft.ipynb"]\n')
    assert check(tmp_path, exploratory=["notebooks/*"]).facts[0].verdict is Verdict.EXPLORATORY


@pytest.mark.parametrize("pattern", ["notebooks/", "/notebooks/*.ipynb", "draft.ipynb"])
def test_exploratory_patterns_are_read_as_for_the_code(tmp_path: Path, pattern: str) -> None:
    project(tmp_path, CLAIM + 'code = ["notebooks/draft.ipynb"]\n')
    assert check(tmp_path, exploratory=[pattern]).facts[0].verdict is Verdict.EXPLORATORY


def test_claim_that_an_exploratory_text_states_is_exploratory(tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text("Ours beats the baseline.\n")
    project(tmp_path, CLAIM + 'text = "draft.md"\n')
    assert check(tmp_path, exploratory=["draft.md"]).facts[0].verdict is Verdict.EXPLORATORY


def test_claim_says_what_it_lacks(tmp_path: Path) -> None:
    bare = CLAIM.replace('metric = "accuracy"', "").replace("threshold = 0.01", "")
    project(tmp_path, bare.replace('controls = { data = "equal" }', ""))
    result = check(tmp_path)
    assert [part.partition(":")[0] for part in result.facts[0].missing] == ["metric", "comparison", "controls"]
    assert codes(result) == ["LK806"]


def test_no_budget_is_stated(tmp_path: Path) -> None:
    project(tmp_path, CLAIM.replace("trials = { a = 20, b = 20 }", ""))
    assert codes(check(tmp_path)) == ["LK807"]


def test_planned_seeds_must_be_there(tmp_path: Path) -> None:
    project(tmp_path, CLAIM + "seeds = [1, 2, 3, 4, 5, 6, 7]\n")
    result = check(tmp_path)
    assert codes(result) == ["LK802"]
    assert "missing: 6, 7" in result.findings[0].message


FAMILY = "\n".join(CLAIM.replace("ours-beats-baseline", f"claim-{n}").replace("0.01", "0.0") for n in range(9))


def test_many_claims_without_a_correction(tmp_path: Path) -> None:
    project(tmp_path, FAMILY)
    result = check(tmp_path)
    assert set(codes(result)) == {"LK804"}
    assert "one of 9 comparisons" in result.findings[0].message
    assert result.facts[0].verdict is Verdict.INCONCLUSIVE


def test_declared_correction_decides_by_itself(tmp_path: Path) -> None:
    project(tmp_path, FAMILY.replace('pair = "seed"', 'pair = "seed"\ncorrection = "holm"'))
    result = check(tmp_path)
    assert set(codes(result)) == {"LK801"}
    assert "corrected (holm: adjusted p = 0.0629)" in result.findings[0].message


def test_claims_of_other_families_are_left_out(tmp_path: Path) -> None:
    config = FAMILY
    for n in range(9):
        config = config.replace(f'id = "claim-{n}"', f'id = "claim-{n}"\nfamily = "f{n}"')
    project(tmp_path, config)
    assert codes(check(tmp_path)) == []


def test_broken_results_of_one_claim_leave_the_others(tmp_path: Path) -> None:
    other = (
        CLAIM.replace("ours-beats-baseline", "other")
        .replace("seeds.csv", "gone.csv")
        .replace("pair", 'family = "x"\npair')
    )
    project(tmp_path, CLAIM + other)
    result = check(tmp_path)
    assert len(result.facts) == 1
    problem = result.errors[0]
    assert problem.message == "claim 'other' cannot be checked: results/gone.csv: the results file does not exist"
    assert (problem.location.path, problem.location.line) == ("pyproject.toml", 16)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("treshold = 0.02", "unknown key 'treshold'; did you mean 'threshold'?"),
        ('direction = "up"', "'direction' is not usable (expected 'higher' or 'lower', found 'up')"),
        ('unit = "percent"', "'unit' is not usable"),
        ("trials = 20", "'trials' is not usable (expected { a = 20, b = 20 }, found 20)"),
        ('threshold = "1 %"', "'threshold' is not usable"),
        ("threshold = -0.1", "zero or above"),
        ('preregistered = "soon"', "a date such as 2026-10-01"),
        ("seeds = 5", "'seeds' is not usable"),
    ],
)
def test_mistyped_claim_is_one_message(tmp_path: Path, line: str, message: str) -> None:
    key = line.partition(" ")[0]
    kept = [old for old in CLAIM.splitlines() if not old.startswith(f"{key} =")]
    project(tmp_path, "\n".join([*kept, line]))
    with pytest.raises(LeakcheckError) as raised:
        check(tmp_path)
    assert message in str(raised.value)
    assert "claim 'ours-beats-baseline'" in str(raised.value)


def test_repeated_id(tmp_path: Path) -> None:
    project(tmp_path, CLAIM + CLAIM)
    with pytest.raises(LeakcheckError, match="two claims have the id 'ours-beats-baseline'"):
        check(tmp_path)


# The number that the text states


def stated(root: Path, text: str, config: str = CLAIM) -> Declared:
    project(root, config.replace('pair = "seed"', 'pair = "seed"\ntext = "README.md"'))
    (root / "README.md").write_text(text)
    return check(root)


@pytest.mark.parametrize(
    "text",
    [
        "Our model beats the baseline by 2.6 percentage points of accuracy.",
        "Accuracy improves from 80.4% to 83.0% over the baseline.",
        "It outperforms the baseline: accuracy 0.830 vs 0.804.",
        "It beats the baseline, with accuracy 3.2% higher than the baseline.",
    ],
    ids=["points", "levels in percent", "levels", "relative percent"],
)
def test_stated_number_that_the_runs_bear_out(tmp_path: Path, text: str) -> None:
    assert codes(stated(tmp_path, text)) == []


def test_fractions_differ_by_a_fraction(tmp_path: Path) -> None:
    found = stated(tmp_path, "It outperforms the baseline: accuracy 0.845 against 0.804.").findings[0]
    assert found.message.endswith("0.845 is stated; the runs give 0.804 and 0.83, a difference of 0.026")


def test_percent_is_not_percentage_points(tmp_path: Path) -> None:
    result = stated(tmp_path, "Our model beats the baseline by 2.6% in accuracy.")
    assert codes(result) == ["LK801"]
    assert "2.6% is stated, the runs differ by 2.6 percentage points, 3.23 % of the score" in result.findings[0].message
    assert (result.findings[0].location.path, result.findings[0].location.line) == ("README.md", 1)


def test_best_run_in_place_of_the_mean(tmp_path: Path) -> None:
    result = stated(tmp_path, "# Results\n\nOurs outperforms the baseline and reaches an accuracy of 85%.")
    assert codes(result) == ["LK805"]
    assert "the best of 5 runs of 'ours'; their mean is 83" in result.findings[0].message


def test_number_from_nowhere(tmp_path: Path) -> None:
    assert codes(stated(tmp_path, "Ours outperforms the baseline by 7.5 points of accuracy.")) == ["LK801"]


def test_text_that_does_not_exist(tmp_path: Path) -> None:
    project(tmp_path, CLAIM + 'text = "PAPER.md"\n')
    assert "PAPER.md: the text of the claim does not exist" in check(tmp_path).errors[0].message


# The order in git


def git(root: Path, *arguments: str, day: int = 1) -> None:
    date = f"2026-10-{day:02d}T12:00:00Z"
    names = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
    environment = {
        **names,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
        "PATH": "/usr/bin:/bin",
        "HOME": str(root),
    }
    subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments], cwd=root, check=True, env=environment, capture_output=True
    )


def commit(root: Path, day: int, *files: str) -> None:
    git(root, "add", *files)
    git(root, "commit", "-m", "step", day=day)


def test_threshold_before_the_results(tmp_path: Path) -> None:
    project(tmp_path, CLAIM)
    git(tmp_path, "init")
    commit(tmp_path, 1, "pyproject.toml")
    commit(tmp_path, 2, "results/seeds.csv")
    result = check(tmp_path)
    assert codes(result) == []
    assert result.facts[0].order is not None
    assert result.facts[0].order.explanation == "declared order: threshold first, results on 2026-10-02"


def test_threshold_after_the_results(tmp_path: Path) -> None:
    project(tmp_path, CLAIM.replace("0.01", "0.02"))
    git(tmp_path, "init")
    commit(tmp_path, 1, "pyproject.toml")
    commit(tmp_path, 2, "results/seeds.csv")
    project(tmp_path, CLAIM)
    commit(tmp_path, 3, "pyproject.toml")
    result = check(tmp_path)
    assert codes(result) == ["LK806"]
    assert (
        "declared order: results first committed on 2026-10-02, this threshold on 2026-10-03"
        in result.findings[0].message
    )


def test_threshold_not_yet_committed(tmp_path: Path) -> None:
    project(tmp_path, CLAIM.replace("0.01", "0.02"))
    git(tmp_path, "init")
    commit(tmp_path, 1, "pyproject.toml", "results/seeds.csv")
    project(tmp_path, CLAIM)
    assert codes(check(tmp_path)) == ["LK806"]


def test_same_commit_tells_no_order(tmp_path: Path) -> None:
    project(tmp_path, CLAIM)
    git(tmp_path, "init")
    commit(tmp_path, 1, "pyproject.toml", "results/seeds.csv")
    assert codes(check(tmp_path)) == []


def test_metric_changed_after_the_results(tmp_path: Path) -> None:
    project(tmp_path, CLAIM.replace("accuracy", "f1"))
    git(tmp_path, "init")
    commit(tmp_path, 1, "pyproject.toml")
    commit(tmp_path, 2, "results/seeds.csv")
    project(tmp_path, CLAIM)
    commit(tmp_path, 3, "pyproject.toml")
    result = check(tmp_path)
    assert codes(result) == ["LK806"]
    assert "changed its plan after the results: metric" in result.findings[0].message


def test_registration_after_the_results(tmp_path: Path) -> None:
    project(tmp_path, CLAIM + 'preregistered = "2026-10-09"\n')
    git(tmp_path, "init")
    commit(tmp_path, 1, "pyproject.toml")
    commit(tmp_path, 2, "results/seeds.csv")
    assert codes(check(tmp_path)) == ["LK806"]


def test_no_history_is_no_evidence(tmp_path: Path) -> None:
    project(tmp_path, CLAIM + 'preregistered = "2026-10-01"\n')
    assert codes(check(tmp_path)) == []
