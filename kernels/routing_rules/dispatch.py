"""Select the kernel that runs the trials of the studies of routing rules at a point."""

from collections.abc import Callable

from ..machine.dispatch import KernelTable, serve_any_point
from ..routing.dispatch import expect_close_pairs, is_for_lanes

#: Up to this number of faulty nodes, trials without close faults are filtered out first.  With more faults nearly all trials have
#: two faults within distance 2.
_MOST_PREFILTERED_FAULTS = 62


def _make_chooser(most_close: float) -> Callable[[int, int, int], str]:
    """Return the function that selects a kernel.

    For n = 9 .. 12 and few faults it selects lanes up to ``most_close`` expected pairs of close faults, else whole cubes.
    """

    def choose_kernel(n: int, f: int, links: int) -> str:
        if n < 6 or not is_for_lanes(n, f, links) or (n > 12 and f > _MOST_PREFILTERED_FAULTS):
            return "scalar.ROUTING_RULES_SINGLE"
        if n <= 12 and (n <= 8 or f > _MOST_PREFILTERED_FAULTS or expect_close_pairs(n, f) > most_close):
            return f"whole_cube.ROUTING_RULES_WHOLE_{8 if n <= 8 else 16}"
        return f"lanes.ROUTING_RULES_LANES_{16 if n <= 16 else 32}"

    return choose_kernel


_KERNELS = {
    "scalar.ROUTING_RULES_SINGLE": serve_any_point,
    "whole_cube.ROUTING_RULES_WHOLE_8": lambda n, f, links: 6 <= n <= 8 and is_for_lanes(n, f, links),
    "whole_cube.ROUTING_RULES_WHOLE_16": lambda n, f, links: 9 <= n <= 12 and is_for_lanes(n, f, links),
    "lanes.ROUTING_RULES_LANES_16": lambda n, f, links: 9 <= n <= 16 and is_for_lanes(n, f, links),
    "lanes.ROUTING_RULES_LANES_32": lambda n, f, links: n >= 17 and is_for_lanes(n, f, links),
}

#: CPU seconds of compiling a kernel for all eight rules, and approximate nanoseconds of a trial, by kernel.
COMPILE_SECONDS = dict.fromkeys(_KERNELS, 30.0) | {"scalar.ROUTING_RULES_SINGLE": 17.0}
NANOSECONDS = dict.fromkeys(_KERNELS, 250.0) | {"scalar.ROUTING_RULES_SINGLE": 2500.0}

#: Conditions on (n, f, links).  For all eight rules lanes are faster up to 1.1 to 1.5 expected pairs of close faults.  For tables
#: without ROUTE3 and SIDETRACK, which need the safety status in few trials, they are faster up to 0.5 pairs (at 0.8 they took
#: four to seven times as long).
ROUTING_RULES = KernelTable(__package__, _KERNELS, _make_chooser(0.9))
ROUTING_RULES_DIRECT = KernelTable(__package__, _KERNELS, _make_chooser(0.5))

#: Conditions on (n, rate).
ROUTING_RULES_RATE = KernelTable(__package__, {"rate.ROUTING_RULES_RATE_SINGLE": serve_any_point})

#: Conditions on (n, f, links).
SAFETY_STATUS = KernelTable(__package__, {"status.SAFETY_STATUS_SINGLE": serve_any_point})
