"""Compare the speed of a kernel with a baseline, code that a user might write instead, in one process.

Results are ratios, which are similar on different machines; seconds are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..measure.study import Point, Study

if TYPE_CHECKING:
    from ..kernels.machine.jit import Kernel


@dataclass(frozen=True)
class Benchmark:
    """One comparison.

    Parameters
    ----------
    name : str
        The computation, such as ``unsafe nodes, n=12 f=6``.
    baseline : str
        The name of the baseline, such as ``NetworkX``.
    ours, theirs : callable
        Functions of kernel and baseline that run some trials and return their number; a call should take 0.05 to 2 s.
    """

    name: str
    baseline: str
    ours: Callable[[], int]
    theirs: Callable[[], int]

    def measure(self, rounds: int = 3) -> tuple[float, float]:
        """Return the best CPU seconds per trial of kernel and baseline, timed in turns after one warm-up call of the kernel."""
        self.ours()
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for side, call in enumerate((self.ours, self.theirs)):
                begin = time.process_time()
                trials = call()
                best[side] = min(best[side], (time.process_time() - begin) / trials)
        return best[0], best[1]


def kernel_runner(study: Study, point: Point, trials: int, kernel: Kernel | None = None) -> Callable[[], int]:
    """Return a function that runs a study's kernel, or another, on ``trials`` trials at a point, as one work unit would."""
    counted = study if kernel is None else replace(study, kernel=lambda _: kernel)
    return lambda: counted.count(point, trials).trials


def baseline_runner(baseline: Callable[..., object], *args: object, trials: int) -> Callable[[], int]:
    """Return a function that calls ``baseline(*args, trials)`` and returns ``trials``."""

    def call() -> int:
        baseline(*args, trials)
        return trials

    return call
