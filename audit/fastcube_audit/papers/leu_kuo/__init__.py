"""The claims of Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems"."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("trees", "gathering", "delivery", "questions"), examples="examples")
