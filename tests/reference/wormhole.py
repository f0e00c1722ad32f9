"""Wormhole switching in plain Python: Wang, Lin & Kuo, sections 2, 4 and 5, by readings A14 and A15.

A message is known before it moves: Figures 16 and 17 say, for the source and for every channel that its header comes over,
which channels it acquires together there.  That table is its itinerary.  Everything else counts flits: ``left[c]`` of them have
left the buffer at the end of channel c, so that buffer holds what has left the place before c and not yet c.  The source stands
in the tables as None.

A channel is (u, v); with two virtual channels (u, v, copy), copy 1 for the inter-channels of D_L's messages (A14).
"""

from __future__ import annotations

import graphlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .multicasting import Message, Supercube, passed_on, sources_messages

Channel = tuple[int, ...]
Place = Channel | None  # the position of a header: at the end of a channel, or at the source
Key = tuple[int, str]  # (place of the multicast, E_lo | E_hi | H | L)


def channel_of(net: Supercube, kind: str, u: int, v: int, virtual_channels: int) -> Channel:
    """The virtual channel that a message of class ``kind`` takes from u to v."""
    inside = v in net.buddies(u)
    return {1: (u, v), 2: (u, v, int(inside and kind == "L"))}[virtual_channels]


@dataclass(eq=False)
class Worm:
    """One message: its itinerary, the nodes where it is wanted, when its header came where, and its flits."""

    key: Key
    itinerary: dict[Place, list[Channel]] = field(default_factory=dict)
    wanted_at: dict[Channel, int] = field(default_factory=dict)
    came: dict[Place, int] = field(default_factory=lambda: {None: 0})
    left: Counter[Place] = field(default_factory=Counter)

    def asks(self, step: int) -> Iterator[Place]:
        """Where the header, there since an earlier step, has yet to get the next channels."""
        return (c for c, since in self.came.items() if since < step and self.itinerary[c] and not self.left[c])


def worms_of(net: Supercube, messages: Iterable[tuple[int, Collection[int]]], copies: int, path: str) -> list[Worm]:
    """Figures 16 and 17 for all multicasts, in the order of turns: D_E low, D_E high, D_H, D_L (A15)."""
    worms = []
    for i, (s, destinations) in enumerate(messages):
        for first in sources_messages(net, s, destinations, path):
            across = {s ^ 1 << net.lo: "_lo", s ^ 1 << net.hi: "_hi"}
            worm = Worm((i, first.kind + (across[first.at] if first.kind == "E" else "")))
            sent: list[tuple[Place, int, list[Message]]] = [(None, s, [first])]
            for place, u, together in sent:  # which grows as it is read
                worm.itinerary[place] = []
                for message in together:
                    c = channel_of(net, first.kind, u, message.at, copies)
                    worm.itinerary[place].append(c)
                    if message.at in message.header:
                        worm.wanted_at[c] = message.at
                    sent.append((c, message.at, passed_on(net, message, path)))
            worms.append(worm)
    return worms


# ---------------------------------------------------------------- dependencies (A14)


def arcs_of_multicast(
    net: Supercube, s: int, destinations: Collection[int], virtual_channels: int = 1
) -> set[tuple[Channel, Channel]]:
    """Every c -> c' of one multicast: a message that came over c asks for c'."""
    worms = worms_of(net, [(s, destinations)], virtual_channels, "shortcut")
    tables = (worm.itinerary.items() for worm in worms)
    return {(c, after) for c, together in itertools.chain(*tables) if c for after in together}


def all_arcs(net: Supercube, virtual_channels: int = 1, largest: int | None = None) -> set[tuple[Channel, Channel]]:
    """The union over all nonfaulty sources and sets of at most ``largest`` nonfaulty destinations."""
    healthy = set(range(2**net.n)) - net.faults
    return {
        arc
        for size in range(1, (largest or len(healthy) - 1) + 1)
        for s in healthy
        for destinations in itertools.combinations(healthy - {s}, size)
        for arc in arcs_of_multicast(net, s, destinations, virtual_channels)
    }


def dependency_arcs(net: Supercube, virtual_channels: int = 1, unicast: bool = False) -> set[tuple[Channel, Channel]]:
    """The graph of A14 from small sets: one destination brings a message over c, and one makes it ask for c'.

    So sets of two destinations show all arcs; a test holds this against all sets of Q_3.
    """
    return all_arcs(net, virtual_channels, 1 if unicast else 2)


def has_cycle(arcs: Iterable[tuple[Any, Any]]) -> bool:
    """Whether the graph has no topological order."""
    before = defaultdict(set)
    for c, after in arcs:
        before[after].add(c)
    try:
        graphlib.TopologicalSorter(before).prepare()
    except graphlib.CycleError:
        return True
    return False


# ---------------------------------------------------------------- simulation (A15)


@dataclass
class Result:
    """Whether messages are stuck, the last step in which anything happened, and the messages' state by their keys."""

    deadlocked: bool
    steps: int
    arrival: dict[tuple[int, int], int]
    held: dict[Key, set[Channel]]
    waiting: dict[Key, list[tuple[Channel, Key | None]]]


def simulate(
    net: Supercube,
    messages: list[tuple[int, Collection[int]]],
    virtual_channels: int = 1,
    flits: int | None = None,
    path: str = "shortcut",
) -> Result:
    """A15: in each step the turns, then the flits; a step in which no flit leaves its place is the last."""
    length = flits or math.inf
    worms = worms_of(net, messages, virtual_channels, path)
    holder: dict[Channel, Worm] = {}
    arrival = {}
    step = last = flown = 0

    def one_flit_leaves(worm: Worm, place: Place) -> None:
        """The last flit releases the channel whose buffer it leaves."""
        worm.left[place] += 1
        if place and worm.left[place] == length:
            del holder[place]

    def turn(worm: Worm) -> None:
        """All channels that are needed at a place, or none; a long message lets go of all when no branch waits any more."""
        for place in [*worm.asks(step)]:
            if holder.keys().isdisjoint(worm.itinerary[place]):
                for c in worm.itinerary[place]:
                    holder[c], worm.came[c] = worm, step
                    if c in worm.wanted_at:
                        arrival[worm.key[0], worm.wanted_at[c]] = step
                one_flit_leaves(worm, place)
        if flits is None and worm.came.keys() == worm.itinerary.keys():
            for c in worm.came.keys() & {c for c, by in holder.items() if by is worm}:
                del holder[c]

    def flow(worm: Worm) -> None:
        """One flit over each place where there is one and room for it, the ends of the branches first."""
        inside = {c: worm.left[place] - worm.left[c] for place in worm.itinerary for c in worm.itinerary[place]}
        inside[None] = length - worm.left[None]
        for place, onward in reversed(worm.itinerary.items()):
            # the header moves in turns alone, but where its branch ends: there it is consumed in the step after its arrival
            headless = worm.left[place] if onward else worm.came.get(place, step) < step
            if headless and inside[place] and not any(inside[c] for c in onward):
                one_flit_leaves(worm, place)
                inside[place] -= 1

    while step == last:
        step += 1
        for worm in worms:
            turn(worm)
        for worm in worms if flits else ():
            flow(worm)
        if flown != (now := sum(worm.left.total() for worm in worms)):
            last, flown = step, now

    asked = {worm: [c for at in worm.asks(step) for c in worm.itinerary[at]] for worm in worms}
    stuck = [worm for worm in worms if asked[worm]]
    return Result(
        bool(stuck),
        last,
        arrival,
        {worm.key: {c for c, by in holder.items() if by is worm} for worm in stuck},
        {worm.key: [(c, holder[c].key if c in holder else None) for c in asked[worm]] for worm in stuck},
    )
