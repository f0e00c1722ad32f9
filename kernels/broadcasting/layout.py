"""The counters of the broadcasting kernels."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Indices of the axes in a point's parameters.
N, F, LINKS = range(3)
#: Index of the first element of the fault set, after the axes, in the parameters of BROADCAST_SETS.
FIRST_NUMBER = 3
#: Largest n.
MOST_DIMENSIONS = 62


def _broadcast_counters(name: str, title: str) -> tuple[Counter | Moments, ...]:
    return (
        Counter(f"{name}_trials", f"{title} broadcasts"),
        Counter(f"{name}_complete", f"{title} broadcasts that reach every nonfaulty node"),
        Moments(f"{name}_reached", "nonfaulty nodes that they reach", 2, 4),
        Moments(f"{name}_steps", "their last time units in which a nonfaulty node receives"),
        Counter(f"{name}_steps_bins", f"{title} broadcasts by this time unit, at most n + 1", bins=MOST_DIMENSIONS + 2),
    )


BROADCAST = Layout(
    Counter("some_active", "trials with an active node"),
    Counter("unsafe_source", "with an active node: trials with an unsafe source"),
    Counter("limit", "with an active node: trials whose descents would enter more than 2^22 regions"),
    *_broadcast_counters("broadcast", "BROADCAST"),
    *_broadcast_counters("broadcast1", "with an active node: BROADCAST1, from active sources,"),
    *_broadcast_counters("broadcast1_unsafe", "with an active node: BROADCAST1, from unsafe sources,"),
    *_broadcast_counters("broadcast2", "with an active node: BROADCAST2"),
    Maximum("broadcast2_steps", "with an active node: most time units of BROADCAST2"),
)
