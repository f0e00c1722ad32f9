"""Reading thousands of files in a few processes: each adds up one stretch of them.

Reading is mostly Python, so threads would take turns.  A process is a Python that imports from where its parent does, as
those that decide claims are; it ends when its parent does, whatever ends that.  What comes back are sums of integers, so the
outcome is that of one process; an error is that of the first file, by their order, that has one.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ..errors import EngineError
from .merging import ExtractFunction, RunningSum, sum_stretch

#: Files that a process should read at least: its start takes as long as reading 100.
_MIN_FILES = 200

#: Processes at most: each takes 90 MiB.
_MAX_PROCESSES = 4

#: What a process' Python runs: ``-m`` would put the working folder first on its path, where a file may bear any module's name.
_START = f"import sys; sys.path[:] = sys.argv[2:]; from {__name__} import _work; _work(int(sys.argv[1]))"

#: A process and where it answers: a pipe of their own, for anything that Python runs when it starts may print.
ReaderProcess = tuple[subprocess.Popen[bytes], IO[bytes]]


def sum_files(
    names: Sequence[str | Path], keep: ExtractFunction, processes: int, unchecked: bool = False
) -> RunningSum:
    """What files add up to, at least one, with what ``keep``, a function of a module, makes of each.

    Raises as :func:`fastcube.open_results`; StudyMismatchError; EngineError when one of the processes is killed.
    """
    count = max(1, min(processes, _MAX_PROCESSES, len(names) // _MIN_FILES))
    with contextlib.ExitStack() as ends:
        others: list[ReaderProcess] = []
        with contextlib.suppress(OSError):  # where no more are to be had, fewer read more
            while sys.executable and len(others) + 1 < count:
                others.append(ends.enter_context(_start_process()))
        bounds = [len(names) * i // (len(others) + 1) for i in range(len(others) + 2)]
        for (process, _), first, stop in zip(others, bounds[1:-1], bounds[2:], strict=True):
            _send_stretch(process, (names, first, stop, keep, unchecked))
        total = sum_stretch(names, 0, bounds[1], keep, unchecked)
        for other in others:
            total.join(_receive_sum(*other))
    return total


@contextlib.contextmanager
def _start_process() -> Iterator[ReaderProcess]:
    """A process that waits for its stretch; killed in the end.  Raises OSError when there is none to be had."""
    answer, told = os.pipe()
    with os.fdopen(answer, "rb") as answers:
        try:
            # a group of its own: a terminal's Ctrl-C is for the one that prints
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(told), *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[told],
                process_group=0,
            )
        finally:
            os.close(told)
        with process:
            try:
                yield process, answers
            finally:
                process.kill()
                assert process.stdin is not None
                with contextlib.suppress(BrokenPipeError):  # what it did not take any more
                    process.stdin.close()


def _send_stretch(process: subprocess.Popen[bytes], stretch_of: tuple[Any, ...]) -> None:
    """Tell a process what to read; its input stays open, for its end is the parent's."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it died: what it does not answer says so
        pickle.dump(stretch_of, process.stdin)
        process.stdin.flush()


def _receive_sum(process: subprocess.Popen[bytes], answers: IO[bytes]) -> RunningSum:
    """What a process has read.  Raises what reading raised there, or EngineError when it was killed."""
    try:
        read = pickle.load(answers)
    except (EOFError, pickle.UnpicklingError):
        raise EngineError(f"a process that read files ended with status {process.wait()}") from None
    if isinstance(read, BaseException):
        raise read
    return read  # type: ignore[no-any-return]


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def _work(told: int) -> None:
    """Read a stretch: it comes by standard input, what it adds up to goes to the pipe ``told``."""
    out = os.fdopen(told, "wb")
    with contextlib.suppress(EOFError, pickle.UnpicklingError, BrokenPipeError):  # the parent has gone
        given = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        read: Any
        try:
            read = sum_stretch(*given)
        except Exception as error:  # the parent's to raise
            read = error
        pickle.dump(read, out)
        out.flush()
    os._exit(0)
