"""Wormhole switching in one faulty hypercube: a simulation of multicasts, flit by flit, that finds deadlocks (A15).

Theorem 2 of Wang, Lin & Kuo is tested in two ways: by the channel dependency graph (``channel_dependencies``), and by this
simulation, in which the branches of one message wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..errors import ParameterError, check_integer, is_many, short_repr
from ..networks.hypercube import Hypercube
from .channel_dependencies import Channel, channel_of
from .multicasting import Use, check_message, forward_messages, make_supercube, source_messages
from .partition import Pair, Supercube

#: The index of a multicast in the list, and the kind of its message: E_lo, E_hi, H or L.
MessageKey = tuple[int, str]

_MAX_FLITS = 2**31


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
    """A channel that a message has acquired."""

    channel: Channel
    use: Use
    since: int  #: the step in which the header arrived at its end
    asks: list[Use]  #: the channels that the header requests at its end
    flit: int | None = 0  #: the flit in its buffer, 0 for the header
    then: list[_Link] | None = (
        None  #: the channels acquired at its end, none at a last node; None while the header waits
    )


@dataclass
class _Worm:
    """A message on its way."""

    key: MessageKey
    asks: list[Use]  #: the channel that it requests at its source
    links: list[_Link] = field(default_factory=list)  #: the channels that it holds, in the order of acquisition
    first: _Link | None = None  #: the channel from its source, once acquired
    fed: int = 0  #: number of flits that have left the source
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

    Raises
    ------
    ParameterError
        For messages that are not pairs, faulty sources or destinations, and options out of range.

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
    """The state of a simulation: the messages, and which of them holds each channel."""

    def __init__(self, net: Supercube, worms: list[_Worm], copies: int, flits: int | None, path: str) -> None:
        self.net, self.worms, self.copies, self.flits, self.path = net, worms, copies, flits, path
        self.holder: dict[Channel, MessageKey] = {}
        self.arrival: dict[tuple[int, int], int] = {}

    def channel_of_use(self, use: Use) -> Channel:
        return channel_of(self.net, use.kind, use.u, use.v, self.copies)

    def release_channel(self, worm: _Worm, link: _Link) -> None:
        worm.links.remove(link)
        del self.holder[link.channel]

    def acquire_channels(self, worm: _Worm, step: int) -> bool:
        """Take the message's turn: at each place where it waits it acquires all requested channels, or none."""
        acquired = False
        for at, asks in worm.waiting(step):
            if any(self.channel_of_use(use) in self.holder for use in asks):
                continue
            acquired = True
            links = []
            for use in asks:
                link = _Link(self.channel_of_use(use), use, step, forward_messages(self.net, use, self.path))
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
                    self.release_channel(worm, at)
        if acquired and self.flits is None and all(link.then is not None for link in worm.links):
            worm.ended = True
            for link in list(worm.links):
                self.release_channel(worm, link)
        return acquired

    def move_flits(self, worm: _Worm, step: int) -> bool:
        """Move the flits, from the ends of the branches to the source.  A header does not move in the step of its arrival."""
        assert self.flits is not None
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
                    self.release_channel(worm, link)
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
                happened |= self.acquire_channels(worm, step + 1)
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
                (self.channel_of_use(use), self.holder.get(self.channel_of_use(use)))
                for _, asks in worm.waiting(step + 1)
                for use in asks
            ]
            for worm in alive
        }
        return Wormhole(bool(alive), step, self.arrival, held, waiting)
