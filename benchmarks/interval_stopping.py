"""What stopping does to an estimate and its interval: python benchmarks/interval_stopping.py [RUNS]

Runs of a share p are looked at as ``fastcube run`` looks at them, on prefixes of 2^12, 2^13, ... trials, until a target is
reached.  Printed: how often the Clopper-Pearson interval at the stop holds p, and the mean of the estimate over p, less one;
then how often a normal interval at the stop holds the mean of a quantity with a heavy tail.
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


#: A quantity of few trials, most of them small: shares of trials with an event, and of these with the large value.
EVENTS, LARGE_SHARES, LARGE = 1e-3, (0.0, 0.02, 0.2), 100

SIGNED = fc.NormalDifference(
    name="d", description="d", total="total", squares="squares", nonzero="events", bound=lambda _: float(LARGE)
)
MEAN = fc.NormalMean(name="m", description="m", total="total", squares="squares", nonzero="events")


class _StudyStub:
    """What a goal asks of a study."""

    name = "share"

    def __init__(self, statistic: Any = SHARE) -> None:
        self.statistic = statistic

    def target(self, _: str | None) -> Any:
        return self.statistic


def cover_heavy_tail(statistic: Any, large_share: float, precision: float, runs: int) -> tuple[float, float]:
    """How often the interval at the stop holds the mean, and the mean number of trials.

    An event gives LARGE or a small value: -1 for a difference, 1 for a mean.
    """
    rng, small, study = np.random.default_rng(2), -1 if statistic is SIGNED else 1, _StudyStub(statistic)
    truth, held, many = EVENTS * ((1 - large_share) * small + large_share * LARGE), 0, 0
    shares = [EVENTS * (1 - large_share), EVENTS * large_share, 1 - EVENTS]
    for _ in range(runs):
        counts, trials = rng.multinomial(FIRST_PREFIX, shares), FIRST_PREFIX
        while True:
            few, large = int(counts[0]), int(counts[1])
            sums = {"total": small * few + LARGE * large, "squares": few + LARGE**2 * large, "events": few + large}
            if Goal(precision=precision).is_reached(study, {}, Tally(((0, trials),), sums, {})):  # type: ignore[arg-type]
                break
            counts, trials = counts + rng.multinomial(trials, shares), 2 * trials
        e = statistic.estimate(sums, trials, {})
        held += e.low <= truth <= e.high
        many += trials
    return held / runs, many / runs


def run_until_stopped(p: float, goal: Goal, rng: np.random.Generator) -> tuple[int, int]:
    """Events and trials of one run where it stops."""
    study: Any = _StudyStub()
    trials, events = FIRST_PREFIX, int(rng.binomial(FIRST_PREFIX, p))
    while not goal.is_reached(study, {}, Tally(((0, trials),), {"events": events}, {})):
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
    print(f"\n{'normal interval':18}{'large':>8}{'precision':>11}  {'covered':>8}{'mean trials':>16}")
    for statistic in (MEAN, SIGNED):
        for large_share in LARGE_SHARES:
            for precision in (5e-4, 5e-5):
                held, trials = cover_heavy_tail(statistic, large_share, precision, min(runs, 1000))
                print(
                    f"{type(statistic).__name__:18}{large_share:8.0%}{precision:11g}  {held:8.1%}{trials:16,.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
