"""What the survival kernels count, of the network and of the hypercube on the same faults."""

from __future__ import annotations

from ..tally.layout import Counter, Extreme, Layout, Moments

#: What is compared, by name: each has a counter of its own, one of the hypercube, and two of their difference.
COMPARED_EVENTS = {
    "connected": "the nonfaulty nodes are connected",
    "no_isolated": "no nonfaulty node is isolated",
    "hidden": "apart although no node is isolated",
    "pair": "t can be reached from s",
}

SURVIVAL = Layout(
    *(Counter(name, f"trials in which {what}") for name, what in COMPARED_EVENTS.items()),
    Counter("pairs", "trials with two nonfaulty nodes s and t"),
    *(Counter(f"cube_{name}", f"trials in which, in the hypercube, {what}") for name, what in COMPARED_EVENTS.items()),
    *(Counter(f"{name}_gain", f"of the network less of the hypercube: {name}") for name in COMPARED_EVENTS),
    *(
        Counter(f"{name}_differs", f"trials in which network and hypercube differ in: {name}")
        for name in COMPARED_EVENTS
    ),
)

#: Each g of g-extra connectivity, and least numbers of components, that are counted.
EXTRA_NODES, LEAST_COMPONENTS = (2, 3), (3, 4)

SURVIVAL_COMPONENTS = Layout(
    Moments("largest", "nodes of the largest part", squared="largest_squares"),
    Moments("parts", "parts", squared="parts_squares"),
    Counter("some", "trials with a part"),
    Counter("reached", "trials in which t can be reached from s"),
    Moments("length", "links from s to t in these", squared="length_squares"),
    Moments("intact", "links from s to t without faults in these", squared="intact_squares"),
    Counter("length_intact", "products of the two"),
    Counter("both", "trials in which t can be reached in the network and in the hypercube"),
    Moments("both_length", "links from s to t in the network in these", squared="both_squares"),
    Moments("gain", "links from s to t in these, network less hypercube", 1, 1, "gain_squares", "gain_nonzero"),
    *(Counter(f"extra_{g}", f"trials with several parts, each of more than {g} nodes") for g in EXTRA_NODES),
    *(Counter(f"parts_{r}", f"trials with at least {r} parts") for r in LEAST_COMPONENTS),
    Moments("second", "nodes of the second largest part", squared="second_squares", nonzero="second_some"),
    Moments("joined", "pairs of nodes that a path connects", 1, 2, "joined_squares", "joined_some"),
    Moments("joined_gain", "such pairs, network less hypercube", 1, 2, "joined_gain_squares", "joined_differs"),
    Extreme("parts", "most parts"),
)
