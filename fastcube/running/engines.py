"""The engines that run work units: executors as in ``concurrent.futures``, of threads, MPI or Dask.

Scheduling is the executor's task; the loop only keeps it supplied.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..errors import (
    EngineError,
    FastcubeError,
    MissingDependencyError,
    ParameterError,
    SchedulerLostError,
    check_range,
    command_line_text,
    plain_text,
)
from ..results.provenance import available_cpus
from .launchers import launched_tasks
from .signals import CODES
from .work_units import WorkUnit

#: Type of the value that a function of a unit returns.
Result = TypeVar("Result")

#: Beginning of the names of worker threads.
_THREAD_PREFIX = "fastcube-worker"


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
    """Open an engine: ``threads``, ``mpi``, ``dask:tcp://HOST:PORT`` or ``dask:FILE.json``, which closes with the block.

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
        with _open_threads(workers) as engine:
            yield engine


@contextlib.contextmanager
def _open_threads(workers: int | None) -> Iterator[Engine]:
    """Open the engine of threads in this process, by default one per available processor."""
    count = workers or available_cpus()
    # no with block: after a signal the driver leaves running units behind instead of waiting for them
    pool = ThreadPoolExecutor(count, thread_name_prefix=_THREAD_PREFIX)
    try:
        yield Engine(pool, lambda: count, unit_seconds=0.2, dispatch_seconds=1e-4)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def has_running_threads() -> bool:
    """Whether worker threads of a closed engine are still inside a kernel, for which Python would wait at exit."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(_THREAD_PREFIX)]
    for thread in threads:
        thread.join(0.1)  # an idle thread ends at once
    return any(thread.is_alive() for thread in threads)


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
        yield Engine(executor, lambda: workers or size - 1, unit_seconds=1.0, dispatch_seconds=4e-4, remote=True)
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
        yield Engine(
            client.get_executor(pure=False),
            lambda: workers or threads.count_now(),
            unit_seconds=2.0,
            dispatch_seconds=3e-3,
            lost=(KilledWorker, BrokenExecutor, CancelledError),
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
