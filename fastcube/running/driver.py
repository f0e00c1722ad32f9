"""Run a study: work units on an executor, checkpoints, stopping, signals.

The main thread only waits, on one queue that receives both finished units and signals, so a signal is handled at once while
kernels run in the workers.  The result does not depend on where a unit ran: a trial is a pure function of (study, seed, point,
index), and tallies of disjoint ranges add exactly.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import queue
import resource
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from ..errors import (
    EngineError,
    FastcubeError,
    NondeterminismError,
    ParameterError,
    ResultFileError,
    SchedulerLostError,
    StudyError,
    check_range,
    count_text,
    plain_text,
)
from ..measure import registry
from ..measure.goal import FIRST_PREFIX, MOST_TRIALS, Goal
from ..measure.study import Study, Value, point_text
from ..measure.tally import Tally, count_trials
from ..results.environment import check_numba_settings
from ..results.output import OutputFile
from ..results.provenance import package_version, provenance
from ..results.results import Results
from ..results.rounding import estimate_text
from ..results.size import check_size
from .engines import (
    Engine,
    FinishedUnit,
    StudyReference,
    WorkUnit,
    kernels_to_compile,
    open_engine,
    run_unit,
    swept_values,
    task_group,
)
from .point_work import PointWork
from .progress import Progress
from .signals import FINISHED, WORK_REMAINS, handle_signals

_FIRST_CHECKPOINT, _CHECKPOINT_EVERY = 2.0, 15.0
#: Checkpoints become rarer as a run gets longer, because thousands of runs may share one file system: every 1% of the time
#: run so far, at most this far apart.  A signal still saves at once.
_CHECKPOINT_GROWTH, _CHECKPOINT_AT_MOST = 0.01, 300.0
#: Checkpoints of large files are rarer, so that writing takes at most this fraction of the time.
_CHECKPOINT_SHARE = 0.05

_LOG = logging.getLogger("fastcube.driver")


class _Driver:
    """One run: submits work units, adds their tallies, and writes checkpoints."""

    def __init__(
        self,
        study: Study,
        results: Results,
        points: Sequence[dict[str, Value]],
        goal: Goal,
        on: Engine,
        save: Callable[[Results], None],
        deadline: float | None,
        progress: Progress,
        wake: queue.SimpleQueue[Future[FinishedUnit] | int],
        every: float | None = None,
    ) -> None:
        self.results, self.goal, self.on, self.save, self.progress, self.wake = results, goal, on, save, progress, wake
        self.study, self.study_payload = study, StudyReference.from_study(study) if on.remote else study
        self.deadline = deadline
        self.begun, self.every = time.monotonic(), every
        self.next_checkpoint = self.begun + _FIRST_CHECKPOINT
        self.running: dict[Future[FinishedUnit], tuple[PointWork, int, int]] = {}
        self.failure: FastcubeError | None = None
        keys = [tuple(point.values()) for point in points]
        self.unsaved = any(key not in results.tallies for key in keys)
        self.stored = results.trials > 0  # whether the file, if there is one, has trials
        self.counted = False  # whether trials were counted since the last checkpoint
        self.has_begun_feeding = self.has_begun_counting = False
        empty = Tally.empty(self.study.tally)
        for key in keys:
            results.tallies.setdefault(key, empty)
        alike: dict[Any, list[dict[str, Value]]] = {}  # lists of points that one kernel call counts together
        for key, point in zip(keys, points, strict=True):
            wanted = None if goal.adaptive else goal.bounds(point)
            alike.setdefault((study.curve_key(point), results.tallies[key].ranges, wanted), []).append(point)
        self.point_works = [
            PointWork(study.tally, some, [results.tallies[tuple(p.values())] for p in some], study.together)
            for some in alike.values()
        ]
        self.open: list[PointWork] = []
        for work in list(self.point_works):
            self._first_stage(work)
        progress.start(self._count_done())

    def _first_stage(self, work: PointWork) -> None:
        if not self.goal.adaptive:
            work.plan(*self.goal.bounds(work.points[0]))
        else:
            ranges = work.tallies[0].ranges
            last = ranges[-1][1] if ranges else 0
            work.plan(0, self._limit_stop(max(FIRST_PREFIX, 1 << max(0, last - 1).bit_length())))
        if work.todo or (self.goal.adaptive and self._next_stage(work)):
            self.open.append(work)

    def _limit_stop(self, stop: int) -> int:
        return min(stop, self.goal.trials or MOST_TRIALS)

    def _next_stage(self, work: PointWork) -> bool:
        """Evaluate a complete prefix, and plan the next one unless a target is reached.  Return False if the point is done."""
        while not work.todo:
            if work.stop >= self._limit_stop(MOST_TRIALS):
                return False
            known = zip(work.points, work.tallies, strict=True)
            reached = [self.goal.is_reached(self.study, point, tally) for point, tally in known]
            if all(reached):
                return False
            if any(reached):
                self.point_works.append(work.split(reached))
            work.plan(0, self._limit_stop(2 * work.stop))
        return True

    def _submit_items(self) -> None:
        """Keep two units per worker submitted, from the first points that need any: few to lose, and no idle worker."""
        room = 2 * self.on.workers() - len(self.running)
        length = self.on.length()
        for work in self.open:
            while room > 0 and work.is_ready(length):
                first, stop = work.take(length)
                begins, self.has_begun_feeding = not self.has_begun_feeding, True
                again = work.stop - first if begins else 0
                others = tuple(tuple(w.points[0].items()) for w in self.open) if begins else ()
                point = tuple(work.points[0].items())
                swept = swept_values(work.points)
                item = WorkUnit(self.study_payload, self.results.seed, point, first, stop, again, others, swept)
                try:
                    future = self.on.executor.submit(run_unit, item)
                except Exception as error:  # of many types: Dask's client has noticed that its scheduler is gone
                    self._check_scheduler(error)
                    raise
                self.running[future] = work, first, stop
                future.add_done_callback(self.wake.put)
                room -= 1
            if room <= 0:
                return

    def _check_scheduler(self, error: BaseException) -> None:
        """Raise SchedulerLostError if the engine has a scheduler: Dask cancels all units when its scheduler is gone."""
        if self.on.scheduler:
            raise SchedulerLostError(f"the scheduler {self.on.scheduler} is gone") from error

    def _record_finished(self, future: Future[FinishedUnit]) -> None:
        """Count a finished unit, once: its future is removed from the running ones."""
        if future not in self.running:
            return
        work, first, stop = self.running.pop(future)
        try:
            done = future.result()
        except self.on.lost as error:
            if isinstance(error, CancelledError):
                self._check_scheduler(error)
            trials = f"trials {first}..{stop - 1} of {point_text(work.points[0])}"
            raise EngineError(f"the workers of {trials} are gone ({type(error).__name__})") from error
        except FastcubeError as error:
            self._fail(work, first, error)
            return
        if not self.has_begun_counting:
            self.has_begun_counting = True
            self.progress.note_first_trials(done.seconds)
        else:
            self.progress.note_compiling(done.compiling / self.on.workers())
        _LOG.debug("trials %d..%d of %s in %.3f s", first, stop - 1, point_text(work.points[0]), done.seconds)
        work.count(first, stop, done.slots, done.seconds)
        self.unsaved = self.counted = True
        if not work.todo and not work.running:
            work.settle()
            if not (self.goal.adaptive and self._next_stage(work)):
                self.open.remove(work)

    def _fail(self, work: PointWork, first: int, error: FastcubeError) -> None:
        """End the run with a unit's error, after all running units with earlier trials, which may fail too.

        The units of a point are submitted in order, so the error names its smallest failing trial for any number of workers.
        """
        self.failure, self.next_checkpoint = error, math.inf
        order = self.point_works
        before = order.index(work), first
        for future, (other, begin, _) in list(self.running.items()):
            if (order.index(other), begin) > before:
                del self.running[future]
                future.cancel()

    def run_loop(self) -> int:
        """Run until everything is done, the deadline passes or a signal arrives; return the exit status."""
        self._submit_items()
        while self.running:
            event = self._wait()
            if isinstance(event, int):
                return self._finish(event)
            if event is not None:
                self._record_finished(event)
            now = time.monotonic()
            if self.deadline is not None and now >= self.deadline and self.open:
                return self._finish(WORK_REMAINS)
            if now >= self.next_checkpoint:
                self._checkpoint()
            if self.failure is None:
                self._submit_items()
            if self.progress.is_due():
                self._report()
        return self._finish(FINISHED)

    def _wait(self) -> Future[FinishedUnit] | int | None:
        until = min(self.next_checkpoint, time.monotonic() + self.progress.every, self.deadline or self.next_checkpoint)
        with contextlib.suppress(queue.Empty):
            return self.wake.get(timeout=max(0.0, until - time.monotonic()))
        return None

    def _collect_tallies(self) -> None:
        for work in self.point_works:
            work.settle()
            for point, tally in zip(work.points, work.tallies, strict=True):
                self.results.tallies[tuple(point.values())] = tally

    def _checkpoint(self) -> None:
        begun = time.monotonic()
        if not self.counted:  # workers may be starting or in long trials, so try again soon
            self.next_checkpoint = begun + _FIRST_CHECKPOINT
            return
        self._collect_tallies()
        try:
            self.save(self.results)
            self.unsaved = self.counted = False
            self.stored = True
            _LOG.info("checkpoint of %d trials in %.2f s", self._count_done(), time.monotonic() - begun)
        except ResultFileError as error:  # continue, because the next checkpoint or the end may succeed
            self.progress.print_line(f"fastcube: checkpoint failed: {error}")
        now = time.monotonic()
        apart = self.every or min(_CHECKPOINT_AT_MOST, max(_CHECKPOINT_EVERY, _CHECKPOINT_GROWTH * (now - self.begun)))
        self.next_checkpoint = now + max(apart, (now - begun) / _CHECKPOINT_SHARE)

    def _finish(self, code: int) -> int:
        for future in list(self.running):
            future.cancel()
            if future.done() and not future.cancelled():  # a unit that still runs is dropped, and repeated on resuming
                self._record_finished(future)
        if self.failure is not None:
            raise self.failure
        self._collect_tallies()
        if code == FINISHED and not self.unsaved:
            return code  # no trials were counted and no points added, so the file stays unchanged
        if code == FINISHED or self.results.trials:  # a file without trials would have no use
            self.save(self.results)
            _LOG.info("%d trials done and saved", self._count_done())
        if self.progress.is_due(final=True):
            self._report(final=True)
        return code

    def _count_done(self) -> int:
        return sum(w.done for w in self.point_works)

    def _report(self, final: bool = False) -> None:
        done = self._count_done()
        wanted = None
        if not self.goal.adaptive:
            wanted = (
                done
                + sum(len(w.points) * count_trials(w.todo) for w in self.open)
                + sum(len(w.points) * (stop - first) for w, first, stop in self.running.values())
            )
        at = next((w for w in self.open if w.running), None)
        where = ""
        if at is not None and not final:
            middle = len(at.points) // 2
            point, tally = at.points[middle], at.tally(middle)
            where = point_text(point)
            if tally.trials:
                statistic = self.study.target(self.goal.target)
                with contextlib.suppress(Exception):  # the study's own code may fail, which must not stop the run
                    estimate = statistic.estimate(tally.counts, tally.trials, point)
                    if statistic.count_events(tally.counts, tally.trials):
                        where += f" {statistic.name} {estimate_text(estimate)}"
                    else:
                        where += f" {statistic.name}: none in {tally.trials:,} trials"
        self.progress.update(done, wanted, where, final)

    def save_after_failure(self) -> None:
        """Save the trials counted before a failure, if possible."""
        self.progress.print_line("")
        self._collect_tallies()
        if self.unsaved and self.results.trials:
            with contextlib.suppress(OSError):
                self.save(self.results)


@contextlib.contextmanager
def _announce_compiling(study: Study, points: Sequence[Mapping[str, Value]], progress: Progress) -> Iterator[None]:
    """Report once that this process compiles kernels, and once for each other process whose compilation it waits for."""
    from ..kernels.machine import cache

    said: set[str] = set()

    def print_once(line: str) -> None:
        if line.startswith("compiling"):
            line = f"compiling {count_text(waiting, 'kernel')}, once: some seconds each"
        if waiting and line not in said and progress.style != "none":
            said.add(line)
            progress.print_line(f"fastcube: {line}")

    waiting = 0
    with contextlib.suppress(Exception):  # the run itself reports a kernel that cannot be loaded
        if _LOG.isEnabledFor(logging.INFO):
            _LOG.info("compiled kernels are cached in %s", cache.cache_folder() or "no folder: none can be written")
        waiting = kernels_to_compile(study, points)
    before, cache.on_compiling = cache.on_compiling, print_once
    try:
        yield
    finally:
        cache.on_compiling = before


def check_seconds(max_seconds: float | None) -> None:
    """Raise ParameterError unless the time limit is positive, or None for no limit."""
    if max_seconds is not None and not max_seconds > 0:
        raise ParameterError(f"max-seconds must be positive, got {max_seconds}")


def check_run(
    study: Study,
    points: Sequence[Mapping[str, Value]],
    goal: Goal,
    seed: int,
    max_seconds: float | None,
    checkpoint: float | None,
) -> None:
    """Raise every ParameterError of ``run_study`` that needs no trial, engine or output."""
    check_numba_settings()
    goal.check(study)
    goal.check_points(study, points)
    check_range("seed", seed, 0, 2**63 - 1)
    check_seconds(max_seconds)
    if checkpoint is not None and not 1 <= checkpoint <= 86400:
        raise ParameterError(f"checkpoint must be in [1, 86400] seconds, got {checkpoint}")
    if not points:
        raise ParameterError(f"no points to run for {study.name}")


def run_study(
    study: Study,
    points: Sequence[Mapping[str, Value]],
    goal: Goal,
    *,
    grid: str | None = None,
    seed: int = 0,
    output: str | None = None,
    engine_name: str = "threads",
    workers: int | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    force: bool = False,
    checkpoint: float | None = None,
) -> tuple[Results, int]:
    """Run a study at checked points until the goal is reached; return the results and the exit status.

    With ``output`` the run resumes from this file if it has the same study and seed, and writes checkpoints into it.
    Raises ParameterError, StudyMismatchError, ResultFileError.  If the file cannot be written, the results are saved elsewhere,
    and the error gives the place.
    """
    check_run(study, points, goal, seed, max_seconds, checkpoint)
    study = registry.register_live_study(study)
    begun, cpu_begun = time.monotonic(), sum(os.times()[:2])
    report = progress or Progress("none")
    wake: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with handle_signals(wake.put), contextlib.ExitStack() as held:
        results = Results(study, seed)
        file = None
        if output is not None:
            file = OutputFile(output)
            held.enter_context(file.claim(task_group()))
            results = file.resume(results, force)
            _check_partition(results, goal, output)
            ranges = sum(len(tally.ranges) for tally in results.tallies.values())
            check_size(study, {*results.tallies, *(tuple(point.values()) for point in points)}, ranges + len(points))
        results.goal = goal
        results.grid = study.grid(grid).name
        before = list(results.history)
        origin = provenance(engine=engine_name)

        def save(current: Results) -> None:
            current.history = [
                *before,
                {**origin, "resources": {**origin["resources"], "seconds": time.monotonic() - begun}},
            ]
            if file is not None:
                file.save(current)

        deadline = None if max_seconds is None else begun + max_seconds
        here = (
            _announce_compiling(study, points, report)
            if isinstance(engine_name, str) and engine_name == "threads"
            else contextlib.nullcontext()
        )
        give_up = patience = 0.0  # time at which to stop waiting for a lost scheduler; 0 while there is one
        while True:
            try:
                with open_engine(engine_name, workers) as on, here:
                    give_up, patience = 0.0, on.patience
                    where = (study.name, len(points), seed, on.workers(), engine_name)
                    _LOG.info("%s: points %d, seed %d, workers %d (%s)", *where)
                    driver = _Driver(
                        study, results, [dict(p) for p in points], goal, on, save, deadline, report, wake, checkpoint
                    )
                    has_log = "SLURM_JOB_ID" in os.environ and report.style != "none"
                    if has_log:
                        report.print_line(_log_line(_job_line(driver, output, engine_name)))
                    code = _run_driver(driver, output, force)
                    if has_log and engine_name == "threads":
                        busy = (sum(os.times()[:2]) - cpu_begun) / (time.monotonic() - begun) / on.workers()
                        report.print_line(_log_line(_usage_line(busy, on.workers())))
                    idle = code == WORK_REMAINS and not driver.has_begun_counting
                    if file is not None and idle and file.note_idle_run():
                        raise EngineError(
                            "no trial was finished, this time and the time before: one takes longer than the run may; "
                            "give it more time (--max-seconds, or the job's)"
                        )
                return results, code
            except SchedulerLostError as error:
                give_up = time.monotonic() + patience
                warnings.warn(f"{error}; waiting up to {patience:.0f} s for it", RuntimeWarning, stacklevel=2)
            except ParameterError:  # no scheduler answers yet
                if not give_up:
                    raise
            if (stopped := _wait_for_signal(wake)) is not None:
                return results, stopped
            if time.monotonic() >= min(give_up, deadline or give_up):
                return results, WORK_REMAINS


def _wait_for_signal(wake: queue.SimpleQueue[Any], seconds: float = 1.0) -> int | None:
    """Return the exit status of a signal that arrives within ``seconds``, or None.  Finished units are ignored."""
    until = time.monotonic() + seconds
    with contextlib.suppress(queue.Empty):
        while True:
            event = wake.get(timeout=max(0.0, until - time.monotonic()))
            if isinstance(event, int):
                return event
    return None


def _job_line(driver: _Driver, output: str | None, engine_name: str) -> str:
    """Return the first line of a job's log: which process computes which study and where, and the trials already in the file."""
    variables = os.environ
    job, task = variables["SLURM_JOB_ID"], ""
    if "SLURM_ARRAY_TASK_ID" in variables:
        job = f"{variables.get('SLURM_ARRAY_JOB_ID', job)}_{variables['SLURM_ARRAY_TASK_ID']}"
        task = f"task {variables['SLURM_ARRAY_TASK_ID']}, "
    shard = "" if driver.goal.shard is None else f"shard {driver.goal.shard[0]} of {driver.goal.shard[1]}, "
    workers = driver.on.workers()
    unit = "thread" if engine_name == "threads" else "worker"
    done = driver._count_done()
    wanted = done + sum(len(w.points) * count_trials(w.todo) for w in driver.open)
    share = f"{done:,} trials" if driver.goal.adaptive else f"{100 * done / max(1, wanted):.1f}%"
    return (
        f"fastcube {package_version()}, {driver.study.name}, {task}{shard}job {job} on "
        f"{socket.gethostname()}, restart {variables.get('SLURM_RESTART_COUNT', '0')}, {workers} {unit}{'s' * (workers > 1)}; "
        f"{output or 'no file'} holds {share}"
    )


def _log_line(text: str) -> str:
    """Return a line of a job's log with its time.  Variables of the scheduler, which the text names, may hold line breaks."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S')}  {plain_text(text, 1000)}"


def _usage_line(busy: float, workers: int) -> str:
    """Return the last line of a job's log: the use of its processors and of its memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    asked = os.environ.get("SLURM_MEM_PER_NODE", "")
    memory = f"{peak:.0f} of {asked} MiB" if asked else f"{peak:.0f} MiB"
    return f"used {busy:.0%} of {count_text(workers, 'processor')}, at most {memory}"


def _run_driver(driver: _Driver, output: str | None, force: bool) -> int:
    """Run a driver's loop, and save the counted trials if it fails; return the exit status."""
    try:
        return driver.run_loop()
    except (StudyError, ParameterError) as error:
        if driver.stored and not isinstance(error, NondeterminismError):
            driver.save_after_failure()
        else:  # a new file would only refuse the corrected study, so nothing is saved
            driver.progress.print_line("")
        raise
    except ResultFileError:  # saving failed, and the error names the place of the results
        driver.progress.print_line("")
        raise
    except SchedulerLostError:
        driver.save_after_failure()
        raise
    except EngineError as error:
        driver.save_after_failure()
        again = f"run the same command again{' without force' if force else ''} to go on"
        advice = "" if output is None else f"; the work done is in {output}: {again}"
        raise EngineError(f"{error}{advice}") from error
    except KeyboardInterrupt:  # the second signal of a Python session, which must not wait for a checkpoint
        raise
    except BaseException:
        driver.save_after_failure()
        raise


def _check_partition(results: Results, goal: Goal, path: str) -> None:
    """Raise ParameterError if a shard's file has trials of other shards, which a merge would find twice."""
    if goal.shard is None:
        return
    for point, tally in results:
        first, stop = goal.bounds(point)
        if tally.ranges and (tally.ranges[0][0] < first or tally.ranges[-1][1] > stop):
            held = f"trials {tally.ranges[0][0]}..{tally.ranges[-1][1] - 1} of {point_text(point)}"
            mine = f"shard {goal.shard[0]}/{goal.shard[1]} of {goal.trials_at(point)} trials is {first}..{stop - 1}"
            raise ParameterError(
                f"{path} holds {held}, but {mine}; use another output, or trials and shards that divide alike"
            )
