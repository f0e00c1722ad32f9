"""Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes": edge-disjoint spanning trees around a fault, and of any fault set."""

from fastcube.papers.paper import Paper

from .edmonds import EDGE_DISJOINT_TREES
from .packets import EDST_BROADCAST

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(EDST_BROADCAST, EDGE_DISJOINT_TREES),
    claims=("claims", "claims_broadcast", "claims_edmonds"),
    examples="examples",
    rivals=("rivals",),
)
