"""Read and add thousands of files in a few processes, each a contiguous part of the list.

Reading is mostly Python code, so threads would only take turns.  The processes return integer sums, so their number does not
change the result.  The error raised is the error of the first file, in their order, that has one.
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

#: Least number of files per process; starting a process takes as long as reading 100 files.
_MIN_FILES = 200

#: Largest number of processes; each takes 90 MiB.
_MAX_PROCESSES = 4


def sum_files(
    names: Sequence[str | Path], keep: ExtractFunction, processes: int, unchecked: bool = False
) -> RunningSum:
    """Return the sum of the files, at least one, with the value of ``keep`` (a function of a module) for each.

    Raises StudyMismatchError, the errors of ``open_results``, and EngineError if a process is killed.
    """
    count = max(1, min(processes, _MAX_PROCESSES, len(names) // _MIN_FILES))
    with contextlib.ExitStack() as ends:
        others: list[WorkerProcess] = []
        with contextlib.suppress(OSError):  # if no more processes can be started, fewer processes read all files
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
    """Return the sum read by a process.  Raises the error that reading raised there, or EngineError if it was killed."""
    try:
        read = worker.receive()
    except EOFError:
        raise EngineError(f"a process that read files ended with status {worker.process.wait()}") from None
    if isinstance(read, BaseException):
        raise read
    return read  # type: ignore[no-any-return]


def serve_sums(receive: Callable[[], Any], send: Callable[[Any], None]) -> None:
    """Add parts of the list of files, one part per message."""
    while True:
        read: Any
        try:
            read = sum_stretch(*receive())
        except Exception as error:  # the parent process raises it
            read = error
        send(read)
