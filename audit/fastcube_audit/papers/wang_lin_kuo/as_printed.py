"""Figures 15 and 16 exactly as printed, with the choices that they leave open."""

import itertools
from collections.abc import Iterator, Mapping

from fastcube.algorithms.partition import Supercube

#: Map (node, faulty node) -> buddy that passes a message on where the node across an external link is faulty.
Buddies = Mapping[tuple[int, int], int]


def buddy_choices(net: Supercube) -> Iterator[Buddies]:
    """Yield every choice among the nonfaulty buddies (interpretation A6 takes the one across the lowest internal dimension)."""
    buddies = {}
    for v in range(2**net.n):
        for bit in net.external:
            if v not in net.faults and v ^ bit in net.faults:
                buddies[v, v ^ bit] = [b for b in (v ^ net.low, v ^ net.high) if b not in net.faults]
    for chosen in itertools.product(*buddies.values()):
        yield dict(zip(buddies, chosen, strict=True))


def buddy_rules(net: Supercube) -> dict[tuple[str, str], Buddies]:
    """Map (D_H's rule, D_L's rule), each "lowest" (A6) or "highest", to the buddies across that internal dimension."""
    order = {"lowest": (net.low, net.high), "highest": (net.high, net.low)}
    out: dict[tuple[str, str], Buddies] = {}
    for upwards, downwards in itertools.product(order, repeat=2):
        chosen = {}
        for v, p in next(buddy_choices(net)):
            bits = order[upwards if net.label(p) > net.label(v) else downwards]
            chosen[v, p] = next(v ^ bit for bit in bits if v ^ bit not in net.faults)
        out[upwards, downwards] = chosen
    return out


def message_channels(net: Supercube, s: int, t: int, path: str, choice: Buddies) -> list[tuple[int, int]]:
    """Return the channels of a message to one destination: by R inside a supernode, by R' between them (Figures 14 and 15)."""
    channels, v, there = [], s, net.label(t)
    while v != t:
        here = net.label(v)
        if here == there:
            w = net.next_node_within(v, t)
        else:
            up = there > here
            labels = {net.label(v ^ bit): v ^ bit for bit in net.external}
            if path == "hamilton":
                p = labels[here + (1 if up else -1)]
            else:
                p = labels[max(a for a in labels if a <= there) if up else min(a for a in labels if a >= there)]
            w = p if p not in net.faults else choice[v, p]
        channels.append((v, w))
        v = w
    return channels


def channel_dependencies(net: Supercube, path: str, choice: Buddies) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """Map each channel to the channels that messages with one destination request while they hold it, for all nonfaulty pairs."""
    arcs: dict[tuple[int, int], set[tuple[int, int]]] = {}
    nonfaulty = [v for v in range(2**net.n) if v not in net.faults]
    for s, t in itertools.permutations(nonfaulty, 2):
        channels = message_channels(net, s, t, path, choice)
        for channel in channels:
            arcs.setdefault(channel, set())
        for channel, onward in itertools.pairwise(channels):
            arcs[channel].add(onward)
    return arcs


def has_cycle(net: Supercube, path: str, choice: Buddies) -> bool:
    """Return whether the channels have a dependency cycle: as many messages, each from the tail of its channel, then deadlock."""
    arcs = channel_dependencies(net, path, choice)
    while free := [channel for channel, onward in arcs.items() if not onward & arcs.keys()]:
        for channel in free:
            del arcs[channel]
    return bool(arcs)


def split_in_supernode(net: Supercube, s: int, wanted: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """Return (buddy, destinations) of each message of step 2 in Figure 16, exactly as printed, for the source's own supernode."""
    channels = {net.next_node_within(s, d) for d in wanted}
    buddies = [b for b in (s ^ net.low, s ^ net.high) if b in wanted]
    if len(channels) == 1:
        return [(channels.pop(), tuple(wanted))]
    if len(buddies) == 2:
        others = tuple(d for d in wanted if d != buddies[0])
        return [(buddies[0], (buddies[0],)), (buddies[1], others)]
    return []
