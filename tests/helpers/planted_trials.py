"""Planted trials by kernel, and by the plain reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
from reference import planting as plain

from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.unsafe import replay
from fastcube.kernels.unsafe.layout import DIMENSIONS, UNSAFE_RARE
from fastcube.kernels.unsafe.planting import PLANTED_TRIALS, is_first_close_pair

KEY = np.uint64(0x5EED0123456789AB)


def sample_faults(t, n, f):
    faults, i, j = replay.unsafe_rare(KEY, t, n, f)
    return faults.tolist(), i, j


def count_trials(n, f, first, stop):
    slots = UNSAFE_RARE.new_tally()
    PLANTED_TRIALS(KEY, first, stop, np.array([n, f], np.float64), slots)
    return UNSAFE_RARE.read(slots)


def check_planted(n, f, first, stop):
    """Sums of everything over trials, where cubes of the rounds are small enough for the twin."""
    total, most = Counter(), {"rounds": (-1, -1), "largest": (-1, -1)}
    for t in range(first, stop):
        faults, i, j = sample_faults(t, n, f)
        assert plain.near(faults[i], faults[j]) and len(set(faults)) == f
        if plain.first_pair(faults) != (i, j):
            continue
        unsafe, rounds, largest = plain.outcome(n, faults)
        reached = [d for d in DIMENSIONS if d <= largest]
        total.update(["acceptance", *(f"unsafe_subcube_{d}" for d in reached[1:])])
        if reached[-1] > 1:
            total[f"unsafe_nodes_{reached[-1]}"] += unsafe
            total[f"unsafe_nodes_squared_{reached[-1]}"] += unsafe**2
        total.update(
            {"with_unsafe": unsafe > 0, "all_unsafe": largest == n, "rounds": rounds, "rounds_squared": rounds**2}
        )
        for name, value in (("rounds", rounds), ("largest", largest)):
            if value > most[name][0]:
                most[name] = (value, t)
    counts, maxima = count_trials(n, f, first, stop)
    assert counts == {c.name: total[c.name] for c in UNSAFE_RARE.counters}
    assert maxima == most


@kernel("boolean(uint64[::1], int64, int64, int64)")
def is_first_pair(labels, f, i, j):
    return is_first_close_pair(labels, f, i, j)
