"""Work units: trials of one point, each run by one call of a kernel, in this process or another.

The result of a unit is a kernel's tally, a few hundred bytes.  The loop hands units to an engine, which runs ``run_unit`` on a
thread or in another process.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError, StudyMismatchError, wrap_study_errors
from ..measure import registry
from ..measure.missing_names import locate_name
from ..measure.statistics import Point
from ..measure.study import Study, Value, point_text
from ..measure.tally import Tally
from ..results.sources import ENGINE
from .determinism_check import check_repeats, is_builtin_study

_LOG = logging.getLogger("fastcube.kernels")

#: For each kernel the thread that writes the log message about it; other threads may have waited for the same kernel.
_LOGGING_THREADS: dict[str, int] = {}

#: Time to compile a kernel, for messages: measured for the kernels of all tables that have more than one.
COMPILE_TIME = "1 to 20 s of CPU each on an AMD Zen 4"

#: A point as axes with their values, which can be hashed and sent to other processes.
PointItems = tuple[tuple[str, Value], ...]


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
    """One unit of work: trials ``first .. stop - 1`` of a point, and of the points that are counted together with it.

    Attributes
    ----------
    study : Study or StudyReference
        A reference if the workers are other processes.
    seed : int
        The run's.
    point : tuple of (str, value)
        Axes with their values, in the order of the axes.
    first, stop : int
        The trials are ``first .. stop - 1``.
    repeated_trials : int
        How many trials, from ``first`` on, are counted twice as a check; 0 after a run's first unit.
    set_ups : tuple of (point, kernel name)
        Set-ups to try before the trials; none after a run's first unit.
    swept : tuple of values
        Values of the swept axis at the further points; empty for a single point.
    kernel : str
        Name of the kernel among the study's alternatives at the point; empty for ``study.kernel(point)``.
    """

    study: Study | StudyReference
    seed: int
    point: PointItems
    first: int
    stop: int
    repeated_trials: int = 0
    set_ups: tuple[tuple[PointItems, str], ...] = ()
    swept: tuple[Value, ...] = ()
    kernel: str = ""

    def points(self) -> list[dict[str, Value]]:
        """Return the points that the unit counts."""
        swept_axis = self.point[-1][0]
        return [dict(self.point), *({**dict(self.point), swept_axis: value} for value in self.swept)]


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
    """Return the compiled kernel, and log on its first use how it was obtained."""
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
    """Return ``run(first, stop)``.  Raises StudyError that names the first failing trial, or all if none fails alone."""
    try:
        return run(first, stop)
    except Exception:  # raised by the study's code
        failing = _find_failing_trial(run, first, stop)
        with wrap_study_errors(f"trial {failing} of {where}"):
            try:
                run(failing, failing + 1)
            except (IndexError, ZeroDivisionError) as error:  # compiled code does not report the line
                from ..kernels.machine.jit import is_jit_disabled

                if is_jit_disabled():
                    raise
                raise type(error)(f"{error} (NUMBA_DISABLE_JIT=1 in the environment names the line)") from error
        with wrap_study_errors(f"trials {first}..{stop - 1} of {where}"):
            raise


def _find_failing_trial(run: Callable[[int, int], np.ndarray], first: int, stop: int) -> int:
    """Return by bisection the first trial that fails, given that the range fails; the last one if no part of it fails."""
    low, high = first, stop
    while high - low > 1:
        half = (low + high) // 2
        try:
            run(low, half)
        except Exception:  # raised by the study's code
            high = half
        else:
            low = half
    return low


def _load_kernel(study: Study, point: Point, name: str = "") -> Any:
    """Return the compiled kernel of a point, by its name in a unit.  Raises StudyError with the place in a user's file."""
    with wrap_study_errors(f"compiling the trial of {study.name}"):
        kernel = study.alternatives(point)[name].kernel if name else study.kernel(point)
        try:
            return _compile_kernel(kernel)
        except Exception as error:  # Numba does not report the line of an undefined name
            error.add_note(locate_name(kernel.function, error))
            raise


def check_set_ups(study: Study, points: Iterable[tuple[Point, str]]) -> None:
    """Raise the errors of a user's set-up at the given points, before the trials of other points have run for hours.

    Each point comes with the name of its kernel, as in a unit.  The set-up is machine code, so each kernel is compiled, and
    called for no trials.
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
    check_set_ups(study, ((dict(other), name) for other, name in unit.set_ups))
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
    if unit.repeated_trials and not is_builtin_study(study, point):
        check_repeats(tally_range, unit.first, unit.repeated_trials, cpu, where)
    return FinishedUnit(unit, slots, seconds, compiling)
