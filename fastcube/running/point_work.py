"""What is still to be done at one point, or at points of a curve, cut into items of about the length that an engine asks for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.tally.layout import Layout
from ..measure.study import Value
from ..measure.tally import Tally, count_trials, fuse_ranges, missing_trials

#: A kernel's base-2^32 digits hold the sums of 2^31 trials.
_MAX_UNIT_TRIALS = 2**30


@dataclass(eq=False)
class PointWork:
    """The part still to be done of one point, or of several that the same trials count, and how fast these trials run."""

    layout: Layout
    points: list[dict[str, Value]]
    tallies: list[Tally]
    together: int = 1
    first: int = 0
    stop: int = 0
    todo: deque[tuple[int, int]] = field(default_factory=deque)
    running: int = 0
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
        """Trials that take about ``seconds`` at the mean speed so far."""
        return min(_MAX_UNIT_TRIALS, int(seconds * self.timed / self.seconds)) if self.timed else 1

    def ready(self, seconds: float) -> bool:
        """Whether to hand out an item: only a few at a time until items have grown to their length.

        Else thousands of workers would be given thousands of single trials.
        """
        return bool(self.todo) and (self.running < 16 or self._trials_in_seconds(seconds) <= 16 * self.largest)

    def take(self, seconds: float) -> tuple[int, int]:
        """Next range of trials, about ``seconds`` long, and at most 16 times the largest one that has finished.

        So a lucky first trial cannot make an item that runs for hours.  Trials that a kernel does together are never parted.
        """
        first, stop = self.todo.popleft()
        count = max(self.together, min(16 * self.largest, self._trials_in_seconds(seconds)))
        # ends on a multiple of a power of two: lane kernels pay for ragged ends
        aligned = 1 << (count.bit_length() - 1)
        end = min(stop, (first + count) // aligned * aligned)
        if end < stop:
            self.todo.appendleft((end, stop))
        self.running += 1
        return first, end

    def count(self, first: int, stop: int, slots: NDArray[np.int64], seconds: float) -> None:
        """Take in a finished item: the kernel's tally, a row for each point."""
        self.running -= 1
        self.finished.append((first, stop))
        if self.slots is None:
            self.slots = slots.copy()
        else:
            self.layout.add_rows(self.slots, slots)
        self.largest = max(self.largest, stop - first)
        self.timed += stop - first
        self.seconds += max(seconds, 1e-7)

    def tally(self, i: int) -> Tally:
        """The tally of one of the points so far."""
        if self.slots is None:
            return self.tallies[i]
        return self.tallies[i] + Tally(fuse_ranges(self.finished), *self.layout.read(self.slots[i]))

    def settle(self) -> None:
        """Make tallies of the sums, once a stage instead of once an item."""
        self.tallies = [self.tally(i) for i in range(len(self.points))]
        self.finished, self.slots = [], None

    def split(self, apart: Iterable[bool]) -> PointWork:
        """Take some of the points out, of a work that is settled; returns the work of these."""
        taken = list(zip(self.points, self.tallies, apart, strict=True))
        other = PointWork(self.layout, [], [], self.together)
        self.points, self.tallies = [], []
        for point, tally, moved in taken:
            to = other if moved else self
            to.points.append(point)
            to.tallies.append(tally)
        return other

    @property
    def done(self) -> int:
        """Trials counted, of all points together."""
        return sum(tally.trials for tally in self.tallies) + len(self.points) * count_trials(self.finished)
