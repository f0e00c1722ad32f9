"""The 15% of section 3.2: its limit on the fraction of unsafe nodes, and on the fraction of messages with the extra delay.

The section reads the first limit off Figure 8, for f <= floor(n/2) faulty nodes and n >= 5, and concludes the second from it.
"""

from fastcube.measure.inventory import inventory
from fastcube.measure.study import Point

#: The statement, in the legends of figures.
STATEMENT = "paper: < 15% for f <= floor(n/2), n >= 5"


def unsafe_limit() -> float:
    """Return the printed limit on the average fraction of unsafe nodes."""
    return inventory("lee_hayes").value("fifteen-percent")


def delay_limit() -> float:
    """Return the printed limit on the fraction of messages with the extra delay of two."""
    return inventory("lee_hayes").value("fifteen-percent-messages")


def is_stated(point: Point) -> bool:
    """Whether the section makes its statement about a point: at least one faulty node, and no faulty links."""
    n, f = int(point["n"]), int(point["f"])
    return n >= 5 and 1 <= f <= n // 2 and not point.get("links")
