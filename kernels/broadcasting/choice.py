"""Which of the broadcasting kernels serves which point; wherever two of them serve one they agree to the last bit."""

from __future__ import annotations

from ..jit import Kernel
from .counted import broadcast_counted, countable
from .lanes import BROADCAST_LANES_16, BROADCAST_LANES_32, MOST_FAULTS
from .single import BROADCAST_SINGLE


def broadcast_kernel(n: int, f: int, links: int) -> Kernel:
    """The fastest kernel for f faulty nodes and so many faulty links in Q_n."""
    if not links and countable(n, f):
        return broadcast_counted
    if links or n < 2 or not 0 < f <= MOST_FAULTS or f >= 2 ** (n - 1):
        return BROADCAST_SINGLE
    return BROADCAST_LANES_16 if n <= 16 else BROADCAST_LANES_32
