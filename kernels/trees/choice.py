"""Which kernel serves which point; all that serve one count the same to the last bit."""

from __future__ import annotations

from ..jit import Kernel
from .lattice import OPTIMAL_8, OPTIMAL_16
from .single import FIND_DENSE, FIND_SPARSE


def find_kernel(n: int, links: int, f: int) -> Kernel:
    """FIND_TREE's kernel for that many faulty links and nodes of Q_n, 1 <= n <= 62."""
    return FIND_DENSE if n <= 16 else FIND_SPARSE


def optimal_kernel(n: int, links: int, f: int) -> Kernel:
    """The optimum's kernel, 1 <= n <= 12: bytes while no trial has more dead links than they hold."""
    return OPTIMAL_8 if min(links + n * f, n << (n - 1)) <= 255 else OPTIMAL_16
