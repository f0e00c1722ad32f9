"""Select the kernel that runs the trials of the studies of routing rules at a point."""

from collections.abc import Callable, Mapping

from ..machine.dispatch import KernelTable, has_avx512, serve_any_point
from ..routing.dispatch import expect_close_pairs, is_for_lanes
from ..routing.layout import MAX_SEARCHED_DIMENSION

#: Faults of Q_13, Q_14, ... up to which lanes are faster than one trial at a time, with AVX-512 or without.  The last number
#: holds for all larger cubes, too.  With more faults nearly all trials have two faults within distance 2, or there are too many
#: pairs to compare.  Measured on an AMD EPYC (Zen 4) in November 2026, without AVX-512 compiled for AVX2.
_MOST_IN_LANES_OF_LARGE = {
    True: (48, 50, 65, 80, 85, 95, 120, 150, 185, 230, 290, 350, 450, 600, 800, 1050, 1350, 1700, 3500),
    False: (36, 40, 52, 65, 65, 70, 85, 105, 135, 170, 220, 280, 350, 460, 590, 770, 1000, 1250, 2900),
}

#: Faults up to which lanes of whole cubes are faster than one trial at a time, with AVX-512 or without, measured likewise.
_MOST_IN_WHOLE_CUBES = {True: {9: 254, 10: 400, 11: 460, 12: 500}, False: {9: 160, 10: 230, 11: 225, 12: 310}}


def _make_chooser(most_in_lanes: Mapping[bool, Mapping[int, int]]) -> Callable[[int, int, int], str]:
    """Return the function that selects a kernel.

    For n = 9 .. 12 lanes are used up to a number of faults, ``most_in_lanes[has_avx512()][n]``.
    """

    def choose_kernel(n: int, f: int, links: int) -> str:
        if n < 6 or not is_for_lanes(n, f, links):
            return "scalar.ROUTING_RULES_SINGLE"
        if n <= 8:
            return "whole_cube.ROUTING_RULES_WHOLE_8"
        if n <= 12 and f > most_in_lanes[has_avx512()][n]:
            is_for_whole_cubes = f <= _MOST_IN_WHOLE_CUBES[has_avx512()][n]
            return "whole_cube.ROUTING_RULES_WHOLE_16" if is_for_whole_cubes else "scalar.ROUTING_RULES_SINGLE"
        large = _MOST_IN_LANES_OF_LARGE[has_avx512()]
        if n > 12 and f > large[min(n - 13, len(large) - 1)]:
            return "scalar.ROUTING_RULES_SINGLE"
        return f"lanes.ROUTING_RULES_LANES_{16 if n <= 16 else 32}"

    return choose_kernel


#: The points (n, f, links) that each kernel serves.
_KERNELS = {
    "scalar.ROUTING_RULES_SINGLE": serve_any_point,
    "bytes_per_node.ROUTING_RULES_BYTES": lambda n, f, links: not links and n <= MAX_SEARCHED_DIMENSION,
    "whole_cube.ROUTING_RULES_WHOLE_8": lambda n, f, links: 6 <= n <= 8 and is_for_lanes(n, f, links),
    "whole_cube.ROUTING_RULES_WHOLE_16": lambda n, f, links: 9 <= n <= 12 and is_for_lanes(n, f, links),
    "lanes.ROUTING_RULES_LANES_16": lambda n, f, links: 9 <= n <= 16 and is_for_lanes(n, f, links),
    "lanes.ROUTING_RULES_LANES_32": lambda n, f, links: n >= 17 and is_for_lanes(n, f, links),
}

#: CPU seconds of compiling a kernel for all eight rules, by kernel.
COMPILE_SECONDS = dict.fromkeys(_KERNELS, 30.0) | {
    "scalar.ROUTING_RULES_SINGLE": 17.0,
    "bytes_per_node.ROUTING_RULES_BYTES": 7.0,
}


def estimate_nanoseconds(name: str, n: int, f: int, links: int) -> float:
    """Return the approximate time of a trial of all eight rules by a kernel."""
    scalar = 200.0 + 40.0 * f
    if name == "scalar.ROUTING_RULES_SINGLE":
        return scalar
    if name == "bytes_per_node.ROUTING_RULES_BYTES":
        return 2 * scalar + min(1.0, expect_close_pairs(n, f) / 2) * 150.0 * n * f
    return scalar / 10


#: Faults up to which lanes are faster than whole cubes, with AVX-512 or without.  Measured on an AMD EPYC (Zen 4) in November
#: 2026, without AVX-512 compiled for AVX2.
_MOST_IN_LANES = {True: {9: 8, 10: 7, 11: 10, 12: 15}, False: {9: 9, 10: 8, 11: 12, 12: 17}}

#: Likewise for tables without ROUTE3 and SIDETRACK, in which labels decide so many trials that few need safety statuses.
_MOST_DIRECT = {9: 3, 10: 4, 11: 6, 12: 7}

#: Tables whose conditions are on (n, f, links); ROUTING_RULES_DIRECT is for tables of rules as above.
ROUTING_RULES = KernelTable(__package__, _KERNELS, _make_chooser(_MOST_IN_LANES))
ROUTING_RULES_DIRECT = KernelTable(__package__, _KERNELS, _make_chooser({True: _MOST_DIRECT, False: _MOST_DIRECT}))

#: Conditions on (n, rate).
ROUTING_RULES_RATE = KernelTable(__package__, {"rate.ROUTING_RULES_RATE_SINGLE": serve_any_point})

#: Conditions on (n, f, links).
SAFETY_STATUS = KernelTable(__package__, {"status.SAFETY_STATUS_SINGLE": serve_any_point})
