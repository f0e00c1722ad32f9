"""The channel dependency graph of multicasts in one faulty hypercube, and its shortest cycle (A14).

The graph has an arc c -> c' if some message that arrived over c can request c'.  If it has no cycle, messages that do not branch
cannot deadlock (Dally & Seitz 1987).  The graph ignores that one branch of a message may wait while another branch holds
channels, which the simulation in ``wormhole`` covers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..errors import check_flag, check_integer, check_range
from ..networks.hypercube import Hypercube, check_cube
from .multicasting import make_supercube
from .partition import Pair, Supercube

#: (u, v), and with two virtual channels (u, v, copy).
Channel = tuple[int, ...]

#: Adds a channel (class, u, v) to the graph, and with a fourth argument w also its arc to the channel from v to w.
AddArc = Callable[..., None]

#: Largest n for which the graph is built.
LARGEST = 12


def channel_of(net: Supercube, kind: str, u: int, v: int, virtual_channels: int) -> Channel:
    """Return the channel of a message of class ``kind`` from u to v (A14): D_L inside supernodes uses copy 1."""
    if virtual_channels == 1:
        return u, v
    return u, v, int(kind == "L" and not (u ^ v) & ~net.inside)


def dependency_arcs(net: Supercube, virtual_channels: int, unicast: bool) -> dict[Channel, set[Channel]]:
    """Return the channel dependency graph (A14): every channel that some message uses, with the channels it waits for."""
    arcs: dict[Channel, set[Channel]] = {}

    def add_arc(kind: str, u: int, v: int, after: int | None = None) -> None:
        waits = arcs.setdefault(channel_of(net, kind, u, v, virtual_channels), set())
        if after is not None:
            asked = channel_of(net, kind, v, after, virtual_channels)
            waits.add(asked)
            arcs.setdefault(asked, set())

    for v in range(2**net.n):
        if v not in net.faults:
            _add_arcs_inside(net, "E", v, add_arc)
            for kind in "HL":
                _add_arcs_of_class(net, kind, v, unicast, add_arc)
    return arcs


def _add_arcs_inside(net: Supercube, kind: str, v: int, add_arc: AddArc) -> None:
    """Add the channels of a message at v for its own supernode, and the arc to the node across."""
    for b in (v ^ net.low, v ^ net.high):
        if b not in net.faults:
            add_arc(kind, v, b)
    across = v ^ net.inside
    if across not in net.faults:
        b = net.next_node_within(v, across)
        add_arc(kind, v, b, across)


def _add_arcs_of_class(net: Supercube, kind: str, v: int, unicast: bool, add_arc: AddArc) -> None:
    """Add the channels that messages of D_H or D_L request at v, and at the buddy of a detour from v.

    Such a message can come to v from any nonfaulty neighbour u in a lower (D_L: higher) supernode, if u is its source and its
    header begins with v or another node of v's supernode.  Any destination beyond can come next in the header, so every channel
    from v to supernodes beyond can be requested.  A unicast goes from u to v only if its goal lies before u's next shortcut.
    """
    here = net.label(v)
    beyond = [(label, p) for label, p in _neighbours(net, v) if (label > here) == (kind == "H")]
    before = [u for label, u in _neighbours(net, v) if (label < here) == (kind == "H") and u not in net.faults]
    steps = []  # for each neighbour p beyond: its label and the next node by R'
    for label, p in beyond:
        node, detour = net.next_node_toward(v, label, "shortcut")
        steps.append((label, node))
        add_arc(kind, v, node)
        if detour:  # and the channel from the buddy to its neighbour in p's supernode
            add_arc(kind, v, node, node ^ v ^ p)
    if before:
        _add_arcs_inside(net, kind, v, add_arc)
    for u in before:
        for b in (v ^ net.low, v ^ net.high):
            if b not in net.faults:
                add_arc(kind, u, v, b)
        limit = _next_shortcut(net, u, here, kind)
        for label, node in steps:
            if not unicast or limit is None or (label < limit if kind == "H" else label > limit):
                add_arc(kind, u, v, node)


def _neighbours(net: Supercube, v: int) -> list[tuple[int, int]]:
    """Return labels and nodes across the dimensions outside P: crossing the k-th turns a into a ^ (2^(k+1) - 1)."""
    here = net.label(v)
    return [(here ^ ((2 << k) - 1), v ^ bit) for k, bit in enumerate(net.external)]


def _next_shortcut(net: Supercube, u: int, label: int, kind: str) -> int | None:
    """Return the nearest label beyond ``label`` among u's neighbours, or None."""
    labels = [a for a, _ in _neighbours(net, u)]
    if kind == "H":
        return min((a for a in labels if a > label), default=None)
    return max((a for a in labels if a < label), default=None)


def shortest_cycle(arcs: Mapping[Channel, Iterable[Channel]]) -> list[Channel] | None:
    """Return a shortest cycle of a directed graph, each vertex with an arc to the next, or None if it is acyclic.

    A breadth-first search from each vertex on a cycle or between cycles, so O(V (V + E)) for V such vertices with E arcs.
    """
    alive = _trim_acyclic(arcs)
    best: list[Channel] | None = None
    for start in sorted(alive):
        found = _cycle_through(alive, start, None if best is None else len(best))
        best = found or best
    return best


def _trim_acyclic(arcs: Mapping[Channel, Iterable[Channel]]) -> dict[Channel, list[Channel]]:
    """Return the graph without vertices that have no predecessors or no successors, removed repeatedly."""
    alive = {c: [d for d in after if d in arcs] for c, after in arcs.items()}
    for _ in range(2):
        before: dict[Channel, list[Channel]] = {c: [] for c in alive}
        for c, after in alive.items():
            for d in after:
                before[d].append(c)
        successors = {c: len(after) for c, after in alive.items()}
        ends = [c for c, number in successors.items() if not number]
        while ends:
            for c in before[ends.pop()]:
                successors[c] -= 1
                if not successors[c]:
                    ends.append(c)
        # The arcs are reversed here, so the second pass removes the vertices without predecessors and turns the arcs back.
        alive = {c: [d for d in before[c] if successors[d]] for c in alive if successors[c]}
    return alive


def _cycle_through(arcs: Mapping[Channel, list[Channel]], start: Channel, below: int | None) -> list[Channel] | None:
    """Return a shortest cycle through ``start`` of fewer than ``below`` vertices, or None, by breadth-first search."""
    came: dict[Channel, Channel | None] = {start: None}
    front, length = [start], 1
    while front and (below is None or length < below):
        after = []
        for c in front:
            for d in arcs[c]:
                if d == start:
                    cycle = [c]
                    while (previous := came[cycle[-1]]) is not None:
                        cycle.append(previous)
                    return cycle[::-1]
                if d not in came:
                    came[d] = c
                    after.append(d)
        front, length = after, length + 1
    return None


def dependency_cycle(
    cube: Hypercube, partition: Pair | None = None, virtual_channels: int = 1, unicast: bool = False
) -> list[Channel] | None:
    """Return a shortest cycle of the channel dependency graph (A14): each channel waits for the next, the last for the first.

    Parameters
    ----------
    cube : Hypercube
        n <= 12; faults must be listed.
    partition : (int, int), optional
        As in :func:`fastcube.multicast`.
    virtual_channels : int
        1: a channel is (u, v).  2: a channel is (u, v, c); messages of D_L use copy c = 1 inside supernodes, all others copy 0.
    unicast : bool
        Whether to consider only messages to a single destination.

    Returns
    -------
    list of channels, or None

    Raises
    ------
    ParameterError
        For n > 12, another number of virtual channels, or a bad partition.

    Examples
    --------
    >>> fc.dependency_cycle(fc.Hypercube(4)) is None  # no faults, no cycle
    True
    """
    copies = check_integer("virtual_channels", virtual_channels, 1, 2)
    check_range("n", check_cube(cube).n, 1, LARGEST, "for the dependency graph")
    return shortest_cycle(
        dependency_arcs(make_supercube(cube, partition, "shortcut"), copies, check_flag("unicast", unicast))
    )
