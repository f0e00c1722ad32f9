"""The counters of the routing kernels, with f faulty nodes and K faulty links (ROUTING) or a failure rate (ROUTING_RATE)."""

from ..tally.layout import Counter, Layout, Maximum

#: Indices of the axes in a point's parameters.
N, F, LINKS, K = range(4)
#: Indices of the rate and of k in a point's parameters of ``routing-rate``; N is as above.
RATE, RATE_K = 1, 2
#: Indices of further parameters of ROUTING_SETS: radius, fewest links, and the first element of the fault set.
RADIUS, LEAST_LINKS, FIRST_ELEMENT = 4, 5, 6

#: Largest n for which a detour or a failure is compared with an exact search (``shortest.py``).
MAX_SEARCHED_DIMENSION = 12


def _route_counters(name: str) -> tuple[Counter, ...]:
    """Return the counters of the routes of one algorithm."""
    title = f"{name.upper()} routes"
    return (
        Counter(f"{name}_delivered", f"{title} delivered"),
        Counter(f"{name}_stuck", f"{title} stuck: no link passes"),
        Counter(f"{name}_livelock", f"{title} that reach a node twice"),
        Counter(f"{name}_above_hamming", f"delivered {title} longer than the Hamming distance"),
        Counter(f"{name}_links", f"links on delivered {title}"),
        Counter(f"{name}_distance", f"Hamming distances of delivered {title}"),
        Counter(f"{name}_links_links", "squares of the links"),
        Counter(f"{name}_links_distance", "products of links and Hamming distance"),
        Counter(f"{name}_distance_distance", "squares of the Hamming distances"),
    )


def _longer_counter(name: str) -> Counter:
    """Return the counter of an algorithm's routes that are longer than needed."""
    return Counter(
        f"{name}_above_shortest", f"delivered {name.upper()} routes longer than the shortest feasible path (n <= 12)"
    )


_LIMIT = Counter("route2_limit", "ROUTE2 routes cut off: the searches would expand more than 2^16 nodes")


def _active_counter(name: str) -> Counter:
    """Return the counter of an algorithm's deliveries in trials with an active node."""
    return Counter(f"{name}_delivered_active", f"{name.upper()} routes delivered in trials with an active node")


#: Tally under f faulty nodes and K faulty links; ROUTE3 is counted in the trials that ``some_active`` counts.
ROUTING = Layout(
    Counter("some_active", "trials with an active node"),
    Counter("route_delivered", "ROUTE routes delivered"),
    _active_counter("route"),
    *_route_counters("route1"),
    _active_counter("route1"),
    _longer_counter("route1"),
    *_route_counters("route2"),
    _active_counter("route2"),
    _longer_counter("route2"),
    _LIMIT,
    *_route_counters("route3"),
    _longer_counter("route3"),
    Counter(
        "ends_in_one_unsafe_subcube",
        "with an active node: trials whose ends are unsafe and in one maximal unsafe subcube",
    ),
    Counter("route3_beats_route1", "with an active node: ROUTE3 delivers, and ROUTE1 does not or over more links"),
    Counter("route1_beats_route3", "with an active node: ROUTE1 delivers, and ROUTE3 does not or over more links"),
    Counter("reachable", "trials with a feasible path (n <= 12)"),
    Maximum("route1_excess", "most links beyond the Hamming distance on a delivered ROUTE1 route"),
    Maximum("route2_excess", "most links beyond the Hamming distance on a delivered ROUTE2 route"),
    Maximum("route3_excess", "with an active node: most links beyond the Hamming distance on a delivered ROUTE3 route"),
)

#: Tally of independent node failures with a given rate.
ROUTING_RATE = Layout(
    Counter("valid", "trials with two nonfaulty ends; the others are discarded"),
    Counter("route_delivered", "ROUTE routes delivered"),
    *_route_counters("route1"),
    Counter("route1_at_hamming", "ROUTE1 routes delivered over the Hamming distance"),
    *_route_counters("route2"),
    Counter("route2_at_hamming", "ROUTE2 routes delivered over the Hamming distance"),
    _LIMIT,
    Maximum("route1_excess", "most links beyond the Hamming distance on a delivered ROUTE1 route"),
    Maximum("route2_excess", "most links beyond the Hamming distance on a delivered ROUTE2 route"),
)
