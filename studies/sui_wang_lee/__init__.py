"""Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes": edge-disjoint spanning trees around a fault, and of any fault set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .edmonds import EDGE_DISJOINT_TREES
from .packets import EDST_BROADCAST

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger
    from fastcube.engine.examples import Example

__all__ = ["STUDIES", "benchmarks", "ledger", "worked_examples"]

STUDIES = (EDST_BROADCAST, EDGE_DISJOINT_TREES)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_broadcast, claims_edmonds  # noqa: F401  (enter their claims)
    from .claims import ledger

    return ledger


def worked_examples() -> Mapping[str, Callable[[], Example]]:
    """The worked examples that the paper's inventory names."""
    from .examples import EXAMPLES

    return EXAMPLES


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(EDGE_DISJOINT_TREES)
