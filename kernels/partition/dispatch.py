"""Select the kernel that searches for 2-partitions at a point (n, f)."""

from ..machine.dispatch import KernelTable, has_avx512, serve_any_point

#: Largest number of faults of Q_0, Q_1, ... for which lanes of trials are the fastest, with AVX-512 or without; from Q_21 on they
#: are compared with the list.  Measured on an AMD EPYC (Zen 4) in November 2026, without AVX-512 compiled for AVX2.
_MOST_IN_LANES = {
    True: (
        *(0, 0, 16, 16, 16, 16, 15, 20, 24, 26, 28, 32, 40, 58, 85, 127, 183, 260, 360, 520, 640, 900, 1050, 1100),
        *(1130, 1130, 1140, 1150, 1150, 1150, 1150, 1200, 1200),
    ),
    False: (
        *(0, 0, 16, 16, 16, 16, 13, 18, 23, 24, 28, 32, 40, 55, 82, 122, 178, 222, 300, 450, 530, 600, 700, 750),
        *(800, 800, 800, 800, 800, 800, 800, 850, 900),
    ),
}
#: From Q_33 on, where the filter compares a part of each label.
_LANES_OF_LARGE_CUBES = {True: 1700, False: 1024}

#: Largest number of faults of Q_20 for which the list is faster than the bitmap; in smaller cubes the bitmap is always faster.
_MOST_LISTED = 640


def most_faults(n: int) -> int:
    """Return the largest number of faults served in Q_n: one per 2-cube, and 65,536, where a trial takes milliseconds."""
    return min(1 << (n - 2), 65536)


def _choose_partition_kernel(n: int, f: int) -> str:
    """Select a kernel by measured times, 2 <= n <= 62 and 0 <= f <= most_faults(n)."""
    most = _MOST_IN_LANES[has_avx512()]
    if f <= (most[n] if n < len(most) else _LANES_OF_LARGE_CUBES[has_avx512()]):
        return f"lanes.TWO_PARTITION_LANES_{8 if n <= 8 else 16 if n <= 16 else 32}"
    is_marked = n < 20 or (n == 20 and f > _MOST_LISTED)
    return "bitmap.two_partition_marked" if is_marked else "scalar.TWO_PARTITION_SINGLE"


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
