"""The stages of a run: the trials that each point still needs, up to the goal or to the next prefix that is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..measure.goal import FIRST_PREFIX, MOST_TRIALS, Goal
from ..measure.study import Study, Value
from ..measure.tally import Tally
from ..results.results import Results
from .point_work import PointWork


class Stages:
    """The points of a run, as works in the order of the points, each planned up to its next stage.

    A goal with a fixed number of trials has one stage.  Other goals are evaluated on the prefixes [0, 2^k), so each prefix is a
    stage.

    Attributes
    ----------
    works : list of PointWork
        All works.  Points that one kernel call counts together share a work until one of them reaches its target.
    open : list of PointWork
        The works with remaining trials.
    adds_points : bool
        Whether the run has points that the results lacked.
    """

    def __init__(self, study: Study, results: Results, points: Sequence[dict[str, Value]], goal: Goal) -> None:
        self.study, self.results, self.goal = study, results, goal
        self.adds_points = any(tuple(point.values()) not in results.tallies for point in points)
        empty = Tally.empty(study.tally)
        groups: dict[Any, list[dict[str, Value]]] = {}  # points that are counted from the same trials
        for point in points:
            tally = results.tallies.setdefault(tuple(point.values()), empty)
            wanted = None if goal.is_adaptive else goal.bounds(point)
            groups.setdefault((study.curve_key(point), tally.ranges, wanted), []).append(point)
        self.works = [
            PointWork(study.tally, group, [results.tallies[tuple(p.values())] for p in group], study.together)
            for group in groups.values()
        ]
        self.open = [work for work in list(self.works) if self._plan_first(work)]

    def _plan_first(self, work: PointWork) -> bool:
        """Plan the first stage.  Return False if the work is done."""
        if not self.goal.is_adaptive:
            work.plan(*self.goal.bounds(work.points[0]))
            return bool(work.todo)
        ranges = work.tallies[0].ranges
        last = ranges[-1][1] if ranges else 0
        work.plan(0, self._limit_stop(max(FIRST_PREFIX, 1 << max(0, last - 1).bit_length())))
        return bool(work.todo) or self._plan_next(work)

    def _plan_next(self, work: PointWork) -> bool:
        """Evaluate the complete prefix, and plan the next one unless a target is reached.  Return False if the work is done."""
        while not work.todo:
            if work.stop >= self._limit_stop(MOST_TRIALS):
                return False
            known = zip(work.points, work.tallies, strict=True)
            reached = [self.goal.is_reached(self.study, point, tally) for point, tally in known]
            if all(reached):
                return False
            if any(reached):
                self.works.append(work.split(reached))
            work.plan(0, self._limit_stop(2 * work.stop))
        return True

    def _limit_stop(self, stop: int) -> int:
        """Return the end of a stage, at most the number of trials that the goal allows."""
        return min(stop, self.goal.trials or MOST_TRIALS)

    def advance(self, work: PointWork) -> None:
        """Begin the next stage of a work whose present stage is complete; after the last stage the work is closed."""
        if not work.todo and not work.running:
            work.settle()
            if not (self.goal.is_adaptive and self._plan_next(work)):
                self.open.remove(work)

    def store_tallies(self) -> None:
        """Put the tallies of all points into the results."""
        for work in self.works:
            work.settle()
            for point, tally in zip(work.points, work.tallies, strict=True):
                self.results.tallies[tuple(point.values())] = tally

    @property
    def done(self) -> int:
        """Number of trials counted at all points, with those that the results had before."""
        return sum(work.done for work in self.works)

    @property
    def wanted(self) -> int | None:
        """Number of trials at all points when the run is complete; None if it depends on the results."""
        return None if self.goal.is_adaptive else self.done + sum(work.remaining for work in self.open)
