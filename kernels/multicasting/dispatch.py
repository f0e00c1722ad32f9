"""Select the kernel of ``multicast`` at (n, f, destinations); one kernel serves all points."""

from ..machine.dispatch import KernelTable, serve_any_point

MULTICAST = KernelTable(__package__, {"scalar.MULTICAST_SINGLE": serve_any_point})
