"""Published facts of other authors, decided by program: agreement of fastcube with counts and theorems of others."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(__name__, studies=(), claims=("claims.facts",))
