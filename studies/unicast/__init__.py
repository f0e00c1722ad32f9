"""Thirty years of fault-tolerant routing on the same fault sets: rules, and the words they read (docs/readings/rivals.md)."""

from fastcube.measure.paper import Paper

from .rate import RIVALS_RATE
from .status import RIVALS_STATUS
from .table import RIVALS

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(RIVALS, RIVALS_RATE, RIVALS_STATUS),
    claims=("claims.status", "claims.rules"),
)
