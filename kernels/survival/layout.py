"""The counters of the survival kernels, for a network and for the hypercube under the same faults."""

from ..tally.layout import Counter, Layout, Maximum, Moments

#: Compared events: each has a counter for the network, one for the hypercube, and two for their difference.
COMPARED_EVENTS = {
    "connected": "the nonfaulty nodes are connected",
    "no_isolated_node": "no nonfaulty node is isolated",
    "extra_1": "the nonfaulty nodes are disconnected although none is isolated",
    "st_connected": "t can be reached from s",
}


def _compared_layout(prefix: str, where: str, sides: tuple[str, str]) -> Layout:
    """Return the counters of the events on two sides: the second side's begin with ``prefix`` and count ``where``."""
    one, other = sides
    return Layout(
        *(Counter(name, f"trials in which {what}") for name, what in COMPARED_EVENTS.items()),
        Counter("pairs", "trials with two nonfaulty nodes s and t"),
        *(Counter(f"{prefix}_{name}", f"trials in which, {where}, {what}") for name, what in COMPARED_EVENTS.items()),
        *(Counter(f"{name}_diff", f"of {one} less of {other}: {name}") for name in COMPARED_EVENTS),
        *(
            Counter(
                f"{name}_differs",
                f"trials in which {' and '.join(s.removeprefix('the ') for s in sides)} differ in: {name}",
            )
            for name in COMPARED_EVENTS
        ),
    )


SURVIVAL = _compared_layout("cube", "in the hypercube", ("the network", "the hypercube"))
SURVIVAL_DOMAINS = _compared_layout("single", "with single failures", ("failed domains", "single failures"))

#: Events that ``survival-curve`` counts at each number of failures.
CURVE_EVENTS = {
    "connected": "the survivors are connected",
    "disconnected": "the survivors are in more than one component",
    "no_isolated_node": "no survivor is isolated",
    "extra_1": "the survivors are disconnected although none is isolated",
}

CURVE = Layout(
    *(Counter(name, f"trials in which {what}") for name, what in CURVE_EVENTS.items()),
    Moments("largest", "nodes of the largest component", 1, 2, "largest_squares", "some"),
    Moments("second", "nodes of the second largest component", 1, 2, "second_squares"),
    Moments("others", "squared sizes of all components but the largest", 2, 3, "others_squares"),
    Moments("connected_pairs", "pairs of survivors that a path connects", 2, 3, "connected_pairs_squares"),
)

#: Count of a lifetime of 1.
LIFETIME_UNIT = 2.0**24

#: Largest number of components that ``hitting`` counts in bins of one failure.
MOST_SINGLE_BINS = 4096


def failures_per_bin(components: int) -> int:
    """Return the width of the bins of ``hitting``: the least power of two with at most MOST_SINGLE_BINS bins and one for the end.

    Bin i counts the failures i * width .. (i + 1) * width - 1.
    """
    width = 1
    while components // width > MOST_SINGLE_BINS:
        width *= 2
    return width


HITTING = Layout(
    Counter("isolation_first", "trials in which the first disconnection isolates a node"),
    Counter("extra_1_first", "trials in which the survivors are disconnected before one is isolated"),
    Counter("never_disconnected", "trials in which the survivors are never disconnected"),
    Moments("disconnected_at", "failures until the survivors are disconnected", 2, 3, "disconnected_squares", "trials"),
    Moments("isolated_at", "failures until a survivor is isolated", 2, 3, "isolated_squares"),
    Counter("disconnected_bins", "trials by the first disconnection, in bins of failures", bins=MOST_SINGLE_BINS + 1),
    Counter("isolated_bins", "trials by the first isolated node, in bins of failures", bins=MOST_SINGLE_BINS + 1),
    Moments("life", "expected time of the first disconnection, in 2^-24", 2, 3, "life_squares"),
    Moments("life_diff", "the same less the hypercube's on the same order", 1, 3, "life_diff_squares", "life_differs"),
)

#: Number of bins of the length of a path from s to t; the last bin counts all longer paths too.
LENGTH_BINS = 64

#: Values of g for which g-extra trials are counted, and least numbers of components that are counted.
EXTRA_NODES, LEAST_COMPONENTS = (2, 3), (3, 4)

SURVIVAL_COMPONENTS = Layout(
    Moments("largest", "nodes of the largest part", squared="largest_squares"),
    Moments("components", "parts", squared="components_squares"),
    Counter("some", "trials with a part"),
    Counter("reached", "trials in which t can be reached from s"),
    Moments("length", "links from s to t in these", squared="length_squares"),
    Counter(
        "length_bins", f"these by the links from s to t, {LENGTH_BINS - 1} or more in the last bin", bins=LENGTH_BINS
    ),
    Moments("intact", "links from s to t without faults in these", squared="intact_squares"),
    Counter("length_intact", "products of the two"),
    Counter("both", "trials in which t can be reached in the network and in the hypercube"),
    Moments("both_length", "links from s to t in the network in these", squared="both_squares"),
    Moments(
        "distance_diff",
        "links from s to t in these, network less hypercube",
        1,
        1,
        "distance_diff_squares",
        "distance_diff_nonzero",
    ),
    *(Counter(f"extra_{g}", f"trials with several parts, each of more than {g} nodes") for g in EXTRA_NODES),
    *(Counter(f"at_least_{r}_components", f"trials with at least {r} parts") for r in LEAST_COMPONENTS),
    Moments("second", "nodes of the second largest part", squared="second_squares", nonzero="second_some"),
    Moments(
        "connected_pairs",
        "pairs of nodes that a path connects",
        1,
        2,
        "connected_pairs_squares",
        "connected_pairs_some",
    ),
    Moments(
        "connected_pairs_diff",
        "such pairs, network less hypercube",
        1,
        2,
        "connected_pairs_diff_squares",
        "connected_pairs_differs",
    ),
    Maximum("components", "most parts"),
)
