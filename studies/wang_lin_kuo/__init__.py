"""Wang, Lin & Kuo, "A Fault-Tolerant Multicast Algorithm for Wormhole Routed Hypercubes": 2-partitions, multicast, deadlock."""

from __future__ import annotations

from .channels import MULTICAST
from .deadlock import MULTICAST_DEADLOCK, MULTICAST_WORMHOLE
from .partition import TWO_PARTITION

STUDIES = (TWO_PARTITION, MULTICAST, MULTICAST_DEADLOCK, MULTICAST_WORMHOLE)
