"""What is still to be done at one point, cut into items of about the length that an engine asks for."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ..measure.study import Value
from ..measure.tally import Tally, missing_trials

#: A kernel's base-2^32 digits hold the sums of 2^31 trials.
_MAX_UNIT_TRIALS = 2**30


@dataclass(eq=False)
class PointWork:
    """The part of one point still to be done, and how fast its trials run."""

    point: dict[str, Value]
    tally: Tally
    together: int = 1
    first: int = 0
    stop: int = 0
    todo: deque[tuple[int, int]] = field(default_factory=deque)
    running: int = 0
    parts: list[Tally] = field(default_factory=list)
    largest: int = 0
    timed: int = 0
    seconds: float = 0.0

    def plan(self, first: int, stop: int) -> None:
        """Queue the missing trials of ``[first, stop)``."""
        self.first, self.stop = first, stop
        self.todo = deque(missing_trials(self.tally.ranges, first, stop))

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

    def count(self, part: Tally, seconds: float) -> None:
        """Take in a finished item."""
        self.running -= 1
        self.parts.append(part)
        self.largest = max(self.largest, part.trials)
        self.timed += part.trials
        self.seconds += max(seconds, 1e-7)

    def settle(self) -> None:
        """Add up the finished parts; one sum a stage instead of one an item."""
        if self.parts:
            self.tally = Tally.total([self.tally, *self.parts])
            self.parts = []

    @property
    def done(self) -> int:
        """Trials counted."""
        return self.tally.trials + sum(part.trials for part in self.parts)
