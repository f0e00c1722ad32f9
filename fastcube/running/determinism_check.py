"""Whether a study's trials are what the engine takes them for: functions of key and number, whatever was counted before.

A trial that reads the clock, or what the one before it left in its scratch, gives other numbers in each run.  Some trials are
counted a second time, the later half first, before anything is stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import NondeterminismError
from ..kernels.machine import captured_values
from ..measure.statistics import Point
from ..measure.study import Study
from ..measure.tally import Tally

#: Seconds of trials that are counted again, and the most of them.
SECONDS, MOST = 0.1, 1 << 20


def is_builtin_study(study: Study, point: Point) -> bool:
    """Whether a study is fastcube's own, held by tests against its twins: no code of a user's in it or in its kernel."""
    loop = captured_values.unwrap_function(study.kernel(point))
    return not study.code and loop is not None and loop.__module__.startswith("fastcube.kernels.")


def check_repeats(count: Callable[[int, int], list[Tally]], first: int, most: int, seconds: float, what: str) -> None:
    """Raise RepeatError unless trials from ``first`` on count the same again in another order.

    Parameters
    ----------
    count : callable
        ``count(first, stop)`` gives the tallies of these trials, of each point that they count.
    first, most : int
        The first trial, and how many there are.
    seconds : float
        CPU time that the first trial took; where that is more than 0.1 nothing is counted again.
    what : str
        The study and the point, for the message.
    """
    trials, once = 1, None
    while once is None or (4 * seconds <= SECONDS and trials < min(most, MOST)):
        trials = min(most, MOST, int(trials * min(4.0, SECONDS / max(seconds, 1e-9))))
        if trials == 0:
            return
        begin = time.thread_time()  # a machine that is busy elsewhere must not make it check less
        once = count(first, first + trials)
        seconds = time.thread_time() - begin
    half = first + (trials // 2 | 1)  # odd: a trial that minds every second one would not be seen
    parts = [(half, first + trials), (first, half)]
    again = zip(*(count(a, b) for a, b in parts if a < b), strict=True)
    if [Tally.total(tallies) for tallies in again] != once:
        raise NondeterminismError(
            f"trials {first}..{first + trials - 1} of {what} count otherwise a second time: a trial may depend "
            "on key, t and params alone, and on nothing that trials before it left in scratch"
        )
