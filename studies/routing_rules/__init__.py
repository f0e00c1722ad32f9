"""Fault-tolerant routing on the same fault sets: rules and their safety statuses (docs/readings/routing-rules.md)."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("routing-rules", "routing-rules-rate", "safety-status"),
)
