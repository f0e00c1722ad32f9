"""Side-by-side timing: a kernel against what a user would write instead, in one process, as ratios.

Ratios are what carries over between machines; seconds do not.
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
        What is computed, such as ``unsafe nodes, n=12 f=6``.
    baseline : str
        What it is compared with, such as ``NetworkX``.
    ours, theirs : callable
        Run some trials and return how many; each call should take 0.05 to 2 s.
    """

    name: str
    baseline: str
    ours: Callable[[], int]
    theirs: Callable[[], int]

    def measure(self, rounds: int = 3) -> tuple[float, float]:
        """Best CPU seconds a trial of each side, in turns, after one warm-up call of ours."""
        self.ours()
        best = [float("inf"), float("inf")]
        for _ in range(rounds):
            for side, call in enumerate((self.ours, self.theirs)):
                begin = time.process_time()
                trials = call()
                best[side] = min(best[side], (time.process_time() - begin) / trials)
        return best[0], best[1]


def kernel_runner(study: Study, point: Point, trials: int, kernel: Kernel | None = None) -> Callable[[], int]:
    """A call that runs a study's kernel, or another, on ``trials`` trials at a point, as one work item would."""
    counted = study if kernel is None else replace(study, kernel=lambda _: kernel)
    return lambda: counted.count(point, trials).trials


def baseline_runner(baseline: Callable[..., object], *args: object, trials: int) -> Callable[[], int]:
    """A call of ``baseline(*args, trials)``, which does so many trials."""

    def call() -> int:
        baseline(*args, trials)
        return trials

    return call
