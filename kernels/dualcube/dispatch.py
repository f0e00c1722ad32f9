"""Which of the dual-cube kernels serves which point."""

from __future__ import annotations

from ..machine.dispatch import KernelTable, serve_any_point
from .layout import SEARCH_M

#: At (m, rate).  ``ROUTES`` leaves the search out: it counts what the study counts where that searches nothing.
DUALCUBE_ROUTING = KernelTable(
    __package__, {"scalar.TRIALS": serve_any_point, "scalar.ROUTES": lambda m, rate: m > SEARCH_M}
)
