"""Exit codes, and the signals that ask a run to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

#: Exit codes: finished; in order, work remains, run again; and after SIGHUP, SIGINT and SIGTERM, as shells count.
FINISHED, WORK_REMAINS, HUNG_UP, INTERRUPTED, TERMINATED = 0, 75, 129, 130, 143

#: What each signal asks for.  SIGXCPU says that the time of the processor is up, which is a limit as a job's is.
CODES = {
    signal.SIGINT: INTERRUPTED,
    signal.SIGTERM: TERMINATED,
    signal.SIGUSR1: WORK_REMAINS,
    signal.SIGHUP: HUNG_UP,
    signal.SIGXCPU: WORK_REMAINS,
}

#: ``timeout``, shells and job launchers signal a process and then its group: a repeat within this time is no second wish.
SAME_SIGNAL = 0.2


_owns_process = False


@contextlib.contextmanager
def own_process() -> Iterator[None]:
    """Let a second signal end the process at once: for the command line, not for a Python session that calls us."""
    global _owns_process
    before, _owns_process = _owns_process, True
    try:
        yield
    finally:
        _owns_process = before


def _is_handled(number: signal.Signals) -> bool:
    """Whether a signal is ours to serve: SIGHUP is not where it is ignored, as under ``nohup``."""
    return number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN


@contextlib.contextmanager
def handle_signals(tell: Callable[[int], object]) -> Iterator[None]:
    """Tell the exit code that the first signal asks for; the second one stops at once.

    On the command line the second signal ends the process.  In a Python session SIGINT raises KeyboardInterrupt, and SIGHUP
    and SIGTERM raise SystemExit.

    Only the main thread is given signals: in any other this does nothing.

    Parameters
    ----------
    tell : callable
        Called in the handler with one of ``CODES``' values.  It may raise.
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
            tell(code)
        elif now - first[0] <= SAME_SIGNAL or number == signal.SIGXCPU:  # which comes each second from the limit on
            return
        elif _owns_process:
            os._exit(code)
        else:
            raise_signal_error(code)

    before = {number: signal.signal(number, handle_signal) for number in CODES if _is_handled(number)}
    try:
        yield
    finally:
        if first:  # a repeat must not meet the old handlers: SIGUSR1 would kill
            time.sleep(max(0.0, first[0] + SAME_SIGNAL - time.monotonic()))
        for number, old in before.items():
            signal.signal(number, old)


def raise_signal_error(code: int) -> None:
    """Raise what a Python program expects of the signal behind an exit code: nothing where work merely remains."""
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code in (HUNG_UP, TERMINATED):
        raise SystemExit(code)
