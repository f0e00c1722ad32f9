"""Measure how stopping changes an estimate and its interval: python benchmarks/interval_stopping.py > data/stopping.json

Runs of a proportion p are stopped as ``fastcube run`` stops them, on prefixes of 2^12, 2^13, ... trials when a target is
reached. The output is JSON.  It has the fraction of runs whose Clopper-Pearson interval at the stop holds p, and the mean
estimate over p, less one.  For a quantity with a heavy tail it has the fraction of runs whose normal interval at the stop
holds the mean.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import fastcube as fc
from fastcube.measure.goal import FIRST_PREFIX, Goal
from fastcube.measure.tally import Tally

#: Runs of each cell: of shares, and of quantities with a heavy tail.
RUNS, TAIL_RUNS = 4000, 1000

PROPORTION = fc.Proportion(name="share", description="share", events="events")
FRACTIONS = (0.5, 1e-2, 1e-3, 1e-4, 1e-5, 3e-6)
GOALS = {
    **{f"--events {k}": lambda p, k=k: Goal(events=k) for k in (1, 3, 10, 30, 100, 1000)},
    **{f"--relative {r}": lambda p, r=r: Goal(relative=float(r)) for r in (".5", ".2", ".1", ".01")},
    "--precision p": lambda p: Goal(precision=p),
    "--precision p/10": lambda p: Goal(precision=p / 10),
}


#: A quantity of few trials, most of them small: shares of trials with an event, and of these with the large value.
EVENTS, LARGE_FRACTIONS, LARGE = 1e-3, (0.0, 0.02, 0.2), 100

SIGNED = fc.NormalDifference(
    name="d", description="d", total="total", squares="squares", nonzero="events", bound=lambda _: float(LARGE)
)
MEAN = fc.NormalMean(name="m", description="m", total="total", squares="squares", nonzero="events")


class _StudyStub:
    """Stand in for a study: the parts that a goal reads."""

    name = "share"

    def __init__(self, statistic: Any = PROPORTION) -> None:
        self.statistic = statistic

    def target(self, _: str | None) -> Any:
        return self.statistic


def cover_heavy_tail(statistic: Any, large_fraction: float, precision: float, runs: int) -> tuple[float, float]:
    """How often the interval at the stop holds the mean, and the mean number of trials.

    An event gives LARGE or a small value: -1 for a difference, 1 for a mean.
    """
    rng, small, study = np.random.default_rng(2), -1 if statistic is SIGNED else 1, _StudyStub(statistic)
    truth, held, many = EVENTS * ((1 - large_fraction) * small + large_fraction * LARGE), 0, 0
    fractions = [EVENTS * (1 - large_fraction), EVENTS * large_fraction, 1 - EVENTS]
    for _ in range(runs):
        counts, trials = rng.multinomial(FIRST_PREFIX, fractions), FIRST_PREFIX
        while True:
            few, large = int(counts[0]), int(counts[1])
            sums = {"total": small * few + LARGE * large, "squares": few + LARGE**2 * large, "events": few + large}
            if Goal(precision=precision).is_reached(study, {}, Tally(((0, trials),), sums, {})):  # type: ignore[arg-type]
                break
            counts, trials = counts + rng.multinomial(trials, fractions), 2 * trials
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


def cover_proportion(target: str, p: float, runs: int = RUNS) -> tuple[float, float]:
    """How often the interval at the stop holds p, and the mean estimate over p, less one."""
    rng, covered, values = np.random.default_rng(1), 0, []
    for _ in range(runs):
        events, trials = run_until_stopped(p, GOALS[target](p), rng)
        e = PROPORTION.estimate({"events": events}, trials, {})
        covered += e.low <= p <= e.high
        values.append(e.value)
    return round(covered / runs, 5), round(float(np.mean(values)) / p - 1, 5)


def main() -> None:
    """Print the record."""
    fractions = [
        [target, p, *cover_proportion(target, p)]
        for target in GOALS
        for p in FRACTIONS
        if p < 0.5 or target not in ("--precision p", "--relative .5")  # reached by any first prefix
    ]
    tails = [
        [
            large_fraction,
            precision,
            *(cover_heavy_tail(s, large_fraction, precision, TAIL_RUNS)[0] for s in (MEAN, SIGNED)),
        ]
        for large_fraction in LARGE_FRACTIONS
        for precision in (5e-4, 5e-5)
    ]
    what = "shares: target, p, coverage of Clopper-Pearson, bias; tails: share of the large value, precision, coverage"
    rows = {name: ",\n  ".join(map(json.dumps, some)) for name, some in (("shares", fractions), ("tails", tails))}
    print(f'{{"what": "{what}", "runs": {RUNS}, "tail_runs": {TAIL_RUNS},')
    print(f' "shares": [\n  {rows["shares"]}\n ],\n "tails": [\n  {rows["tails"]}\n ]}}')


if __name__ == "__main__":
    main()
