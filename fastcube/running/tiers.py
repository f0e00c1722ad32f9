"""Which kernel counts the next unit: a run begins with kernels that compile quickly, and changes over to faster ones that pay.

All kernels of a table that serve a point give identical counts, so each unit may be counted by any of them, and the results do
not depend on the choice.  A run takes a kernel that is compiled already, or the cheapest set of kernels that together serve the
other points.  While they count, faster kernels are compiled, one at a time, the largest saving of time first.  A compilation is
a task for a worker like a unit, so every engine has it, and one worker fewer counts meanwhile.  A kernel that would have saved
earlier runs of this machine more than its compilation takes is compiled before the trials (``kernels/machine/lost_time.py``).
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
#: Least seconds of a unit whose speed is used: in short ones the call and the scratch arrays take most of the time.
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


def choose_first_kernels(
    served: Collection[tuple[Mapping[str, Alternative], int]], is_ready: Callable[[Kernel], bool], workers: int
) -> set[Kernel]:
    """Return the kernels to begin with: all that are ready, and the cheapest others that serve the rest of the works.

    ``served`` has the kernels that serve each work, and the number of the work's trials.  The cheapest set is found by the greedy
    algorithm for weighted set cover: the kernel with the least price per work that it serves, until every work is served.  The
    price is the time of compiling and of the trials.  More than HORIZON seconds of trials count as HORIZON, because another
    kernel can take over.
    """
    chosen = {each.kernel for kernels, _ in served for each in kernels.values() if is_ready(each.kernel)}
    unserved = [pair for pair in served if not any(each.kernel in chosen for each in pair[0].values())]
    while unserved:
        counting: dict[Kernel, list[float]] = {}  # seconds of the trials of each work that a kernel would serve
        compiling: dict[Kernel, float] = {}
        for kernels, trials in unserved:
            for each in kernels.values():
                counting.setdefault(each.kernel, []).append(trials * each.trial_seconds / workers)
                compiling[each.kernel] = each.compile_seconds
        best = min(counting, key=lambda k: (compiling[k] + min(HORIZON, sum(counting[k]))) / len(counting[k]))
        chosen.add(best)
        unserved = [pair for pair in unserved if all(each.kernel is not best for each in pair[0].values())]
    return chosen


class Tiers:
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
    first : list of Kernel
        The kernels that are compiled before the run can count all its points.
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
        served = [(kernels, count_trials(work.todo)) for work, kernels in self._alternatives.items()]
        repaid = self._take_repaid()
        self._usable = choose_first_kernels(served, lambda k: k in repaid or is_ready(k), workers())
        used_first = dict.fromkeys([*self._only.values(), *self._usable])
        self.first = [kernel for kernel in used_first if not is_ready(kernel)]
        self._candidates = {each.kernel for each in self._list_alternatives()} - self._usable
        self._lost: dict[Kernel, float] = {}  # seconds of this run, at the speeds of the tables
        self._records_losses = True
        self._next_look = 0.0
        self._pace: dict[tuple[PointWork, str], float] = {}  # seconds of a trial, measured
        self._trial_scale = self._compile_scale = 1.0  # of this machine, compared with the costs of the tables

    def _list_alternatives(self) -> Iterator[Alternative]:
        """Yield the alternatives at all works, with repetitions."""
        for alternatives in self._alternatives.values():
            yield from alternatives.values()

    def _take_repaid(self) -> set[Kernel]:
        """Return the kernels whose absence has cost earlier runs more time than their compilation takes.

        The record is forgotten now, so that a compilation that fails does not fail every run.
        """
        prices = {each.kernel: each.compile_seconds for each in self._list_alternatives()}
        repaid = {kernel for kernel, price in prices.items() if kernel.lost_time.seconds > price}
        for kernel in repaid:
            kernel.lost_time.forget()
        return repaid

    def kernel_name(self, work: PointWork) -> str:
        """Return the name of the fastest usable kernel of a work among its alternatives; empty for its only kernel."""
        alternatives = self._alternatives.get(work, {})
        usable = (name for name, each in alternatives.items() if each.kernel in self._usable)
        return min(usable, key=lambda name: alternatives[name].trial_seconds, default="")

    def note_unit(self, work: PointWork, done: FinishedUnit) -> None:
        """Learn from a finished unit which kernel is compiled, and the speeds of this machine."""
        name = done.unit.kernel
        if not name:
            if (only := self._only.get(work)) in self.first:
                self.first.remove(only)
            return
        used = self._alternatives[work][name]
        if used.kernel in self.first:
            self.first.remove(used.kernel)
            self._compile_scale = max(0.5, (done.compiling - START_SECONDS) / used.compile_seconds)
        trials = done.unit.stop - done.unit.first
        for other in self._alternatives[work].values():
            if other.kernel not in self._usable and other.trial_seconds < used.trial_seconds:
                lost = trials * (used.trial_seconds - other.trial_seconds) / self._workers()
                self._lost[other.kernel] = self._lost.get(other.kernel, 0.0) + lost
        if done.seconds >= MEASURED_SECONDS:
            pace = done.seconds / trials
            self._pace[work, name] = pace
            self._trial_scale = pace / used.trial_seconds

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
                    seconds = self._remaining_seconds(work, present)
                    slow[kernel] = slow.get(kernel, 0.0) + seconds
                    fast[kernel] = fast.get(kernel, 0.0) + seconds * ratio
                    upgrades.setdefault(kernel, Upgrade(kernel, work, name))
        saved = {
            kernel: self._saved_seconds(slow[kernel], fast[kernel], self._compile_seconds(upgrade))
            for kernel, upgrade in upgrades.items()
        }
        self._next_look = time.monotonic() + _LOOK_FACTOR * (time.monotonic() - begun)
        best = max(saved, key=lambda kernel: saved[kernel], default=None)
        if best is None or saved[best] <= 0:
            return None
        self._candidates.remove(best)
        _LOG.info("compiling %s beside the trials, to save %.1f s", best.label, saved[best])
        return upgrades[best]

    def _compile_seconds(self, upgrade: Upgrade) -> float:
        """Return the seconds of a compilation, on a machine as slow, or as busy, as its compilations or its trials say."""
        expected = self._alternatives[upgrade.work][upgrade.name].compile_seconds
        return expected * max(self._compile_scale, self._trial_scale)

    def _remaining_seconds(self, work: PointWork, name: str) -> float:
        """Return the CPU seconds of the work's remaining trials, by the measured speed or by that of the tables."""
        expected = self._alternatives[work][name].trial_seconds * self._trial_scale
        return count_trials(work.todo) * self._pace.get((work, name), expected)

    def _saved_seconds(self, slow: float, fast: float, cost: float) -> float:
        """Return the time that a compilation of ``cost`` seconds by one worker would save; the other workers count meanwhile."""
        workers = self._workers()
        fraction = max(0.0, 1.0 - cost * (workers - 1) / slow)  # of the trials, which the faster kernel would count
        return slow / workers - (cost + fraction * fast / workers)

    def record_lost_time(self) -> None:
        """Add what this run has lost for want of each kernel that it did not compile, for runs to come."""
        for kernel, seconds in self._lost.items():
            if self._records_losses and seconds >= _LEAST_LOST:
                kernel.lost_time.add(seconds)
        self._lost.clear()

    def stop_compiling(self) -> None:
        """Offer no more upgrades, because where one compilation fails the others would probably fail too."""
        self._candidates.clear()
        self._records_losses = False

    def change_over(self, kernel: Kernel) -> None:
        """Use a kernel that is compiled now, wherever it is the fastest of the usable ones."""
        before = {work: self.kernel_name(work) for work in self._alternatives}
        self._usable.add(kernel)
        self._lost.pop(kernel, None)
        kernel.lost_time.forget()
        for work, old in before.items():
            if (new := self.kernel_name(work)) != old:
                alternatives = self._alternatives[work]
                work.expect_speed(alternatives[old].trial_seconds / alternatives[new].trial_seconds)
