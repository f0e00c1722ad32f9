"""Tallies compared by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastcube.kernels.tally.layout import Layout


def new_counts(layout: Layout) -> dict[str, Any]:
    """Counters of no trials by name, lists for those with bins."""
    return {c.name: [0] * c.bins if c.bins else 0 for c in layout.counters}


def check_counts(found: Mapping[str, Any], wanted: Mapping[str, Any], where: str) -> None:
    """Assert that counters are those of the reference; the message names each that is not."""
    wrong = []
    for name, value in wanted.items():
        mine = found[name]
        for i, (a, b) in enumerate(zip(np.atleast_1d(mine), np.atleast_1d(value), strict=True)):
            if a != b:
                wrong.append(f"{name}{f'[{i}]' if np.ndim(value) else ''} is {a}, the reference gives {b}")
    assert not wrong, f"{'; '.join(wrong)} ({where})"
