"""Wang, Lin & Kuo, "A Fault-Tolerant Multicast Algorithm for Wormhole Routed Hypercubes": 2-partitions, multicast, deadlock."""

from fastcube.measure.paper import Paper

from .channels import MULTICAST
from .deadlock import MULTICAST_DEADLOCK, MULTICAST_WORMHOLE
from .partition import TWO_PARTITION

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(TWO_PARTITION, MULTICAST, MULTICAST_DEADLOCK, MULTICAST_WORMHOLE),
    claims=("claims.partition", "claims.channels", "claims.deadlock"),
    examples="claims.examples",
    baselines=("baselines",),
)
