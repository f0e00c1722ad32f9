"""The shards of a partition that lack trials, recognised by the trials that files hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..measure.goal import MOST_SHARDS
from ..measure.tally import fuse_ranges, missing_trials
from .provenance import record_entry
from .results import Results

#: Most times that a shard is asked whether it has a trial, where shards outnumber trials; after these, all count as having one.
_MOST_STEPS = 4 * MOST_SHARDS


class IncompleteShards(NamedTuple):
    """The shards of a partition that lack trials."""

    total: int  #: number of all shards
    again: list[int]  #: the shards with missing trials, ascending
    missing: int  #: number of missing trials


def array_list(tasks: Sequence[int]) -> str:
    """Return task numbers in the form of Slurm's ``--array=``: ``0-2,7``."""
    runs = fuse_ranges((task, task + 1) for task in tasks)
    return ",".join(str(first) if stop - first == 1 else f"{first}-{stop - 1}" for first, stop in runs)


def tasks_of_shards(shards: Sequence[int], tasks: int) -> list[int]:
    """Return the tasks of a job array in which these shards run, if shard I runs in task I mod ``tasks``."""
    return sorted({shard % tasks for shard in shards})


def resubmission_text(shards: Sequence[int], count: int, tasks: int | None = None) -> str:
    """Return the advice which tasks to submit again for these of ``count`` shards, in an array of ``tasks`` or one per shard."""
    if tasks is None or tasks == count:
        return f"resubmit: --array={array_list(shards)} (of {count} shards, one per task)"
    again = array_list(tasks_of_shards(shards, tasks))
    return f"resubmit: --array={again} (of {tasks} tasks, for shards {array_list(shards)} of {count})"


def _merged_files(history: Sequence[Any]) -> Iterator[Any]:
    """Yield the records of the merged files, and of the files that these were merged from."""
    waiting = [*history]
    while waiting:
        merged = record_entry(waiting.pop(), "resources", "merged")
        for file in merged if isinstance(merged, list) else []:
            yield file
            runs = record_entry(file, "runs")
            waiting += runs if isinstance(runs, list) else []


def _shard_total(file: Any) -> int:
    """Return the number of shards of a merged file's run, by its record; 0 if it was no shard."""
    match record_entry(file, "shard"):
        case [int(), int(count)] if 0 < count <= MOST_SHARDS:
            return count
    return 0


def _shard_count(part: Results) -> int:
    """Return the number of shards, if the file is a shard or was merged from shards; else 0."""
    return part.goal.shard[1] if part.goal.shard else max(map(_shard_total, _merged_files(part.history)), default=0)


def incomplete_shards(parts: Sequence[Results], whole: Results) -> IncompleteShards | None:
    """Return the shards with missing trials, given the results of all files and their sum; None if no file comes from shards.

    Only ranges of trials count, so merged files and shards of a coarser partition are recognised by their content.
    """
    counts = [_shard_count(part) for part in parts]
    goals = [
        (part.goal.trials, count, i)
        for i, (part, count) in enumerate(zip(parts, counts, strict=True))
        if count and part.goal.trials
    ]
    if not goals:
        return None
    _, count, at = max(goals)
    goal = parts[at].goal  # of most trials
    missing = 0
    gaps: dict[int, set[tuple[int, int]]] = {}  # by number of trials, since points often lack the same trials
    for point, tally in whole:
        trials = goal.trials_at(point)
        for first, stop in missing_trials(tally.ranges, 0, trials):
            missing += stop - first
            gaps.setdefault(trials, set()).add((first, stop))
    ranges: list[tuple[int, int]] = []  # of shards that lack trials, with overlaps
    single_shards: set[int] = set()  # further ones, where some shards between them have no trial
    steps = 0
    for trials, gaps_of_points in gaps.items():
        for first, stop in gaps_of_points:
            low, high = ((first + 1) * count - 1) // trials, (stop * count - 1) // trials + 1
            if trials >= count or steps > _MOST_STEPS:
                ranges.append((low, high))
            else:
                steps += high - low
                single_shards.update(i for i in range(low, high) if trials * i // count < trials * (i + 1) // count)
    again: list[int] = []
    listed = 0  # all shards below this number are listed, or lack nothing
    for low, high in sorted([*ranges, *((i, i + 1) for i in single_shards)]):
        again += range(max(low, listed), high)
        listed = max(listed, high)
    return IncompleteShards(count, again, missing)


def missing_shards_text(results: Results) -> str:
    """Return a text on missing shards and trials; empty if none are missing or the results are not from shards."""
    found = incomplete_shards([results], results)
    if found is None or not found.again:
        return ""
    return f"trials missing: {found.missing:,}; {resubmission_text(found.again, found.total)}"
