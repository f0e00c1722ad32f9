"""Sample the faults of trial t for replay, one function per study."""

from __future__ import annotations

import numpy as np

from ..draws import bernoulli
from ..draws.binomial import binomial_table, sample_fault_count
from ..draws.node_rows import mark_faults, rows_for
from ..draws.nodes import fault_set
from ..machine.jit import kernel
from .planting import sample_close_pair, sample_low_labels, set_up, write_faults


def unsafe_fraction(key, trial, n, f):
    """Return the faulty nodes, uint64, in the order of the trial's sequence."""
    return fault_set(key, trial, n, f)


@kernel("Tuple((uint64[::1], int64, int64))(uint64, int64, int64, int64)")
def unsafe_rare(key, trial, n, f):
    """Return the faulty nodes by position, and the positions i < j of the close pair."""
    work = set_up(np.array([np.float64(n), np.float64(f)]))
    sample_low_labels(key, trial, n, f - 1, work)
    mask, pair = sample_close_pair(key, trial, f, work)
    i, j = write_faults(key, trial, n, f, mask, pair, work)
    return work.labels[:f].copy(), i, j


@kernel("void(uint64, int64, int64, float64, uint64[::1])")
def fault_state(key, t, n, p, state):
    """Write the bitmask of trial ``t``'s faulty nodes to ``state``, max(8, 2^(n-6)) words, for 1 <= n <= 30."""
    if p >= bernoulli.MIN_DIGIT_RATE:
        head, tail = bernoulli.digit_threshold(p)
        work = bernoulli.digit_scratch_for()
        bernoulli.digit_state(key, np.uint64(t), head, tail, n, state, work)
        return
    table = binomial_table(np.int64(1) << n, p)
    state[:] = 0
    k = sample_fault_count(key, np.uint64(t), table)
    mark_faults(key, np.uint64(t), n, k, state, rows_for())


def unsafe_critical(key, trial, n, p):
    """Return the faulty nodes, int64, ascending."""
    state = np.zeros(max(8, 2**n // 64), np.uint64)
    fault_state(np.uint64(key), trial, n, p, state)
    return np.flatnonzero(np.unpackbits(state.view(np.uint8), bitorder="little"))
