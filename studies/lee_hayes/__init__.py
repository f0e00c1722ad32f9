"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .broadcasting import BROADCAST
from .critical import UNSAFE_CRITICAL
from .rare import UNSAFE_RARE
from .routing import ROUTING
from .routing_rate import ROUTING_RATE
from .unsafe import UNSAFE_FRACTION

if TYPE_CHECKING:
    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger

__all__ = ["STUDIES", "benchmarks", "ledger"]

STUDIES = (UNSAFE_FRACTION, UNSAFE_RARE, UNSAFE_CRITICAL, ROUTING, ROUTING_RATE, BROADCAST)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_broadcasting, claims_rounds, claims_routing  # noqa: F401  (enter their claims)
    from .claims import ledger

    return ledger


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from . import rivals, rivals_messages

    return [
        *rivals.benchmarks_of(UNSAFE_FRACTION, UNSAFE_CRITICAL),
        *rivals_messages.benchmarks_of(ROUTING, ROUTING_RATE, BROADCAST),
    ]
