"""The names that results use in files, in tables and in calls.  Own names of a study are checked against them.

A results file has own names in two places.  At its root are the variables that people open by name: the number of trials, axes,
and statistics with their limits.  In the group ``raw`` every own name has a prefix that says what it names.  The table has one
column per axis between columns of its own.  ``list_names`` gives all names of a study in these places.  A new study and a study
that a file describes are checked against this one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..errors import ParameterError
from .binned import Distribution
from .statistics import Statistic

#: The variable with the number of trials at each point, and the groups of a results file.
TRIALS, RAW, STUDY, PROVENANCE = "trials", "raw", "study", "provenance"

#: The variables of a statistic at the root, by the attributes of an estimate: their endings and their descriptions.
ENDINGS = {
    "value": ("", "{}"),
    "stderr": ("_stderr", "standard error of: {}"),
    "low": ("_low", "lower 95% limit of: {}"),
    "high": ("_high", "upper 95% limit of: {}"),
}

#: Columns of the table, with their types, before and after the axes.
_FIRST_COLUMNS: dict[str, type] = {"study": str}
_LAST_COLUMNS: dict[str, type] = {
    "statistic": str,
    "trials": int,
    "eligible": int,
    "estimate": float,
    "stderr": float,
    "low": float,
    "high": float,
    "interval": str,
}

#: Columns of the fault sets of a study, besides its axes and what else a trial samples.
FAULT_COLUMNS = ("trial", "faulty_nodes", "faulty_links")

#: Parameters of ``fc.run`` and ``fc.fault_sets``, which take the axes as further keywords.
CALL_PARAMETERS = (
    *("grid", "output", "trials", "precision", "relative", "events", "target", "shard", "seed", "engine", "workers"),
    *("max_seconds", "progress", "force", "checkpoint", "study", "field", "first"),
)


def table_columns(axes: dict[str, type]) -> dict[str, type]:
    """Return the columns of ``Results.table``, in order, each with its type: str, int (int64) or float (float64)."""
    return {**_FIRST_COLUMNS, **axes, **_LAST_COLUMNS}


def value_dimension(statistic: str) -> str:
    """Return the name of a distribution's dimension of values at the root of a file."""
    return f"{statistic}_value"


def axis_dataset(axis: str) -> str:
    """Return the name of an axis' dataset in the group ``raw``."""
    return f"axis_{axis}"


def bin_dimension(counter: str) -> str:
    """Return the name of a counter's dimension of bins in the group ``raw``."""
    return f"bin_{counter}"


def list_names(axes: Sequence[str], statistics: Iterable[Statistic]) -> Iterator[tuple[str, str, str]]:
    """Yield each name at the root of a file, in a table or in a call: the place, the name, and what it names there."""
    root = "the results file"
    yield root, TRIALS, "the number of trials"
    for group in (RAW, STUDY, PROVENANCE):
        yield root, group, "a group"
    for axis in axes:
        yield root, axis, f"axis {axis}"
    for s in statistics:
        for ending, meaning in ENDINGS.values():
            yield root, s.name + ending, meaning.format(f"statistic {s.name}").replace(" of:", " of")
        if isinstance(s, Distribution):
            yield root, value_dimension(s.name), f"the values of statistic {s.name}"
    for place, names, what in (
        ("every table", table_columns({}), "a column"),
        ("a table of fault sets", FAULT_COLUMNS, "a column"),
        ("calls of fc.run and fc.fault_sets", CALL_PARAMETERS, "a parameter"),
    ):
        for name in names:
            yield place, name, what
        for axis in axes:
            yield place, axis, f"axis {axis}"


def check_names(study: str, axes: Sequence[str], statistics: Iterable[Statistic]) -> None:
    """Raise ParameterError, with both owners, if a study's own name means something else in the same place."""
    seen: dict[tuple[str, str], Any] = {}
    for place, name, what in list_names(axes, statistics):
        if (place, name) in seen:
            raise ParameterError(f"{what} of {study} must have another name: in {place} {name} is {seen[place, name]}")
        seen[place, name] = what
