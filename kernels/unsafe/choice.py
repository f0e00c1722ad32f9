"""The kernels that count unsafe nodes under f random faults in Q_n, and which of them serves which (n, f).

All take ``params`` = (n, f), draw trial t's faults by the same words and fill the same tally (``layout.SPARSE``), so
wherever two of them serve a point they agree to the last bit; the choice is one of speed alone.
"""

from __future__ import annotations

from ..jit import Kernel
from .lanes import LANES_16_MERGED, LANES_16_WHOLE, LANES_32
from .single import MERGED, WHOLE
from .small import UNSAFE_SMALL


def most_faults(n: int) -> int:
    """Most faults served in Q_n: all nodes up to n = 16, and 65536 beyond, where a trial takes about 0.1 s."""
    return min(1 << n, 65536)


def unsafe_kernel(n: int, f: int) -> Kernel:
    """The fastest kernel for f faults in Q_n, 1 <= n <= 62 and 0 <= f <= most_faults(n).

    Lanes of trials pay while large subcubes are rare: measured, up to about 2 expected pairs of faults within
    distance 2 for n = 7 and 8, and 3 beyond, where the whole cube costs more.  A tenth either way changes little.
    """
    if n <= 6:
        return UNSAFE_SMALL[0]
    close = f * (f - 1) / 2 * n * (n + 1) / 2 / 2**n
    if close > (2 if n <= 8 else 3):
        return UNSAFE_SMALL[n - 6] if n <= 8 else WHOLE if n <= 20 else MERGED
    if n <= 16:
        return LANES_16_WHOLE if n <= 12 else LANES_16_MERGED
    return LANES_32
