"""Waiting for a scheduler that is gone: a run on Dask goes on when its scheduler answers again."""

from __future__ import annotations

import contextlib
import queue
import time
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import ParameterError, SchedulerLostError
from .engines import Engine
from .signals import WORK_REMAINS


def run_despite_losses(
    open_engine: Callable[[], contextlib.AbstractContextManager[Engine]],
    run: Callable[[Engine], int],
    wake: queue.SimpleQueue[Any],
    deadline: float | None,
) -> int:
    """Return the exit status of ``run`` on an engine, which is opened anew whenever its scheduler was lost and answers again.

    Parameters
    ----------
    open_engine : callable
        Opens the engine.  Raises ParameterError while no scheduler answers.
    run : callable
        Runs on an engine and saves; raises SchedulerLostError.
    wake : queue
        Receives the exit statuses of signals, which end the waiting, and finished units, which do not.
    deadline : float, optional
        Time at which to stop waiting, if the engine's patience does not end it before.
    """
    patience, give_up = 0.0, None
    while True:
        try:
            with open_engine() as engine:
                patience, give_up = engine.patience, None
                return run(engine)
        except SchedulerLostError as error:
            give_up = time.monotonic() + patience
            warnings.warn(f"{error}; waiting up to {patience:.0f} s for it", RuntimeWarning, stacklevel=2)
        except ParameterError:
            if give_up is None:  # no scheduler was lost
                raise
        if (stopped := _wait_for_signal(wake)) is not None:
            return stopped
        if time.monotonic() >= min(give_up, deadline or give_up):
            return WORK_REMAINS


def _wait_for_signal(wake: queue.SimpleQueue[Any], seconds: float = 1.0) -> int | None:
    """Return the exit status of a signal that arrives within ``seconds``, or None.  Finished units are ignored."""
    until = time.monotonic() + seconds
    with contextlib.suppress(queue.Empty):
        while True:
            event = wake.get(timeout=max(0.0, until - time.monotonic()))
            if isinstance(event, int):
                return event
    return None
