"""Select the kernel that runs the trials of dual-cube routing at a point (m, rate)."""

from ..machine.dispatch import KernelTable, serve_any_point
from .layout import SEARCH_M

#: Conditions on (m, rate).  ``ROUTES`` does not search for shortest paths.  It gives the same counts as ``TRIALS`` where the
#: study does not search either.
DUALCUBE_ROUTING = KernelTable(
    __package__, {"scalar.TRIALS": serve_any_point, "scalar.ROUTES": lambda m, rate: m > SEARCH_M}
)
