"""Which kernel counts the trials of gathering: one serves all."""

from __future__ import annotations

from ..machine.choice import Table, anywhere
from .layout import LARGEST

#: At (n, links, f).
GATHER = Table(__package__, {"single.GATHER_SINGLE": lambda n, links, f: n <= LARGEST})

GATHER_SETS = Table(__package__, {"single.GATHER_SETS": anywhere})

#: Both studies run one kernel.
REROUTING = GATHER
