"""Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes"."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("dualcube-routing",),
    claims=("claims.network", "claims.hypercube", "claims.routing", "claims.simulated"),
    examples="claims.examples",
    baselines=("baselines",),
)
