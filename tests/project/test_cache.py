"""The cache: the same results, sooner; never a harm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import leakcheck.flow
import leakcheck.project.cache as cache_module
from leakcheck.cli import main
from leakcheck.errors import LeakcheckError
from leakcheck.project.cache import Cache, digest
from leakcheck.report.json import to_json
from leakcheck.run import ScanResult, scan

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
PLACE = Path(".leakcheck_cache")

LEAK = """\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from prep import prepare

df = pd.read_csv("d.csv")
X, y = prepare(df.drop(columns="y")), df["y"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(LogisticRegression().fit(X_train, y_train).score(X_test, y_test))
"""
SCALES = """\
from sklearn.preprocessing import StandardScaler

def prepare(frame):
    return StandardScaler().fit_transform(frame)
"""
HARMLESS = """\
from sklearn.preprocessing import StandardScaler

def prepare(frame):
    return frame
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path(".".join(name.replace("__", "/").rsplit("_", 1)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(result: ScanResult) -> list[tuple[str, str]]:
    return [(finding.code, finding.location.path) for finding in result.findings]


def entries() -> list[Path]:
    return sorted(PLACE.glob("*.json"))


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever follows a program after this reports a fault."""

    def fail(*_: object) -> None:
        raise AssertionError("not from the cache")

    monkeypatch.setattr(leakcheck.flow, "follow", fail)


def test_results_are_the_same_without_a_cache_into_it_and_out_of_it(tmp_path: Path) -> None:
    places = [FIXTURES / "code", FIXTURES / "example", FIXTURES / "odd_files"]
    without, cold, warm = (
        scan(*places, select=["ALL"], isolated=True, cache=cache)
        for cache in (False, tmp_path / "kept", tmp_path / "kept")
    )
    assert to_json(cold) == to_json(without)
    assert to_json(warm) == to_json(without)
    for result in (cold, warm):
        assert (result.errors, result.notices) == (without.errors, without.notices)
        assert (result.unknown, result.suppressed) == (without.unknown, without.suppressed)
    assert (len(cold.course.recalled), warm.course.recalled) == (0, set(warm.course.programs))


def test_a_second_run_follows_nothing(request: pytest.FixtureRequest) -> None:
    write(train_py=LEAK, prep_py=SCALES)
    first = scan(cache=True)
    request.getfixturevalue("no_engine")
    assert to_json(scan(cache=True)) == to_json(first)
    assert found(first) == [("LK101", "prep.py")]


def test_a_changed_module_refreshes_the_files_that_call_it() -> None:
    write(train_py=LEAK, prep_py=HARMLESS)
    assert found(scan("train.py", cache=True)) == []
    write(prep_py=SCALES)
    assert found(scan("train.py", cache=True)) == [("LK101", "prep.py")]
    write(prep_py=HARMLESS)
    assert found(scan("train.py", cache=True)) == []


def test_a_module_that_appears_or_goes_refreshes_who_asked_for_it() -> None:
    write(train_py=LEAK)
    assert found(scan("train.py", cache=True)) == []
    write(prep_py=SCALES)
    assert found(scan("train.py", cache=True)) == [("LK101", "prep.py")]
    Path("prep.py").unlink()
    assert found(scan("train.py", cache=True)) == []


def test_a_module_behind_another_counts_too() -> None:
    write(train_py=LEAK, prep_py="from inner import prepare\n", inner_py=HARMLESS)
    assert found(scan("train.py", cache=True)) == []
    write(inner_py=SCALES)
    assert found(scan("train.py", cache=True)) == [("LK101", "inner.py")]


def test_a_nearer_module_takes_the_place_of_another() -> None:
    write(src__prep_py=HARMLESS, tools__train_py=LEAK)
    assert found(scan("tools", cache=True)) == []
    write(tools__prep_py=SCALES)
    assert found(scan("tools", cache=True)) == [("LK101", "tools/prep.py")]


def test_the_projects_own_tables_count() -> None:
    write(train_py=LEAK.replace("from prep import prepare", "from acme import prepare"))
    write(leakcheck_toml='apis = ["acme.toml"]', acme_toml='library = ["acme"]\n')
    assert found(scan(cache=True)) == []
    write(acme_toml='library = ["acme"]\n[callables]\n"acme.prepare" = { part = "learn", learns = "scaling" }\n')
    assert found(scan(cache=True)) == [("LK101", "train.py")]


def test_fingerprints_follow_the_text() -> None:
    write(train_py=LEAK, prep_py=SCALES)
    first = [finding.fingerprint for finding in scan(cache=True).findings]
    write(prep_py=SCALES.replace("frame", "table"))
    again = [finding.fingerprint for finding in scan(cache=True).findings]
    assert first != again == [finding.fingerprint for finding in scan().findings]


def test_options_that_select_do_not_need_another_run(request: pytest.FixtureRequest) -> None:
    write(train_py=LEAK, prep_py=SCALES)
    scan(cache=True, select=["LK2"])
    request.getfixturevalue("no_engine")
    assert found(scan(cache=True)) == [("LK101", "prep.py")]


def test_from_another_folder_paths_are_shown_as_seen_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    write(leakcheck_toml="", sub__train_py=LEAK, sub__prep_py=SCALES)
    assert found(scan("sub", cache=True)) == [("LK101", "sub/prep.py")]
    monkeypatch.chdir("sub")
    assert found(scan(cache=True)) == [("LK101", "prep.py")]


def stale(entry: Path) -> bytes:
    """A whole entry that holds something else."""
    data = json.dumps({"x": 1}).encode()
    return digest(entry.name.encode(), data).encode() + b"\n" + data


def of_nothing(entry: Path) -> bytes:
    """A whole entry of the right shape whose files and answers are nonsense."""
    content = entry.read_bytes().partition(b"\n")[2]
    if not content.startswith(b"["):  # no program
        return stale(entry)
    facts = json.loads(content)[0]
    data = json.dumps([facts, [["x.py", "0"]], [[5, "os", 0, 9]], None]).encode()
    return digest(entry.name.encode(), data).encode() + b"\n" + data


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: b"",
        lambda entry: b"\x80\x04cos\nsystem\n",
        lambda entry: entry.read_bytes()[:-10],
        lambda entry: entry.read_bytes().replace(b"train.py", b"other.py"),
        stale,
        of_nothing,
    ],
)
def test_a_broken_entry_is_computed_again(spoil) -> None:  # type: ignore[no-untyped-def]
    write(train_py=LEAK, prep_py=SCALES)
    first = to_json(scan(cache=True))
    for entry in entries():
        entry.write_bytes(spoil(entry))
    assert to_json(scan(cache=True)) == first
    again = scan(cache=True)
    assert to_json(again) == first
    assert len(again.course.recalled) == 2


def test_entries_under_each_others_names_are_not_believed() -> None:
    write(train_py=LEAK, prep_py=SCALES, other_py="import sklearn\n")
    first = to_json(scan(cache=True))
    contents = [entry.read_bytes() for entry in entries()]
    for entry, content in zip(entries(), contents[1:] + contents[:1], strict=True):
        entry.write_bytes(content)
    assert to_json(scan(cache=True)) == first


def test_the_folder_marks_itself_as_a_cache() -> None:
    write(train_py=LEAK, prep_py=SCALES)
    scan(cache=True)
    assert (PLACE / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (PLACE / ".gitignore").read_text() == "*\n"
    assert len(entries()) > 0


def test_nothing_is_written_without_need(capsys: pytest.CaptureFixture[str]) -> None:
    write(tools_py="x = 1\n")
    assert main(["scan"]) == 0
    write(train_py=LEAK, prep_py=SCALES)
    assert main(["scan", "--no-cache"]) == 1
    scan()
    assert not PLACE.exists()
    assert main(["scan"]) == 1
    assert PLACE.exists()


def test_a_folder_that_cannot_be_used_is_no_hindrance(capsys: pytest.CaptureFixture[str]) -> None:
    write(train_py=LEAK, prep_py=SCALES)
    PLACE.write_text("a file in its place")
    assert main(["scan", "-q"]) == 1
    assert "cache" not in capsys.readouterr().err
    assert main(["scan", "--verbose"]) == 1
    assert "cache: .leakcheck_cache: it is a file" in capsys.readouterr().err
    assert PLACE.read_text() == "a file in its place"


def test_a_disk_that_is_full_is_no_hindrance(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write(train_py=LEAK, prep_py=SCALES)
    monkeypatch.setattr(os, "replace", full)
    result = scan(cache=True)
    assert found(result) == [("LK101", "prep.py")]
    assert "No space left on device" in result.course.cache
    assert [path.name for path in PLACE.iterdir() if ".json" in path.name] == []


def test_other_peoples_folders_are_left_alone(tmp_path: Path) -> None:
    write(train_py=LEAK, prep_py=SCALES, home__letter_txt="dear")
    PLACE.symlink_to("home")
    assert found(scan(cache=True)) == [("LK101", "prep.py")]
    write(mypy__CACHEDIR_TAG="Signature: 8a477f597d28d172789f06886806bc55\n")
    for folder in ("home", "mypy"):
        with pytest.raises(LeakcheckError, match="other files"):
            scan(cache=folder)
    assert (os.listdir("home"), os.listdir("mypy")) == (["letter.txt"], ["CACHEDIR.TAG"])


def test_a_named_folder_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    write(train_py=LEAK, prep_py=SCALES)
    assert main(["scan", "--cache-dir", "kept/here"]) == 1
    assert not PLACE.exists()
    assert len(list(Path("kept/here").glob("*.json"))) > 0
    assert main(["scan", "--cache-dir", "train.py"]) == 2
    assert "train.py: no folder for the cache: it is a file" in capsys.readouterr().err


def test_the_folder_stays_within_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_ENTRIES", 10)
    for number in range(30):
        cache = Cache(tmp_path / "kept", b"stamp")
        cache.put(b"data", str(number).encode())
        for entry in (tmp_path / "kept").glob("*.json"):  # clocks are coarse
            os.utime(entry, ns=(entry.stat().st_mtime_ns - 10**9,) * 2)
        cache.tidy()
        assert len(list((tmp_path / "kept").glob("*.json"))) <= 10
    cache = Cache(tmp_path / "kept", b"stamp")
    assert cache.get(b"29") == b"data"
    assert cache.get(b"0") is None


def test_what_a_run_used_goes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_ENTRIES", 10)
    cache = Cache(tmp_path / "kept", b"stamp")
    for number in range(10):
        cache.put(b"data", str(number).encode())
    later = Cache(tmp_path / "kept", b"stamp")
    assert later.get(b"0") == b"data"
    later.put(b"data", b"new")
    later.tidy()
    assert later.get(b"0") == b"data"
    assert later.get(b"new") == b"data"


def test_entries_of_another_stamp_are_not_seen(tmp_path: Path) -> None:
    Cache(tmp_path / "kept", b"old").put(b"data", b"key")
    assert Cache(tmp_path / "kept", b"new").get(b"key") is None
    assert Cache(tmp_path / "kept", b"old").get(b"key") == b"data"


def test_runs_at_the_same_time_do_not_harm_each_other() -> None:
    write(**{f"train{number}_py": LEAK for number in range(6)}, prep_py=SCALES)
    command = [sys.executable, "-m", "leakcheck", "scan", "--output-format", "json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    runs = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = {run.communicate()[0] for run in runs}
    assert len(outputs) == 1
    assert scan(cache=True).course.recalled == {"prep.py", *(f"train{number}.py" for number in range(6))}


def test_what_is_shown_does_not_depend_on_the_order_of_sets() -> None:
    places = [str(path) for path in sorted((FIXTURES / "code").glob("*mf*"))]
    places += [str(path) for path in sorted((FIXTURES / "code").glob("b*_l.py"))]
    command = [sys.executable, "-m", "leakcheck", "scan", "--no-cache", "--select", "ALL", "--output-format", "json"]
    outputs = {
        subprocess.run(
            [*command, *places],
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
