"""Which cube survives best: the cube family under random faults, all networks on the same ones (docs/readings/networks.md)."""

from fastcube.papers.paper import Paper

from .parts import SURVIVAL_PARTS
from .survival import SURVIVAL, SURVIVAL_RATE

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(SURVIVAL, SURVIVAL_RATE, SURVIVAL_PARTS),
    claims=("claims",),
    rivals=("rivals",),
)
