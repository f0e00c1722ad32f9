"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers"."""

from fastcube.papers.paper import Paper

from .broadcasting import BROADCAST
from .critical import UNSAFE_CRITICAL
from .rare import UNSAFE_RARE
from .routing import ROUTING
from .routing_rate import ROUTING_RATE
from .unsafe import UNSAFE_FRACTION

__all__ = ["PAPER"]

PAPER = Paper(
    __name__,
    studies=(UNSAFE_FRACTION, UNSAFE_RARE, UNSAFE_CRITICAL, ROUTING, ROUTING_RATE, BROADCAST),
    claims=(
        "claims",
        "claims_broadcasting",
        "claims_rounds",
        "claims_routing",
        "claims_route3",
        "claims_routing_optimality",
    ),
    examples="examples",
    rivals=("rivals", "rivals_messages"),
)
