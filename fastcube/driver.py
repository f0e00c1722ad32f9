"""Running a study: work items on an executor, checkpoints, stopping, signals.

The main thread only waits, on one queue that finished items and signal handlers both put into, so that a
signal is served at once while kernels run in the workers.  Which items ran where never shows in a result:
a trial is a pure function of (study, seed, point, index), and tallies of disjoint ranges add exactly.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Any

from . import registry
from .engines import Done, Engine, Item, engine, work
from .errors import ParameterError, check_range
from .goal import FIRST_PREFIX, MOST_TRIALS, Goal
from .output import OutputFile
from .progress import Progress
from .provenance import provenance
from .results import Results
from .study import Study, Value, point_text
from .tally import Tally, missing, size

#: Exit codes: finished; in order, work remains, run again; and after SIGINT and SIGTERM, as shells count.
FINISHED, WORK_REMAINS, INTERRUPTED, TERMINATED = 0, 75, 130, 143

_FIRST_CHECKPOINT, _CHECKPOINT_EVERY = 2.0, 15.0
_CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED, signal.SIGUSR1: WORK_REMAINS}


@dataclass
class _PointWork:
    """The part of one point still to be done, and how fast its trials run."""

    point: dict[str, Value]
    tally: Tally
    first: int
    stop: int
    todo: deque[tuple[int, int]] = field(default_factory=deque)
    running: int = 0
    parts: list[Tally] = field(default_factory=list)
    largest: int = 1
    seconds_per_trial: float = 0.0

    def plan(self, first: int, stop: int) -> None:
        """Queue the missing trials of ``[first, stop)``."""
        self.first, self.stop = first, stop
        self.todo = deque(missing(self.tally.ranges, first, stop))

    def take(self, seconds: float) -> tuple[int, int]:
        """Next range of trials, about ``seconds`` long; grows from one trial as the speed becomes known."""
        first, stop = self.todo.popleft()
        count = (
            self.largest
            if not self.seconds_per_trial
            else min(16 * self.largest, int(seconds / self.seconds_per_trial))
        )
        count = max(1, count)
        self.largest = max(self.largest, count)
        # ends on a multiple of a power of two: lane kernels pay for ragged ends
        aligned = 1 << (count.bit_length() - 1)
        end = min(
            stop,
            (first + count) // aligned * aligned
            if count >= aligned and (first + count) // aligned * aligned > first
            else first + count,
        )
        if end < stop:
            self.todo.appendleft((end, stop))
        self.running += 1
        return first, end

    def settle(self) -> None:
        """Add up the finished parts; one sum a stage instead of one an item."""
        if self.parts:
            self.tally = Tally.total([self.tally, *self.parts])
            self.parts = []

    @property
    def done(self) -> int:
        return self.tally.trials + sum(part.trials for part in self.parts)


class _Driver:
    """One run: hands out items, takes in tallies, writes checkpoints."""

    def __init__(self, results: Results, points: Sequence[dict[str, Value]], goal: Goal, on: Engine,
                 save: Callable[[Results], None], max_seconds: float | None, progress: Progress) -> None:  # fmt: skip
        self.results, self.goal, self.on, self.save, self.progress = results, goal, on, save, progress
        self.study = results.study
        self.begun = time.monotonic()
        self.deadline = None if max_seconds is None else self.begun + max_seconds
        self.next_checkpoint = self.begun + _FIRST_CHECKPOINT
        self.wake: queue.SimpleQueue[Future[Done] | int] = queue.SimpleQueue()
        self.running: set[Future[Done]] = set()
        self.changed = False
        self.last_where = ""
        empty = Tally.empty(self.study)
        keys = [tuple(point.values()) for point in points]
        for key in keys:
            results.tallies.setdefault(key, empty)
        self.works = {key: _PointWork(p, results.tallies[key], 0, 0) for key, p in zip(keys, points, strict=True)}
        self.open: list[_PointWork] = []
        for of_point in self.works.values():
            self._first_stage(of_point)
        progress.start(sum(w.done for w in self.works.values()))

    # ------------------------------------------------------------ stages of a point

    def _first_stage(self, of_point: _PointWork) -> None:
        if not self.goal.adaptive:
            of_point.plan(*self.goal.bounds())
        else:
            last = of_point.tally.ranges[-1][1] if of_point.tally.ranges else 0
            of_point.plan(0, self._cap(max(FIRST_PREFIX, 1 << max(0, last - 1).bit_length())))
        if of_point.todo or (self.goal.adaptive and self._next_stage(of_point)):
            self.open.append(of_point)

    def _cap(self, stop: int) -> int:
        return min(stop, self.goal.trials or MOST_TRIALS)

    def _next_stage(self, of_point: _PointWork) -> bool:
        """Judge a complete prefix; plan the next one unless a target is reached.  False when the point is done."""
        while not of_point.todo:
            if of_point.stop >= self._cap(MOST_TRIALS) or self.goal.reached(self.study, of_point.point, of_point.tally):
                return False
            of_point.plan(0, self._cap(2 * of_point.stop))
        return True

    # ------------------------------------------------------------ items

    def _feed(self) -> None:
        """Keep two items a worker in flight, from the first points that have any: little to lose, no gap."""
        ready = (w for w in self.open if w.todo)
        of_point = next(ready, None)
        while of_point is not None and len(self.running) < 2 * self.on.workers:
            first, stop = of_point.take(self.on.item_seconds)
            item = Item(
                (self.study.name, self.study.path), self.results.seed, tuple(of_point.point.items()), first, stop
            )
            future = self.on.executor.submit(work, item)
            self.running.add(future)
            future.add_done_callback(self.wake.put)
            if not of_point.todo:
                of_point = next(ready, None)

    def _take(self, future: Future[Done]) -> None:
        """Count a finished item, once: by its future, which leaves the set of those running."""
        if future not in self.running:
            return
        self.running.remove(future)
        done = future.result()
        item = done.item
        of_point = self.works[tuple(value for _, value in item.point)]
        of_point.parts.append(Tally.from_slots(self.study, item.first, item.stop, done.slots))
        of_point.running -= 1
        of_point.seconds_per_trial = max(done.seconds, 1e-7) / (item.stop - item.first)
        self.changed = True
        if not of_point.todo and not of_point.running:
            of_point.settle()
            if not (self.goal.adaptive and self._next_stage(of_point)):
                self.open.remove(of_point)

    # ------------------------------------------------------------ the loop

    def loop(self) -> int:
        """Run until everything is done, the deadline passes or a signal comes; returns the exit code."""
        self._feed()
        while self.running:
            event = self._wait()
            if isinstance(event, int):
                return self._finish(event)
            if event is not None:
                self._take(event)
            now = time.monotonic()
            if self.deadline is not None and now >= self.deadline and self.open:
                return self._finish(WORK_REMAINS)
            if now >= self.next_checkpoint:
                self._checkpoint()
            self._feed()
            self._report()
        return self._finish(FINISHED)

    def _wait(self) -> Future[Done] | int | None:
        until = min(self.next_checkpoint, time.monotonic() + self.progress.every, self.deadline or self.next_checkpoint)
        with contextlib.suppress(queue.Empty):
            return self.wake.get(timeout=max(0.0, until - time.monotonic()))
        return None

    def _gather(self) -> None:
        for key, of_point in self.works.items():
            of_point.settle()
            self.results.tallies[key] = of_point.tally

    def _checkpoint(self) -> None:
        self.next_checkpoint = time.monotonic() + _CHECKPOINT_EVERY
        if self.changed:
            self._gather()
            try:
                self.save(self.results)
            except OSError as error:  # keep computing: the next checkpoint or the end may find room
                print(f"fastcube: checkpoint failed: {error}", file=sys.stderr)
            self.changed = False

    def _finish(self, code: int) -> int:
        for future in list(self.running):
            future.cancel()
            if future.done():  # whole items only; what is still running is dropped and done again on resuming
                with contextlib.suppress(CancelledError):
                    self._take(future)
        self._gather()
        self.save(self.results)
        self._report(final=True)
        return code

    def _report(self, final: bool = False) -> None:
        if not (final or self.progress.due()):
            return
        done = sum(w.done for w in self.works.values())
        wanted = None
        if not self.goal.adaptive:
            wanted = sum(
                w.done + size(missing(w.tally.ranges, *self.goal.bounds())) - sum(p.trials for p in w.parts)
                for w in self.works.values()
            )
        at = next((w for w in self.open if w.running), None)
        where = ""
        if at is not None and not final:
            where = point_text(at.point)
            tally = Tally.total([at.tally, *at.parts])
            if tally.trials:
                name = self.goal.target or self.study.statistics[0].name
                estimate = self.study.statistic(name).estimate(tally.counts, tally.trials, at.point)
                where += f" {name} {estimate.value:.4g} ± {estimate.half_width:.1g}"
        self.progress.update(done, wanted, where, final)


@contextlib.contextmanager
def _signals(wake: queue.SimpleQueue[Any]) -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGUSR1 into events of the queue; the second one exits at once.  Main thread only."""
    import os

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []

    def handler(number: int, frame: object) -> None:
        if seen:
            os._exit(_CODES[signal.Signals(number)])
        seen.append(number)
        wake.put(_CODES[signal.Signals(number)])

    before = {number: signal.signal(number, handler) for number in _CODES}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def run_study(study: Study, points: Sequence[Mapping[str, Value]], goal: Goal, *, seed: int = 0, output: str | None = None,
              engine_name: str = "threads", workers: int | None = None, max_seconds: float | None = None,
              progress: Progress | None = None, force: bool = False) -> tuple[Results, int]:  # fmt: skip
    """Run a study at checked points until the goal is reached; returns the results and the exit code.

    With ``output``, resumes from that file when it holds the same study and seed, and checkpoints into it.
    Raises ParameterError, StudyMismatchError, ResultFileError; work done before a failure to write is saved
    elsewhere and the error says where.
    """
    goal.check(study)
    check_range("seed", seed, 0, 2**63 - 1)
    if max_seconds is not None and not max_seconds > 0:
        raise ParameterError(f"max-seconds must be positive, got {max_seconds}")
    if not points:
        raise ParameterError(f"no points to run for {study.name}")
    registry.adopt(study)
    results = Results(study, seed)
    file = None
    if output is not None:
        file = OutputFile(output)
        results = file.resume(results, force)
    results.goal = goal
    before = list(results.history)
    origin = provenance(engine=engine_name)
    begun = time.monotonic()

    def save(current: Results) -> None:
        current.history = [
            *before,
            {**origin, "resources": {**origin["resources"], "seconds": time.monotonic() - begun}},
        ]
        if file is not None:
            file.save(current)

    with engine(engine_name, workers) as on:
        driver = _Driver(results, [dict(p) for p in points], goal, on, save, max_seconds, progress or Progress("none"))
        with _signals(driver.wake):
            try:
                code = driver.loop()
            except BaseException:
                driver._gather()
                with contextlib.suppress(OSError):
                    save(results)
                raise
    return results, code
