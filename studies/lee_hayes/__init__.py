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
    from collections.abc import Callable, Mapping

    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger
    from fastcube.engine.examples import Example

__all__ = ["STUDIES", "benchmarks", "ledger", "worked_examples"]

STUDIES = (UNSAFE_FRACTION, UNSAFE_RARE, UNSAFE_CRITICAL, ROUTING, ROUTING_RATE, BROADCAST)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import (  # noqa: F401  (enter their claims)
        claims_broadcasting,
        claims_rounds,
        claims_routing,
        claims_routing_optimality,
    )
    from .claims import ledger

    return ledger


def worked_examples() -> Mapping[str, Callable[[], Example]]:
    """The worked examples that the paper's inventory names."""
    from .examples import EXAMPLES

    return EXAMPLES


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from . import rivals, rivals_messages

    return [
        *rivals.benchmarks_of(UNSAFE_FRACTION, UNSAFE_CRITICAL),
        *rivals_messages.benchmarks_of(ROUTING, ROUTING_RATE, BROADCAST),
    ]
