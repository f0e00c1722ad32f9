"""Sample the messages of trial t for replay, one function per study."""

from __future__ import annotations

import numpy as np

from ..draws.pairs import draw_pairs, pair_arrays
from ..draws.statuses import status_key, threshold
from ..machine.jit import kernel
from .scalar import dualcube_pairs


@kernel("Tuple((boolean, uint64, uint64, uint64))(uint64, int64, int64, float64)")
def sample_dualcube_routing(key, trial, m, rate):
    """Return whether the trial has a pair of nonfaulty nodes, its status key, s and t."""
    pairs = pair_arrays()
    n = draw_pairs(trial, trial + 1, dualcube_pairs(key, m, threshold(rate)), pairs)
    return n == 1, status_key(key, np.uint64(trial)), pairs.sources[0], pairs.targets[0]
