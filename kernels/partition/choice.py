"""The kernels of the search for 2-partitions, and which of them serves which (n, f).

All take ``params`` = (n, f), draw trial t's faults by the same words and fill the same tally, so wherever two of them serve
a point they agree to the last bit; the choice is one of speed alone.
"""

from __future__ import annotations

from ..jit import Kernel
from .bitmap import partition_marked
from .lanes import PARTITION_LANES
from .search import PARTITION_LISTED

# Most faults of Q_0, Q_1, ... for which lanes of trials are the fastest, measured to about a tenth; from Q_21 on the
# other way is the list.
_LANES = (0, 0, 16, 16, 16, 16, 15, 20, 24, 26, 28, 32, 40, 52, 72, 110, 160, 200, 280, 400, 560)
_LANES_OF_LARGE_CUBES = 450


def most_faults(n: int) -> int:
    """Most faults served in Q_n: one a 2-cube, and 65,536, where a trial takes milliseconds."""
    return min(1 << (n - 2), 65536)


def partition_kernel(n: int, f: int) -> Kernel:
    """The fastest kernel for f faults in Q_n, 2 <= n <= 62 and 0 <= f <= most_faults(n)."""
    if f <= (_LANES[n] if n <= 20 else _LANES_OF_LARGE_CUBES):
        return PARTITION_LANES[0 if n <= 8 else 1 if n <= 16 else 2]
    return partition_marked if n <= 20 else PARTITION_LISTED
