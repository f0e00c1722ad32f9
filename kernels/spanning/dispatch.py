"""Which kernels count the trials of ``edst-broadcast``, at (n, d, packets), and of ``edge-disjoint-trees``: one serves each."""

from __future__ import annotations

from ..machine.dispatch import Table, anywhere

EDST_BROADCAST = Table(__package__, {"scalar.EDST_BROADCAST_SINGLE": anywhere})

#: At (n, f, links).
EDGE_DISJOINT_TREES = Table(__package__, {"scalar.EDGE_DISJOINT_TREES_SINGLE": anywhere})
