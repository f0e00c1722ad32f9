"""Wormhole switching in plain Python: dependencies as messages make them, and the simulation of reading A15.

A channel is (u, v); with two virtual channels (u, v, copy), copy 1 for the inter-channels of D_L's messages (A14).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .multicasting import Message, Supercube, passed_on, sources_messages

Channel = tuple[int, ...]
Key = tuple[int, str]


def channel_of(net: Supercube, kind: str, u: int, v: int, virtual_channels: int) -> Channel:
    """The virtual channel that a message of class ``kind`` takes from u to v."""
    if virtual_channels == 1:
        return u, v
    inside = net.label(u) == net.label(v)
    return u, v, int(inside and kind == "L")


# ---------------------------------------------------------------- dependencies (A14)


def arcs_of_multicast(
    net: Supercube, s: int, destinations: Collection[int], virtual_channels: int = 1
) -> Iterator[tuple[Channel, Channel]]:
    """Every c -> c' of one multicast: a message that came over c asks for c'."""
    queue = [
        (channel_of(net, m.kind, s, m.at, virtual_channels), m)
        for m in sources_messages(net, s, destinations, "shortcut")
    ]
    for came, message in queue:
        for sent in passed_on(net, message, "shortcut"):
            asked = channel_of(net, sent.kind, message.at, sent.at, virtual_channels)
            yield came, asked
            queue.append((asked, sent))


def all_arcs(net: Supercube, virtual_channels: int = 1, largest: int | None = None) -> set[tuple[Channel, Channel]]:
    """The union over all nonfaulty sources and sets of at most ``largest`` nonfaulty destinations."""
    nonfaulty = [v for v in range(2**net.n) if v not in net.faults]
    arcs = set()
    for s in nonfaulty:
        others = [v for v in nonfaulty if v != s]
        for size in range(1, (largest or len(others)) + 1):
            for destinations in itertools.combinations(others, size):
                arcs.update(arcs_of_multicast(net, s, destinations, virtual_channels))
    return arcs


def has_cycle(arcs: Iterable[tuple[Any, Any]]) -> bool:
    """Whether the graph has a cycle: vertices without successors are taken away until none is left, or all have some."""
    successors: dict[Any, set[Any]] = {}
    for c, d in arcs:
        successors.setdefault(c, set()).add(d)
    while successors:
        ends = {c for c, after in successors.items() if not after & successors.keys()}
        if not ends:
            return True
        for c in ends:
            del successors[c]
    return False


def dependency_arcs(net: Supercube, virtual_channels: int = 1, unicast: bool = False) -> set[tuple[Channel, Channel]]:
    """The graph from small destination sets: what every message does at a node, it does for one or two destinations.

    A message that came over c asks at v for the channel of one of its destinations; the other one, v itself, is what
    made it come that way.  So sets of two destinations show all arcs; a test holds this against all sets of Q_3.
    """
    return all_arcs(net, virtual_channels, 1 if unicast else 2)


# ---------------------------------------------------------------- simulation (A15)


@dataclass
class Held:
    """A channel that a message has acquired.

    ``flit`` is the number of the flit in its buffer (0 the header), or None; ``then`` are the channels acquired at its end: None
    while the header waits there, nothing at the end of a branch.
    """

    channel: Channel
    message: Message
    since: int
    flit: int | None = 0
    then: list[Held] | None = None


@dataclass
class Worm:
    """One message of A15 on its way."""

    key: Key
    source: int
    first: Message
    held: list[Held] = field(default_factory=list)
    started: bool = False
    fed: int = 0
    ended: bool = False


@dataclass
class Result:
    """What the simulation gives, as fc.simulate_wormhole."""

    deadlocked: bool
    steps: int
    arrival: dict[tuple[int, int], int]
    held: dict[Key, set[Channel]]
    waiting: dict[Key, list[tuple[Channel, Key | None]]]


def worms_of(net: Supercube, messages: list[tuple[int, Collection[int]]], path: str) -> list[Worm]:
    """The messages of all multicasts in the order of their turns."""
    worms = []
    for i, (s, destinations) in enumerate(messages):
        for message in sources_messages(net, s, destinations, path):
            name = message.kind
            if name == "E":
                name = "E_lo" if message.at ^ s == 1 << net.lo else "E_hi"
            worms.append(Worm((i, name), s, message))
    return worms


class Simulation:
    """All messages, in lockstep."""

    def __init__(
        self,
        net: Supercube,
        messages: list[tuple[int, Collection[int]]],
        virtual_channels: int,
        flits: int | None,
        path: str,
    ) -> None:
        self.net, self.copies, self.flits, self.path = net, virtual_channels, flits, path
        self.worms = worms_of(net, messages, path)
        self.arrival: dict[tuple[int, int], int] = {}
        self.step = 0

    def holder(self, channel: Channel) -> Key | None:
        """The message that holds a channel."""
        for worm in self.worms:
            if any(held.channel == channel for held in worm.held):
                return worm.key
        return None

    def requests(self, worm: Worm) -> list[tuple[Held | None, list[Message]]]:
        """Where the worm asks in this step, and for what: its source, and ends reached in an earlier step."""
        if not worm.started:
            return [(None, [worm.first])]
        waiting = [held for held in worm.held if held.then is None and held.since < self.step]
        return [(held, passed_on(self.net, held.message, self.path)) for held in waiting]

    def named(self, worm: Worm, at: Held | None, sent: Message) -> Channel:
        before = worm.source if at is None else at.message.at
        return channel_of(self.net, sent.kind, before, sent.at, self.copies)

    def turn(self, worm: Worm) -> bool:
        """One message's turn; whether it acquired something."""
        acquired = False
        for at, sends in self.requests(worm):
            channels = [self.named(worm, at, sent) for sent in sends]
            if any(self.holder(channel) is not None for channel in channels):
                continue
            acquired = worm.started = True
            new = [Held(channel, sent, self.step) for channel, sent in zip(channels, sends, strict=True)]
            for held in new:
                if held.message.at in held.message.header:
                    self.arrival[worm.key[0], held.message.at] = self.step
                if not passed_on(self.net, held.message, self.path):
                    held.then = []
            worm.held += new
            if at is None:
                worm.fed = 1
            else:
                at.then, at.flit = new, None
                if self.flits == 1:
                    worm.held.remove(at)
        if acquired and self.flits is None and all(held.then is not None for held in worm.held):
            worm.ended, worm.held = True, []
        return acquired

    def move(self, worm: Worm) -> bool:
        """The flits of one message move, from the ends of the branches to the source; whether one did."""
        moved = False
        first = worm.held[0] if worm.held else None
        for held in reversed(list(worm.held)):
            if held.flit is None or held.then is None or (held.flit == 0 and held.since == self.step):
                continue
            if any(after.flit is not None for after in held.then):
                continue
            for after in held.then:
                after.flit = held.flit
            if held.flit + 1 == self.flits:
                worm.held.remove(held)
            held.flit, moved = None, True
        if worm.started and worm.fed < (self.flits or 0) and first is not None and first.flit is None:
            first.flit = worm.fed
            worm.fed += 1
            moved = True
        worm.ended = worm.started and not worm.held
        return moved

    def run(self) -> Result:
        """Until all have ended, or nothing happens in a step."""
        last = 0
        while not all(worm.ended for worm in self.worms):
            self.step += 1
            alive = [worm for worm in self.worms if not worm.ended]
            happened = [self.turn(worm) for worm in alive]
            if self.flits is not None:
                happened += [self.move(worm) for worm in alive if not worm.ended]
            if not any(happened):
                break
            last = self.step
        stuck = [worm for worm in self.worms if not worm.ended]
        held = {worm.key: {held.channel for held in worm.held} for worm in stuck}
        waiting = {
            worm.key: [
                (channel, self.holder(channel))
                for at, sends in self.requests(worm)
                for channel in (self.named(worm, at, sent) for sent in sends)
            ]
            for worm in stuck
        }
        return Result(bool(stuck), last, self.arrival, held, waiting)


def simulate(
    net: Supercube,
    messages: list[tuple[int, Collection[int]]],
    virtual_channels: int = 1,
    flits: int | None = None,
    path: str = "shortcut",
) -> Result:
    """A15."""
    return Simulation(net, messages, virtual_channels, flits, path).run()
