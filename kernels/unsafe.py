"""The kernels that count unsafe nodes under f random faults in Q_n, and which of them serves which (n, f).

All take ``params`` = (n, f), draw trial t's faults by the same words and fill the same tally (``unsafe_tally.py``), so
wherever two of them serve a point they agree to the last bit; the choice is one of speed alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import Kernel
from .unsafe_lanes import UNSAFE_LANES_16, UNSAFE_LANES_32
from .unsafe_single import unsafe_listed, unsafe_merged, unsafe_whole
from .unsafe_small import UNSAFE_SMALL

#: Trials a lane kernel is given at once: room for 8 MiB of trials left over, touched as far as needed.
_CHUNK = 1 << 20


class Sifted(Kernel):
    """A lane kernel followed by the plain one for the trials that it leaves over; called as any study's kernel."""

    def __init__(self, lanes: Kernel) -> None:
        super().__init__(self._run, lanes.signature)
        self._lanes = lanes

    def _run(self, key: Any, first: int, stop: int, params: Any, tally: Any) -> None:
        left_over = np.empty(max(0, min(stop - first, _CHUNK)), np.int64)
        for begin in range(first, stop, _CHUNK):
            count = self._lanes.compiled(key, begin, min(begin + _CHUNK, stop), params, tally, left_over)
            unsafe_listed.compiled(key, left_over, count, params, tally)

    @property
    def compiled(self) -> Any:  # type: ignore[override]
        """The pair of kernels, both compiled."""
        _ = self._lanes.compiled, unsafe_listed.compiled
        self.seconds = self._lanes.seconds + unsafe_listed.seconds
        return self._run


SIFTED_16 = Sifted(UNSAFE_LANES_16)
SIFTED_32 = Sifted(UNSAFE_LANES_32)


def most_faults(n: int) -> int:
    """Most faults served in Q_n: all nodes up to n = 16, and 65536 beyond, where a trial takes about 0.1 s."""
    return min(1 << n, 65536)


def unsafe_kernel(n: int, f: int) -> Kernel:
    """The fastest kernel for f faults in Q_n, 1 <= n <= 62 and 0 <= f <= most_faults(n)."""
    if n <= 6:
        return UNSAFE_SMALL[0]
    return SIFTED_16 if n <= 16 else SIFTED_32
