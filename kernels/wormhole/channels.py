"""The numbers of channels, with one virtual channel or two.

Nodes are 4 a + q, with a the label of the supernode and q the place in it.  Channel j < 2 of a node crosses the internal
dimension j, channel 2 + k the k-th external dimension.  With two virtual channels the channels inside supernodes have a copy 0
and a copy 1, which the messages D_L use.
"""

from __future__ import annotations

from ..machine.jit import block


@block(always=True)
def channel_number(v, j, n, is_copy1):
    """Return the number of channel j of node v, of its copy 1 if ``is_copy1`` (bool) and if it has copies.

    The numbers of copies 1 come after all others.
    """
    if is_copy1 and j < 2:
        return (n << n) + 2 * v + j
    return n * v + j
