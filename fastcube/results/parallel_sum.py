"""Read thousands of files in a few processes: each adds up one stretch of them.

Reading is mostly Python, so threads would take turns.  The processes send back sums of integers, so the outcome is that of
one process; an error is that of the first file, by their order, that has one.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import EngineError
from .merging import ExtractFunction, RunningSum, sum_stretch
from .worker_process import WorkerProcess

#: Files that a process should read at least: its start takes as long as reading 100.
_MIN_FILES = 200

#: Processes at most: each takes 90 MiB.
_MAX_PROCESSES = 4


def sum_files(
    names: Sequence[str | Path], keep: ExtractFunction, processes: int, unchecked: bool = False
) -> RunningSum:
    """What files add up to, at least one, with what ``keep``, a function of a module, makes of each.

    Raises as :func:`fastcube.open_results`; StudyMismatchError; EngineError when one of the processes is killed.
    """
    count = max(1, min(processes, _MAX_PROCESSES, len(names) // _MIN_FILES))
    with contextlib.ExitStack() as ends:
        others: list[WorkerProcess] = []
        with contextlib.suppress(OSError):  # where no more are to be had, fewer read more
            while sys.executable and len(others) + 1 < count:
                others.append(WorkerProcess(serve_sums))
                ends.callback(others[-1].end)
        bounds = [len(names) * i // (len(others) + 1) for i in range(len(others) + 2)]
        for other, first, stop in zip(others, bounds[1:-1], bounds[2:], strict=True):
            other.send((names, first, stop, keep, unchecked))
        total = sum_stretch(names, 0, bounds[1], keep, unchecked)
        for other in others:
            total.join(_receive_sum(other))
    return total


def _receive_sum(worker: WorkerProcess) -> RunningSum:
    """What a process has read.  Raises what reading raised there, or EngineError when it was killed."""
    try:
        read = worker.receive()
    except EOFError:
        raise EngineError(f"a process that read files ended with status {worker.process.wait()}") from None
    if isinstance(read, BaseException):
        raise read
    return read  # type: ignore[no-any-return]


def serve_sums(receive: Callable[[], Any], send: Callable[[Any], None]) -> None:
    """Add up stretches of files, one per message."""
    while True:
        read: Any
        try:
            read = sum_stretch(*receive())
        except Exception as error:  # the parent's to raise
            read = error
        send(read)
