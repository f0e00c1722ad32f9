"""Thirty years of fault-tolerant routing on the same fault sets: rules and their safety statuses (docs/readings/rivals.md)."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("rivals", "rivals-rate", "rivals-status"),
)
