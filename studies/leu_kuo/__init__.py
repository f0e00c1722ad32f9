"""Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems": trees, and gathering over them."""

from fastcube.measure.paper import Paper

from .find_tree import FIND_TREE
from .gathering import GATHER, REROUTING
from .optimal import OPTIMAL_TREE

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(FIND_TREE, OPTIMAL_TREE, GATHER, REROUTING),
    claims=("claims.trees", "claims.gathering", "claims.delivery", "claims.questions"),
    examples="claims.examples",
    baselines=("baselines",),
)
