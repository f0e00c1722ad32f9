"""Select the kernel that searches for 2-partitions at a point (n, f)."""

from ..machine.dispatch import KernelTable, serve_any_point

# Largest number of faults of Q_0, Q_1, ... for which lanes of trials are the fastest, measured to about a tenth; from Q_21 on
# they are compared with the list.
_LANES_MIN_FAULTS = (0, 0, 16, 16, 16, 16, 15, 20, 24, 26, 28, 32, 40, 52, 72, 110, 160, 200, 280, 400, 560)
_LANES_OF_LARGE_CUBES = 450


def most_faults(n: int) -> int:
    """Return the largest number of faults served in Q_n: one per 2-cube, and 65,536, where a trial takes milliseconds."""
    return min(1 << (n - 2), 65536)


def _choose_partition_kernel(n: int, f: int) -> str:
    """Select a kernel by measured times, 2 <= n <= 62 and 0 <= f <= most_faults(n)."""
    if f <= (_LANES_MIN_FAULTS[n] if n <= 20 else _LANES_OF_LARGE_CUBES):
        return f"lanes.TWO_PARTITION_LANES_{8 if n <= 8 else 16 if n <= 16 else 32}"
    return "bitmap.two_partition_marked" if n <= 20 else "scalar.TWO_PARTITION_SINGLE"


TWO_PARTITION = KernelTable(
    __package__,
    {
        "scalar.TWO_PARTITION_SINGLE": serve_any_point,
        "bitmap.two_partition_marked": lambda n, f: n <= 20,
        "lanes.TWO_PARTITION_LANES_8": lambda n, f: n <= 8,
        "lanes.TWO_PARTITION_LANES_16": lambda n, f: 8 < n <= 16,
        "lanes.TWO_PARTITION_LANES_32": lambda n, f: n > 16,
    },
    _choose_partition_kernel,
)
