"""Select the kernel of ``multicast-deadlock``, at (n, f), and of ``multicast-wormhole``; one kernel serves each."""

from ..machine.dispatch import KernelTable, serve_any_point

MULTICAST_DEADLOCK = KernelTable(__package__, {"scalar.MULTICAST_DEADLOCK_SINGLE": serve_any_point})
MULTICAST_DEADLOCK_SETS = KernelTable(__package__, {"scalar.MULTICAST_DEADLOCK_SETS": serve_any_point})

#: Conditions on (n, f, senders, destinations).
MULTICAST_WORMHOLE = KernelTable(__package__, {"scalar.MULTICAST_WORMHOLE_SINGLE": serve_any_point})
