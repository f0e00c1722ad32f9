"""The numbers of channels, with one virtual channel or two.

Nodes are 4 a + q, with a the label of the supernode and q the place in it.  Channel j < 2 crosses the internal dimension j,
channel 2 + k the k-th external dimension.
"""

from __future__ import annotations

from ..machine.jit import block


@block(always=True)
def channel_number(v, j, n, copy):
    """Return the number of channel j of node v; channels of copy 1 inside supernodes come after all others."""
    if copy and j < 2:
        return (n << n) + 2 * v + j
    return n * v + j
