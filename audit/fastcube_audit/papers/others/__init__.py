"""Published facts of other authors: agreement of fastcube with their counts and theorems."""

from ...registries import PaperClaims

__all__ = ["CLAIMS"]

CLAIMS = PaperClaims(__name__, ("facts",))
