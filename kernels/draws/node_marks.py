"""Sample faulty nodes and two ends into an array with one mark per node of Q_n, for kernels that compile quickly.

The trials are those of ``faults.draw`` without faulty links.  A label is sampled by itself, and a repeated one is found by its
mark, so a trial takes O(2^n + f).
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import block
from .nodes import count_sampled_labels, node_label

#: Marks of a node; the first two are free for the use of searches.
OPEN, REACHED, FAULTY = np.uint8(0), np.uint8(1), np.uint8(2)


@block
def mark_nodes(key, t, n, f, marks, faulty, ends):
    """Mark and list trial ``t``'s f faulty nodes of Q_n, and write its ends; return the number of ends, 0 or 2.

    All other nodes are OPEN.  ``faulty`` has room for f labels and both ends.
    """
    nodes = np.int64(1) << n
    few = count_sampled_labels(n, f)
    several = 2 if nodes - f >= 2 else 0
    before, after = (OPEN, FAULTY) if few == f else (FAULTY, OPEN)
    for v in range(nodes):
        marks[v] = before
    wanted = few + several if few == f else few
    first = f if few == f else np.int64(0)  # place of s in the sequence of distinct labels
    count, j = np.int64(0), np.int64(0)
    while count < wanted:
        x = np.int64(node_label(key, t, j, n))
        j += 1
        if marks[x] == before:
            marks[x] = after if count < few else REACHED  # the ends, so that they are not sampled twice
            faulty[count] = x
            if 0 <= count - first < several:
                ends[count - first] = x
            count += 1
    for i in range(several):
        marks[ends[i]] = OPEN
    if few < f:
        count = np.int64(0)
        for v in range(nodes):
            faulty[count] = v
            count += marks[v] == FAULTY
    return several
