"""A whole scan, from files to findings."""

import json
import re
import shutil
from pathlib import Path

import pytest

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Severity
from leakcheck.run import ScanResult, scan

FIXTURES = Path(__file__).parents[2] / "fixtures"

LEAK = """\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

df = pd.read_csv("d.csv")
X, y = df.drop(columns="y"), df["y"]
X = StandardScaler().fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(LogisticRegression().fit(X_train, y_train).score(X_test, y_test))
"""
FIT_LINE = 8

PREP = """\
from sklearn.preprocessing import StandardScaler


def scale(frame):
    return StandardScaler().fit_transform(frame)
"""
CALLER = """\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from prep import scale

df = pd.read_csv("d.csv")
y = df.pop("y")
X_train, X_test, y_train, y_test = train_test_split(scale(df), y, random_state=0)
print(LogisticRegression().fit(X_train, y_train).score(X_test, y_test))
"""


SWEEP = """\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

df = pd.read_csv("d.csv")
X_train, X_test, y_train, y_test = train_test_split(df.drop(columns="y"), df["y"], random_state=0)
best = 0
for c in [0.1, 1, 10]:
    score = LogisticRegression(C=c).fit(X_train, y_train).score(X_test, y_test)
    if score > best:
        best, chosen = score, c
print(best, chosen)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(**files: str) -> None:
    """Write files; in a name `__` stands for a slash and the last `_` for the dot."""
    for name, text in files.items():
        path = Path(".".join(name.replace("__", "/").rsplit("_", 1)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def codes(result: ScanResult) -> list[str]:
    return [finding.code for finding in result.findings]


def places(result: ScanResult) -> list[tuple[str, str, int]]:
    return [(finding.code, finding.location.path, finding.location.line) for finding in result.findings]


def test_a_leak_is_found_at_its_line() -> None:
    write(train_py=LEAK)
    result = scan()
    assert places(result) == [("LK101", "train.py", FIT_LINE)]
    assert (result.exit_status, result.files, result.skipped) == (1, 1, 0)
    assert len(result.findings[0].fingerprint) == 16


def test_a_leak_that_starts_in_another_module_is_found_from_the_file_that_was_asked_for() -> None:
    write(train_py=CALLER, prep_py=PREP)
    result = scan("train.py")
    assert places(result) == [("LK101", "prep.py", 5)]
    assert "train.py" in {step.location.path for step in result.findings[0].trace}
    assert result.files == 1


def test_nothing_is_told_of_modules_that_nobody_asked_for() -> None:
    write(other_py="import pandas as pd\nimport train\n", train_py=LEAK)
    assert codes(scan("other.py")) == []


def test_a_file_that_reaches_a_library_through_the_project_is_analysed() -> None:
    write(
        main_py="from steps import read, scale, cut, judge\nX, y = read()\njudge(*cut(scale(X), y))\n",
        steps_py="""\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def read():
    df = pd.read_csv("d.csv")
    return df.drop(columns="y"), df["y"]


def scale(X):
    return StandardScaler().fit_transform(X)


def cut(X, y):
    return train_test_split(X, y, random_state=0)


def judge(X_train, X_test, y_train, y_test):
    print(LogisticRegression().fit(X_train, y_train).score(X_test, y_test))
""",
    )
    assert places(scan("main.py")) == [("LK101", "steps.py", 13)]


def test_a_comment_silences_and_is_counted() -> None:
    write(train_py=LEAK.replace("fit_transform(X)", "fit_transform(X)  # leakcheck: ignore[LK101] as published"))
    result = scan()
    assert codes(result) == []
    (hidden,) = result.suppressed
    assert hidden.suppressed is not None
    assert (hidden.code, hidden.suppressed.by, hidden.suppressed.reason) == ("LK101", "comment", "as published")
    assert result.exit_status == 0


def test_a_comment_that_silences_nothing_is_told_even_in_a_file_without_a_library() -> None:
    write(tools_py="x = 1  # leakcheck: ignore[LK101]\n")
    assert places(scan()) == [("LK002", "tools.py", 1)]


def test_a_comment_is_of_use_where_its_code_is_not_selected() -> None:
    write(train_py=LEAK.replace("fit_transform(X)", "fit_transform(X)  # leakcheck: ignore[LK101]"))
    assert codes(scan(select=["LK002"])) == []


def test_comments_of_a_broken_file_are_not_judged() -> None:
    write(train_py="import sklearn\nx = 1  # leakcheck: ignore[LK101]\ndef f(:\n")
    result = scan()
    assert codes(result) == []
    assert [(error.location.path, error.location.line) for error in result.errors] == [("train.py", 3)]
    assert result.exit_status == 2


def test_a_broken_file_leaves_the_others_checked() -> None:
    write(train_py=LEAK)
    Path("bad.py").write_bytes(b"x = '\xe9'\n")
    result = scan()
    assert codes(result) == ["LK101"]
    assert [error.location.path for error in result.errors] == ["bad.py"]
    assert (result.files, result.skipped, result.exit_status) == (2, 1, 2)


def test_errors_are_ignored_by_code_everywhere_or_in_files() -> None:
    Path("bad.py").write_bytes(b"x = '\xe9'\n")
    assert scan(ignore=["LK001"]).errors == ()
    write(leakcheck_toml='per-file-ignores = { "bad.py" = ["LK001"] }')
    assert scan().errors == ()


def test_syntax_is_checked_in_files_that_are_named() -> None:
    write(tools_py='print "old"\n')
    assert scan().errors == ()
    assert len(scan("tools.py").errors) == 1


def test_an_imported_module_that_is_broken_is_a_note() -> None:
    write(train_py=CALLER, prep_py=PREP + "def broken(:\n")
    result = scan("train.py")
    assert result.errors == ()
    assert any("prep.py" in notice for notice in result.notices)
    assert len(scan(".").errors) == 1


def test_findings_about_selection_are_notes_in_exploratory_files() -> None:
    write(sweep_py=SWEEP)
    (finding,) = scan().findings
    assert finding.code.startswith("LK2")
    write(sweep_py="# leakcheck: exploratory\n" + SWEEP)
    assert scan().findings == ()
    assert [f.severity for f in scan(select=["ALL"]).findings if f.code.startswith("LK2")] == [Severity.NOTE]
    write(sweep_py=SWEEP, leakcheck_toml='exploratory = ["sweep.py"]')
    assert scan().findings == ()


def test_a_comparison_in_an_exploratory_file_is_a_note() -> None:
    compare = (FIXTURES / "code" / "h24_one_print_l.py").read_text()
    write(compare_py=compare)
    assert codes(scan()) == ["LK502"]
    write(compare_py="# leakcheck: exploratory\n" + compare)
    assert scan().findings == ()
    (finding,) = scan(select=["LK502"]).findings
    assert finding.severity is Severity.NOTE


def test_a_fault_of_ours_in_one_file_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    import leakcheck.flow

    honest = leakcheck.flow.follow

    def follow(source, *rest):  # type: ignore[no-untyped-def]
        if source.path == "odd.py":
            raise KeyError("lost")
        return honest(source, *rest)

    monkeypatch.setattr(leakcheck.flow, "follow", follow)
    write(train_py=LEAK, odd_py="import sklearn\n")
    result = scan()
    assert codes(result) == ["LK101"]
    (error,) = result.errors
    assert error.location.path == "odd.py"
    assert "leakcheck itself failed" in error.message
    assert "KeyError" in error.message


def test_a_fault_of_a_rule_on_one_file_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from leakcheck.rules import rules

    (rule,) = (rule for rule in rules() if rule.code == "LK101")
    honest = type(rule).check

    def check(self, facts):  # type: ignore[no-untyped-def]
        if any(fact.location.path == "odd.py" for fact in facts.learned):
            raise KeyError("lost")
        return honest(self, facts)

    monkeypatch.setattr(type(rule), "check", check)
    write(train_py=LEAK, odd_py=LEAK)
    result = scan()
    assert places(result) == [("LK101", "train.py", FIT_LINE)]
    assert [error.location.path for error in result.errors] == ["odd.py"]


def test_a_notebook_of_another_language_is_passed_over() -> None:
    shutil.copy(FIXTURES / "odd_files/06_r_kernel.ipynb", "r.ipynb")
    result = scan("r.ipynb")
    assert (result.exit_status, result.files, result.skipped) == (0, 1, 1)
    assert result.notices == ("r.ipynb: the notebook's language is R, not Python; skipped",)


def test_order_does_not_depend_on_the_order_of_paths() -> None:
    write(a_py=LEAK, b_py=LEAK)
    assert scan("b.py", "a.py").findings == scan("a.py", "b.py").findings


def test_fingerprints_do_not_depend_on_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    write(leakcheck_toml="", sub__train_py=LEAK)
    from_root = [finding.fingerprint for finding in scan("sub").findings]
    monkeypatch.chdir("sub")
    assert [finding.fingerprint for finding in scan().findings] == from_root


def test_a_missing_path_and_an_unknown_code_are_errors() -> None:
    with pytest.raises(LeakcheckError, match="absent"):
        scan("absent")
    with pytest.raises(LeakcheckError, match="LK999"):
        scan(select=["LK999"])


@pytest.mark.parametrize("line", (FIXTURES / "odd_files/EXPECTED.tsv").read_text(encoding="utf-8").splitlines()[1:])
def test_odd_files(line: str) -> None:
    name, expected, _ = line.split("\t")
    target = Path(name)
    target.parent.mkdir(exist_ok=True)
    shutil.copy(FIXTURES / "odd_files" / name, target)
    result = scan(target)
    found = {
        (f"{finding.location.cell}:" if finding.location.cell else "") + str(finding.location.line)
        for finding in result.findings
        if finding.name == "preprocess-before-split"
    }
    wanted = []
    for alternative in re.split(",? or ", expected):
        place = re.match(r"preprocess-before-split ([\d:]+)", alternative)
        wanted.append({place[1]} if place else set())
    assert found in wanted
    json.dumps(result.to_dict())
