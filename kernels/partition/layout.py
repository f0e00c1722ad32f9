"""The counters of the 2-partition kernels."""

from ..tally.layout import Counter, Layout

#: Indices of the axes in a point's parameters.
N, F = range(2)

TWO_PARTITION = Layout(
    Counter("partition_exists", "trials with a fault-tolerant 2-partition"),
    Counter("greedy_finds", "trials in which Figure 2 finds one"),
    Counter("lo", "lower dimension of the first fault-tolerant pair, summed over trials with one"),
    Counter("hi", "its higher dimension"),
)
