"""Wormhole switching in one faulty hypercube: dependencies between channels, and whether messages deadlock.

Two views of Theorem 2 of Wang, Lin & Kuo.  The channel dependency graph (A14) has an arc c -> c' if some message that arrived
over c can request c'.  If it has no cycle, messages that do not branch cannot deadlock (Dally & Seitz 1987).  The graph ignores
that one branch of a message may wait while another branch holds channels.  The simulation (A15) covers this case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..errors import ParameterError, check_flag, check_integer, check_range, is_many, short_repr
from ..networks.hypercube import Hypercube, check_cube
from .multicasting import Use, check_message, forward_messages, make_supercube, source_messages
from .partition import Pair, Supercube

#: (u, v), and with two virtual channels (u, v, copy).
Channel = tuple[int, ...]
#: The index of a multicast in the list, and the kind of its message: E_lo, E_hi, H or L.
MessageKey = tuple[int, str]

#: Adds a channel (class, u, v) to the graph, and with a fourth argument w also its arc to the channel from v to w.
AddArc = Callable[..., None]

#: Largest n for the channel dependency graph.
LARGEST = 12

_MAX_FLITS = 2**31


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
            _arcs_inside(net, "E", v, add_arc)
            for kind in "HL":
                _arcs_of_class(net, kind, v, unicast, add_arc)
    return arcs


def _arcs_inside(net: Supercube, kind: str, v: int, add: AddArc) -> None:
    """Add the channels of a message at v for its own supernode, and the arc to the node across."""
    for b in (v ^ net.low, v ^ net.high):
        if b not in net.faults:
            add(kind, v, b)
    across = v ^ net.inside
    if across not in net.faults:
        b = net.within(v, across)
        add(kind, v, b, across)


def _arcs_of_class(net: Supercube, kind: str, v: int, unicast: bool, add: AddArc) -> None:
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
        add(kind, v, node)
        if detour:  # and the channel from the buddy to its neighbour in p's supernode
            add(kind, v, node, node ^ v ^ p)
    if before:
        _arcs_inside(net, kind, v, add)
    for u in before:
        for b in (v ^ net.low, v ^ net.high):
            if b not in net.faults:
                add(kind, u, v, b)
        limit = _next_shortcut(net, u, here, kind)
        for label, node in steps:
            if not unicast or limit is None or (label < limit if kind == "H" else label > limit):
                add(kind, u, v, node)


def _neighbours(net: Supercube, v: int) -> list[tuple[int, int]]:
    """Return labels and nodes across the dimensions outside P: crossing the k-th turns a into a ^ (2^(k+1) - 1)."""
    here = net.label(v)
    return [(here ^ (2 << k) - 1, v ^ bit) for k, bit in enumerate(net.external)]


def _next_shortcut(net: Supercube, u: int, label: int, kind: str) -> int | None:
    """Return the nearest label beyond ``label`` among u's neighbours, or None."""
    labels = [a for a, _ in _neighbours(net, u)]
    if kind == "H":
        return min((a for a in labels if a > label), default=None)
    return max((a for a in labels if a < label), default=None)


def shortest_cycle(arcs: Mapping[Channel, Iterable[Channel]]) -> list[Channel] | None:
    """Return a shortest cycle of a directed graph, each vertex with an arc to the next, or None if it is acyclic."""
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
        count = {c: len(after) for c, after in alive.items()}
        ends = [c for c, many in count.items() if not many]
        while ends:
            for c in before[ends.pop()]:
                count[c] -= 1
                if not count[c]:
                    ends.append(c)
        alive = {c: [d for d in before[c] if count[d]] for c in alive if count[c]}  # the remaining graph, arcs reversed
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


@dataclass(frozen=True)
class Wormhole:
    """The result of ``fastcube.simulate_wormhole``.

    Attributes
    ----------
    deadlocked : bool
    steps : int
        The last step in which a channel was acquired; with ``flits``, in which a flit moved or was consumed.
    arrival : dict
        (i, destination) -> step in which the header arrives; i is the index in ``messages``.
    held, waiting : dict
        For stuck messages, by (i, "E_lo" | "E_hi" | "H" | "L"): the channels held, and the channels requested as pairs
        (channel, key of its holder or None).
    """

    deadlocked: bool
    steps: int
    arrival: dict[tuple[int, int], int]
    held: dict[MessageKey, set[Channel]]
    waiting: dict[MessageKey, list[tuple[Channel, MessageKey | None]]]


@dataclass
class _Link:
    """An acquired channel: the flit in its buffer (0 is the header), and the channels that the header requests at its end."""

    channel: Channel
    use: Use
    since: int
    asks: list[Use]
    flit: int | None = 0
    then: list[_Link] | None = None


@dataclass
class _Worm:
    key: MessageKey
    asks: list[Use]
    links: list[_Link] = field(default_factory=list)
    first: _Link | None = None
    fed: int = 0
    ended: bool = False

    def waiting(self, step: int) -> list[tuple[_Link | None, list[Use]]]:
        """Return the places where the message requests channels in a step: its source, or ends reached in earlier steps."""
        if self.first is None:
            return [(None, self.asks)]
        return [(link, link.asks) for link in self.links if link.then is None and link.since < step]


def simulate_wormhole(
    cube: Hypercube,
    messages: Iterable[tuple[int, Iterable[int]]],
    partition: Pair | None = None,
    virtual_channels: int = 1,
    flits: int | None = None,
    path: str = "shortcut",
) -> Wormhole:
    """Simulate multicasts that all start together, flit by flit (A15).

    Parameters
    ----------
    cube : Hypercube
        With listed faults.
    messages : iterable of (s, destinations)
        As in :func:`fastcube.multicast`.
    partition, path
        As in :func:`fastcube.multicast`.
    virtual_channels : int
        1, or 2: with 2, D_L has separate channels inside supernodes.
    flits : int, optional
        Length of every message in flits, header included, at most 2^31.  None: longer than any path.

    Returns
    -------
    Wormhole

    Examples
    --------
    >>> w = fc.simulate_wormhole(fc.Hypercube(3), [(0, [1])])
    >>> w.deadlocked, w.steps
    (False, 1)
    """
    copies = check_integer("virtual_channels", virtual_channels, 1, 2)
    length = None if flits is None else check_integer("flits", flits, 1, _MAX_FLITS)
    net = make_supercube(cube, partition, path)
    return _Simulation(net, _worms(cube, net, messages, path), copies, length, path).run()


def _worms(cube: Hypercube, net: Supercube, messages: object, path: str) -> list[_Worm]:
    """Return the messages of all multicasts, in the order of their turns.  Raises ParameterError."""
    wanted = "messages must be pairs (s, destinations)"
    if not is_many(messages):
        raise ParameterError(f"{wanted}, got {short_repr(messages)}")
    worms = []
    for i, message in enumerate(messages):
        try:
            s, destinations = message
        except (TypeError, ValueError):
            raise ParameterError(f"{wanted}, got {short_repr(message)}") from None
        source, targets = check_message(cube, net, s, destinations)
        for use in source_messages(net, source, targets, path):
            inside = "E_lo" if use.u ^ use.v == net.low else "E_hi"
            worms.append(_Worm((i, inside if use.kind == "E" else use.kind), [use]))
    return worms


class _Simulation:
    def __init__(self, net: Supercube, worms: list[_Worm], copies: int, flits: int | None, path: str) -> None:
        self.net, self.worms, self.copies, self.flits, self.path = net, worms, copies, flits, path
        self.holder: dict[Channel, MessageKey] = {}
        self.arrival: dict[tuple[int, int], int] = {}

    def channel(self, use: Use) -> Channel:
        return channel_of(self.net, use.kind, use.u, use.v, self.copies)

    def release(self, worm: _Worm, link: _Link) -> None:
        worm.links.remove(link)
        del self.holder[link.channel]

    def acquire(self, worm: _Worm, step: int) -> bool:
        """Take the message's turn: at each place where it waits it acquires all requested channels, or none."""
        acquired = False
        for at, asks in worm.waiting(step):
            if any(self.channel(use) in self.holder for use in asks):
                continue
            acquired = True
            links = []
            for use in asks:
                link = _Link(self.channel(use), use, step, forward_messages(self.net, use, self.path))
                if not link.asks:
                    link.then = []
                if use.v in use.header:
                    self.arrival[worm.key[0], use.v] = step
                self.holder[link.channel] = worm.key
                links.append(link)
            worm.links += links
            if at is None:
                worm.first, worm.fed = links[0], 1
            else:
                at.then, at.flit = links, None
                if self.flits == 1:
                    self.release(worm, at)
        if acquired and self.flits is None and all(link.then is not None for link in worm.links):
            worm.ended = True
            for link in list(worm.links):
                self.release(worm, link)
        return acquired

    def move_flits(self, worm: _Worm, step: int) -> bool:
        """Move the flits, from the ends of the branches to the source.  A header does not move in the step of its arrival."""
        moved = False
        for link in worm.links[::-1]:
            flit = link.flit
            if flit is None or link.then is None or (flit == 0 and link.since == step):
                continue
            if all(after.flit is None for after in link.then):
                for after in link.then:
                    after.flit = flit
                link.flit, moved = None, True
                if flit + 1 == self.flits:
                    self.release(worm, link)
        assert self.flits is not None
        if worm.first is not None and worm.first.flit is None and worm.fed < self.flits:
            worm.first.flit, moved = worm.fed, True
            worm.fed += 1
        worm.ended = worm.first is not None and not worm.links
        return moved

    def run(self) -> Wormhole:
        step = 0
        alive = list(self.worms)
        while alive:
            happened = False
            for worm in alive:
                happened |= self.acquire(worm, step + 1)
            if self.flits is not None:
                for worm in alive:
                    happened |= self.move_flits(worm, step + 1)
            if not happened:
                break
            step += 1
            alive = [worm for worm in alive if not worm.ended]
        held = {worm.key: {link.channel for link in worm.links} for worm in alive}
        waiting = {
            worm.key: [
                (self.channel(use), self.holder.get(self.channel(use)))
                for _, asks in worm.waiting(step + 1)
                for use in asks
            ]
            for worm in alive
        }
        return Wormhole(bool(alive), step, self.arrival, held, waiting)
