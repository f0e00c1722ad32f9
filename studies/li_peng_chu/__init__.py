"""Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .claims import CLAIMS
from .routing import DUALCUBE_ROUTING, DUALCUBE_ROUTING_LARGE

if TYPE_CHECKING:
    from fastcube.engine.benchmark import Benchmark

__all__ = ["CLAIMS", "STUDIES", "benchmarks"]

STUDIES = (DUALCUBE_ROUTING, DUALCUBE_ROUTING_LARGE)


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(DUALCUBE_ROUTING_LARGE)
