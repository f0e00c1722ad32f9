"""Check that a study's trials depend only on key and trial index, whatever trials were counted before.

A trial that reads the clock, or values that an earlier trial left in scratch memory, gives other numbers in each run.  So some
trials are counted a second time, the later half first, before anything is stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import NondeterminismError
from ..kernels.machine import captured_values
from ..measure.statistics import Point
from ..measure.study import Study
from ..measure.tally import Tally

#: Seconds of trials that are counted twice, and the largest number of these trials.
SECONDS, MOST = 0.1, 1 << 20


def is_builtin_study(study: Study, point: Point) -> bool:
    """Whether a study is fastcube's own, tested against reference implementations, without a user's code in its kernel."""
    loop = captured_values.unwrap_function(study.kernel(point))
    return not study.code and loop is not None and loop.__module__.startswith("fastcube.kernels.")


def check_repeats(count: Callable[[int, int], list[Tally]], first: int, most: int, seconds: float, what: str) -> None:
    """Raise NondeterminismError if trials from ``first`` on give other counts when they are repeated in another order.

    Parameters
    ----------
    count : callable
        ``count(first, stop)`` returns the tallies of these trials, one per point that they count.
    first, most : int
        The first trial, and the number of trials available.
    seconds : float
        CPU time of the first trial; if it is more than 0.1 s, nothing is counted twice.
    what : str
        The study and the point, for the message.
    """
    trials, once = 1, None
    while once is None or (4 * seconds <= SECONDS and trials < min(most, MOST)):
        trials = min(most, MOST, int(trials * min(4.0, SECONDS / max(seconds, 1e-9))))
        if trials == 0:
            return
        begin = time.thread_time()  # CPU time, so that a busy machine does not reduce the check
        once = count(first, first + trials)
        seconds = time.thread_time() - begin
    half = first + (trials // 2 | 1)  # odd, so that an error in every second trial is noticed
    parts = [(half, first + trials), (first, half)]
    again = zip(*(count(a, b) for a, b in parts if a < b), strict=True)
    if [Tally.total(tallies) for tallies in again] != once:
        raise NondeterminismError(
            f"trials {first}..{first + trials - 1} of {what} count otherwise a second time: a trial may depend "
            "on key, t and params alone, and on nothing that trials before it left in scratch"
        )
