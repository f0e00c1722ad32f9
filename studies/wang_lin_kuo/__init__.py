"""Wang, Lin & Kuo, "A Fault-Tolerant Multicast Algorithm for Wormhole Routed Hypercubes": 2-partitions, multicast, deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .channels import MULTICAST
from .deadlock import MULTICAST_DEADLOCK, MULTICAST_WORMHOLE
from .partition import TWO_PARTITION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger
    from fastcube.engine.examples import Example

STUDIES = (TWO_PARTITION, MULTICAST, MULTICAST_DEADLOCK, MULTICAST_WORMHOLE)


def ledger() -> Ledger:
    """What the paper states."""
    from . import claims_channels, claims_deadlock  # noqa: F401  (they enter their claims)
    from .claims import ledger

    return ledger


def worked_examples() -> Mapping[str, Callable[[], Example]]:
    """The worked examples that the paper's inventory names."""
    from .examples import EXAMPLES

    return EXAMPLES


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(TWO_PARTITION, MULTICAST, MULTICAST_DEADLOCK)
