"""Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .routing import DUALCUBE_ROUTING

if TYPE_CHECKING:
    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger

__all__ = ["STUDIES", "benchmarks", "ledger"]

STUDIES = (DUALCUBE_ROUTING,)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_routing, claims_simulated  # noqa: F401  (they enter their claims)
    from .claims import ledger

    return ledger


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(DUALCUBE_ROUTING)
