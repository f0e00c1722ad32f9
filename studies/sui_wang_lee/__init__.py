"""Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes": edge-disjoint spanning trees around a fault, and of any fault set."""

from fastcube.measure.paper import Paper

from .edmonds import EDGE_DISJOINT_TREES
from .packets import EDST_BROADCAST

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(EDST_BROADCAST, EDGE_DISJOINT_TREES),
    claims=("claims.trees", "claims.broadcast", "claims.edmonds"),
    examples="claims.examples",
    baselines=("baselines",),
)
