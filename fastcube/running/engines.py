"""The engines that run work units: any ``concurrent.futures.Executor``, with threads, MPI and Dask available by name.

A work unit is (study, point, first trial, one more than the last trial).  Its result is a kernel's tally, a few hundred
bytes.  Scheduling is the executor's task; the driver only keeps it supplied.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import math
import os
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import (
    EngineError,
    FastcubeError,
    MissingDependencyError,
    ParameterError,
    SchedulerLostError,
    StudyMismatchError,
    check_range,
    command_line_text,
    plain_text,
    wrap_study_errors,
)
from ..measure import registry
from ..measure.fingerprint import locate_name
from ..measure.statistics import Point
from ..measure.study import Study, Value, point_text
from ..measure.tally import Tally
from ..results.environment import read_count
from ..results.provenance import available_cpus
from ..results.sources import ENGINE
from .determinism_check import check_repeats, is_builtin_study
from .signals import CODES

_LOG = logging.getLogger("fastcube.kernels")

#: Type of the value that a function of a unit returns.
Result = TypeVar("Result")

#: Beginning of the names of worker threads.
_THREAD_PREFIX = "fastcube-worker"

#: For each kernel the thread that writes the log message about it; other threads may have waited for the same kernel.
_LOGGING_THREADS: dict[str, int] = {}

#: Time to compile a kernel, for messages: measured for the kernels of all tables that have more than one.
COMPILE_TIME = "1 to 20 s of CPU each on an AMD Zen 4"


class StudyReference(NamedTuple):
    """The data by which another process finds a study, and checks that its study is the same."""

    name: str
    path: str | None
    mark: str
    package: str

    @classmethod
    def from_study(cls, study: Study) -> StudyReference:
        """Return the reference to a study of this process."""
        return cls(study.name, study.path, study.mark(), ENGINE.hash(looks=False))

    def resolve(self) -> Study:
        """Return the study in this process.  Raises StudyMismatchError if it, or the version of fastcube, differs."""
        if self.package != ENGINE.hash(looks=False):
            raise StudyMismatchError(
                f"a worker on {socket.gethostname()} has another fastcube, in {ENGINE.folder}, than the run"
            )
        study = registry.find_live_study(self.name, self.mark) or registry.study(self.name, self.path)
        if study.mark() != self.mark:
            raise StudyMismatchError(
                f"a worker on {socket.gethostname()} has other code of {self.name} than the run: start the workers anew"
            )
        return study


@dataclass(frozen=True)
class WorkUnit:
    """One unit of work: trials ``first .. stop - 1`` of a point.  ``study`` is the study, or a reference for other processes.

    ``swept`` are further values of a swept axis, whose points are counted together with the point.  ``kernel`` is the
    name of the kernel among the study's alternatives at the point; empty for ``study.kernel(point)``.  The first unit of a run
    has two more fields: ``again`` is the number of trials, from ``first`` on, that may be counted twice, and ``others`` are the
    points whose set-ups are tried first, each with the name of its kernel.
    """

    study: Study | StudyReference
    seed: int
    point: tuple[tuple[str, Value], ...]
    first: int
    stop: int
    again: int = 0
    others: tuple[tuple[tuple[tuple[str, Value], ...], str], ...] = ()
    swept: tuple[Value, ...] = ()
    kernel: str = ""

    def points(self) -> list[dict[str, Value]]:
        """Return the points that the unit counts."""
        last = self.point[-1][0]
        return [dict(self.point), *({**dict(self.point), last: value} for value in self.swept)]


def swept_values(points: Sequence[Mapping[str, Value]]) -> tuple[Value, ...]:
    """Return the ``swept`` values of a unit at the first of these points, which differ only in the swept axis."""
    return tuple([*point.values()][-1] for point in points[1:])


@dataclass(frozen=True)
class FinishedUnit:
    """A finished unit, with the kernel's tally and the times that it took."""

    unit: WorkUnit
    slots: np.ndarray  #: one row per point
    seconds: float  #: for the trials
    compiling: float = 0.0  #: seconds until the kernel was compiled, here or by another thread


def _compile_kernel(kernel: Any) -> Any:
    """Return the compiled kernel, and write a log message on its first use."""
    if not _LOG.isEnabledFor(logging.INFO) or "compiled" in vars(kernel):
        return kernel.compiled
    compiled = kernel.compiled
    how = "loaded from the cache" if kernel.loaded else "compiled"
    thread = threading.get_ident()
    if _LOGGING_THREADS.setdefault(repr(kernel), thread) == thread:
        _LOG.info("%r %s in %.2f s", kernel, how, kernel.seconds)
    return compiled


def kernels_to_compile(study: Study, points: Iterable[Point]) -> int:
    """Return how many kernels of the points are neither compiled in this process nor cached."""
    return sum(not kernel.ready for kernel in {id(k): k for k in map(study.kernel, points)}.values())


def _run_trials(run: Callable[[int, int], np.ndarray], first: int, stop: int, where: str) -> np.ndarray:
    """Return ``run(first, stop)``.  Raises StudyError that names the first failing trial, found by bisection."""
    try:
        return run(first, stop)
    except Exception:  # raised by the study's code
        low, high = first, stop
        while high - low > 1:
            half = (low + high) // 2
            try:
                run(low, half)
            except Exception:  # raised by the study's code
                high = half
            else:
                low = half
        with wrap_study_errors(f"trial {low} of {where}"):
            try:
                run(low, low + 1)
            except (IndexError, ZeroDivisionError) as error:  # compiled code does not report the line
                from ..kernels.machine.jit import is_jit_disabled

                if is_jit_disabled():
                    raise
                raise type(error)(f"{error} (NUMBA_DISABLE_JIT=1 in the environment names the line)") from error
        with wrap_study_errors(f"trials {first}..{stop - 1} of {where}"):  # no trial fails when it is run alone
            raise


def _load_kernel(study: Study, point: Point, name: str = "") -> Any:
    """Return the compiled kernel of a point, by its name among the alternatives.

    Raises StudyError with the place in a user's file.
    """
    with wrap_study_errors(f"compiling the trial of {study.name}"):
        kernel = study.alternatives(point)[name].kernel if name else study.kernel(point)
        try:
            return _compile_kernel(kernel)
        except Exception as error:  # Numba does not report the line of an undefined name
            error.add_note(locate_name(kernel.function, error))
            raise


def check_set_ups(study: Study, points: Iterable[tuple[Point, str]]) -> None:
    """Raise the errors of a user's set-up at the given points, before the trials of other points have run for hours.

    Each point comes with the name of its kernel, as in a unit.  The set-up is machine code, so it can be tried only once it is
    compiled.  The kernel is called for no trials.
    """
    slots = study.tally.new_tally()
    for point, name in points:
        if is_builtin_study(study, point):
            continue
        kernel, where = _load_kernel(study, point, name), f"set-up of {study.name} at {point_text(point)}"
        with wrap_study_errors(where):
            try:
                kernel(np.uint64(0), np.int64(0), np.int64(0), study.parameters(point), slots)
            except ParameterError as error:
                raise ParameterError(f"{where}: {error}") from error


def compile_unit(unit: WorkUnit) -> None:
    """Compile the kernel of a unit in this process, and run no trials."""
    _load_kernel(_resolve_study(unit), dict(unit.point), unit.kernel)


def _resolve_study(unit: WorkUnit) -> Study:
    """Return the study of a unit in this process.  Raises StudyMismatchError."""
    return unit.study.resolve() if isinstance(unit.study, StudyReference) else unit.study


def run_unit(unit: WorkUnit) -> FinishedUnit:
    """Run one unit in this process.  The result is a pure function of the unit, on any machine."""
    study = _resolve_study(unit)
    point = dict(unit.point)
    where = f"{study.name} at {point_text(point)}"
    seeded = f"{where} with seed {unit.seed}"
    begin = time.perf_counter()
    kernel = _load_kernel(study, point, unit.kernel)
    compiling = time.perf_counter() - begin
    check_set_ups(study, ((dict(other), name) for other, name in unit.others))
    params, point_count = study.parameters(point, unit.swept), 1 + len(unit.swept)
    key = np.uint64(study.key(unit.seed, point))

    def run_range(first: int, stop: int) -> np.ndarray:
        slots = study.tally.new_tally(point_count)
        kernel(key, np.int64(first), np.int64(stop), params, slots)
        rows = slots.reshape(point_count, -1)
        if study.has_verify:
            for counted_point, row in zip(unit.points(), rows, strict=True):
                study.verify(counted_point, Tally.from_slots(study.tally, first, stop, row))
        return rows

    def tally_range(first: int, stop: int) -> list[Tally]:
        rows = _run_trials(run_range, first, stop, seeded)
        return [Tally.from_slots(study.tally, first, stop, row) for row in rows]

    begin, cpu = time.perf_counter(), time.thread_time()
    slots = _run_trials(run_range, unit.first, unit.stop, seeded)
    seconds, cpu = time.perf_counter() - begin, time.thread_time() - cpu
    if unit.again and not is_builtin_study(study, point):
        check_repeats(tally_range, unit.first, unit.again, cpu, where)
    return FinishedUnit(unit, slots, seconds, compiling)


@dataclass(frozen=True)
class Engine:
    """An executor with the properties that the driver needs.

    Every call of the driver to the executor goes through :meth:`call`, because a client whose scheduler is gone closes itself at
    any time and then fails in many ways.

    Attributes
    ----------
    executor : Executor
    count_workers : callable
        Returns how many units can run at once now, at least 1.
    unit_seconds : float
        Least duration of a unit, in seconds.
    dispatch_seconds : float
        Time that the driver's process spends on one unit, in seconds (measured by ``benchmarks/scaling.py``).
    lost : tuple of exception types
        Exceptions of a future whose workers are gone, as opposed to errors in a trial.
    remote : bool
        Whether workers are other processes, which get a reference to the study.
    scheduler : str
        Address of a scheduler that may disappear and come back; empty without one.
    is_closed : callable
        Whether the connection to the scheduler is lost.
    patience : float
        Time to wait for a lost scheduler, in seconds.
    """

    executor: Executor
    count_workers: Callable[[], int]
    unit_seconds: float
    dispatch_seconds: float = 0.0
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)
    remote: bool = False
    scheduler: str = ""
    is_closed: Callable[[], bool] = lambda: False
    patience: float = 0.0

    def call(self, function: Callable[..., Any], *arguments: Any, of: str = "the run") -> Any:
        """Return the result of a call to the executor, its client or a future.

        Raises SchedulerLostError for any error if the scheduler is gone, EngineError if the workers ``of`` something are gone,
        and the errors of trials.
        """
        try:
            return function(*arguments)
        except FastcubeError:
            raise
        except Exception as error:
            # Dask cancels all units when its scheduler is gone
            if self.scheduler and (isinstance(error, CancelledError) or self.is_closed()):
                raise SchedulerLostError(f"the scheduler {self.scheduler} is gone") from error
            if isinstance(error, self.lost):
                raise EngineError(f"the workers of {of} are gone ({type(error).__name__})") from error
            raise

    def workers(self) -> int:
        """Return how many units can run at once now, at least 1.  Raises as ``call``."""
        return int(self.call(self.count_workers))

    def submit(self, run: Callable[[WorkUnit], Result], unit: WorkUnit) -> Future[Result]:
        """Return the future of what ``run`` returns for a unit.  Raises as ``call``."""
        future: Future[Result] = self.call(self.executor.submit, run, unit)
        return future

    def length(self) -> float:
        """Return the present duration of a unit in seconds: longer with many workers, to limit the driver to half its time."""
        return max(self.unit_seconds, 2 * self.workers() * self.dispatch_seconds)


def check_workers(workers: int | None) -> None:
    """Raise ParameterError for a number of workers out of range; None lets the engine choose."""
    if workers is not None:
        check_range("workers", workers, 1, 4096)


def check_engine(name: str = "threads", workers: int | None = None) -> str:
    """Return the kind of an engine, as of ``open_engine``, after all checks that need no connection and no extra.

    Raises ParameterError for another name, a number of workers out of range or a scheduler file that does not exist.
    """
    check_workers(workers)
    kind, _, where = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind in {"gpu", "cuda"}:
        raise ParameterError(f"engine must be threads, mpi or dask:..., got {kind}: fastcube has no code for GPUs")
    if kind not in {"threads", "mpi", "dask"} or bool(where) != (kind == "dask"):
        raise ParameterError(
            f"engine must be threads, mpi, dask:tcp://HOST:PORT or dask:FILE.json, got {command_line_text(name)}"
        )
    if kind == "dask" and "://" not in where and not Path(where).is_file():
        raise ParameterError(f"engine dask: scheduler file {plain_text(where)} does not exist")
    return kind


@contextlib.contextmanager
def open_engine(name: str = "threads", workers: int | None = None) -> Iterator[Engine]:
    """Open an engine: ``threads``, ``mpi``, ``dask:tcp://HOST:PORT`` or ``dask:FILE.json``.

    Raises the errors of ``check_engine``, MissingDependencyError if the extra is not installed, and ParameterError if no
    scheduler answers or MPI has too few ranks.
    """
    kind = check_engine(name, workers)
    if kind == "mpi" and importlib.util.find_spec("mpi4py") is None:
        raise MissingDependencyError("engine mpi needs mpi4py and an MPI: pip install mpi4py")
    if kind == "dask" and importlib.util.find_spec("distributed") is None:
        raise MissingDependencyError("engine dask needs distributed: pip install distributed")
    if kind == "mpi":
        with _open_mpi(workers) as engine:
            yield engine
    elif kind == "dask":
        with _open_dask(name.partition(":")[2], workers) as engine:
            yield engine
    else:
        count = workers or available_cpus()
        # no with block: after a signal the driver leaves running units behind instead of waiting for them
        pool = ThreadPoolExecutor(count, thread_name_prefix=_THREAD_PREFIX)
        try:
            yield Engine(pool, lambda: count, 0.2, 1e-4)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def has_running_threads() -> bool:
    """Whether worker threads of a closed engine are still inside a kernel, for which Python would wait at exit."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(_THREAD_PREFIX)]
    for thread in threads:
        thread.join(0.1)  # an idle thread ends at once
    return any(thread.is_alive() for thread in threads)


#: Environment variables of Open MPI, other MPIs and srun: number of tasks, and number of this task.
_TASK_VARIABLES = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


def launched_tasks() -> tuple[int, str] | None:
    """Return the number of tasks that a launcher started, and the variable that numbers them; None without a launcher.

    The batch step of a Slurm job has one task, whatever the value of ``SLURM_NTASKS``, which is not read.  Raises ParameterError
    if the number is not an integer.
    """
    for size, rank in _TASK_VARIABLES:
        if (count := read_count(size)) is not None:
            return count, rank
    return None


def task_group() -> str:
    """Return a name of the job array or step that this process is a task of; empty for a process on its own."""
    launched, variables = launched_tasks(), os.environ
    is_array = "SLURM_ARRAY_TASK_ID" in variables
    if not is_array and (launched is None or launched[0] < 2):
        return ""
    job = variables.get("SLURM_ARRAY_JOB_ID", variables.get("SLURM_JOB_ID", ""))
    kind = "the array" if is_array else "the step"
    return plain_text(f"{kind}, job {job or 'unknown'}, restart {variables.get('SLURM_RESTART_COUNT', '0')}", 100)


def _ignore_signals() -> None:
    """Ignore signals in an MPI worker: the launcher passes them to every rank, and only the driver's rank must act."""
    import signal

    for number in CODES:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def _open_mpi(workers: int | None) -> Iterator[Engine]:
    """Open the engine of this process's MPI.  Raises MissingDependencyError, or ParameterError for too few ranks."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError) as error:
        raise MissingDependencyError(f"engine mpi needs mpi4py and an MPI: pip install mpi4py ({error})") from None
    size, launched = MPI.COMM_WORLD.size, launched_tasks()
    if launched is not None and launched[0] != size:
        raise ParameterError(
            f"MPI has {size} ranks but the launcher started {launched[0]}: mpi4py uses another MPI than the launcher's"
        )
    if size < 2:
        raise ParameterError(
            "engine mpi needs a launcher: mpiexec -n 3 python -P -m mpi4py.futures -m fastcube run ... --engine mpi"
        )
    executor = MPIPoolExecutor(workers, initializer=_ignore_signals)
    try:
        yield Engine(executor, lambda: workers or size - 1, 1.0, 4e-4, remote=True)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def _open_dask(where: str, workers: int | None) -> Iterator[Engine]:
    """Open the engine of the scheduler at an address, or in a scheduler file.  Raises ParameterError if none answers."""
    import dask
    from distributed import Client, KilledWorker

    # Dask logs tracebacks when its scheduler is gone; the driver reports it on one line
    for name in ("distributed.client", "distributed.core", "distributed.comm", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(where, timeout=10) if "://" in where else Client(scheduler_file=where, timeout=10)
        address = plain_text(str(client.scheduler_info()["address"]))
    except Exception as error:  # of many types: no answer, another protocol, or not a scheduler's file
        raise ParameterError(f"engine dask: no scheduler at {plain_text(where)} ({type(error).__name__})") from None
    threads = _DaskThreads(client)
    try:
        lost = (KilledWorker, BrokenExecutor, CancelledError)
        yield Engine(
            client.get_executor(pure=False),
            lambda: workers or threads.count_now(),
            2.0,
            3e-3,
            lost,
            remote=True,
            scheduler=address,
            is_closed=lambda: client.status != "running",
            # twice the time that Dask tries to connect, 60 s by default
            patience=2 * dask.utils.parse_timedelta(dask.config.get("distributed.comm.timeouts.connect")),
        )
    finally:
        # if the scheduler is slow to close the connection, asyncio would log a TimeoutError after the client is gone
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        with contextlib.suppress(Exception):  # of a client whose scheduler is gone
            client.close(timeout=2)


class _DaskThreads:
    """The number of threads of all Dask workers, queried again every few seconds, because workers come and go."""

    #: Seconds between two queries.
    _INTERVAL = 5.0

    def __init__(self, client: Any) -> None:
        self.client = client
        self.threads = 1
        self.query_time = -math.inf

    def count_now(self) -> int:
        """Return the number of threads by the last query, at least 1."""
        if time.monotonic() - self.query_time >= self._INTERVAL:
            self.query_time = time.monotonic()
            # with a timeout, so that a scheduler that does not answer cannot delay signals
            with contextlib.suppress(OSError, TimeoutError):
                threads = sum(self.client.sync(self.client.scheduler.ncores, callback_timeout=0.3).values())
                if not threads:
                    warnings.warn("Dask has no workers now; waiting for some", RuntimeWarning, stacklevel=2)
                self.threads = max(1, threads)
        return self.threads
