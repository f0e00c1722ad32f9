"""Which of the routing kernels serves which point."""

from __future__ import annotations

from ..machine.dispatch import Table, anywhere


def in_lanes(n: int, f: int, links: int) -> bool:
    """Whether lanes of trials hold f faulty nodes and two ends, drawn as such."""
    return not links and 1 < f <= 2 ** (n - 1) - 2


def close_pairs(n: int, f: int) -> float:
    """Expected pairs of f faulty nodes within distance 2."""
    return f * (f - 1) / 2 * n * (n + 1) / 2 / (1 << n)


def _routing(n: int, f: int, links: int, k: int) -> str:
    """Lanes pay while fault sets with close pairs are few, or small."""
    if links or n < 7 or f < 2 or close_pairs(n, f) > 3:
        return "scalar.ROUTING_SINGLE"
    if n <= 8:
        return "lanes.ROUTING_LANES_8"
    return "lanes.ROUTING_LANES_16" if n <= 16 else "lanes.ROUTING_LANES_32"


#: At (n, f, links, k).
ROUTING = Table(
    __package__,
    {
        "scalar.ROUTING_SINGLE": anywhere,
        "lanes.ROUTING_LANES_8": lambda n, f, links, k: 3 <= n <= 8 and in_lanes(n, f, links),
        "lanes.ROUTING_LANES_16": lambda n, f, links, k: 9 <= n <= 16 and in_lanes(n, f, links),
        "lanes.ROUTING_LANES_32": lambda n, f, links, k: n >= 17 and in_lanes(n, f, links),
    },
    _routing,
)
ROUTING_SETS = Table(__package__, {"scalar.ROUTING_SETS": anywhere})

#: At (n, rate, k).
ROUTING_RATE = Table(__package__, {"rate.routing_rate": anywhere})
