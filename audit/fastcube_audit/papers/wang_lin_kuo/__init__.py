"""The claims of Wang, Lin & Kuo, "A Fault-Tolerant Multicast Algorithm for Wormhole Routed Hypercubes"."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("partition", "channels", "deadlock"), examples="examples")
