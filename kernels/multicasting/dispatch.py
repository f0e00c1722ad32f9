"""Which kernel counts the trials of ``multicast`` at (n, f, destinations): one serves all."""

from __future__ import annotations

from ..machine.dispatch import Table, anywhere

MULTICAST = Table(__package__, {"scalar.MULTICAST_SINGLE": anywhere})
