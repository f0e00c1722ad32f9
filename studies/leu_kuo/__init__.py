"""Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems": trees, and gathering over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .finding import FIND_TREE
from .gathering import GATHER, REROUTING
from .optimal import OPTIMAL_TREE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastcube.engine.benchmark import Benchmark
    from fastcube.engine.claims import Ledger
    from fastcube.engine.examples import Example

__all__ = ["STUDIES", "benchmarks", "ledger", "worked_examples"]

STUDIES = (FIND_TREE, OPTIMAL_TREE, GATHER, REROUTING)


def ledger() -> Ledger:
    """What ``fastcube claims`` decides."""
    from . import claims_gathering, claims_questions  # noqa: F401  (enter their claims)
    from .claims import ledger

    return ledger


def worked_examples() -> Mapping[str, Callable[[], Example]]:
    """The worked examples that the paper's inventory names."""
    from .examples import EXAMPLES

    return EXAMPLES


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(FIND_TREE, OPTIMAL_TREE, GATHER)
