"""Select the kernel that runs the trials of the gathering studies at a point: one kernel serves all points."""

from ..machine.dispatch import KernelTable, serve_any_point
from .layout import MOST_DIMENSIONS

#: Condition on (n, links, f).
GATHER = KernelTable(__package__, {"scalar.GATHER_SINGLE": lambda n, links, f: n <= MOST_DIMENSIONS})

GATHER_SETS = KernelTable(__package__, {"scalar.GATHER_SETS": serve_any_point})

#: The studies ``gather`` and ``rerouting`` use the same kernel.
REROUTING = GATHER
