"""Limits on the size of results: every reading command keeps within 20 s and 500 MB on one core, and every run respects them.

Reading turns each number of a file into a Python object of some hundred bytes, so the limits are counts of numbers.
CPU time measured at the limit, 65,537 points of a study with two statistics (1.8 million numbers), on a busy machine: `info` 4 s,
`show` 9 to 13 s, `run` 13 s, `merge` 15 s, `plot` at most 20 s.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

from ..errors import ParameterError
from ..measure.binned import Distribution
from ..measure.grid import MOST_POINTS
from ..measure.schema import Key, width_of_statistic
from ..measure.study import Measure

#: Largest number of stored numbers: values, counters, maxima and statistics' numbers per point, and three per range.
MOST_NUMBERS = 2_000_000

#: Largest number of estimates and limits on the product of the axes: 80 MB.
MOST_CELLS = 10_000_000

#: Largest number of counters, maxima and statistics of a study.
MOST_PARTS = 1000

#: Largest size of a file in bytes: the numbers above without compression, and as much again for texts.
MOST_BYTES = 2**27

#: Largest number of characters of a JSON text: a million numbers, or 5,000 runs that led to a file.
MOST_TEXT = 2**23

#: Counters of several limbs are stored in base 2^62, least significant first.
LIMB_BITS = 62


def limbs_of(digits: int) -> int:
    """Return the limbs that hold any sum of ``digits`` base-2^32 digits over 2^60 trials: 1 for one digit, else digits/2 + 1."""
    return 1 if digits == 1 else digits // 2 + 1


def columns_per_point(measure: Measure) -> int:
    """Return how many numbers are stored per point."""
    counters = sum(counter.bins or limbs_of(counter.digits) for counter in measure.tally.counters)
    numbers = sum(width_of_statistic(statistic) for statistic in measure.statistics)
    return len(measure.axes) + counters + 2 * len(measure.tally.maxima) + numbers


def count_cells(measure: Measure, keys: Collection[Key]) -> int:
    """Return how many numbers the estimates and limits at these points have, on the product of their values."""
    bins = {counter.name: counter.bins for counter in measure.tally.counters}
    each = sum(4 * (bins[s.counter] if isinstance(s, Distribution) else 1) for s in measure.statistics)
    return (1 + each) * prod(len({key[i] for key in keys}) for i in range(len(measure.axes)))


def check_size(measure: Measure, keys: Collection[Key], ranges: int) -> None:
    """Raise ParameterError for more points or ranges of trials than a results file can hold."""
    parts: Sequence[Any] = (*measure.tally.counters, *measure.tally.maxima, *measure.statistics)
    if len(parts) > MOST_PARTS:
        raise ParameterError(f"a study takes at most {MOST_PARTS} counters, maxima and statistics, got {len(parts)}")
    if len(keys) > MOST_POINTS:
        raise ParameterError(f"results take at most {MOST_POINTS} points, got {len(keys)} of {measure.name}")
    numbers = columns_per_point(measure) * len(keys) + 3 * ranges
    if numbers > MOST_NUMBERS:
        raise ParameterError(
            f"results of {measure.name} take at most {MOST_NUMBERS} numbers ({columns_per_point(measure)} a point, 3 a "
            f"range of trials), got {numbers}: {len(keys)} points, {ranges} ranges"
        )
    if (product := count_cells(measure, keys)) > MOST_CELLS:
        raise ParameterError(
            f"the product of the axes' values takes at most {MOST_CELLS} estimates and limits, got {product}: "
            f"split the {len(keys)} points over several outputs"
        )
