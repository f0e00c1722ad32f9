"""What the multicast kernel counts, over the trials with a fault-tolerant 2-partition."""

from __future__ import annotations

from ..tally.layout import Counter, Extreme, Layout

#: Largest cube in which the Hamilton path is walked.
HAMILTON = 14

MULTICAST = Layout(
    Counter("partitioned", "trials with a fault-tolerant 2-partition"),
    Counter("channels", "N by shortcuts", digits=2),
    Counter("channels_channels", "squares of that", digits=3),
    Counter("hamilton", "N along the Hamilton path, n <= 14", digits=2),
    Counter("hamilton_hamilton", "squares of that", digits=3),
    Counter("free", "N by shortcuts without faults, cut along (0, 1)", digits=2),
    Counter("channels_free", "products of N with and without faults", digits=3),
    Counter("free_free", "squares of N without faults", digits=3),
    Counter("depth", "most channels in a row to a destination", digits=2),
    Counter("depth_depth", "squares of that", digits=2),
    Counter("detoured", "trials with a detour"),
    Counter("detours", "uses of a buddy because p is faulty", digits=2),
    Counter("detours_detours", "squares of that", digits=2),
    Counter("separate", "N summed over the destinations one by one", digits=2),
    Counter("separate_separate", "squares of that", digits=3),
    Extreme("most_channels", "largest N by shortcuts"),
)
