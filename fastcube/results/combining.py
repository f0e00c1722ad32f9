"""Merge results files of disjoint trials: thousands of shards, in one process or several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import ParameterError, check_path, is_many, short_repr
from .parallel_sum import sum_files
from .provenance import provenance
from .reading import FileContents
from .results import Results


def merge(paths: Sequence[str | Path]) -> Results:
    """Merge the results files of disjoint trials, in any order, and return their total.

    Parameters
    ----------
    paths : sequence of path
        At least one file; a file may itself be the result of a merge.

    Returns
    -------
    Results

    Raises
    ------
    StudyMismatchError, TrialOverlapError
        If two files are of different studies or seeds, or share a trial.  Also the errors of :func:`fastcube.open_results`.

    Examples
    --------
    >>> for i in range(2):
    ...     _ = fc.run("unsafe-fraction", n=5, f=[1, 2], trials=1000, shard=(i, 2), output=f"part-{i}.h5")
    >>> fc.merge(["part-0.h5", "part-1.h5"]).trials
    2000
    """
    return merge_files(paths, 1)


def merge_files(paths: Sequence[str | Path], processes: int) -> Results:
    """Merge as ``merge`` does, in up to ``processes`` processes; these must be able to find the study by its name."""
    if not is_many(paths) or not (paths := list(paths)):
        raise ParameterError(f"paths must be a list of results files, at least one, got {short_repr(paths)}")
    total = sum_files([check_path("path", path) for path in paths], _history_entry, processes)
    out = total.total()
    out.history = [provenance(merged=total.kept)]
    return out


def _history_entry(name: str | Path, part: FileContents) -> dict[str, Any]:
    shard = part.about.goal.shard
    return {"file": Path(name).name, "digest": part.digest, "shard": shard and list(shard), "runs": part.about.history}
