"""The baseline: what it hides, what it says is gone, and its file."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leakcheck
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Confidence, Finding, Location, Severity
from leakcheck.project.baseline import Baseline, Entry, Looked, apply_baseline, read_baseline, write_baseline
from leakcheck.run import ScanResult

ROOT = Path(__file__).parents[2]
LEAK = (ROOT / "fixtures/odd_files/00_plain_leak.py").read_text(encoding="utf-8")
FILE = ".leakcheck-baseline.json"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "leak.py").write_text(LEAK, encoding="utf-8")
    return tmp_path


def accept(**options: object) -> None:
    """Write today's findings of the folder, as the command does."""
    file = Path(FILE)
    before = read_baseline(file) if file.exists() else Counter()
    result = leakcheck.scan(".", baseline=Baseline(file, before), **options)  # type: ignore[arg-type]
    assert result.baseline is not None
    write_baseline(file, result.baseline.today)


def scan(*paths: str, **options: object) -> ScanResult:
    return leakcheck.scan(*paths, **options)  # type: ignore[arg-type]


def gone(result: ScanResult) -> bool:
    return any("gone" in notice for notice in result.notices)


def test_accepted_findings_are_hidden_and_new_ones_are_not(project: Path) -> None:
    accept()
    result = scan()
    assert (len(result.findings), [finding.code for finding in result.suppressed]) == (0, ["LK101"])
    assert result.suppressed[0].suppressed is not None
    assert result.suppressed[0].suppressed.by == "baseline"
    assert result.exit_status == 0
    (project / "new.py").write_text(LEAK, encoding="utf-8")
    assert [finding.location.path for finding in scan().findings] == ["new.py"]
    assert len(scan(baseline=False).findings) == 2
    assert len(scan(isolated=True).findings) == 2


def test_a_second_equal_finding_is_new(project: Path) -> None:
    accept()
    again = "\n".join(line for line in LEAK.split("\n") if "import" not in line)
    (project / "leak.py").write_text(f"{LEAK}\n{again}", encoding="utf-8")
    result = scan()
    assert (len(result.findings), len(result.suppressed)) == (1, 1)
    accept()
    assert '"count": 2' in (project / FILE).read_text(encoding="utf-8")
    assert not scan().findings


def test_reformatted_code_stays_accepted(project: Path) -> None:
    accept()
    tidy = LEAK.replace("StandardScaler().fit_transform(X)", "StandardScaler(  ).fit_transform(\n    X,\n)")
    assert tidy != LEAK
    (project / "leak.py").write_text("import os\n\n" + tidy, encoding="utf-8")
    result = scan()
    assert (result.findings, gone(result)) == ((), False)


def test_a_renamed_file_and_a_moved_folder_stay_accepted(project: Path) -> None:
    accept()
    (project / "deep").mkdir()
    (project / "leak.py").rename(project / "deep/other.py")
    result = scan()
    assert (result.findings, gone(result)) == ((), False)


def test_a_copy_is_no_move(project: Path) -> None:
    accept()
    (project / "copy.py").write_text(LEAK, encoding="utf-8")
    assert [finding.location.path for finding in scan().findings] == ["copy.py"]
    assert [finding.location.path for finding in scan("copy.py").findings] == ["copy.py"]


def test_what_is_gone_is_said(project: Path) -> None:
    accept()
    (project / "leak.py").write_text("x = 1\n", encoding="utf-8")
    (notice,) = scan().notices
    assert notice == f"{FILE}: 1 of its 1 findings is gone; `leakcheck baseline --prune` takes them out"
    (project / "leak.py").unlink()
    assert gone(scan())


def test_what_was_not_looked_at_or_not_selected_is_not_gone(project: Path) -> None:
    accept(select=["ALL"])
    (project / "other.py").write_text("x = 1\n", encoding="utf-8")
    assert not gone(scan("other.py"))
    assert not gone(scan(select=["LK2"]))
    assert not gone(scan(ignore=["LK101"]))
    (project / "leak.py").write_bytes(b"\xff\n")
    assert not gone(scan())


def test_prose_is_not_gone_where_only_files_are_scanned(project: Path) -> None:
    text = '"""Our model beats the baseline by 3.2 points (0.812 to 0.844)."""\nimport sklearn\n'
    (project / "doc.py").write_text(text, encoding="utf-8")
    (project / "README.md").write_text(text, encoding="utf-8")
    assert {finding.code for finding in scan().findings} == {"LK101", "LK504"}
    accept()
    result = scan()
    assert (result.findings, gone(result)) == ((), False)
    assert not gone(scan("doc.py"))
    (project / "README.md").write_text("", encoding="utf-8")
    assert gone(scan())


def test_claims_are_gone_only_where_they_were_checked(project: Path) -> None:
    table = '[[claims]]\nid = "c"\na = "base"\nb = "ours"\nresults = "runs.csv"\n'
    (project / "leakcheck.toml").write_text(table, encoding="utf-8")
    (project / "runs.csv").write_text("seed,base,ours\n1,0.8,0.81\n2,0.81,0.80\n3,0.8,0.82\n", encoding="utf-8")
    assert "LK801" in {finding.code for finding in scan().findings}
    accept()
    assert (scan().findings, gone(scan())) == ((), False)
    (project / "leakcheck.toml").write_text("", encoding="utf-8")
    assert not gone(scan("leak.py"))
    assert not gone(scan(claims=False))
    assert gone(scan())


def test_entries_of_files_outside_the_run_are_kept(project: Path) -> None:
    accept()
    (project / "sub").mkdir()
    (project / "sub/new.py").write_text(LEAK, encoding="utf-8")
    result = scan("sub", baseline=FILE)
    assert result.baseline is not None
    assert sorted(entry.path for entry in result.baseline.today) == ["leak.py", "sub/new.py"]
    assert sorted(entry.path for entry in result.baseline.pruned) == ["leak.py"]


def test_the_working_folder_does_not_matter(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept()
    monkeypatch.chdir(project / ".git")
    result = scan("..")
    assert (result.findings, len(result.suppressed)) == ((), 1)


def test_the_configuration_names_the_file(project: Path) -> None:
    (project / "leakcheck.toml").write_text('baseline = "ci/accepted.json"\n', encoding="utf-8")
    result = scan()
    assert len(result.findings) == 1
    assert "no such baseline yet" in " ".join(result.notices)
    accept()
    (project / "ci").mkdir()
    (project / FILE).rename(project / "ci/accepted.json")
    assert not scan().findings


def test_a_baseline_of_notebooks(project: Path) -> None:
    lines = LEAK.splitlines(keepends=True)
    cells = [{"cell_type": "code", "source": lines[:6]}, {"cell_type": "code", "source": lines[6:]}]
    (project / "leak.py").unlink()
    (project / "n.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    accept()
    cells.insert(0, {"cell_type": "code", "source": ["%pip install x\n"]})
    (project / "n.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    result = scan()
    assert (result.findings, len(result.suppressed)) == ((), 1)


# The file


def test_the_file_has_one_sorted_entry_a_line(project: Path) -> None:
    for name in ("b.py", "a.py", "né.py"):
        (project / name).write_text(LEAK, encoding="utf-8")
    accept()
    first = (project / FILE).read_bytes()
    accept()
    assert (project / FILE).read_bytes() == first
    lines = first.decode("ascii").split("\n")
    assert len(lines) == 1 + 4 + 1 + 1
    assert [json.loads(line.rstrip(","))["path"] for line in lines[1:5]] == ["a.py", "b.py", "leak.py", "né.py"]


NAMES = st.text(min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
@given(st.dictionaries(st.builds(Entry, NAMES, NAMES, NAMES), st.integers(1, 5)))
def test_what_is_written_is_read_back(entries: dict[Entry, int]) -> None:
    write_baseline(Path("b.json"), Counter(entries))
    assert read_baseline(Path("b.json")) == Counter(entries)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b"<<<<<<< HEAD\n{}", "not valid JSON"),
        (b"\xff", "not UTF-8 text"),
        (b"[]", "not a baseline file"),
        (b'{"version": 1}', "not a baseline file"),
        (b'{"version": 2, "findings": []}', "expected version 1, found 2"),
        (b'{"version": 1, "findings": [{"path": "a"}]}', "entry 1: a broken entry"),
        (b'{"version": 1, "findings": [{"path": "a", "code": "b", "fingerprint": "c", "count": 0}]}', "entry 1"),
        (b"[" * 100_000, "not valid JSON"),
    ],
)
def test_a_broken_file_is_one_clear_error(project: Path, content: bytes, message: str) -> None:
    (project / FILE).write_bytes(content)
    with pytest.raises(LeakcheckError, match=message) as caught:
        scan()
    assert FILE in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_was_named_must_exist() -> None:
    with pytest.raises(LeakcheckError, match=r"absent\.json: no such baseline file"):
        scan(baseline="absent.json")


# The counting, against a plain model of it


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy")), max_size=8),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), max_size=8),
)
def test_no_more_is_hidden_than_was_accepted(accepted: list[tuple[str, str]], today: list[tuple[str, str]]) -> None:
    def entry(pair: tuple[str, str]) -> Entry:
        return Entry(f"{pair[0]}.py", "LK101", pair[1])

    finding = Finding("LK101", "n", "", Severity.WARNING, Confidence.SURE, "m", "h", Location("a.py", None, 1, 1, 1, 1))
    baseline = Baseline(Path(FILE), Counter(map(entry, accepted)))
    entries = [entry(pair) for pair in today]
    looked = Looked(Path.cwd(), {"a.py", "b.py", "c.py"}, ())  # all of it was looked at
    applied = apply_baseline(baseline, [finding] * len(today), entries, [], looked)
    contents = Counter(content for _, content in accepted) & Counter(content for _, content in today)
    assert len(applied.hidden) == contents.total() == applied.pruned.total()
    assert len(applied.reported) == len(today) - contents.total()
    assert applied.today == Counter(entries)
    assert bool(applied.notices) == (contents.total() < len(accepted))
