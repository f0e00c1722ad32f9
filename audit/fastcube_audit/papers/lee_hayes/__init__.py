"""The claims of Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers"."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(
    __name__, ("unsafe", "broadcasting", "rounds", "routing", "route3", "routing_optimality"), examples="examples"
)
