"""Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems": trees, and gathering over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .finding import FIND_TREE
from .gathering import GATHER, REROUTING
from .optimal import OPTIMAL_TREE

if TYPE_CHECKING:
    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger

__all__ = ["STUDIES", "benchmarks", "ledger"]

STUDIES = (FIND_TREE, OPTIMAL_TREE, GATHER, REROUTING)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_gathering  # noqa: F401  (enters its claims)
    from .claims import ledger

    return ledger


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(FIND_TREE, OPTIMAL_TREE, GATHER)
