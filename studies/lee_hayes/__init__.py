"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers"."""

from fastcube.measure.paper import Paper

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
        "claims.unsafe",
        "claims.broadcasting",
        "claims.rounds",
        "claims.routing",
        "claims.route3",
        "claims.routing_optimality",
    ),
    examples="claims.examples",
    baselines=("baselines", "baselines_messages"),
)
