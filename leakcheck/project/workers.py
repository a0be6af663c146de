"""Work spread over processes, so that neither a dying process nor an interrupted run leaves anything hanging."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_WORTH = 8  # items for each process that make up for starting it

Work = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Died:
    """The process that worked on an item ended before it was done."""

    how: str


def worker_count(items: int, jobs: int | None) -> int:
    """How many processes to use; 1 is this one.

    Parameters
    ----------
    items : int
        What there is to do.
    jobs : int, optional
        What the user asked for; by default one for each core, as long as there is enough to do.
    """
    if jobs is not None:
        return max(1, min(jobs, items))
    return max(1, min(_cores(), items // _WORTH))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_workers(work: Work, items: Sequence[int], count: int) -> Generator[tuple[int, bytes | Died], None, None]:
    """Do some work on numbered items in several processes; results come in the order in which they are ready.

    An item whose process died is tried once more, alone: with the others it may have been short of memory.

    Parameters
    ----------
    work : callable
        What is done with an item. Processes are forked where the system can fork; elsewhere `work` is pickled.
    items : sequence of int
    count : int
        Number of processes.
    """
    died = []
    for item, result in _spread(work, items, count):
        if isinstance(result, Died):
            died.append(item)
        else:
            yield item, result
    for item in died:
        yield from _spread(work, [item], 1)


def _spread(work: Work, items: Sequence[int], count: int) -> Generator[tuple[int, bytes | Died], None, None]:
    from multiprocessing.connection import wait

    waiting = list(reversed(items))
    busy: dict[Any, tuple[BaseProcess, int]] = {}  # by the connection to the process
    try:
        while waiting or busy:
            while waiting and len(busy) < count:
                try:
                    process, connection = _start(work)
                except OSError:  # no more processes, or no memory for one
                    count = len(busy)
                    break
                busy[connection] = process, waiting[-1]
                _give(connection, waiting.pop())
            if not busy:
                item = waiting.pop()
                yield item, work(item)
                continue
            for ready in wait(list(busy)):
                process, item = busy[ready]
                try:
                    result = ready.recv()  # type: ignore[union-attr, call-arg]
                except (EOFError, OSError):
                    del busy[ready]
                    yield item, Died(_ending(process))
                    continue
                if waiting:
                    busy[ready] = process, waiting[-1]
                    _give(ready, waiting.pop())  # type: ignore[arg-type]
                else:
                    del busy[ready]
                    _end(process)
                yield item, result
    finally:
        for process, _ in busy.values():
            _end(process)


def _start(work: Work) -> tuple[BaseProcess, Connection]:
    from multiprocessing import get_all_start_methods, get_context

    forks = "fork" in get_all_start_methods()
    context = get_context("fork" if forks else "spawn")
    ours, theirs = context.Pipe()
    arguments = (work, theirs, ours if forks else None)
    process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
    with _no_interrupts():
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """A process started here never sees ctrl-c: the main one ends it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Work, connection: Connection, other_end: Connection | None) -> None:
    """What a process does: work on what it is given until the main process ends it, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if other_end is not None:  # forked: while we hold it, too, we don't notice that the main process is gone
        other_end.close()
    with suppress(EOFError, OSError):
        while True:
            connection.send(work(connection.recv()))


def _give(connection: Connection, item: int) -> None:
    with suppress(OSError):  # a process that is gone is noticed where its answer is awaited
        connection.send(item)


def _ending(process: BaseProcess) -> str:
    process.join()
    code = process.exitcode or 0
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _end(process: BaseProcess) -> None:
    process.kill()
    process.join()
