"""Claims about the survival of networks of the cube family (docs/readings/networks.md)."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("survival",))
