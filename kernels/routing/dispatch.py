"""Select the kernel that runs the trials of the routing studies at a point."""

from ..machine.dispatch import KernelTable, serve_any_point


def is_for_lanes(n: int, f: int, links: int) -> bool:
    """Whether the lane kernels can sample f faulty nodes and two ends directly, without a complement and without faulty links."""
    return not links and 1 < f <= 2 ** (n - 1) - 2


def expect_close_pairs(n: int, f: int) -> float:
    """Return the expected number of pairs of f faulty nodes within distance 2."""
    return f * (f - 1) / 2 * n * (n + 1) / 2 / (1 << n)


def _choose_routing_kernel(n: int, f: int, links: int, k: int) -> str:
    """Select lanes if fault sets with close pairs are rare or small, because scalar code routes most of their messages."""
    if links or n < 7 or f < 2 or expect_close_pairs(n, f) > 3:
        return "scalar.ROUTING_SINGLE"
    if n <= 8:
        return "lanes.ROUTING_LANES_8"
    return "lanes.ROUTING_LANES_16" if n <= 16 else "lanes.ROUTING_LANES_32"


def _estimate_routing_times(n: int, f: int, links: int, k: int) -> dict[str, float]:
    """Return approximate nanoseconds of a trial by kernel: lanes are 7 to 14 times as fast."""
    return {_choose_routing_kernel(n, f, links, k): 80.0, "scalar.ROUTING_SINGLE": 800.0}


#: Conditions on (n, f, links, k).
ROUTING = KernelTable(
    __package__,
    {
        "scalar.ROUTING_SINGLE": serve_any_point,
        "lanes.ROUTING_LANES_8": lambda n, f, links, k: 3 <= n <= 8 and is_for_lanes(n, f, links),
        "lanes.ROUTING_LANES_16": lambda n, f, links, k: 9 <= n <= 16 and is_for_lanes(n, f, links),
        "lanes.ROUTING_LANES_32": lambda n, f, links, k: n >= 17 and is_for_lanes(n, f, links),
    },
    _choose_routing_kernel,
    {
        "scalar.ROUTING_SINGLE": 10,
        **dict.fromkeys(("lanes.ROUTING_LANES_8", "lanes.ROUTING_LANES_16", "lanes.ROUTING_LANES_32"), 18),
    },
    _estimate_routing_times,
)
ROUTING_SETS = KernelTable(__package__, {"scalar.ROUTING_SETS": serve_any_point})

#: Conditions on (n, rate, k).
ROUTING_RATE = KernelTable(__package__, {"rate.routing_rate": serve_any_point})
