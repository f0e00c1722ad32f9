"""The shards of a partition that lack trials, recognised by the trials that files hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..measure.goal import MOST_SHARDS
from ..measure.tally import fuse_ranges, missing_trials
from .provenance import record_entry
from .results import Results

#: Most times that a shard is asked whether it has a trial, where shards outnumber trials; after these, all count as having one.
_MOST_STEPS = 4 * MOST_SHARDS


def array_list(tasks: Sequence[int]) -> str:
    """Return task numbers in the form of Slurm's ``--array=``: ``0-2,7``."""
    runs = fuse_ranges((task, task + 1) for task in tasks)
    return ",".join(str(first) if stop - first == 1 else f"{first}-{stop - 1}" for first, stop in runs)


def tasks_of_shards(shards: Sequence[int], tasks: int) -> list[int]:
    """Return the tasks of a job array in which these shards run, if shard I runs in task I mod ``tasks``."""
    return sorted({shard % tasks for shard in shards})


def resubmission_text(shards: Sequence[int], count: int, tasks: int | None = None) -> str:
    """Return the advice which tasks of a job array to submit again, for ``tasks`` tasks or one per shard."""
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


def incomplete_shards(parts: Sequence[Results], whole: Results) -> tuple[int, list[int], int] | None:
    """Return the number of shards, the shards with missing trials, and the number of these trials; None without shards.

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
    most = parts[at].goal
    lacking = 0
    gaps: dict[int, set[tuple[int, int]]] = {}  # by number of trials, since points often lack the same trials
    for point, tally in whole:
        trials = most.trials_at(point)
        for first, stop in missing_trials(tally.ranges, 0, trials):
            lacking += stop - first
            gaps.setdefault(trials, set()).add((first, stop))
    touched: list[tuple[int, int]] = []
    alone: set[int] = set()
    steps = 0
    for trials, some in gaps.items():
        for first, stop in some:
            low, high = ((first + 1) * count - 1) // trials, (stop * count - 1) // trials + 1
            if trials >= count or steps > _MOST_STEPS:
                touched.append((low, high))
            else:
                steps += high - low
                alone.update(i for i in range(low, high) if trials * i // count < trials * (i + 1) // count)
    again: list[int] = []
    reached = 0
    for low, high in sorted([*touched, *((i, i + 1) for i in alone)]):
        again += range(max(low, reached), high)
        reached = max(reached, high)
    return count, again, lacking


def missing_shards_text(results: Results) -> str:
    """Return a text on missing shards and trials; empty if none are missing or the results are not from shards."""
    found = incomplete_shards([results], results)
    if found is None or not found[1]:
        return ""
    count, again, lacking = found
    return f"trials missing: {lacking:,}; {resubmission_text(again, count)}"
