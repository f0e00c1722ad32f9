"""Where work items run: any ``concurrent.futures.Executor``, with threads, MPI and Dask ready to name.

A work item is (study, point, first trial, trial after the last); its result is a kernel's tally, a few hundred
bytes.  Nothing here schedules: that is the executor's job, and the driver only keeps it fed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import (
    MissingDependencyError,
    ParameterError,
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
from ..results.provenance import PACKAGE, available_cpus, hash_sources
from .determinism_check import check_repeats, is_builtin_study
from .signals import CODES

_LOG = logging.getLogger("fastcube.kernels")

#: The worker that tells the log of a kernel; others may have waited for it.
_LOGGING_THREADS: dict[str, int] = {}


class StudyReference(NamedTuple):
    """A study by what finds it in another process, and what tells whether the one found there is the same."""

    name: str
    path: str | None
    mark: str
    package: str

    @classmethod
    def from_study(cls, study: Study) -> StudyReference:
        """The reference to a study of this process."""
        return cls(study.name, study.path, study.mark(), hash_sources(looks=False))

    def resolve(self) -> Study:
        """The study in this process.  Raises StudyMismatchError when it, or the fastcube that runs it, is another."""
        if self.package != hash_sources(looks=False):
            raise StudyMismatchError(
                f"a worker on {socket.gethostname()} has another fastcube, in {PACKAGE}, than the run"
            )
        study = registry.find_live_study(self.name, self.mark) or registry.study(self.name, self.path)
        if study.mark() != self.mark:
            raise StudyMismatchError(
                f"a worker on {socket.gethostname()} has other code of {self.name} than the run: start the workers anew"
            )
        return study


@dataclass(frozen=True)
class WorkUnit:
    """One piece of work: trials ``first .. stop - 1`` of a point; the study itself, or for other processes a reference.

    ``swept`` are other values of a swept axis, whose points are counted together with the point.
    Of the first of a run ``again`` is the number of trials, from ``first`` on, that may be counted a second time, and ``others``
    are the points whose set-ups are tried before.
    """

    study: Study | StudyReference
    seed: int
    point: tuple[tuple[str, Value], ...]
    first: int
    stop: int
    again: int = 0
    others: tuple[tuple[tuple[str, Value], ...], ...] = ()
    swept: tuple[Value, ...] = ()

    def points(self) -> list[dict[str, Value]]:
        """The points that are counted."""
        last = self.point[-1][0]
        return [dict(self.point), *({**dict(self.point), last: value} for value in self.swept)]


def swept_values(points: Sequence[Mapping[str, Value]]) -> tuple[Value, ...]:
    """The ``swept`` of a :class:`WorkUnit` at the first of these points, which differ in a swept axis alone."""
    return tuple([*point.values()][-1] for point in points[1:])


@dataclass(frozen=True)
class FinishedUnit:
    """A finished item: the kernel's tally, a row for each point, and its seconds after those of compiling, or waiting for, it."""

    item: WorkUnit
    slots: np.ndarray
    seconds: float
    compiling: float = 0.0


def _compile_kernel(kernel: Any) -> Any:
    """The kernel's machine code, with a word to the log when this is its first use."""
    if not _LOG.isEnabledFor(logging.INFO) or "compiled" in vars(kernel):
        return kernel.compiled
    how = "loaded from the cache" if kernel.ready else "compiled"
    compiled = kernel.compiled
    me = threading.get_ident()
    if _LOGGING_THREADS.setdefault(repr(kernel), me) == me:
        _LOG.info("%r %s in %.2f s", kernel, how, kernel.seconds)
    return compiled


def kernels_to_compile(study: Study, points: Iterable[Point]) -> int:
    """How many kernels of the points are neither compiled in this process nor in the cache."""
    return sum(not kernel.ready for kernel in {id(k): k for k in map(study.kernel, points)}.values())


def _run_trials(run: Callable[[int, int], np.ndarray], first: int, stop: int, where: str) -> np.ndarray:
    """What ``run(first, stop)`` gives.  Raises StudyError that names the first trial that raises, found by halves."""
    try:
        return run(first, stop)
    except Exception:  # a study's own
        low, high = first, stop
        while high - low > 1:
            half = (low + high) // 2
            try:
                run(low, half)
            except Exception:  # the same
                high = half
            else:
                low = half
        with wrap_study_errors(f"trial {low} of {where}"):
            try:
                run(low, low + 1)
            except (IndexError, ZeroDivisionError) as error:  # compiled code does not tell where
                from ..kernels.machine.jit import is_jit_disabled

                if is_jit_disabled():
                    raise
                raise type(error)(f"{error} (NUMBA_DISABLE_JIT=1 in the environment tells the line)") from error
        with wrap_study_errors(f"trials {first}..{stop - 1} of {where}"):  # what does not raise alone
            raise


def _load_kernel(study: Study, point: Point) -> Any:
    """The compiled kernel of a point.  Raises StudyError with the place in a user's file."""
    with wrap_study_errors(f"compiling the trial of {study.name}"):
        kernel = study.kernel(point)
        try:
            return _compile_kernel(kernel)
        except Exception as error:  # Numba does not tell the line of a name that is not there
            error.add_note(locate_name(kernel.function, error))
            raise


def check_set_ups(study: Study, points: Iterable[Point]) -> None:
    """Raise what a user's set-up raises at one of the points, which its ``check`` did not: before hours of the others' trials.

    It is machine code, so it cannot be asked before it is compiled; its kernel is called for no trial.
    """
    slots = study.tally.new_tally()
    for point in points:
        if is_builtin_study(study, point):
            continue
        kernel, where = _load_kernel(study, point), f"set-up of {study.name} at {point_text(point)}"
        with wrap_study_errors(where):
            try:
                kernel(np.uint64(0), np.int64(0), np.int64(0), study.parameters(point), slots)
            except ParameterError as error:
                raise ParameterError(f"{where}: {error}") from error


def run_unit(item: WorkUnit) -> FinishedUnit:
    """Run one item in this process: a pure function of the item, on any machine."""
    study = item.study.resolve() if isinstance(item.study, StudyReference) else item.study
    point = dict(item.point)
    where = f"{study.name} at {point_text(point)}"
    begin = time.perf_counter()
    kernel = _load_kernel(study, point)
    compiling = time.perf_counter() - begin
    check_set_ups(study, map(dict, item.others))
    params, many = study.parameters(point, item.swept), 1 + len(item.swept)
    key = np.uint64(study.key(item.seed, point))

    def run_range(first: int, stop: int) -> np.ndarray:
        slots = study.tally.new_tally(many)
        kernel(key, np.int64(first), np.int64(stop), params, slots)
        rows = slots.reshape(many, -1)
        if study.has_verify:
            for each, own in zip(item.points(), rows, strict=True):
                study.verify(each, Tally.from_slots(study.tally, first, stop, own))
        return rows

    def tally_range(first: int, stop: int) -> list[Tally]:
        rows = _run_trials(run_range, first, stop, where)
        return [Tally.from_slots(study.tally, first, stop, own) for own in rows]

    begin, cpu = time.perf_counter(), time.thread_time()
    slots = _run_trials(run_range, item.first, item.stop, where)
    seconds, cpu = time.perf_counter() - begin, time.thread_time() - cpu
    if item.again and not is_builtin_study(study, point):
        check_repeats(tally_range, item.first, item.again, cpu, where)
    return FinishedUnit(item, slots, seconds, compiling)


@dataclass(frozen=True)
class Engine:
    """An executor with what the driver must know of it.

    Attributes
    ----------
    executor : Executor
    workers : callable
        ``workers()``: items that can run at once now; at least 1.
    item_seconds : float
        How long an item should take at least.
    handing_out : float
        Seconds that the driver's process spends on one item (measured by ``benchmarks/scaling.py``).
    lost : tuple of exception types
        What a future raises when its workers are gone, as opposed to an error in a trial.
    remote : bool
        Whether workers are other processes, which are sent a reference to the study.
    scheduler : str
        Address of the scheduler that may go and come back; empty where there is none.
    patience : float
        Seconds to wait for a scheduler that is gone.
    """

    executor: Executor
    workers: Callable[[], int]
    item_seconds: float
    dispatch_seconds: float = 0.0
    lost: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)
    remote: bool = False
    scheduler: str = ""
    patience: float = 0.0

    def length(self) -> float:
        """Seconds that an item should take now: more with many workers, so that half the driver's time keeps up with them."""
        return max(self.item_seconds, 2 * self.workers() * self.dispatch_seconds)


def check_workers(workers: int | None) -> None:
    """Raise ParameterError for a number of workers out of range; None leaves it to the engine."""
    if workers is not None:
        check_range("workers", workers, 1, 4096)


@contextlib.contextmanager
def open_engine(name: str = "threads", workers: int | None = None) -> Iterator[Engine]:
    """Open the engine of that name: ``threads``, ``mpi``, ``dask:tcp://HOST:PORT`` or ``dask:FILE.json``.

    Raises ParameterError for another name or a number of workers out of range, MissingDependencyError when the
    extra is not installed.
    """
    kind, _, where = name.partition(":") if isinstance(name, str) else ("", "", "")
    check_workers(workers)
    if kind == "threads" and not where:
        count = workers or available_cpus()
        # not a with block: after a signal the driver leaves running items behind instead of waiting for them
        pool = ThreadPoolExecutor(count, thread_name_prefix=_THREADS)
        try:
            yield Engine(pool, lambda: count, 0.2, 1e-4)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    elif kind == "mpi" and not where:
        with _open_mpi(workers) as found:
            yield found
    elif kind == "dask" and where:
        with _open_dask(where, workers) as found:
            yield found
    elif kind in ("gpu", "cuda"):
        raise ParameterError(f"engine must be threads, mpi or dask:..., got {kind}: fastcube has no code for GPUs")
    else:
        raise ParameterError(
            f"engine must be threads, mpi, dask:tcp://HOST:PORT or dask:FILE.json, got {command_line_text(name)}"
        )


#: What the worker threads' names begin with.
_THREADS = "fastcube-worker"


def has_running_threads() -> bool:
    """Whether threads of an engine that was closed are still inside a kernel: Python would wait for them as it exits."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(_THREADS)]
    for thread in threads:
        thread.join(0.1)  # one without work ends at once
    return any(thread.is_alive() for thread in threads)


#: What launchers tell a task: how many tasks they started, and which of them this task is.
_TASK_VARIABLES = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


def launched_tasks() -> tuple[int, str] | None:
    """How many tasks the launcher says it started, and the variable that numbers them; None without a launcher.

    The batch step of a Slurm job has one task, however many ``SLURM_NTASKS`` tells.
    """
    for size, rank in _TASK_VARIABLES:
        if (text := os.environ.get(size, "")).isdecimal():
            return int(text), rank
    return None


def _ignore_signals() -> None:
    """In MPI workers: the launcher passes signals to every rank, and only the driver's rank shall act on them."""
    import signal

    for number in CODES:
        signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def _open_mpi(workers: int | None) -> Iterator[Engine]:
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError) as error:
        raise MissingDependencyError(
            f"engine mpi needs mpi4py and an MPI: pip install 'fastcube[mpi]' ({error})"
        ) from None
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
    if "://" not in where and not Path(where).is_file():
        raise ParameterError(f"engine dask: scheduler file {plain_text(where)} does not exist")
    try:
        import dask
        from distributed import Client, KilledWorker
    except ImportError:
        raise MissingDependencyError("engine dask needs distributed: pip install 'fastcube[dask]'") from None
    # what Dask says of a scheduler that is gone are tracebacks; the driver says it in one line
    for name in ("distributed.client", "distributed.core", "distributed.comm", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(where, timeout=10) if "://" in where else Client(scheduler_file=where, timeout=10)
    except Exception as error:  # of many types: no answer, another protocol, a file that is no scheduler's
        raise ParameterError(f"engine dask: no scheduler at {plain_text(where)} ({type(error).__name__})") from None
    threads = _DaskThreads(client)
    try:
        lost = (KilledWorker, BrokenExecutor, CancelledError)
        yield Engine(
            client.get_executor(pure=False),
            lambda: workers or threads.now(),
            2.0,
            3e-3,
            lost,
            remote=True,
            scheduler=plain_text(str(client.scheduler_info()["address"])),
            # twice as long as Dask tries to connect: 60 s by default
            patience=2 * dask.utils.parse_timedelta(dask.config.get("distributed.comm.timeouts.connect")),
        )
    finally:
        # a scheduler that is slow to say goodbye makes asyncio tell of a TimeoutError that nobody waits for any more
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        client.close(timeout=2)


class _DaskThreads:
    """Threads of all workers, asked for anew every few seconds: workers come and go."""

    _EVERY = 5.0

    def __init__(self, client: Any) -> None:
        self.client = client
        self.threads = 1
        self.asked = -self._EVERY

    def now(self) -> int:
        if time.monotonic() - self.asked >= self._EVERY:
            self.asked = time.monotonic()
            # bounded, so that a scheduler that does not answer cannot keep signals waiting
            with contextlib.suppress(OSError, TimeoutError):
                threads = sum(self.client.sync(self.client.scheduler.ncores, callback_timeout=0.3).values())
                if not threads:
                    warnings.warn("Dask has no workers now; waiting for some", RuntimeWarning, stacklevel=2)
                self.threads = max(1, threads)
        return self.threads
