"""Which kernels count the trials of ``multicast-deadlock``, at (n, f), and of ``multicast-wormhole``: one serves each."""

from __future__ import annotations

from ..machine.dispatch import Table, anywhere

MULTICAST_DEADLOCK = Table(__package__, {"scalar.MULTICAST_DEADLOCK_SINGLE": anywhere})
MULTICAST_DEADLOCK_SETS = Table(__package__, {"scalar.MULTICAST_DEADLOCK_SETS": anywhere})

#: At (n, f, senders, destinations).
MULTICAST_WORMHOLE = Table(__package__, {"scalar.MULTICAST_WORMHOLE_SINGLE": anywhere})
