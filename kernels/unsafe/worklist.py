"""Unsafe nodes by a worklist in an array of 2^n bytes: the kernel with which a run begins, because it compiles in a second.

It counts like ``scalar`` and the lanes.  Every faulty or unsafe node adds one to its neighbours, and a nonfaulty node that
reaches two is unsafe from the next round on.  So a trial takes O((f + u) n) for u unsafe nodes, and O(2^n) more if more than half
of the nodes are faulty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.nodes import count_sampled_labels, node_label
from ..machine.array_types import Bytes, Ints32
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .entry import record_trial
from .layout import F, N

#: Bit of ``near`` that marks faulty nodes; the bits below it count the faulty and unsafe neighbours, at most n <= 20.  So the
#: entry of a faulty node is never 1 or 2.
_FAULTY = np.uint8(128)


class Workspace(NamedTuple):
    """Scratch memory of trials at one point."""

    near: Bytes  #: (2^n): number of faulty and unsafe neighbours, with _FAULTY; all zero between two trials
    nodes: Ints32  #: (2^n): faulty nodes, then unsafe ones in the order of the rounds


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, f) = params."""
    nodes = np.int64(1) << np.int64(params[N])
    return Workspace(np.zeros(nodes, np.uint8), np.empty(nodes, np.int32))


@block
def _list_faults(key, t, n, f, work):
    """Mark trial ``t``'s faulty nodes in ``near``, which is all zero, and list them in ``nodes``."""
    near, nodes = work.near, work.nodes
    few = count_sampled_labels(n, f)
    count, j = np.int64(0), np.int64(0)
    while count < few:
        x = np.int64(node_label(key, t, j, n))
        j += 1
        if not near[x]:
            near[x] = _FAULTY
            nodes[count] = x
            count += 1
    if few < f:  # the sampled nodes are the nonfaulty ones
        count = np.int64(0)
        for v in range(near.size):
            near[v] ^= _FAULTY
            if near[v]:
                nodes[count] = v
                count += 1


@block
def run_worklist_trial(key, t, params, scratch, tally):
    """Count a trial; params (n, f), 1 <= n <= 20, 0 <= f <= 2^n."""
    n, f = np.int64(params[N]), np.int64(params[F])
    near, nodes = scratch.near, scratch.nodes
    _list_faults(key, t, n, f, scratch)
    begin, stop, rounds, close_pair = np.int64(0), f, np.int64(0), False
    while begin < stop:  # nodes[begin:stop] became faulty or unsafe last
        found = stop  # the end of the nodes that this round lists
        for i in range(begin, stop):
            for d in range(n):
                v = np.int64(nodes[i]) ^ (np.int64(1) << d)
                near[v] += np.uint8(1)
                if near[v] == 2:
                    nodes[found] = v
                    found += 1
                # Among the faults, any entry but 1 shows a close pair: v is faulty, or it has another faulty neighbour.
                close_pair |= begin == 0 and near[v] != 1
        rounds += found > stop
        begin, stop = stop, found
    record_trial(tally, n, t, np.uint64(stop - f), rounds, close_pair, stop == near.size)
    for i in range(stop):  # the only nodes with an entry that is not 0, with their neighbours
        near[nodes[i]] = 0
        for d in range(n):
            near[np.int64(nodes[i]) ^ (np.int64(1) << d)] = 0


WORKLIST = trials_kernel(set_up, run_worklist_trial)
