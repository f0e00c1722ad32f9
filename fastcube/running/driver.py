"""Run a study: check the request, resume the output file, open an engine, run the loop, and save if the loop fails.

``run_study`` prepares everything that does not depend on an engine; ``_PreparedRun.run_on`` then runs on one.  The two are apart
because a run whose engine loses its scheduler goes on with the next engine (``lost_scheduler.py``).
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import (
    EngineError,
    NondeterminismError,
    ParameterError,
    ResultFileError,
    SchedulerLostError,
    StudyError,
)
from ..kernels.machine.compiling import report_compilations
from ..measure import registry
from ..measure.goal import Goal
from ..measure.grid import find_near_values
from ..measure.study import Study, Value
from ..results.hdf5 import Group, Variable, build_image
from ..results.memory import check_address_space
from ..results.output import OutputFile
from ..results.provenance import available_cpus, provenance
from ..results.results import Results
from .checkpoints import Checkpoints
from .engines import Engine, check_engine, open_engine
from .job_log import JobLog
from .launchers import task_group
from .lost_scheduler import run_despite_losses
from .progress import Progress
from .run_checks import check_capacity, check_partition, check_run
from .signals import WORK_REMAINS, handle_signals
from .stages import Stages
from .work_loop import Event, WorkLoop

_LOG = logging.getLogger("fastcube.driver")


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
    """Run a study at checked points until the checked goal is reached; return the results and the exit status.

    With ``output`` the run resumes from this file if it has the same study and seed, and writes checkpoints into it.
    Raises ParameterError, StudyMismatchError and ResultFileError for the request and its file, StudyError and NondeterminismError
    for the study's own code, and EngineError if the workers are lost, or if two runs in turn finish no trial.  The second signal
    of a Python session raises KeyboardInterrupt.  If the file cannot be written, the results are saved elsewhere, and the error
    gives the place.
    """
    check_run(study, points, goal, seed, max_seconds, checkpoint)
    check_engine(engine_name, workers)
    check_address_space((workers or available_cpus()) if engine_name == "threads" else 1)
    _import_libraries()
    study = registry.register_live_study(study)
    begun = time.monotonic()
    deadline = None if max_seconds is None else begun + max_seconds
    report = progress or Progress("none")
    log = JobLog(report, engine_name)
    wake: queue.SimpleQueue[Event] = queue.SimpleQueue()
    with handle_signals(wake.put), contextlib.ExitStack() as claim:
        file = None if output is None else OutputFile(output)
        results = Results(study, seed)
        if file is not None:
            claim.enter_context(file.claim(task_group()))  # no other run writes the file until this one ends
            results = file.resume(results, force)
            check_partition(results, goal, str(output))
            check_capacity(file, results, points, goal)
        for line in find_near_values(study.axes, {*results.tallies, *(tuple(point.values()) for point in points)}):
            report.print_line(f"fastcube: {line}")
        results.goal = goal
        results.grid = study.grid(grid).name
        run = _PreparedRun(
            study=study,
            points=[dict(point) for point in points],
            goal=goal,
            results=results,
            file=file,
            output=output,
            save=_make_save(file, results, engine_name, begun),
            force=force,
            engine_name=engine_name,
            checkpoint=checkpoint,
            report=report,
            log=log,
            wake=wake,
            deadline=deadline,
        )
        return results, run_despite_losses(lambda: open_engine(engine_name, workers), run.run_on, wake, deadline)


@dataclass(frozen=True, kw_only=True)
class _PreparedRun:
    """A run after all checks, which starts on an engine, and again on the next one if a scheduler is lost."""

    study: Study
    points: Sequence[dict[str, Value]]
    goal: Goal
    results: Results  #: of earlier runs; the trials are added to them
    file: OutputFile | None
    output: str | None  #: the name of the file as given, for messages
    save: Callable[[Results], None]
    force: bool  #: whether the file was overwritten, for the advice after a failure
    engine_name: str
    checkpoint: float | None  #: seconds between checkpoints, if given
    report: Progress
    log: JobLog
    wake: queue.SimpleQueue[Event]  #: receives signals and finished units
    deadline: float | None  #: time at which the run ends, if it is limited

    def run_on(self, engine: Engine) -> int:
        """Run on an engine, save, and return the exit status.  Raises EngineError if two runs finished no trial."""
        workers = engine.workers()
        self._log_start(engine, workers)
        stages = Stages(self.study, self.results, self.points, self.goal)
        checkpoints = Checkpoints(stages, self.save, self.checkpoint)
        loop = WorkLoop(stages, engine, checkpoints, self.report, self.wake, self.deadline)
        self.log.begin(stages, workers, self.output)
        reported = report_compilations() if self.report.style != "none" else contextlib.nullcontext()
        with reported, _save_after_failure(checkpoints, self.report, self.output, self.force):
            code = loop.run()
        self.log.end(workers)
        if self.file is not None and code == WORK_REMAINS and not loop.finished and self.file.note_idle_run():
            raise EngineError(
                "no trial was finished, this time and the time before: one takes longer than the run may; "
                "give it more time (--max-seconds, or the job's)"
            )
        return code

    def _log_start(self, engine: Engine, workers: int) -> None:
        """Log the size of the run, and the cache of kernels that the threads of this process use."""
        described = self.study.name, len(self.points), self.results.seed, workers, self.engine_name
        _LOG.info("%s: points %d, seed %d, workers %d (%s)", *described)
        if not engine.remote and _LOG.isEnabledFor(logging.INFO):
            from ..kernels.machine.cache import cache_folder  # imports numba

            _LOG.info("compiled kernels are cached in %s", cache_folder() or "no folder: none can be written")


def _import_libraries() -> None:
    """Import what saving and printing need: after the trials an import may fail, or wait in a library where no signal ends it."""
    import scipy.special  # noqa: F401

    from ..results import table, writing  # noqa: F401

    # h5py imports some of its modules when they are first used
    number: Variable = (("n",), [0], {})
    build_image({"/": Group({"title": ""}, {}, {"n": number}, {"count": number, "json": ((), "{}", {})})})


def _make_save(file: OutputFile | None, results: Results, engine_name: str, begun: float) -> Callable[[Results], None]:
    """Return the function that writes results to the file, if there is one, with this run at the end of their history."""
    before, origin = list(results.history), provenance(engine=engine_name)

    def save(current: Results) -> None:
        resources = {**origin["resources"], "seconds": time.monotonic() - begun}
        current.history = [*before, {**origin, "resources": resources}]
        if file is not None:
            file.save(current)

    return save


@contextlib.contextmanager
def _save_after_failure(
    checkpoints: Checkpoints, progress: Progress, output: str | None, force: bool
) -> Iterator[None]:
    """Save the counted trials after an error that leaves them valid, and say how to go on after an engine's failure.

    Not saved are trials at a KeyboardInterrupt, and trials that ``_is_worth_saving`` rules out.
    """
    try:
        yield
    except KeyboardInterrupt:  # the second signal of a Python session, which must not wait for a checkpoint
        raise
    except BaseException as error:
        progress.print_line("")
        if _is_worth_saving(error, checkpoints):
            checkpoints.save_after_failure()
        if not isinstance(error, EngineError) or isinstance(error, SchedulerLostError) or output is None:
            raise
        advice = f"run the same command again{' without force' if force else ''} to go on"
        raise EngineError(f"{error}; the work done is in {output}: {advice}") from error


def _is_worth_saving(error: BaseException, checkpoints: Checkpoints) -> bool:
    """Whether to save after an error: not if saving failed, if repeated trials differed, or if the study failed in a new file.

    Trials that differ when repeated have no right counts.  A new file with trials of the failed study would refuse the corrected
    study.
    """
    if isinstance(error, ResultFileError | NondeterminismError):
        return False
    return checkpoints.has_stored_trials or not isinstance(error, StudyError | ParameterError)
