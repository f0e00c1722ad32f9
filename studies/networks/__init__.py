"""Which network survives best?  The cube family under random faults, all networks under the same faults
(docs/readings/networks.md).
"""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("survival", "survival-rate", "survival-components", "survival-curve", "hitting"),
    claims=("claims.survival",),
    baselines=("baselines",),
)
