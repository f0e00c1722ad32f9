"""Which of the unicast kernels serves which point."""

from __future__ import annotations

from ..machine.choice import Table, anywhere

#: Up to so many faulty nodes a vector of trials is looked at first; of more, nearly all have two within distance 2.
_FEW = 62


def _in_lanes(n: int, f: int, links: int) -> bool:
    """Whether lanes of trials hold f faulty nodes and two ends, drawn as such."""
    return not links and 1 < f <= 2 ** (n - 1) - 2


def _fastest(n: int, f: int, links: int) -> str:
    # expected pairs of faults within distance 2: all eight rules pay in lanes up to 1.1 to 1.5, four without ROUTE3 up to 0.8
    close = f * (f - 1) / 2 * n * (n + 1) / 2 / 2**n
    if n < 6 or not _in_lanes(n, f, links) or (n > 12 and f > _FEW):
        return "single.RIVALS_SINGLE"
    if n <= 12 and (n <= 8 or f > _FEW or close > 0.9):
        return f"whole.RIVALS_WHOLE_{8 if n <= 8 else 16}"
    return f"lanes.RIVALS_LANES_{16 if n <= 16 else 32}"


#: At (n, f, links).
RIVALS = Table(
    __package__,
    {
        "single.RIVALS_SINGLE": anywhere,
        "whole.RIVALS_WHOLE_8": lambda n, f, links: 6 <= n <= 8 and _in_lanes(n, f, links),
        "whole.RIVALS_WHOLE_16": lambda n, f, links: 9 <= n <= 12 and _in_lanes(n, f, links),
        "lanes.RIVALS_LANES_16": lambda n, f, links: 9 <= n <= 16 and _in_lanes(n, f, links),
        "lanes.RIVALS_LANES_32": lambda n, f, links: n >= 17 and _in_lanes(n, f, links),
    },
    _fastest,
)

#: At (n, rate).
RIVALS_RATE = Table(__package__, {"rate.RIVALS_RATE_SINGLE": anywhere})

#: At (n, f, links).
RIVALS_STATUS = Table(__package__, {"status.RIVALS_STATUS_SINGLE": anywhere})
