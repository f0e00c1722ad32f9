"""What trials draw, for other people's simulators: their fault sets as arrays and as rows of CSV, without any algorithm.

The same as ``replay`` shows of each trial: a study's ``draw`` is what its ``explain`` begins with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ParameterError,
    check_line,
    check_range,
    command_line_text,
    join_alternatives,
    parse_count,
    suggest_name,
)
from ..networks.faults import RandomFaults
from . import registry
from .goal import MOST_TRIALS
from .grid import collect_values
from .study import Draw, Point, Study, Value, join_limited

#: Most trials in one array: some kB of Python objects each while it is made.
MAX_ROWS = 10**6

#: Most labels of a network whose lazily decided faults are listed.
MAX_LISTED = 2**20


def iter_draws(study: Study, point: Point, seed: int, first: int, stop: int) -> Iterator[Draw]:
    """What trials ``first .. stop - 1`` draw at a checked point, one after another.

    Raises ParameterError for a range that is none, or a study that does not say what its trials draw.
    """
    if study.draw is None:
        raise ParameterError(f"{study.name} does not say what its trials draw: it has no draw")
    check_range("seed", seed, 0, 2**63 - 1)
    check_range("first", first, 0, MOST_TRIALS - 1)
    check_range("stop", stop, first, MOST_TRIALS, f"for first={first}")
    key = study.key(seed, point)
    draw = study.draw
    return (draw(point, key, trial) for trial in range(first, stop))


def faulty_nodes(drawn: Draw) -> list[int]:
    """The faulty nodes of a trial, ascending.  Raises ParameterError for lazy ones among more than 2^20 labels."""
    faults = drawn.network.faulty_nodes
    if not isinstance(faults, RandomFaults):
        return sorted(faults)
    if 2**drawn.network.bits > MAX_LISTED:
        raise ParameterError(
            f"faulty_nodes must be among at most 2^20 labels to be listed, got 2^{drawn.network.bits}; status_key decides "
            "each node alone"
        )
    return np.flatnonzero(faults.among(np.arange(2**drawn.network.bits, dtype=np.uint64))).tolist()


def faulty_text(network: Any) -> str:
    """How many faulty nodes a hypercube has and which, the first 64, as a line of a replay."""
    faults = sorted(network.faulty_nodes)
    return f"  {len(faults)} faulty nodes: {join_limited(map(network.label, faults), 64)}"


def fault_sets(
    study: str | Study, /, *, stop: int, field: str = "faulty_nodes", seed: int = 0, first: int = 0, **axes: Any
) -> NDArray[Any]:
    """The fault sets of trials ``first`` to ``stop - 1`` at one point, as an array: what a run counts and replay shows.

    Parameters
    ----------
    study : str or Study
        Name of an installed study, a Python file that holds one, or a Study.
    stop : int
        The trial after the last, up to 2^60, and up to first + 10^6: ask for more in parts, or for rows of CSV.
    field : str
        ``faulty_nodes``, ``faulty_links``, or what else the study's trials draw, by the name that replay's JSON gives it
        (``s``, ``t``, ``destinations``, ``status_key``, ...).
    seed, first : int
        0 .. 2^63 - 1; the first trial.
    **axes
        The point, one value an axis.

    Returns
    -------
    array of shape (stop - first, ...)
        ``faulty_nodes``: int64, (trials, f), each row ascending; ``faulty_links``: int64, (trials, K, 2), pairs (u, v)
        with u < v, ascending; others: int64, (trials,) or (trials, many), but ``status_key`` uint64 and ``void`` bool.
        Where numbers differ from trial to trial, rows are as long as the longest and end with -1.

    Raises
    ------
    ParameterError
        For a point that is none, a name that is not drawn, and for ``faulty_nodes`` where every node of more than 2^20
        is faulty at a rate: there ``RandomFaults(rate, status_key)`` of :mod:`fastcube.networks.faults` decides each.

    Examples
    --------
    >>> sets = fc.fault_sets("unsafe-fraction", n=5, f=2, stop=3)
    >>> sets.shape, sets.dtype
    ((3, 2), dtype('int64'))
    """
    chosen = registry.register_live_study(study) if isinstance(study, Study) else registry.study(study)
    field = check_line("field", field)
    point = _single_point(chosen, axes)
    counts = {name: parse_count(name, given) for name, given in (("seed", seed), ("first", first), ("stop", stop))}
    trials = iter_draws(chosen, point, **counts)
    start = counts["first"]
    check_range("stop", counts["stop"], start, start + MAX_ROWS, f"for first={start}, in one array")
    rows = [_fault_set_value(drawn, field, chosen) for drawn in trials]
    if field == "status_key":
        return np.array(rows, np.uint64)
    if field == "void":
        return np.array(rows, np.bool_)
    if rows and isinstance(rows[0], int):
        return np.array(rows, np.int64)
    pair = (2,) if field == "faulty_links" else ()
    out = np.full((len(rows), max(map(len, rows), default=0), *pair), -1, np.int64)
    for at, row in zip(out, rows, strict=True):
        if row:
            at[: len(row)] = row
    return out


def _single_point(study: Study, axes: Mapping[str, Any]) -> Point:
    """The one point that the axes name.  Raises ParameterError unless each has one value."""
    given = {name: collect_values(study.axis(name), values) for name, values in axes.items()}
    for name, values in given.items():
        if len(values) != 1:
            raise ParameterError(f"{name} must be one value, got {len(values)}")
    return study.point({name: values[0] for name, values in given.items()})


def _fault_set_value(drawn: Draw, field: str, study: Study) -> Any:
    if field == "faulty_nodes":
        return faulty_nodes(drawn)
    if field == "faulty_links":
        return sorted(drawn.network.faulty_links)
    if field not in drawn.others:
        names = ["faulty_nodes", "faulty_links", *drawn.others]
        got = f"{command_line_text(field)}{suggest_name(field, names)}"
        raise ParameterError(f"field must be {join_alternatives(names)} for {study.name}, got {got}")
    return drawn.others[field]


def iter_csv_rows(
    study: Study, points: list[dict[str, Value]], seed: int, first: int, stop: int
) -> Iterator[list[str]]:
    """Rows of CSV, the header first: the axes, trial, faulty_nodes, faulty_links, and what else is drawn.

    Labels in a cell are separated by blanks, the ends of a link by ``-``.  ``lazy`` stands for the faulty nodes of more
    than 2^20 labels that are decided by rate and status_key.  Raises as :func:`iter_draws`.
    """
    headed = False
    for point in points:
        for trial, drawn in zip(range(first, stop), iter_draws(study, point, seed, first, stop), strict=True):
            if not headed:
                yield [*point, "trial", "faulty_nodes", "faulty_links", *drawn.others]
                headed = True
            yield [*map(str, point.values()), str(trial), *_csv_cells(drawn)]


def _csv_cells(drawn: Draw) -> list[str]:
    lazy = isinstance(drawn.network.faulty_nodes, RandomFaults) and 2**drawn.network.bits > MAX_LISTED
    links = " ".join(f"{u}-{v}" for u, v in sorted(drawn.network.faulty_links))
    others = (" ".join(map(str, v)) if isinstance(v, list) else str(v) for v in drawn.others.values())
    return ["lazy" if lazy else " ".join(map(str, faulty_nodes(drawn))), links, *others]
