"""Select the kernel that runs the trials of the broadcasting study at a point."""

from math import comb

from ..machine.dispatch import KernelTable, serve_any_point

#: Most faults in lanes: for n > 32 the sum of this many intervals, each below 2^25, fits into a lane.
MOST_IN_LANES = 120

#: Most sets of offsets: their counts fit into the L2 cache, and a call broadcasts once per set.
MOST_SETS = 1 << 16


def is_countable(n: int, f: int, links: int) -> bool:
    """Whether the sets of f offsets in Q_n are few enough to be counted one by one."""
    return not links and 2 <= n <= 8 and 1 < f < 2 ** (n - 1) and comb(2**n - 1, f) <= MOST_SETS


def _is_for_lanes(n: int, f: int, links: int) -> bool:
    return not links and 0 < f <= MOST_IN_LANES and f < 2 ** (n - 1)


def _choose_broadcast_kernel(n: int, f: int, links: int) -> str:
    """Select a kernel.  In small cubes with many faults most trials in lanes are run again, one at a time.

    Measured for n = 5 .. 9 on an AMD EPYC (Zen 4) in November 2026, compiled for AVX2.
    """
    if is_countable(n, f, links):
        return "memoised.broadcast_counted"
    if n < 2 or not _is_for_lanes(n, f, links) or (n <= 9 and f * f > 2.5 * 2**n):
        return "scalar.BROADCAST_SINGLE"
    return f"lanes.BROADCAST_LANES_{16 if n <= 16 else 32}"


#: Conditions on (n, f, links).
BROADCAST = KernelTable(
    __package__,
    {
        "memoised.broadcast_counted": is_countable,
        "lanes.BROADCAST_LANES_16": lambda n, f, links: 2 <= n <= 16 and _is_for_lanes(n, f, links),
        "lanes.BROADCAST_LANES_32": lambda n, f, links: n >= 17 and _is_for_lanes(n, f, links),
        "scalar.BROADCAST_SINGLE": serve_any_point,
    },
    _choose_broadcast_kernel,
)
BROADCAST_SETS = KernelTable(__package__, {"scalar.BROADCAST_SETS": serve_any_point})
