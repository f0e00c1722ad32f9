"""The claims of Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes"."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("trees", "broadcast", "edmonds"), examples="examples")
