"""Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems": trees, and gathering over them."""

from fastcube.papers.paper import Paper

from .finding import FIND_TREE
from .gathering import GATHER, REROUTING
from .optimal import OPTIMAL_TREE

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(FIND_TREE, OPTIMAL_TREE, GATHER, REROUTING),
    claims=("claims", "claims_gathering", "claims_delivery", "claims_questions"),
    examples="examples",
    rivals=("rivals",),
)
