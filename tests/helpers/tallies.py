"""Tallies of kernels, and of reference implementations, compared by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcube.kernels.tally.layout import Layout
from fastcube.measure.tally import Tally


def count_trials(kernel: Any, layout: Layout, params: Any, first: int, stop: int, key: int) -> Tally:
    """Count trials first .. stop - 1 by a kernel."""
    slots = layout.new_tally()
    kernel(np.uint64(key), first, stop, np.array(params, np.float64), slots)
    return Tally.from_slots(layout, first, stop, slots)


def new_counts(layout: Layout) -> dict[str, Any]:
    """Return counters of no trials by name, lists for those with bins."""
    return {c.name: [0] * c.bins if c.bins else 0 for c in layout.counters}


def check_counts(found: Mapping[str, Any], wanted: Mapping[str, Any], where: Any = "") -> None:
    """Assert that counters equal the reference's; the message names each difference."""
    wrong = []
    for name, value in wanted.items():
        for i, (a, b) in enumerate(zip(np.atleast_1d(found[name]), np.atleast_1d(value), strict=True)):
            if a != b:
                wrong.append(f"{name}{f'[{i}]' if np.ndim(value) else ''} is {a}, the reference gives {b}")
    assert not wrong, f"{'; '.join(wrong)} ({where})"
    assert found.keys() == wanted.keys(), where


def check_tally(found: Tally, wanted: Tally, where: Any = "") -> None:
    """Assert that trials, counters and maxima equal another tally's."""
    check_counts(found.counts, wanted.counts, where)
    assert (found.ranges, dict(found.maxima)) == (wanted.ranges, dict(wanted.maxima)), where
