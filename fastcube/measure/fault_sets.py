"""The random samples of trials, for other simulators: their fault sets as arrays and as rows of CSV, without any algorithm.

``replay`` shows the same data for each trial: a study's ``explain`` begins with its ``sample``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from ..networks.network import Network, require_listed_faults
from . import registry
from .fault_set_csv import ON_DEMAND
from .goal import MOST_TRIALS
from .grid import collect_values
from .names import FAULT_COLUMNS
from .study import Point, Sample, Study, Value, join_limited

#: Most trials in one array; each needs some kB of Python objects while the array is made.
MAX_ROWS = 10**6

#: Largest number of nodes of a network whose faults, if sampled on demand, are listed: the status of each node is computed.
MAX_LISTED = 2**20

#: Types of sampled quantities that are no int64.
_TYPES = {"status_key": np.uint64, "discarded": np.bool_}


def iter_samples(study: Study, point: Point, seed: int, first: int, trials: int) -> Iterator[Sample]:
    """Yield the samples of ``trials`` trials from trial ``first`` on, at a checked point.

    Raises ParameterError for a seed or trials out of range, or if the study does not declare its samples (``sample``).
    """
    if study.sample is None:
        raise ParameterError(f"study must declare its samples (sample=), got {study.name}")
    check_range("seed", seed, 0, 2**63 - 1)
    check_range("first", first, 0, MOST_TRIALS - 1)
    check_range("trials", trials, 0, MOST_TRIALS - first, f"for first={first}")
    key = study.key(seed, point)
    sample_trial = study.sample
    return (sample_trial(point, key, trial) for trial in range(first, first + trials))


def _is_listed(sample: Sample) -> bool:
    """Whether the faulty nodes are listed: unless they are sampled on demand, in a network of too many nodes."""
    return not isinstance(sample.network.faulty_nodes, RandomFaults) or 2**sample.network.bits <= MAX_LISTED


def list_faulty_nodes(sample: Sample) -> list[int]:
    """Return the faulty nodes of a trial, ascending.

    Raises ParameterError for faults that are sampled on demand in a network of more than 2^20 nodes.
    """
    faults, bits = sample.network.faulty_nodes, sample.network.bits
    if not _is_listed(sample):
        raise ParameterError(
            f"faulty_nodes must be among at most 2^20 labels to be listed, got 2^{bits}; status_key decides each node alone"
        )
    if isinstance(faults, RandomFaults):
        return np.flatnonzero(faults.among(np.arange(2**bits, dtype=np.uint64))).tolist()
    return sorted(faults)


def describe_faulty_nodes(network: Network) -> str:
    """Return the number of faulty nodes of a network and the first 64 of them, as a line of a replay."""
    faults = sorted(require_listed_faults(network))
    return f"  {len(faults)} faulty nodes: {join_limited(map(network.label, faults), 64)}"


def fault_sets(
    study: str | Study, /, *, trials: int, field: str = "faulty_nodes", seed: int = 0, first: int = 0, **axes: Any
) -> NDArray[Any]:
    """Return the fault sets of some trials at one point as an array, as a run samples them.

    Parameters
    ----------
    study : str or Study
        Name of an installed study, a Python file that holds one, or a Study.
    trials : int
        Number of trials, at most 10^6.  Ask for more trials in parts, or as rows of CSV.
    field : str
        ``faulty_nodes``, ``faulty_links``, or another sampled quantity, by its name in replay's JSON (``s``, ``t``,
        ``destinations``, ``status_key``, ...).
    seed, first : int
        ``seed`` in [0, 2^63 - 1]; ``first`` is the index of the first trial, and ``first + trials`` at most 2^60.
    **axes
        The point, one value per axis.

    Returns
    -------
    array of shape (trials, ...)
        ``faulty_nodes``: int64, (trials, f), each row ascending.  ``faulty_links``: int64, (trials, K, 2), pairs (u, v)
        with u < v, ascending.  Others: int64, (trials,) or (trials, many), but ``status_key`` uint64 and ``discarded`` bool.
        If the number of entries differs between trials, rows are as long as the longest and padded with -1.

    Raises
    ------
    ParameterError
        If the point is impossible, or the field is not sampled.  Also for ``faulty_nodes`` if each of more than 2^20 nodes is
        faulty at a rate: then ``RandomFaults(rate, status_key)`` of :mod:`fastcube.networks.faults` gives the status of each.

    Examples
    --------
    >>> sets = fc.fault_sets("unsafe-fraction", n=5, f=2, trials=3)
    >>> sets.shape, sets.dtype
    ((3, 2), dtype('int64'))
    """
    chosen = registry.register_live_study(study) if isinstance(study, Study) else registry.study(study)
    field = check_line("field", field)
    point = _parse_point(chosen, axes)
    counts = {name: parse_count(name, given) for name, given in (("seed", seed), ("first", first), ("trials", trials))}
    trials = counts.pop("trials")
    # one trial is sampled for an empty array, too, because its sample has the fields and their types
    samples = iter_samples(chosen, point, **counts, trials=trials or 1)
    if trials > MAX_ROWS:
        raise ParameterError(
            f"trials must be in [0, {MAX_ROWS}] in one array, got {trials}: "
            "take several arrays, or rows of CSV from `fastcube faults --trials T > FILE`"
        )
    values = [_find_value(sample, field, chosen) for sample in samples]
    is_number = isinstance(values[0], int)
    del values[trials:]
    if field in _TYPES or is_number:
        return np.array(values, _TYPES.get(field, np.int64))
    return _pad_rows(values, (2,) if field == "faulty_links" else ())


def _pad_rows(rows: Sequence[Sequence[Any]], entry_shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return lists of entries of one shape as the rows of an array, each padded with -1 to the length of the longest."""
    out = np.full((len(rows), max(map(len, rows), default=0), *entry_shape), -1, np.int64)
    for padded, row in zip(out, rows, strict=True):
        if row:
            padded[: len(row)] = row
    return out


def _parse_point(study: Study, axes: Mapping[str, Any]) -> Point:
    """Return the one point that the axes name.  Raises ParameterError unless each axis has one value."""
    given = {name: collect_values(study.axis(name), values) for name, values in axes.items()}
    for name, values in given.items():
        if len(values) != 1:
            raise ParameterError(f"{name} must be one value, got {len(values)}")
    return study.point({name: values[0] for name, values in given.items()})


def _find_value(sample: Sample, field: str, study: Study) -> Any:
    """Return a sampled quantity of a trial: an int, or a list.  Raises ParameterError for a name that is not sampled."""
    if field == "faulty_nodes":
        return list_faulty_nodes(sample)
    if field == "faulty_links":
        return sorted(sample.network.faulty_links)
    if field not in sample.others:
        names = ["faulty_nodes", "faulty_links", *sample.others]
        got = f"{command_line_text(field)}{suggest_name(field, names)}"
        raise ParameterError(f"field must be {join_alternatives(names)} for {study.name}, got {got}")
    return sample.others[field]


def iter_csv_rows(
    study: Study, points: list[dict[str, Value]], seed: int, first: int, trials: int
) -> Iterator[list[str]]:
    """Yield rows of CSV, the header first: the axes, trial, faulty_nodes, faulty_links, and the other sampled quantities.

    Labels in a cell are separated by spaces, the ends of a link by ``-``.  For more than 2^20 nodes with faults sampled on demand
    the cell of the faulty nodes is ``on demand``; rate and status_key determine them.  A quantity with the name of an axis, such
    as the ``destinations`` of ``multicast``, has the column ``sampled_NAME``.  Raises as ``iter_samples``.
    """
    # one trial is sampled for no trials, too, because the header needs the names of its quantities
    names = next(iter_samples(study, points[0], seed, first, trials or 1)).others
    yield [*points[0], *FAULT_COLUMNS, *(f"sampled_{name}" if name in points[0] else name for name in names)]
    for point in points:
        for trial, sample in enumerate(iter_samples(study, point, seed, first, trials), first):
            yield [*map(str, point.values()), str(trial), *_format_cells(sample)]


def _format_cells(sample: Sample) -> list[str]:
    """Return the cells of a trial after its number: faulty nodes, faulty links, and the other sampled quantities."""
    nodes = " ".join(map(str, list_faulty_nodes(sample))) if _is_listed(sample) else ON_DEMAND
    links = " ".join(f"{u}-{v}" for u, v in sorted(sample.network.faulty_links))
    others = (" ".join(map(str, value)) if isinstance(value, list) else str(value) for value in sample.others.values())
    return [nodes, links, *others]
