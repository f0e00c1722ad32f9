"""Which kernel counts the next unit: a run begins with kernels that compile quickly, and changes over to faster ones that pay.

All kernels of a table that serve a point give identical counts, so each unit may be counted by any of them, and the results do
not depend on the choice.  A kernel passes through these states during a run:

*alternative*: it serves some work of the run (``work`` is one ``PointWork``), which other kernels serve too.
*in use*: units are counted by the fastest kernel in use that serves their work.  At the beginning these are the compiled kernels,
and the cheapest set of kernels that together serve the other works.  The first unit of a kernel compiles it if necessary.
*candidate*: it is not in use, but may be compiled while others count.
*upgrade*: the candidate whose compilation saves most time.  It is compiled beside the trials, one at a time, and then used.  A
compilation is a task for a worker like a unit, so every engine has it, and one worker fewer counts meanwhile.

A kernel that would have saved earlier runs of this machine more than its compilation takes is in use from the beginning
(``kernels/machine/lost_time.py``).  All times are in seconds; those of the tables are of another machine, so ``_Machine`` scales
them by the times that it measures.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..measure.study import Study
from ..measure.tally import count_trials
from .point_work import PointWork

if TYPE_CHECKING:
    from ..kernels.machine.dispatch import Alternative
    from ..kernels.machine.jit import Kernel
    from .work_units import FinishedUnit

_LOG = logging.getLogger("fastcube.driver")

#: Most seconds of trials that count in the choice of the first kernels, so that the first numbers come soon and a short run takes
#: least time.
HORIZON = 20.0
#: Least seconds of a unit that is used as a measurement: in short ones the call and the scratch arrays take most of the time.
MEASURED_SECONDS = 0.05
#: Time between two looks for an upgrade, in times that a look takes: many points take long to look through.
_LOOK_FACTOR = 20
#: Seconds to start Numba's compiler, which the first compilation of a process takes in addition.
START_SECONDS = 1.0
#: Least loss of time, in seconds, that is recorded; smaller ones are not worth writing a file.
_LEAST_LOST = 0.02


class Upgrade(NamedTuple):
    """A compilation that pays: the kernel, a work that it serves, and its name among the alternatives there."""

    kernel: Any
    work: PointWork
    name: str


class _Machine:
    """The times that this machine takes, from its measurements so far and from the costs in the tables."""

    def __init__(self) -> None:
        self._trial_seconds: dict[tuple[PointWork, str], float] = {}  # measured, by work and name of the kernel
        self._trial_scale = self._compile_scale = 1.0  # last measured time in units of the table's time

    def note_compilation(self, alternative: Alternative, seconds: float) -> None:
        """Learn from a compilation in a unit, which is taken to have started the compiler too.

        The scale is at least one half, because only the first compilation of a process starts the compiler.
        """
        self._compile_scale = max(0.5, (seconds - START_SECONDS) / alternative.compile_seconds)

    def note_trials(self, work: PointWork, name: str, alternative: Alternative, trial_seconds: float) -> None:
        """Learn from trials that were long enough to be measured."""
        self._trial_seconds[work, name] = trial_seconds
        self._trial_scale = trial_seconds / alternative.trial_seconds

    def compile_seconds(self, alternative: Alternative) -> float:
        """Return the time of a compilation, on a machine as slow, or as busy, as its compilations or its trials show."""
        return alternative.compile_seconds * max(self._compile_scale, self._trial_scale)

    def remaining_seconds(self, work: PointWork, name: str, alternative: Alternative) -> float:
        """Return the CPU seconds of the work's remaining trials, by the measured time of a trial or else by the table's."""
        expected = alternative.trial_seconds * self._trial_scale
        return count_trials(work.todo) * self._trial_seconds.get((work, name), expected)


def choose_first_kernels(
    served: Collection[tuple[Mapping[str, Alternative], int]], is_ready: Callable[[Kernel], bool], workers: int
) -> set[Kernel]:
    """Return the kernels to begin with: all that are ready, and the cheapest others that serve the rest of the works.

    ``served`` has for each work its alternatives and its number of trials.  The cheapest set is found by the greedy algorithm for
    weighted set cover: the kernel with the least cost per work that it serves, until every work is served.  The cost is the time
    of compiling and of the trials.  More than HORIZON seconds of trials count as HORIZON, because another kernel can take over.
    """
    costs = [({each.kernel: each for each in alternatives.values()}, trials) for alternatives, trials in served]
    chosen = {kernel for kernels, _ in costs for kernel in kernels if is_ready(kernel)}
    unserved = [(kernels, trials) for kernels, trials in costs if chosen.isdisjoint(kernels)]
    while unserved:
        counting: dict[Kernel, list[float]] = {}  # seconds of the trials of each work that a kernel would serve
        compiling: dict[Kernel, float] = {}
        for kernels, trials in unserved:
            for kernel, each in kernels.items():
                counting.setdefault(kernel, []).append(trials * each.trial_seconds / workers)
                compiling[kernel] = each.compile_seconds
        best = min(counting, key=lambda k: (compiling[k] + min(HORIZON, sum(counting[k]))) / len(counting[k]))
        chosen.add(best)
        unserved = [(kernels, trials) for kernels, trials in unserved if best not in kernels]
    return chosen


class RunKernels:
    """The kernels of a run: those in use, and those that would pay.

    Parameters
    ----------
    study : Study
    works : iterable of PointWork
        The works of the run.
    workers : callable
        ``workers()`` returns the present number of workers.

    Attributes
    ----------
    uncompiled : list of Kernel
        The kernels in use that no unit has compiled yet; the run cannot count all its points before they are compiled.
    """

    def __init__(self, study: Study, works: Iterable[PointWork], workers: Callable[[], int]) -> None:
        self._workers = workers
        is_ready = functools.cache(lambda kernel: kernel.ready)
        self._only: dict[PointWork, Kernel] = {}  # of works whose fastest kernel counts from the beginning
        self._alternatives: dict[PointWork, Mapping[str, Alternative]] = {}  # of the others
        for work in works:
            fastest = study.kernel(work.points[0])
            alternatives = {} if is_ready(fastest) else study.alternatives(work.points[0])
            if alternatives:
                self._alternatives[work] = alternatives
            else:
                self._only[work] = fastest
        served = [(alternatives, count_trials(work.todo)) for work, alternatives in self._alternatives.items()]
        repaid = self._take_repaid()
        self._in_use = choose_first_kernels(served, lambda k: k in repaid or is_ready(k), workers())
        begun_with = dict.fromkeys([*self._only.values(), *self._in_use])
        self.uncompiled = [kernel for kernel in begun_with if not is_ready(kernel)]
        self._candidates = {each.kernel for each in self._list_alternatives()} - self._in_use
        self._next_look = 0.0  # the time from which on upgrades are looked for again
        self._machine = _Machine()
        # seconds that this run has lost for want of a kernel, by the costs of the tables; None after a failed compilation
        self._lost: dict[Kernel, float] | None = {}

    def _list_alternatives(self) -> Iterator[Alternative]:
        """Yield the alternatives at all works, with repetitions."""
        for alternatives in self._alternatives.values():
            yield from alternatives.values()

    def _take_repaid(self) -> set[Kernel]:
        """Return the kernels whose absence has cost earlier runs more time than their compilation takes.

        The record is forgotten now, so that a compilation that fails does not fail every run.
        """
        compile_seconds = {each.kernel: each.compile_seconds for each in self._list_alternatives()}
        repaid = {kernel for kernel, seconds in compile_seconds.items() if kernel.lost_time.seconds > seconds}
        for kernel in repaid:
            kernel.lost_time.forget()
        return repaid

    def kernel_name(self, work: PointWork) -> str:
        """Return the name of the fastest kernel in use among a work's alternatives; empty for its only kernel."""
        alternatives = self._alternatives.get(work, {})
        in_use = (name for name, each in alternatives.items() if each.kernel in self._in_use)
        return min(in_use, key=lambda name: alternatives[name].trial_seconds, default="")

    def note_unit(self, work: PointWork, done: FinishedUnit) -> None:
        """Learn from a finished unit which kernel is compiled, and how fast this machine is."""
        name = done.unit.kernel
        if not name:
            if (only := self._only.get(work)) in self.uncompiled:
                self.uncompiled.remove(only)
            return
        used = self._alternatives[work][name]
        if used.kernel in self.uncompiled:
            self.uncompiled.remove(used.kernel)
            self._machine.note_compilation(used, done.compiling)
        trials = done.unit.stop - done.unit.first
        self._add_lost_time(work, used, trials)
        if done.seconds >= MEASURED_SECONDS:
            self._machine.note_trials(work, name, used, done.seconds / trials)

    def _add_lost_time(self, work: PointWork, used: Alternative, trials: int) -> None:
        """Add to each kernel that is not in use the time that it would have saved in these trials."""
        if self._lost is None:
            return
        for other in self._alternatives[work].values():
            if other.kernel not in self._in_use and other.trial_seconds < used.trial_seconds:
                lost = trials * (used.trial_seconds - other.trial_seconds) / self._workers()
                self._lost[other.kernel] = self._lost.get(other.kernel, 0.0) + lost

    def find_upgrade(self, works: Iterable[PointWork]) -> Upgrade | None:
        """Return the compilation that saves most time in the open works; None if none pays.  It is not offered again."""
        begun = time.monotonic()
        if not self._candidates or begun < self._next_look:
            return None
        # For each candidate, over the works where it is faster: CPU seconds of the remaining trials with the present kernel,
        # and with the candidate.
        slow: dict[Kernel, float] = {}
        fast: dict[Kernel, float] = {}
        upgrades: dict[Kernel, Upgrade] = {}
        for work in works:
            alternatives, present = self._alternatives.get(work, {}), self.kernel_name(work)
            for name, faster in alternatives.items():
                kernel, ratio = faster.kernel, faster.trial_seconds / alternatives[present].trial_seconds
                if kernel in self._candidates and work.todo and ratio < 1:
                    seconds = self._machine.remaining_seconds(work, present, alternatives[present])
                    slow[kernel] = slow.get(kernel, 0.0) + seconds
                    fast[kernel] = fast.get(kernel, 0.0) + seconds * ratio
                    upgrades.setdefault(kernel, Upgrade(kernel, work, name))
        saved = {kernel: self._saved_seconds(slow[kernel], fast[kernel], upgrades[kernel]) for kernel in upgrades}
        self._next_look = time.monotonic() + _LOOK_FACTOR * (time.monotonic() - begun)
        best = max(saved, key=lambda kernel: saved[kernel], default=None)
        if best is None or saved[best] <= 0:
            return None
        self._candidates.remove(best)
        _LOG.info("compiling %s beside the trials, to save %.1f s", best.label, saved[best])
        return upgrades[best]

    def _saved_seconds(self, slow: float, fast: float, upgrade: Upgrade) -> float:
        """Return the time that an upgrade would save the run, whose trials take ``slow`` CPU seconds now and ``fast`` after it.

        One worker compiles, and the other workers count meanwhile with the present kernel.
        """
        compiling = self._machine.compile_seconds(self._alternatives[upgrade.work][upgrade.name])
        workers = self._workers()
        fraction = max(
            0.0, 1.0 - compiling * (workers - 1) / slow
        )  # of the trials, which the faster kernel would count
        return slow / workers - (compiling + fraction * fast / workers)

    def record_lost_time(self) -> None:
        """Add what this run has lost for want of each kernel that it did not compile, for runs to come."""
        for kernel, seconds in (self._lost or {}).items():
            if seconds >= _LEAST_LOST:
                kernel.lost_time.add(seconds)
        if self._lost is not None:
            self._lost = {}

    def stop_compiling(self) -> None:
        """Offer no more upgrades and record no lost time: where one compilation fails the others would probably fail too."""
        self._candidates.clear()
        self._lost = None

    def change_over(self, kernel: Kernel) -> None:
        """Use a kernel that is compiled now, for each work of which it is the fastest kernel in use."""
        before = {work: self.kernel_name(work) for work in self._alternatives}
        self._in_use.add(kernel)
        if self._lost is not None:
            self._lost.pop(kernel, None)
        kernel.lost_time.forget()
        for work, old in before.items():
            if (new := self.kernel_name(work)) != old:
                alternatives = self._alternatives[work]
                work.expect_speed(alternatives[old].trial_seconds / alternatives[new].trial_seconds)
