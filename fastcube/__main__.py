"""``python -P -m fastcube``: the command line, for launchers such as ``mpiexec ... python -P -m mpi4py.futures -m fastcube``.

Without ``-P`` Python imports from the working folder first, whatever lies there.

The entry point is here because signals are served from the first line on: one that asks a run to stop ends the process with its
exit code while all else is still imported, NumPy, h5py and numba too, instead of by default; then its driver serves them.
"""

import contextlib
import gc
import os
import signal
import sys
import threading

_CODES = {signal.SIGTERM: 143, signal.SIGUSR1: 75, signal.SIGHUP: 129, signal.SIGXCPU: 75}


def _exit_on_signal(number: int, frame: object) -> None:
    with contextlib.suppress(AttributeError, OSError, RuntimeError, ValueError):  # closed, unread, or being written to
        sys.stdout.flush()
    os._exit(_CODES[signal.Signals(number)])


if threading.current_thread() is threading.main_thread():
    for _number in _CODES:
        if signal.getsignal(_number) is signal.SIG_DFL:  # what a caller set, or ignores, stays
            signal.signal(_number, _exit_on_signal)

# Imports make many objects and drop few: at Python's own 700 new objects per search for garbage, 3% of a short command's time.
gc.set_threshold(100_000, *gc.get_threshold()[1:])

from .cli import main  # noqa: E402

if __name__ == "__main__":
    main()
