"""How channels are numbered, with one virtual channel or two.

Nodes are 4 a + q, with a the label of the supernode and q the place in it; channel j < 2 leads across the internal dimension
j, channel 2 + k across the k-th external one.
"""

from __future__ import annotations

from ..machine.jit import block


@block(always=True)
def channel_number(v, j, n, copy):
    """Number of the channel j of node v; inside a supernode those of copy 1 come behind all others."""
    if copy and j < 2:
        return (n << n) + 2 * v + j
    return n * v + j
