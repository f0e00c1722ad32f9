"""Published facts of other authors, decided by program: how well fastcube agrees with what others counted and proved."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(__name__, studies=(), claims=("claims.facts",))
