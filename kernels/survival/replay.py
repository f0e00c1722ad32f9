"""What a trial draws, for replay: the faulty nodes, the names of the faulty links, and the pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draws.enumerate_sets import decode_link
from ..draws.faults import trial_faults
from ..machine import simd
from ..machine.bits import ONE, ZERO
from ..machine.jit import kernel
from . import drawing
from .lanes import draw_pairs


def sample_survival(key: int, t: int, n: int, f: int, links: int) -> tuple[Any, Any, Any]:
    """Trial ``t``: faulty nodes, faulty links as rows (end with bit d clear, d), s and t where there are two to draw."""
    nodes, pairs, ends = trial_faults(np.uint64(key), t, n, f, links, 2 if 2**n - f >= 2 else 0)
    below = (pairs[:, 0] ^ pairs[:, 1]) - ONE
    return nodes, np.column_stack((pairs[:, 0], np.bitwise_count(below))), ends


@kernel("Tuple((uint64[::1], uint64[:, ::1], uint64[::1]))(uint64, int64, int64, float64, float64)")
def sample_survival_rate(key, t, n, rate, link_rate):
    """The same where nodes and links fail at rates: both ascending, links by number (N4)."""
    nodes, many = np.int64(1) << n, n << (n - 1)
    group, lane = t - t % drawing.GROUP_TRIALS, t % drawing.GROUP_TRIALS
    room = drawing.drawing_workspace_for(n, np.int64(-1), many)
    law, link_law = drawing.rate_sampling_for(nodes, rate), drawing.rate_sampling_for(many, link_rate)
    rows = np.empty(8 * nodes, np.uint64)
    drawing.draw_nodes_by_rate(key, group, n, law, rows, room)
    works = np.empty(8 * many, np.uint64)
    drawing.draw_links_by_rate(key, group, n, link_law, works, room)
    word, bit = lane >> 6, ONE << np.uint64(lane & 63)
    labels = np.empty(nodes, np.uint64)
    f = np.int64(0)
    for v in range(nodes):
        if rows[8 * v + word] & bit == ZERO:
            labels[f] = v
            f += 1
    names = np.empty((many, 2), np.uint64)
    k = np.int64(0)
    for number in range(many):
        if works[8 * number + word] & bit == ZERO:
            names[k, 0] = decode_link(n, number)[0]
            names[k, 1] = number >> (n - 1)
            k += 1
    ends = np.empty(2 if nodes - f >= 2 else 0, np.uint64)
    if ends.size:
        s, other = draw_pairs(key, group, n, True, simd.splat(np.uint64(lane)), room.place, rows)
        ends[0], ends[1] = simd.union(s), simd.union(other)
    return labels[:f].copy(), names[:k].copy(), ends
