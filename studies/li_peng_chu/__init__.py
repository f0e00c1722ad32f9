"""Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .routing import DUALCUBE_ROUTING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger
    from fastcube.engine.examples import Example

__all__ = ["STUDIES", "benchmarks", "ledger", "worked_examples"]

STUDIES = (DUALCUBE_ROUTING,)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_hypercube, claims_routing, claims_simulated  # noqa: F401  (they enter their claims)
    from .claims import ledger

    return ledger


def worked_examples() -> Mapping[str, Callable[[], Example]]:
    """The worked examples that the paper's inventory names."""
    from .examples import EXAMPLES

    return EXAMPLES


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(DUALCUBE_ROUTING)
