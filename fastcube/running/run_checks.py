"""Check what a run is asked for: before anything starts, and then against the results file that it resumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import ParameterError, check_range
from ..measure.goal import Goal
from ..measure.study import Study, Value, point_text
from ..measure.tally import Tally
from ..results.environment import check_numba_settings
from ..results.output import OutputFile
from ..results.reading import check_storable
from ..results.results import Results
from ..results.size import check_size


def check_seconds(max_seconds: float | None) -> None:
    """Raise ParameterError unless the time limit is positive, or None for no limit."""
    if max_seconds is not None and not max_seconds > 0:
        raise ParameterError(f"max-seconds must be positive, got {max_seconds}")


def check_run(
    study: Study,
    points: Sequence[Mapping[str, Value]],
    goal: Goal,
    seed: int,
    max_seconds: float | None,
    checkpoint: float | None,
) -> None:
    """Raise ParameterError for points, seed, limits or settings that no run can have, without a trial, engine or output.

    ``goal``, the engine and the name of the grid are checked elsewhere.
    """
    check_numba_settings()
    goal.check_points(study, points)
    check_range("seed", seed, 0, 2**63 - 1)
    check_seconds(max_seconds)
    if checkpoint is not None and not 1 <= checkpoint <= 86400:
        raise ParameterError(f"checkpoint must be in [1, 86400] seconds, got {checkpoint}")
    if not points:
        raise ParameterError(f"no points to run for {study.name}")


def check_capacity(file: OutputFile, results: Results, points: Sequence[Mapping[str, Value]], goal: Goal) -> None:
    """Raise ParameterError if the file could not hold these results with further points, or an own study's names and texts."""
    study = results.study
    ranges = sum(len(tally.ranges) for tally in results.tallies.values())
    check_size(study, {*results.tallies, *(tuple(point.values()) for point in points)}, ranges + len(points))
    if study.code and not results.tallies:  # a user's or another package's study
        example = {tuple(points[0].values()): Tally.empty(study.tally)}
        check_storable(Results(study, results.seed, example, goal), file.path)


def check_partition(results: Results, goal: Goal, path: str) -> None:
    """Raise ParameterError if a shard's file has trials of other shards, which a merge would find twice."""
    if goal.shard is None:
        return
    for point, tally in results:
        first, stop = goal.bounds(point)
        if tally.ranges and (tally.ranges[0][0] < first or tally.ranges[-1][1] > stop):
            in_file = f"trials {tally.ranges[0][0]}..{tally.ranges[-1][1] - 1} of {point_text(point)}"
            in_shard = f"shard {goal.shard[0]}/{goal.shard[1]} of {goal.trials_at(point)} trials is {first}..{stop - 1}"
            raise ParameterError(
                f"{path} holds {in_file}, but {in_shard}; use another output, or trials and shards that divide alike"
            )
