"""Worker processes: the same results in any number, and no harm from one that dies or from ctrl-c."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import leakcheck.flow
from leakcheck.flow import ProgramFacts
from leakcheck.project.source import Source
from leakcheck.project.workers import Died, in_workers, worker_count
from leakcheck.report.json import to_json
from leakcheck.run import scan

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="what is patched is forked")


class Square:
    """Work that kills its process on some items; those in `once` only where the file isn't there yet."""

    def __init__(self, deadly: Sequence[int] = (), once: Path | None = None) -> None:
        self.deadly = deadly
        self.once = once

    def __call__(self, item: int) -> bytes:
        if item in self.deadly and not (self.once and self.once.exists()):
            if self.once:
                self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return str(item * item).encode()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_item_is_done_once(count: int) -> None:
    results = list(in_workers(Square(), range(20), count))
    assert sorted(results) == [(item, str(item * item).encode()) for item in range(20)]


def test_a_process_that_dies_costs_its_item_alone() -> None:
    results = dict(in_workers(Square(deadly=(3, 7)), range(10), 2))
    assert results[3] == results[7] == Died("SIGKILL")
    assert all(results[item] == str(item * item).encode() for item in range(10) if item not in (3, 7))


def test_what_was_short_of_memory_among_others_is_tried_alone(tmp_path: Path) -> None:
    results = dict(in_workers(Square(deadly=(3,), once=tmp_path / "died"), range(6), 2))
    assert results == {item: str(item * item).encode() for item in range(6)}


def test_where_the_system_does_not_fork_processes_are_started_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    places = sorted((FIXTURES / "code").glob("mf0*"))
    assert to_json(scan(*places, isolated=True, jobs=2)) == to_json(scan(*places, isolated=True))


def test_where_no_process_can_be_started_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", fail)
    assert len(list(in_workers(Square(), range(5), 2))) == 5


def test_few_files_are_not_worth_a_process() -> None:
    assert worker_count(3, None) == 1
    assert worker_count(3, 8) == 3
    assert worker_count(0, 8) == 1
    assert worker_count(10_000, None) >= 1


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    places = [FIXTURES / "code", FIXTURES / "odd_files"]
    results = [scan(*places, select=["ALL"], isolated=True, jobs=jobs) for jobs in (1, 2, 4)]
    assert [result.course.jobs for result in results] == [1, 2, 4]
    assert len({to_json(result) for result in results}) == 1
    assert len({(result.errors, result.notices, result.unknown) for result in results}) == 1


@forks
def test_a_file_that_kills_its_process_is_told_and_the_others_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = leakcheck.flow.follow

    def follow(source: Source, *rest: object) -> ProgramFacts:
        if source.path == "odd.py":
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(leakcheck.flow, "follow", follow)
    monkeypatch.chdir(tmp_path)
    leak = (FIXTURES / "code/l16_pca_then_cross_val.py").read_text(encoding="utf-8")
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text(leak, encoding="utf-8")
    Path("odd.py").write_text("import sklearn\n", encoding="utf-8")
    result = scan(jobs=2)
    (error,) = result.errors
    assert error.location.path == "odd.py"
    assert "the process that analysed this file ended (SIGKILL)" in error.message
    assert {finding.location.path for finding in result.findings} == {"a.py", "b.py", "c.py"}
    assert result.exit_status == 2


def gone(process: str) -> bool:
    """Whether a process has ended; one whose parent is gone may wait for somebody to ask how."""
    try:
        return "State:\tZ" in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return True


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_end_of_a_run_is_the_end_of_its_processes(tmp_path: Path, how: signal.Signals) -> None:
    text = (FIXTURES / "code/l92_three_leaks_in_one.py").read_text(encoding="utf-8")
    for number in range(300):
        (tmp_path / f"train{number}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "leakcheck", "scan", "--no-cache", "--jobs", "2", str(tmp_path)]
    run = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test run in the background ignores ctrl-c, and what it starts would inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    children: list[str] = []
    while len(children) < 2 and run.poll() is None:
        time.sleep(0.02)
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text(encoding="ascii").split()
    if how is signal.SIGINT:  # a terminal sends it to all of them
        os.killpg(run.pid, how)
    else:
        run.send_signal(how)
    said, told = run.communicate(timeout=60)
    assert (said, told) == ("", "")
    assert run.returncode == (130 if how is signal.SIGINT else -how)
    patience = time.monotonic() + 60
    while not all(map(gone, children)) and time.monotonic() < patience:
        time.sleep(0.02)
    assert all(map(gone, children))
