"""Which kernel counts the trials of gathering: one serves all."""

from __future__ import annotations

from ..machine.dispatch import KernelTable, serve_any_point
from .layout import MOST_DIMENSIONS

#: At (n, links, f).
GATHER = KernelTable(__package__, {"scalar.GATHER_SINGLE": lambda n, links, f: n <= MOST_DIMENSIONS})

GATHER_SETS = KernelTable(__package__, {"scalar.GATHER_SETS": serve_any_point})

#: Both studies run one kernel.
REROUTING = GATHER
