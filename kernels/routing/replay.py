"""Sample the faults and messages of trial t for replay, one function per study."""

from __future__ import annotations

from ..draws.faults import trial_faults
from ..draws.pairs import PairSource, draw_pairs, pair_arrays
from ..draws.statuses import threshold
from ..machine.jit import kernel


def routing(key, trial, n, f, links):
    """Return faulty nodes (uint64), faulty links as rows (lower end, upper end), and the message's ends s and t."""
    return trial_faults(key, trial, n, f, links, 2)


@kernel("Tuple((boolean, uint64, uint64, uint64))(uint64, int64, int64, float64)")
def routing_rate(key, trial, n, rate):
    """Return whether the trial has two nonfaulty ends, its status key, s and t."""
    pairs = pair_arrays()
    drawn = draw_pairs(trial, trial + 1, PairSource(key, threshold(rate), bits=n, new_statuses=True), pairs)
    return drawn == 1, pairs.keys[0], pairs.sources[0], pairs.targets[0]
