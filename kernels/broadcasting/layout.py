"""The counters of the broadcasting kernels.  A step is a time unit (the paper's word)."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Indices of the axes in a point's parameters.
N, F, LINKS = range(3)
#: Index of the first element of the fault set, after the axes, in the parameters of BROADCAST_SETS.
FIRST_ELEMENT = 3
#: Largest n.
MOST_DIMENSIONS = 62


def _broadcast_counters(name: str, title: str) -> tuple[Counter | Moments, ...]:
    return (
        Counter(f"{name}_trials", f"{title} broadcasts"),
        Counter(f"{name}_complete", f"{title} broadcasts that reach every nonfaulty node"),
        Moments(f"{name}_reached", "nonfaulty nodes that they reach", digits=2, square_digits=4),  # up to 2^62 a trial
        Moments(f"{name}_steps", "last time units in which some nonfaulty node receives"),
        Counter(f"{name}_steps_bins", f"{title} broadcasts by this time unit, at most n + 1", bins=MOST_DIMENSIONS + 2),
    )


BROADCAST = Layout(
    Counter("some_active", "trials with an active node"),
    Counter("unsafe_source", "with an active node: trials with an unsafe source"),
    Counter("limit", "with an active node: trials whose descents would enter more than 2^22 regions"),
    *_broadcast_counters("broadcast", "BROADCAST"),
    *_broadcast_counters("broadcast1", "with an active node, from active sources: BROADCAST1"),
    *_broadcast_counters("broadcast1_unsafe", "with an active node, from unsafe sources: BROADCAST1"),
    *_broadcast_counters("broadcast2", "with an active node: BROADCAST2"),
    Maximum("broadcast2_steps", "with an active node: most time units of BROADCAST2"),
)
