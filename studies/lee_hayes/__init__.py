"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers": unsafe nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .claims import CLAIMS
from .critical import UNSAFE_CRITICAL
from .unsafe import UNSAFE_FRACTION, UNSAFE_FRACTION_LARGE

if TYPE_CHECKING:
    from fastcube.engine.benchmark import Benchmark

__all__ = ["CLAIMS", "STUDIES", "benchmarks"]

STUDIES = (UNSAFE_FRACTION, UNSAFE_FRACTION_LARGE, UNSAFE_CRITICAL)


def benchmarks() -> list[Benchmark]:
    """What ``fastcube bench`` compares."""
    from .rivals import benchmarks_of

    return benchmarks_of(UNSAFE_FRACTION, UNSAFE_CRITICAL)
