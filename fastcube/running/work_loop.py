"""The loop of a run: work units to an executor, finished units into tallies, and checkpoints, until the goal or a signal.

The main thread only waits, on one queue that receives both finished units and signals, so a signal is handled at once while
kernels run in the workers.  The result does not depend on where a unit ran: a trial is a pure function of (study, seed, point,
index), and tallies of disjoint ranges add exactly.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ..errors import EngineError, FastcubeError
from ..kernels.machine.compiling import present_compilation
from ..measure.study import point_text
from ..results.rounding import estimate_text
from .checkpoints import Checkpoints
from .engines import Engine
from .point_work import PointWork
from .progress import Progress
from .run_kernels import RunKernels, Upgrade
from .signals import FINISHED, WORK_REMAINS
from .stages import Stages
from .work_units import FinishedUnit, StudyReference, WorkUnit, compile_unit, run_unit, swept_values

_LOG = logging.getLogger("fastcube.driver")

#: What the loop waits for: a finished unit or compilation, or the exit status of a signal.
Event = Future[FinishedUnit] | Future[None] | int


class WorkLoop:
    """Submits the work units of a run to an engine and adds their tallies.

    Parameters
    ----------
    stages : Stages
        The points of the run with their remaining trials.
    engine : Engine
        The workers.
    checkpoints : Checkpoints
        Learns of new trials, and saves them when a checkpoint is due.
    progress : Progress
        The reports to the user.
    wake : queue
        Receives signals, and from this loop the finished units.
    deadline : float, optional
        Time at which the run ends; by default never.
    """

    def __init__(
        self,
        stages: Stages,
        engine: Engine,
        checkpoints: Checkpoints,
        progress: Progress,
        wake: queue.SimpleQueue[Event],
        deadline: float | None = None,
    ) -> None:
        self.stages, self.engine, self.checkpoints, self.progress = stages, engine, checkpoints, progress
        self.wake, self.deadline = wake, deadline
        self.study = StudyReference.from_study(stages.study) if engine.remote else stages.study
        self.running: dict[Future[FinishedUnit], tuple[PointWork, int, int]] = {}
        self.submitted = self.finished = 0  # numbers of units
        self.begun = time.monotonic()
        self.kernels = RunKernels(stages.study, stages.open, engine.workers)
        self.first_count = len(self.kernels.uncompiled)  # of kernels to compile before all points can be counted
        self.upgrade: tuple[Future[None], Upgrade] | None = None  # the kernel that is compiled beside the trials
        self.failure: FastcubeError | None = None
        progress.start(stages.done)

    def run(self) -> int:
        """Run until everything is done, the deadline passes or a signal arrives; return the exit status.

        Raises the error of a unit after all units with earlier trials are finished, EngineError and SchedulerLostError.
        """
        self._submit_units()
        while self.running or (self.upgrade is not None and self.stages.open and self.failure is None):
            event = self._wait()
            if isinstance(event, int):
                return self._end(event)
            if self.upgrade is not None and event is self.upgrade[0]:
                self._change_over()
            elif event is not None:
                self._record_finished(event)  # type: ignore[arg-type]
            if self.deadline is not None and time.monotonic() >= self.deadline and self.stages.open:
                return self._end(WORK_REMAINS)
            self.checkpoints.save_now_and_then(self.progress.print_line)
            if self.failure is None:
                self._begin_upgrade()
                self._submit_units()
            if self.progress.is_due(compiles=bool(self.kernels.uncompiled)):
                self._report()
        return self._end(FINISHED)

    def _wait(self) -> Event | None:
        """Return the next event, or None when a checkpoint, a report or the deadline is due before."""
        due = self.checkpoints.due
        until = min(due, time.monotonic() + self.progress.interval, self.deadline or due)
        with contextlib.suppress(queue.Empty):
            return self.wake.get(timeout=max(0.0, until - time.monotonic()))
        return None

    def _submit_units(self) -> None:
        """Keep two units per worker submitted, from the first points that need any: few to lose, and no idle worker."""
        workers = self.engine.workers() - (self.upgrade is not None)
        free = 2 * workers - len(self.running)
        seconds = self.engine.length()
        for work in self.stages.open:
            while free > 0 and work.is_ready(seconds):
                unit = self._take_unit(work, seconds)
                self.running[self._submit(run_unit, unit)] = work, unit.first, unit.stop
                free -= 1
            if free <= 0:
                return

    def _submit(self, function: Callable[[WorkUnit], Any], unit: WorkUnit) -> Future[Any]:
        """Submit a call to the engine; its future is put into the queue when it is done."""
        future = self.engine.submit(function, unit)
        future.add_done_callback(self.wake.put)
        return future

    def _take_unit(self, work: PointWork, seconds: float) -> WorkUnit:
        """Return the next unit of a work.  The first unit of a run also tries the set-ups of all points, and repeats trials."""
        first, stop = work.take(seconds)
        point, swept = tuple(work.points[0].items()), swept_values(work.points)
        tried_works = [] if self.submitted else self.stages.open
        repeated_trials = work.stop - first if tried_works else 0
        set_ups = tuple((tuple(tried.points[0].items()), self.kernels.kernel_name(tried)) for tried in tried_works)
        self.submitted += 1
        kernel = self.kernels.kernel_name(work)
        seed = self.stages.results.seed
        return WorkUnit(
            self.study,
            seed,
            point,
            first,
            stop,
            repeated_trials=repeated_trials,
            set_ups=set_ups,
            swept=swept,
            kernel=kernel,
        )

    def _begin_upgrade(self) -> None:
        """Submit the compilation of a faster kernel if that pays and none is running."""
        if self.upgrade is None and self.finished and (upgrade := self.kernels.find_upgrade(self.stages.open)):
            point = tuple(upgrade.work.points[0].items())
            unit = WorkUnit(self.study, self.stages.results.seed, point, 0, 0, kernel=upgrade.name)
            self.upgrade = self._submit(compile_unit, unit), upgrade

    def _change_over(self) -> None:
        """Use the kernel that was compiled beside the trials; if it failed, the trials go on with the kernels that they have."""
        assert self.upgrade is not None
        future, upgrade = self.upgrade
        self.upgrade = None
        try:
            future.result()
        except Exception as error:  # of many types: its worker is gone, or its compiler has failed
            _LOG.warning("no faster kernel of %s is used: %s", self.stages.study.name, " ".join(str(error).split()))
            self.kernels.stop_compiling()
            return
        self.kernels.change_over(upgrade.kernel)

    def _record_finished(self, future: Future[FinishedUnit]) -> None:
        """Count a finished unit, once: its future is removed from the running ones."""
        if future not in self.running:
            return
        work, first, stop = self.running.pop(future)
        trials = f"trials {first}..{stop - 1} of {point_text(work.points[0])}"
        try:
            done = self.engine.call(future.result, of=trials)
        except EngineError:
            raise
        except FastcubeError as error:
            self._fail(work, first, error)
            return
        _LOG.debug("%s in %.3f s", trials, done.seconds)
        self.finished += 1
        if self.finished == 1:
            self.progress.note_first_trials(done.seconds)
        else:
            self.progress.note_compiling(done.compiling / self.engine.workers())
        self.kernels.note_unit(work, done)
        work.count(first, stop, done.slots, done.seconds, done.unit.kernel == self.kernels.kernel_name(work))
        self.checkpoints.has_new_trials = True
        self.stages.advance(work)

    def _fail(self, work: PointWork, first: int, error: FastcubeError) -> None:
        """End the run with a unit's error, after all running units with earlier trials, which may fail too.

        The units of a point are submitted in order, so the error names its smallest failing trial for any number of workers.
        """
        self.failure = error
        self.checkpoints.stop()
        order = self.stages.works
        before = order.index(work), first
        for future, (other, begin, _) in list(self.running.items()):
            if (order.index(other), begin) > before:
                del self.running[future]
                future.cancel()

    def _end(self, code: int) -> int:
        """Drop the units that still run, save, and return the exit status."""
        if self.upgrade is not None:
            self.upgrade[0].cancel()
        for future in list(self.running):
            future.cancel()
            if future.done() and not future.cancelled():  # a unit that still runs is repeated on resuming
                self._record_finished(future)
        self.kernels.record_lost_time()
        if self.failure is not None:
            raise self.failure
        was_incomplete = self.checkpoints.save_at_end(code == FINISHED)
        if (was_incomplete or self.finished) and self.progress.is_due(final=True):
            self._report(final=True)
        return code

    def _report(self, final: bool = False) -> None:
        """Report the trials done, an estimate at a point that is being counted, and what is compiled."""
        present = None if final else next((work for work in self.stages.open if work.running), None)
        where = "" if present is None else self._present_estimate(present)
        compiling = "" if final else self._compiling_text()
        self.progress.update(self.stages.done, self.stages.wanted, where, final, compiling)

    def _compiling_text(self) -> str:
        """Return what is compiled at present and for how long, as text; empty if nothing is known to be compiled."""
        remaining, name = len(self.kernels.uncompiled), self.stages.study.name
        which = f"{self.first_count - remaining + 1} of {self.first_count}: {name}"
        if self.engine.remote:
            is_waiting = remaining and not self.finished
            return f"workers are compiling {which}, {time.monotonic() - self.begun:.0f} s" if is_waiting else ""
        present = present_compilation()
        if present is None:
            return ""
        seconds = time.monotonic() - present.begun
        if present.holder:
            return f"waiting for {present.holder}, which compiles {name}, {seconds:.0f} s"
        if self.upgrade is not None and self.upgrade[1].kernel.label == present.name:
            return f"compiling a faster kernel, {seconds:.0f} s"
        return f"compiling {which}, {seconds:.0f} s"

    def _present_estimate(self, work: PointWork) -> str:
        """Return the middle point of a work with the estimate of the run's target there, as text."""
        middle = len(work.points) // 2
        point, tally = work.points[middle], work.tally(middle)
        text = point_text(point)
        if not tally.trials:
            return text
        statistic = self.stages.study.target(self.stages.goal.target)
        with contextlib.suppress(Exception):  # the study's own code may fail, which must not stop the run
            estimate = statistic.estimate(tally.counts, tally.trials, point)
            if statistic.count_events(tally.counts, tally.trials):
                return f"{text} {statistic.name} {estimate_text(estimate)}"
            return f"{text} {statistic.name}: none in {tally.trials:,} trials"
        return text
