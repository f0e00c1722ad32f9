"""The time that runs lost because a faster kernel was not compiled, kept beside the kernel's cache entry.

A run does not compile a kernel that saves it less time than the compilation takes.  Many such runs together may lose more than
one compilation takes.  So the seconds that they lose are added up, and a run that finds a sum above the time of the compilation
compiles the kernel first.  As in the ski-rental problem, this costs at most twice as much as the best choice would have cost,
however often the command runs.  Does not import numba.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

from .cache_roots import read_regular_file, write_file

if TYPE_CHECKING:
    from .cache import CacheEntry


class LostTime:
    """The lost seconds of one kernel, in a file of a few bytes; without a writable cache they are 0 and are not kept.

    Processes that add at the same moment may lose a sum, which only delays the compilation.
    """

    def __init__(self, entry: CacheEntry | None) -> None:
        self._entry = entry

    @property
    def seconds(self) -> float:
        """The sum so far; 0.0 if there is none, or if the file is damaged."""
        with contextlib.suppress(OSError, ValueError):
            if self._entry is not None:
                seconds = float(read_regular_file(self._entry.lost))
                return seconds if 0 < seconds < math.inf else 0.0
        return 0.0

    def add(self, seconds: float) -> None:
        """Add what a run has lost."""
        with contextlib.suppress(OSError):
            if self._entry is not None:
                self._entry.make_folders()
                write_file(self._entry.lost, f"{self.seconds + seconds:.3f}\n".encode(), 0o600)

    def forget(self) -> None:
        """Begin again at 0, because the kernel is compiled or will be now."""
        with contextlib.suppress(OSError):
            if self._entry is not None:
                self._entry.lost.unlink(missing_ok=True)
