"""The remaining work at one point, or at several points counted together, divided into units of the engine's duration."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.tally.layout import Layout
from ..measure.study import Value
from ..measure.tally import Tally, count_trials, fuse_ranges, missing_trials

#: Largest number of trials in a unit; the sums of 2^31 trials fit into a kernel's base-2^32 digits.
_MAX_UNIT_TRIALS = 2**30

#: Largest ratio of a unit to the largest finished one, and number of units that run at once until units have grown: few steps of
#: growth, and a speed that was too high by chance makes no unit of hours.
_MAX_GROWTH = 16


@dataclass(eq=False)
class PointWork:
    """The remaining trials of one point, or of several points counted from the same trials, and the speed of these trials.

    Attributes
    ----------
    layout : Layout
        The layout of a kernel's tally.
    points, tallies : list
        The points, and their tallies without the units of ``slots``.
    together : int
        Number of trials that a kernel runs together.
    first, stop : int
        The trials of the present stage are ``first .. stop - 1``.
    todo, running, finished : collection of (int, int)
        Ranges of trials that are not submitted, that run, and that are counted in ``slots``.
    slots : array, optional
        The sums of the finished units, one row per point; None without any.
    largest : int
        Number of trials of the largest finished unit.
    timed, seconds : int, float
        Trials of the units whose speed is used, and the time that they took.
    """

    layout: Layout
    points: list[dict[str, Value]]
    tallies: list[Tally]
    together: int = 1
    first: int = 0
    stop: int = 0
    todo: deque[tuple[int, int]] = field(default_factory=deque)
    running: set[tuple[int, int]] = field(default_factory=set)
    finished: list[tuple[int, int]] = field(default_factory=list)
    slots: NDArray[np.int64] | None = None
    largest: int = 0
    timed: int = 0
    seconds: float = 0.0

    def plan(self, first: int, stop: int) -> None:
        """Queue the missing trials of ``[first, stop)``."""
        self.first, self.stop = first, stop
        self.todo = deque(missing_trials(self.tallies[0].ranges, first, stop))

    def _trials_in_seconds(self, seconds: float) -> int:
        """Return how many trials take about ``seconds`` at the mean speed so far."""
        return min(_MAX_UNIT_TRIALS, int(seconds * self.timed / self.seconds)) if self.timed else 1

    def is_ready(self, seconds: float) -> bool:
        """Whether to submit a unit: only a few run at once until units have grown to their duration.

        Otherwise thousands of workers would each get a single trial.
        """
        return bool(self.todo) and (
            len(self.running) < _MAX_GROWTH or self._trials_in_seconds(seconds) <= _MAX_GROWTH * self.largest
        )

    def take(self, seconds: float) -> tuple[int, int]:
        """Return the next range of trials, about ``seconds`` long and at most _MAX_GROWTH times the largest finished range.

        The limit keeps a quick first trial from making a unit that runs for hours.  Trials that a kernel runs together are not
        divided.
        """
        first, stop = self.todo.popleft()
        count = max(self.together, min(_MAX_GROWTH * self.largest, self._trials_in_seconds(seconds)))
        # the range ends at a multiple of a power of two, because lane kernels are slower on ragged ends
        aligned = 1 << (count.bit_length() - 1)
        end = min(stop, (first + count) // aligned * aligned)
        if end < stop:
            self.todo.appendleft((end, stop))
        self.running.add((first, end))
        return first, end

    def expect_speed(self, factor: float) -> None:
        """Expect ``factor`` times the speed so far, because another kernel counts from now on; the next units soon correct it."""
        if self.timed:
            self.timed, self.seconds = math.ceil(factor * self.timed / self.seconds), 1.0

    def count(self, first: int, stop: int, slots: NDArray[np.int64], seconds: float, timed: bool = True) -> None:
        """Add a finished unit: the kernel's tally, one row per point.

        ``timed`` is false if a later unit is counted by another kernel, because the speed of this one then says nothing.
        """
        self.running.remove((first, stop))
        self.finished.append((first, stop))
        if self.slots is None:
            self.slots = slots.copy()
        else:
            self.layout.add_rows(self.slots, slots)
        self.largest = max(self.largest, stop - first)
        if timed:
            self.timed += stop - first
            self.seconds += max(seconds, 1e-7)

    def tally(self, i: int) -> Tally:
        """Return the present tally of point ``i``."""
        if self.slots is None:
            return self.tallies[i]
        return self.tallies[i] + Tally(fuse_ranges(self.finished), *self.layout.read(self.slots[i]))

    def settle(self) -> None:
        """Turn the sums into tallies, once per stage instead of once per unit."""
        self.tallies = [self.tally(i) for i in range(len(self.points))]
        self.finished, self.slots = [], None

    def split(self, chosen: Iterable[bool]) -> PointWork:
        """Move the points marked in ``chosen`` to a new work, which is returned.  Call ``settle`` first."""
        marked = list(zip(self.points, self.tallies, chosen, strict=True))
        other = PointWork(self.layout, [], [], self.together)
        self.points, self.tallies = [], []
        for point, tally, is_chosen in marked:
            work = other if is_chosen else self
            work.points.append(point)
            work.tallies.append(tally)
        return other

    @property
    def remaining(self) -> int:
        """Number of trials of the present stage, at all points together, that are not counted yet."""
        return len(self.points) * (count_trials(self.todo) + count_trials(self.running))

    @property
    def done(self) -> int:
        """Number of trials counted at all points together."""
        return sum(tally.trials for tally in self.tallies) + len(self.points) * count_trials(self.finished)
