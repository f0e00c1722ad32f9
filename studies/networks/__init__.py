"""Which network survives best? The cube family under random faults, the same for all networks (docs/readings/networks.md)."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(
        "survival",
        "survival-rate",
        "survival-components",
        "survival-curve",
        "survival-domains",
        "hitting",
        "free-subcube",
    ),
    baselines=("baselines",),
)
