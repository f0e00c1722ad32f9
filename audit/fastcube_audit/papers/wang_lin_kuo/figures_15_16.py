"""Figures 15 and 16 of Wang, Lin & Kuo exactly as printed, with the choices that they leave open (section 4).

Q_n is divided into 2-cubes, the *supernodes*, each with one fault at most (``fastcube.algorithms.partition.Supercube``).  A
supernode has a *label*, its place on a Hamilton path of the supercube.  Terms of the figures:

*R* (Figure 14): the next node on the way to a node in the same supernode.
*R'* (Figure 15): the next node on the way to a supernode of another label.  It lies across an external link, which leads to
another supernode.  If the node there is faulty, R' is a *buddy*: one of the two neighbours in the same supernode, which passes
the message on.  The paper does not say which buddy if both are nonfaulty (A6).
*D_H*, *D_L*: the destinations of a multicast with higher labels than the source, and with lower ones.  A message to D_H moves
through ascending labels, a message to D_L through descending ones.

``path`` is ``hamilton``, where R' goes to the next label, or ``shortcut``, where it goes to the neighbour whose label is nearest
to the destination's without passing it (A5).  A channel is a pair of nodes, from and to.
"""

import itertools
from collections.abc import Iterator, Mapping

from fastcube.algorithms.partition import Supercube

#: Map (node, faulty node across an external link) -> the buddy that passes a message on.
Buddies = Mapping[tuple[int, int], int]


def _detours(net: Supercube) -> list[tuple[int, int]]:
    """Return the pairs (node, faulty node across an external link) of nonfaulty nodes, at which R' is a buddy."""
    nonfaulty = [v for v in range(2**net.n) if v not in net.faults]
    return [(v, v ^ bit) for v in nonfaulty for bit in net.external if v ^ bit in net.faults]


def _nonfaulty_buddies(net: Supercube, v: int) -> list[int]:
    """Return the nonfaulty neighbours of v in its supernode, at least one, because a supernode has one fault at most."""
    return [buddy for buddy in (v ^ net.low, v ^ net.high) if buddy not in net.faults]


def buddy_choices(net: Supercube) -> Iterator[Buddies]:
    """Yield every choice among the nonfaulty buddies (interpretation A6 takes the one across the lowest internal dimension)."""
    detours = _detours(net)
    for chosen in itertools.product(*(_nonfaulty_buddies(net, v) for v, _ in detours)):
        yield dict(zip(detours, chosen, strict=True))


def buddy_rules(net: Supercube) -> dict[tuple[str, str], Buddies]:
    """Map (D_H's rule, D_L's rule), each "lowest" (A6) or "highest", to the buddies across that internal dimension.

    Where this buddy is faulty, the other one is taken.
    """
    place = {"lowest": 0, "highest": -1}  # of the buddy in the list, which is in the order of the dimensions
    out: dict[tuple[str, str], Buddies] = {}
    for rule_of_high, rule_of_low in itertools.product(place, repeat=2):
        out[rule_of_high, rule_of_low] = {
            (v, faulty): _nonfaulty_buddies(net, v)[
                place[rule_of_high if net.label(faulty) > net.label(v) else rule_of_low]
            ]
            for v, faulty in _detours(net)
        }
    return out


def message_channels(net: Supercube, s: int, t: int, path: str, buddies: Buddies) -> list[tuple[int, int]]:
    """Return the channels of a message from s to one destination t, by R inside its supernode and by R' between supernodes."""
    channels, v, goal = [], s, net.label(t)
    while v != t:
        label = net.label(v)
        w = net.next_node_within(v, t) if label == goal else _next_node_toward(net, v, goal, path, buddies)
        channels.append((v, w))
        v = w
    return channels


def _next_node_toward(net: Supercube, v: int, goal: int, path: str, buddies: Buddies) -> int:
    """Return R'(v, u) for a label l(u) = ``goal`` other than l(v), with the given buddies."""
    label = net.label(v)
    is_ascending = goal > label
    across = {net.label(v ^ bit): v ^ bit for bit in net.external}  # by label
    if path == "hamilton":
        p = across[label + 1 if is_ascending else label - 1]
    elif is_ascending:
        p = across[max(other for other in across if other <= goal)]
    else:
        p = across[min(other for other in across if other >= goal)]
    return p if p not in net.faults else buddies[v, p]


def channel_dependencies(net: Supercube, path: str, buddies: Buddies) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """Map each channel to the channels that messages with one destination request while they hold it, for all nonfaulty pairs."""
    requested: dict[tuple[int, int], set[tuple[int, int]]] = {}
    nonfaulty = [v for v in range(2**net.n) if v not in net.faults]
    for s, t in itertools.permutations(nonfaulty, 2):
        channels = message_channels(net, s, t, path, buddies)
        for channel in channels:
            requested.setdefault(channel, set())
        for channel, onward in itertools.pairwise(channels):
            requested[channel].add(onward)
    return requested


def has_cycle(net: Supercube, path: str, buddies: Buddies) -> bool:
    """Return whether the channels have a dependency cycle.

    Messages can then deadlock.  The way from a node does not depend on where a message began, so each channel of the cycle is the
    first channel of some message; if these messages hold their first channels, each waits for the next.
    """
    requested = channel_dependencies(net, path, buddies)
    # a channel is on no cycle if all channels that it leads to are on none; what such removals leave has a cycle
    while free := [channel for channel, onward in requested.items() if not onward & requested.keys()]:
        for channel in free:
            del requested[channel]
    return bool(requested)


def split_in_supernode(net: Supercube, s: int, wanted: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """Return the messages of step 2 in Figure 16 exactly as printed, as pairs of a buddy of s and the destinations sent to it.

    ``wanted`` has the destinations in the supernode of s.  The list is empty where the figure has no case, and the destinations
    are lost: for two channels with only one buddy among the destinations (A7).
    """
    next_nodes = {net.next_node_within(s, d) for d in wanted}
    wanted_buddies = [buddy for buddy in (s ^ net.low, s ^ net.high) if buddy in wanted]
    if len(next_nodes) == 1:
        return [(next_nodes.pop(), tuple(wanted))]
    if len(wanted_buddies) == 2:
        first, second = wanted_buddies
        return [(first, (first,)), (second, tuple(d for d in wanted if d != first))]
    return []
