"""Select the kernel that runs the trials of the routing studies at a point."""

from ..machine.dispatch import KernelTable, has_avx512, serve_any_point
from .layout import MAX_SEARCHED_DIMENSION


def is_for_lanes(n: int, f: int, links: int) -> bool:
    """Whether the lane kernels can sample f faulty nodes and two ends directly, without a complement and without faulty links."""
    return not links and 1 < f <= 2 ** (n - 1) - 2


def expect_close_pairs(n: int, f: int) -> float:
    """Return the expected number of pairs of f faulty nodes within distance 2."""
    return f * (f - 1) / 2 * n * (n + 1) / 2 / (1 << n)


#: Largest number of faults of Q_0, Q_1, ... for which lanes of trials are the fastest, with AVX-512 or without.  Measured on an
#: AMD EPYC (Zen 4) in November 2026, without AVX-512 compiled for AVX2.
_MOST_IN_LANES = {
    True: (0, 0, 0, 2, 6, 14, 18, 26, 44, 52, 58, 70, 85, 100, 125, 135, 145, 85, 95, 125, 165, 205, 260, 320, 400),
    False: (0, 0, 0, 2, 6, 14, 19, 30, 47, 48, 50, 60, 76, 82, 88, 90, 92, 57, 70, 95, 118, 150, 190, 240, 300),
}
#: From Q_25 on: the largest expected number of pairs of faults within distance 2 in Q_24, the factor for each dimension more, and
#: the number of faults above which comparing all pairs takes longer than looking the nodes up.
_CLOSE_IN_LARGE_CUBES = {True: (1.4, 0.875), False: (0.75, 0.93)}
_MOST_COMPARED = 4000


def _is_faster_in_lanes(n: int, f: int) -> bool:
    """Whether lanes of trials are faster than one trial at a time."""
    most = _MOST_IN_LANES[has_avx512()]
    if n < len(most):
        return f <= most[n]
    close, factor = _CLOSE_IN_LARGE_CUBES[has_avx512()]
    return f <= _MOST_COMPARED and expect_close_pairs(n, f) <= close * factor ** (n - 24)


def _choose_routing_kernel(n: int, f: int, links: int, k: int) -> str:
    """Select lanes unless most messages need a detour, or the pairs of faults are so many that scalar code finds them faster."""
    if not is_for_lanes(n, f, links) or not _is_faster_in_lanes(n, f):
        return "scalar.ROUTING_SINGLE"
    return f"lanes.ROUTING_LANES_{8 if n <= 8 else 16 if n <= 16 else 32}"


def _is_for_bytes(n: int, f: int, links: int, k: int) -> bool:
    """Whether a trial fits in one byte per node: few nodes, and no faulty links."""
    return not links and n <= MAX_SEARCHED_DIMENSION


def _estimate_routing_times(n: int, f: int, links: int, k: int) -> dict[str, float]:
    """Return approximate nanoseconds of a trial by kernel."""
    times = {_choose_routing_kernel(n, f, links, k): 10.0, "scalar.ROUTING_SINGLE": 100.0 + 16.0 * f}
    if _is_for_bytes(n, f, links, k):
        spread = min(1.0, (expect_close_pairs(n, f) / 4) ** 2)  # probability that most nodes are unsafe
        times["bytes_per_node.ROUTING_BYTES"] = 2 * times["scalar.ROUTING_SINGLE"] + spread * 2 * n * 2**n
    return times


#: Conditions on (n, f, links, k).
ROUTING = KernelTable(
    __package__,
    {
        "scalar.ROUTING_SINGLE": serve_any_point,
        "bytes_per_node.ROUTING_BYTES": _is_for_bytes,
        "lanes.ROUTING_LANES_8": lambda n, f, links, k: 3 <= n <= 8 and is_for_lanes(n, f, links),
        "lanes.ROUTING_LANES_16": lambda n, f, links, k: 9 <= n <= 16 and is_for_lanes(n, f, links),
        "lanes.ROUTING_LANES_32": lambda n, f, links, k: n >= 17 and is_for_lanes(n, f, links),
    },
    _choose_routing_kernel,
    {
        "scalar.ROUTING_SINGLE": 10,
        "bytes_per_node.ROUTING_BYTES": 4.5,
        **dict.fromkeys(("lanes.ROUTING_LANES_8", "lanes.ROUTING_LANES_16", "lanes.ROUTING_LANES_32"), 18),
    },
    _estimate_routing_times,
)
ROUTING_SETS = KernelTable(__package__, {"scalar.ROUTING_SETS": serve_any_point})

#: Conditions on (n, rate, k).
ROUTING_RATE = KernelTable(__package__, {"rate.routing_rate": serve_any_point})
