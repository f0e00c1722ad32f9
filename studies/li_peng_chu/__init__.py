"""Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes"."""

from fastcube.papers.paper import Paper

from .routing import DUALCUBE_ROUTING

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(DUALCUBE_ROUTING,),
    claims=("claims", "claims_hypercube", "claims_routing", "claims_simulated"),
    examples="examples",
    rivals=("rivals",),
)
