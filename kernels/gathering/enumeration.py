"""Gathering over all fault sets of a size, n <= 10, by the blocks that the trials use."""

from __future__ import annotations

from ..jit import kernel
from ..sets import next_set
from ..trees.dead import clear_dead
from ..trees.enumeration import mark_set
from .trials import count_gathering, gathering_for


@kernel("void(int64, int64, int64, int64[::1], int64, int64, int64[::1])")
def enumerate_gathering(n, links, f, state, first, stop, tally):
    """Count fault sets ``first``, ..., ``stop - 1``, each as one trial; as ``trees.enumeration.enumerate_trees``."""
    s = gathering_for(n, links, f)
    for t in range(first, stop):
        count = mark_set(n, links, f, state, s.dead)
        count_gathering(n, t, count, s, tally)
        clear_dead(count, s.dead)
        next_set(n, links, f, state)
