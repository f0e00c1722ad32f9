"""Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems": trees, and gathering data over them."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("find-tree", "optimal-tree", "gather", "rerouting"),
    baselines=("baselines",),
)
