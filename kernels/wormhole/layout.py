"""The counters of the dependency and simulation kernels, over the trials with a fault-tolerant 2-partition."""

from ..tally.layout import Counter, Layout

MULTICAST_DEADLOCK = Layout(
    Counter("partition_exists", "trials with a fault-tolerant 2-partition"),
    Counter("cyclic", "trials whose dependency graph has a cycle"),
    Counter("cyclic_unicast", "trials with a cycle for messages to one destination"),
    Counter("cyclic_two_channels", "trials with a cycle with two virtual channels"),
)

MULTICAST_WORMHOLE = Layout(
    Counter("partition_exists", "trials with a fault-tolerant 2-partition"),
    Counter("deadlock", "trials that stop with one virtual channel"),
    Counter("deadlock_two_channels", "trials that stop with two"),
    Counter("deadlock_separate", "trials that stop with two and a message for each destination"),
)
