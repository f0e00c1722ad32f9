"""Exit codes, and the signals that ask a run to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

#: Exit codes: finished; in order, work remains, run again; and after SIGINT and SIGTERM, as shells count.
FINISHED, WORK_REMAINS, INTERRUPTED, TERMINATED = 0, 75, 130, 143

#: What each signal asks for.
CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGUSR1: WORK_REMAINS}

#: ``timeout``, shells and job launchers signal a process and then its group: a repeat within this time is no second wish.
SAME_SIGNAL = 0.2


@contextlib.contextmanager
def handle_signals(tell: Callable[[int], object]) -> Iterator[None]:
    """Tell the exit code that the first signal asks for; the second one exits at once.

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
        elif now - first[0] > SAME_SIGNAL:
            os._exit(code)

    before = {number: signal.signal(number, handle_signal) for number in CODES}
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
    if code == TERMINATED:
        raise SystemExit(TERMINATED)
