"""Exit statuses, and the signals that stop a run."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

#: Exit statuses: finished; no error, but work remains; and stopped by SIGHUP, SIGINT or SIGTERM, numbered as in shells.
FINISHED, WORK_REMAINS, HUNG_UP, INTERRUPTED, TERMINATED = 0, 75, 129, 130, 143

#: The exit status for each signal.  SIGXCPU reports the end of the allowed processor time, which is like a job's time limit.
CODES = {
    signal.SIGINT: INTERRUPTED,
    signal.SIGTERM: TERMINATED,
    signal.SIGUSR1: WORK_REMAINS,
    signal.SIGHUP: HUNG_UP,
    signal.SIGXCPU: WORK_REMAINS,
}

#: Seconds in which a repeated signal is ignored: ``timeout``, shells and launchers signal a process and then its group.
REPEAT_SECONDS = 0.2

#: Whether a second signal may end the process; set by ``own_process``.
_owns_process = False


@contextlib.contextmanager
def own_process() -> Iterator[None]:
    """Let a second signal end the process at once: for the command line, not for a Python session that calls fastcube."""
    global _owns_process
    before, _owns_process = _owns_process, True
    try:
        yield
    finally:
        _owns_process = before


@contextlib.contextmanager
def handle_signals(report: Callable[[int], object]) -> Iterator[None]:
    """Call ``report`` with the exit status of the first signal; a second signal stops at once.

    Signals that the caller ignores stay ignored, as SIGHUP under ``nohup`` and SIGINT of a shell's background job.

    On the command line the second signal ends the process.  In a Python session SIGINT raises KeyboardInterrupt, SIGHUP
    and SIGTERM raise SystemExit, and a second SIGUSR1 does nothing.

    Only the main thread receives signals, so in any other thread this context has no effect.

    Parameters
    ----------
    report : callable
        Called in the signal handler with a value of ``CODES``.  It may raise.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first: list[float] = []

    def handle_signal(number: int, frame: object) -> None:
        now = time.monotonic()
        code = CODES[signal.Signals(number)]
        if not first:
            first.append(now)
            report(code)
        elif now - first[0] <= REPEAT_SECONDS or number == signal.SIGXCPU:  # SIGXCPU comes every second after the limit
            return
        elif _owns_process:
            os._exit(code)
        else:
            raise_signal_error(code)

    heard = [number for number in CODES if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handle_signal) for number in heard}
    try:
        yield
    finally:
        if first:  # a repeated signal must not reach the old handlers: SIGUSR1 would kill the process
            time.sleep(max(0.0, first[0] + REPEAT_SECONDS - time.monotonic()))
        for number, old in before.items():
            signal.signal(number, old)


def raise_signal_error(code: int) -> None:
    """Raise the exception that Python programs expect for a signal's exit status; nothing if work merely remains."""
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code in (HUNG_UP, TERMINATED):
        raise SystemExit(code)
