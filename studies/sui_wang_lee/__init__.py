"""Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes": edge-disjoint spanning trees around a fault, and of any fault set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .edmonds import EDGE_DISJOINT_TREES
from .packets import EDST_BROADCAST

if TYPE_CHECKING:
    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger

__all__ = ["STUDIES", "benchmarks", "ledger"]

STUDIES = (EDST_BROADCAST, EDGE_DISJOINT_TREES)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_broadcast, claims_edmonds  # noqa: F401  (enter their claims)
    from .claims import ledger

    return ledger


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(EDGE_DISJOINT_TREES)
