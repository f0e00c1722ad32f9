"""The counters of the multicast kernel, over the trials with a fault-tolerant 2-partition."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Indices of the axes in a point's parameters.
N, F, DESTINATIONS = range(3)

#: Largest cube in which messages along the whole Hamilton path are counted.
MOST_HAMILTON_DIMENSIONS = 14

MULTICAST = Layout(
    Counter("partition_exists", "trials with a fault-tolerant 2-partition"),
    Moments("channels", "N by shortcuts", 2, 3, "channels_channels"),
    Moments("hamilton", "N along the Hamilton path, n <= 14", 2, 3, "hamilton_hamilton"),
    Moments("free", "N by shortcuts without faults, cut along (0, 1)", 2, 3, "free_free"),
    Counter("channels_free", "products of N with and without faults", digits=3),
    Moments("depth", "most channels in a row to a destination", 2, 2, "depth_depth"),
    Counter("detoured", "trials with a detour"),
    Moments("detours", "uses of a buddy because p is faulty", 2, 2, "detours_detours"),
    Moments("separate", "N summed over the destinations one by one", 2, 3, "separate_separate"),
    Maximum("most_channels", "largest N by shortcuts"),
)
