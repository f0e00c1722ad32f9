"""Select the kernel of ``edst-broadcast``, at (n, d, packets), and of ``edge-disjoint-trees``; one kernel serves each."""

from ..machine.dispatch import KernelTable, serve_any_point

EDST_BROADCAST = KernelTable(__package__, {"scalar.EDST_BROADCAST_SINGLE": serve_any_point})

#: Conditions on (n, f, links).
EDGE_DISJOINT_TREES = KernelTable(__package__, {"scalar.EDGE_DISJOINT_TREES_SINGLE": serve_any_point})
