"""The kernels that count unsafe nodes under f random faults in Q_n, and which of them serves which (n, f).

All take ``params`` = (n, f), draw trial t's faults by the same words and fill the same tally (``unsafe_tally.py``), so
wherever two of them serve a point they agree to the last bit; the choice is one of speed alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import TRIALS_SIGNATURE, Kernel
from .lanes import UNSAFE_LANES_16, UNSAFE_LANES_32
from .single import unsafe_merged, unsafe_whole
from .small import UNSAFE_SMALL

#: Trials done at once: room for 8 MiB of trials left over, touched as far as needed.
_CHUNK = 1 << 20


class Sifted(Kernel):
    """A lane kernel, or none, and a plain one for the trials that it leaves over; called as any study's kernel."""

    def __init__(self, lanes: Kernel | None, plain: Kernel) -> None:
        super().__init__(self._run, TRIALS_SIGNATURE)
        self.parts = (plain,) if lanes is None else (lanes, plain)

    def _run(self, key: Any, first: int, stop: int, params: Any, tally: Any) -> None:
        left_over = np.empty(max(0, min(stop - first, _CHUNK)), np.int64)
        for begin in range(first, stop, _CHUNK):
            end = min(begin + _CHUNK, stop)
            count = end - begin
            if len(self.parts) == 1:
                left_over[:count] = np.arange(begin, end)
            else:
                count = self.parts[0].compiled(key, begin, end, params, tally, left_over)
            self.parts[-1].compiled(key, left_over, count, params, tally)

    @property
    def compiled(self) -> Any:
        """The kernels in turn, all compiled."""
        for part in self.parts:
            _ = part.compiled
        self.seconds = sum(part.seconds for part in self.parts)
        return self._run


MERGED = Sifted(None, unsafe_merged)
WHOLE = Sifted(None, unsafe_whole)
SIFTED_16_WHOLE = Sifted(UNSAFE_LANES_16, unsafe_whole)
SIFTED_16_MERGED = Sifted(UNSAFE_LANES_16, unsafe_merged)
SIFTED_32 = Sifted(UNSAFE_LANES_32, unsafe_merged)


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
        return SIFTED_16_WHOLE if n <= 12 else SIFTED_16_MERGED
    return SIFTED_32
