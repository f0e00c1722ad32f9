"""``python -P -m fastcube``: the command line, for launchers such as ``mpiexec ... python -P -m mpi4py.futures -m fastcube``.

Without ``-P`` Python would import any file in the working folder that bears a module's name.

The entry point is in this module so that signals are handled from the start.  While NumPy, h5py and numba are being imported, a
signal that stops a run ends the process with the run's exit status.  Later the driver handles signals.
"""

import contextlib
import gc
import os
import signal
import sys
import threading

_CODES = {signal.SIGTERM: 143, signal.SIGUSR1: 75, signal.SIGHUP: 129, signal.SIGXCPU: 75}


def _exit_on_signal(number: int, frame: object) -> None:
    with contextlib.suppress(
        AttributeError, OSError, RuntimeError, ValueError
    ):  # standard output may be closed or in use
        sys.stdout.flush()
    os._exit(_CODES[signal.Signals(number)])


if threading.current_thread() is threading.main_thread():
    for _number in _CODES:
        if signal.getsignal(_number) is signal.SIG_DFL:  # a handler that the caller has set stays
            signal.signal(_number, _exit_on_signal)

# Imports create many objects and free few.  With Python's threshold of 700 the search for garbage takes 3% of a short command.
gc.set_threshold(100_000, *gc.get_threshold()[1:])

from .cli import main  # noqa: E402

if __name__ == "__main__":
    main()
