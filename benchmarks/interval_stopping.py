"""What stopping does to an estimate and its interval: python benchmarks/interval_stopping.py [RUNS]

Runs of a share p are looked at as ``fastcube run`` looks at them, on prefixes of 2^12, 2^13, ... trials, until a target is
reached.  Printed: how often the Clopper-Pearson interval at the stop holds p, and the mean of the estimate over p, less one.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import fastcube as fc
from fastcube.measure.goal import FIRST_PREFIX, Goal
from fastcube.measure.tally import Tally

SHARE = fc.Proportion(name="share", description="share", events="events")
SHARES = (0.5, 1e-2, 1e-3, 1e-4, 1e-5, 3e-6)
GOALS = {
    **{f"--events {k}": lambda p, k=k: Goal(events=k) for k in (1, 3, 10, 30, 100, 1000)},
    **{f"--relative {r}": lambda p, r=r: Goal(relative=r) for r in (0.5, 0.2, 0.1, 0.01)},
    **{f"--precision p*{r}": lambda p, r=r: Goal(precision=r * p) for r in (1.0, 0.1)},
}


class _StudyStub:
    """What a goal asks of a study."""

    name = "share"

    def target(self, _: str | None) -> fc.Proportion:
        return SHARE


def run_until_stopped(p: float, goal: Goal, rng: np.random.Generator) -> tuple[int, int]:
    """Events and trials of one run where it stops."""
    study: Any = _StudyStub()
    trials, events = FIRST_PREFIX, int(rng.binomial(FIRST_PREFIX, p))
    while not goal.reached(study, {}, Tally(((0, trials),), {"events": events}, {})):
        events, trials = events + int(rng.binomial(trials, p)), 2 * trials
    return events, trials


def main(runs: int) -> None:
    print(f"{'target':18}{'p':>8}  {'covered':>8}{'bias':>9}{'mean trials':>16}")
    for name, goal in GOALS.items():
        for p in SHARES:
            if p == 0.5 and name in ("--precision p*1.0", "--relative 0.5"):
                continue  # reached by any first prefix
            rng, covered, values, many = np.random.default_rng(1), 0, [], 0
            for _ in range(runs):
                events, trials = run_until_stopped(p, goal(p), rng)
                e = SHARE.estimate({"events": events}, trials, {})
                covered += e.low <= p <= e.high
                values.append(e.value)
                many += trials
            print(
                f"{name:18}{p:8.0e}  {covered / runs:8.2%}{np.mean(values) / p - 1:+9.1%}{many / runs:16,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
