"""Which cube survives best: the cube family under random faults, all networks on the same ones (docs/readings/networks.md)."""

from fastcube.measure.paper import Paper

from .components import SURVIVAL_PARTS
from .survival import SURVIVAL, SURVIVAL_RATE

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(SURVIVAL, SURVIVAL_RATE, SURVIVAL_PARTS),
    claims=("claims.survival",),
    baselines=("baselines",),
)
