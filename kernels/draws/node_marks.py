"""Sample faulty nodes and two ends into an array with one mark per node of Q_n, for kernels that compile quickly.

The trials are those of ``faults.draw`` without faulty links.  A label is sampled by itself, and a repeated one is found by its
mark, so a trial takes O(2^n + f).
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import block
from .nodes import count_sampled_labels, node_label

#: Marks of a node.  After ``mark_nodes`` all nonfaulty nodes are OPEN; a search may mark those that it has REACHED.
OPEN, REACHED, FAULTY = np.uint8(0), np.uint8(1), np.uint8(2)


@block
def mark_nodes(key, t, n, f, marks, faulty, ends):
    """Mark and list trial ``t``'s f faulty nodes of Q_n, and write its ends; return the number of ends, 0 or 2.

    All other nodes are OPEN.  There are no ends if fewer than two nodes are nonfaulty.  ``faulty`` has room for f labels and both
    ends, ``ends`` for two.

    If more than half of the nodes are faulty, the nonfaulty nodes are sampled and all others are faulty.
    """
    nodes = np.int64(1) << n
    sampled = count_sampled_labels(n, f)
    end_count = 2 if nodes - f >= 2 else 0
    unsampled_mark, sampled_mark = (OPEN, FAULTY) if sampled == f else (FAULTY, OPEN)
    for v in range(nodes):
        marks[v] = unsampled_mark
    # The ends are the labels after the faulty nodes, or the first two of the nonfaulty nodes.
    wanted = sampled + end_count if sampled == f else sampled
    first_end = f if sampled == f else np.int64(0)
    count, j = np.int64(0), np.int64(0)
    while count < wanted:
        x = np.int64(node_label(key, t, j, n))
        j += 1
        if marks[x] == unsampled_mark:
            marks[x] = (
                sampled_mark if count < sampled else REACHED
            )  # ends are marked too, so that they are not sampled twice
            faulty[count] = x
            if 0 <= count - first_end < end_count:
                ends[count - first_end] = x
            count += 1
    for i in range(end_count):
        marks[ends[i]] = OPEN
    if sampled < f:
        count = np.int64(0)
        for v in range(nodes):
            faulty[count] = v  # overwritten by the next node unless this one is faulty
            count += marks[v] == FAULTY
    return end_count
