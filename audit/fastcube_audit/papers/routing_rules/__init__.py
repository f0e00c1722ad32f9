"""Claims about rules of fault-tolerant routing and their safety statuses (docs/readings/routing-rules.md)."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("status", "rules"))
