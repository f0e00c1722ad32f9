"""Which of the routing kernels serves which point; wherever two of them serve one they agree to the last bit."""

from __future__ import annotations

from ..jit import Kernel
from .lanes import ROUTING_LANES_8, ROUTING_LANES_16, ROUTING_LANES_32
from .single import ROUTING_SINGLE


def routing_kernel(n: int, f: int, links: int) -> Kernel:
    """The fastest kernel for f faulty nodes and so many faulty links in Q_n.

    Lanes pay while fault sets with close pairs are few, or small.
    """
    close = f * (f - 1) / 2 * n * (n + 1) / 2 / 2**n
    if links or n < 7 or f < 2 or close > 3:
        return ROUTING_SINGLE
    if n <= 8:
        return ROUTING_LANES_8
    return ROUTING_LANES_16 if n <= 16 else ROUTING_LANES_32
