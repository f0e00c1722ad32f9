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


#: Conditions on (n, f, links), the fastest kernel first.
BROADCAST = KernelTable(
    __package__,
    {
        "memoised.broadcast_counted": is_countable,
        "lanes.BROADCAST_LANES_16": lambda n, f, links: 2 <= n <= 16 and _is_for_lanes(n, f, links),
        "lanes.BROADCAST_LANES_32": lambda n, f, links: n >= 17 and _is_for_lanes(n, f, links),
        "scalar.BROADCAST_SINGLE": serve_any_point,
    },
)
BROADCAST_SETS = KernelTable(__package__, {"scalar.BROADCAST_SETS": serve_any_point})
