"""Messages that really deadlock: sets of multicasts made from a cycle of the dependency graph, tried in the simulation.

Every arc c -> c' is made by a message whose source is the tail of c, with at most two destinations.  So a cycle of m
channels gives m messages: each has its own channel after the first step and asks for the next one's, for ever.  Fewer messages
do when some hold a longer stretch of the cycle by the time they come to the next one's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from fastcube.algorithms.multicasting import Use, forward_messages, source_messages
from fastcube.algorithms.partition import Pair, Supercube, faults_of
from fastcube.algorithms.wormhole import Channel, channel_of, simulate_wormhole
from fastcube.networks.hypercube import Hypercube

Message = tuple[int, list[int]]

#: Most messages for one stretch, and most sets of messages, that are tried.
CANDIDATES = 6
SETS = 4000


class SearchResult(NamedTuple):
    """What a search for messages that deadlock has found, and among which."""

    messages: list[Message] | None  #: the first set that deadlocks, of those with the fewest messages; None without one
    tried: int  #: sets of messages tried, that one included
    cut: bool  #: whether it ended at ``SETS``


def _chain_paths(net: Supercube, message: Message, copies: int) -> list[tuple[Channel, ...]]:
    """All ways of channels in a row from the source, each as long as it goes."""
    ways: list[tuple[Channel, ...]] = []
    start = [
        (channel_of(net, use.kind, use.u, use.v, copies), use) for use in source_messages(net, *message, "shortcut")
    ]
    stack: list[tuple[tuple[Channel, ...], Use]] = [((channel,), use) for channel, use in start]
    while stack:
        way, use = stack.pop()
        sent = forward_messages(net, use, "shortcut")
        if not sent:
            ways.append(way)
        stack += [((*way, channel_of(net, more.kind, more.u, more.v, copies)), more) for more in sent]
    return ways


def _messages_over(net: Supercube, stretch: Sequence[Channel], copies: int, unicast: bool) -> list[Message]:
    """Some messages whose way begins with a stretch of channels, from the source on."""
    found = []
    heads = [c[1] for c in stretch[:-1]]
    for d in range(2**net.n):
        if d in net.faults or d == stretch[0][0]:
            continue
        for destinations in ([d], [*dict.fromkeys([*heads, d])]):
            if len(destinations) > 1 and (unicast or stretch[0][0] in destinations):
                continue
            message = (stretch[0][0], destinations)
            if any(way[: len(stretch)] == tuple(stretch) for way in _chain_paths(net, message, copies)):
                found.append(message)
                break
        if len(found) == CANDIDATES:
            break
    return found


def deadlocking_messages(
    cube: Hypercube,
    pair: Pair,
    cycle: Sequence[Channel],
    copies: int = 1,
    unicast: bool = False,
) -> SearchResult:
    """The fewest messages found that deadlock on a cycle.

    Tried are messages whose first channels are a stretch of the cycle and which then ask for the first channel of the
    next stretch: all cuts of the cycle into 2, 3, ... stretches, ``CANDIDATES`` messages a stretch, ``SETS`` sets in all.
    """
    net = Supercube(cube.n, faults_of(cube), pair)
    length, tried = len(cycle), 0
    for parts in range(2, length + 1):
        for starts in itertools.combinations(range(length), parts):
            choices = []
            for i, at in enumerate(starts):
                end = starts[(i + 1) % parts] + (length if i + 1 == parts else 0)
                stretch = [cycle[k % length] for k in range(at, end + 1)]
                choices.append(_messages_over(net, stretch, copies, unicast))
            for messages in itertools.product(*choices):
                if tried == SETS:
                    return SearchResult(None, tried, True)
                tried += 1
                if simulate_wormhole(cube, messages, pair, copies).deadlocked:
                    return SearchResult([(s, sorted(d)) for s, d in messages], tried, False)
    return SearchResult(None, tried, False)
