"""Which kernel counts the trials of gathering: one serves all."""

from __future__ import annotations

from ..machine.dispatch import Table, anywhere
from .layout import LARGEST

#: At (n, links, f).
GATHER = Table(__package__, {"scalar.GATHER_SINGLE": lambda n, links, f: n <= LARGEST})

GATHER_SETS = Table(__package__, {"scalar.GATHER_SETS": anywhere})

#: Both studies run one kernel.
REROUTING = GATHER
