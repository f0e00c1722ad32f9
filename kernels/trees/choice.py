"""Which kernel serves which point; all that serve one count the same to the last bit."""

from __future__ import annotations

from ..jit import Kernel
from .lanes import FIND_LANES_5, FIND_LANES_8, MOST
from .lattice import OPTIMAL_8, OPTIMAL_16
from .single import FIND_DENSE, FIND_SPARSE


def find_kernel(n: int, links: int, f: int) -> Kernel:
    """FIND_TREE's kernel for that many faulty links and nodes of Q_n, 1 <= n <= 62.

    Lanes pay while few of their cells are as full as n: those trials are done again by themselves.
    """
    if n > 16:
        return FIND_SPARSE
    ends_a_cell = 2 * links / min(64, 2**n)
    if f or not (4 <= n <= 12 and 1 <= links <= MOST) or ends_a_cell > 0.37 * n:
        return FIND_DENSE
    return FIND_LANES_5 if links < 32 else FIND_LANES_8


def optimal_kernel(n: int, links: int, f: int) -> Kernel:
    """The optimum's kernel, 1 <= n <= 12: bytes while no trial has more dead links than they hold."""
    return OPTIMAL_8 if min(links + n * f, n << (n - 1)) <= 255 else OPTIMAL_16
