"""Wang, Lin & Kuo, "A Fault-Tolerant Multicast Algorithm for Wormhole Routed Hypercubes": 2-partitions, multicast, deadlock."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("two-partition", "multicast", "multicast-deadlock", "multicast-wormhole"),
    baselines=("baselines",),
)
