"""The claims of Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes"."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("network", "hypercube", "routing", "simulated"), examples="examples")
