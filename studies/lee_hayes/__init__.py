"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers"."""

from fastcube.measure.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=("unsafe-fraction", "unsafe-rare", "unsafe-critical", "routing", "routing-rate", "broadcast"),
    baselines=("baselines", "baselines_messages"),
)
