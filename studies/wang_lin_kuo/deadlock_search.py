"""Search for messages that deadlock: multicasts made from a cycle of the dependency graph and tried in the simulation.

Every arc c -> c' comes from a message whose source is the tail of c, with at most two destinations.  So a cycle of m channels
gives m messages: after the first step each holds its own channel and requests the channel of the next message, forever.  Fewer
messages suffice when some hold several channels of the cycle in a row before they request one of the next message.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from fastcube.algorithms.channel_dependencies import Channel, channel_of
from fastcube.algorithms.multicasting import Use, forward_messages, source_messages
from fastcube.algorithms.partition import Pair, Supercube, faults_of
from fastcube.algorithms.wormhole import simulate_wormhole
from fastcube.networks.hypercube import Hypercube

Message = tuple[int, list[int]]

#: Most messages tried for one section of the cycle, and most sets of messages tried.
MOST_CANDIDATES, MOST_SETS = 6, 4000


class SearchResult(NamedTuple):
    """Result of a search for messages that deadlock."""

    messages: list[Message] | None  #: the first set found that deadlocks, smaller sets first; None if none is found
    tried: int  #: number of sets of messages tried, the found one included
    cut: bool  #: whether the search ended at ``MOST_SETS``; ``MOST_CANDIDATES`` limits it in any case


def _list_chains(net: Supercube, message: Message, copies: int) -> list[tuple[Channel, ...]]:
    """Return all maximal chains of channels from the source of a message."""
    chains: list[tuple[Channel, ...]] = []
    start = [
        (channel_of(net, use.kind, use.u, use.v, copies), use) for use in source_messages(net, *message, "shortcut")
    ]
    stack: list[tuple[tuple[Channel, ...], Use]] = [((channel,), use) for channel, use in start]
    while stack:
        chain, use = stack.pop()
        sent = forward_messages(net, use, "shortcut")
        if not sent:
            chains.append(chain)
        stack += [((*chain, channel_of(net, more.kind, more.u, more.v, copies)), more) for more in sent]
    return chains


def _messages_over(net: Supercube, section: Sequence[Channel], copies: int, unicast: bool) -> list[Message]:
    """Return at most ``MOST_CANDIDATES`` messages of which a chain from the source begins with the channels ``section``.

    The destinations are one nonfaulty node, or this node and the heads of all channels of the section except the last.
    """
    found = []
    heads = [c[1] for c in section[:-1]]
    for d in range(2**net.n):
        if d in net.faults or d == section[0][0]:
            continue
        for destinations in ([d], [*dict.fromkeys([*heads, d])]):
            if len(destinations) > 1 and (unicast or section[0][0] in destinations):
                continue
            message = (section[0][0], destinations)
            if any(chain[: len(section)] == tuple(section) for chain in _list_chains(net, message, copies)):
                found.append(message)
                break
        if len(found) == MOST_CANDIDATES:
            break
    return found


def deadlocking_messages(
    cube: Hypercube,
    pair: Pair,
    cycle: Sequence[Channel],
    copies: int = 1,
    unicast: bool = False,
) -> SearchResult:
    """Search for messages that deadlock on a cycle, small sets first.

    The cycle is cut into 2, 3, ... sections in every way.  The first channels of a message are a section, and it then requests
    the first channel of the next section.  With ``unicast`` every message has one destination.  Each link has
    ``copies`` virtual channels per direction.  At most ``MOST_CANDIDATES`` messages are tried for a section, and ``MOST_SETS``
    sets altogether, so finding none proves nothing.
    """
    net = Supercube(cube.n, faults_of(cube), pair)
    length, tried = len(cycle), 0
    for parts in range(2, length + 1):
        for starts in itertools.combinations(range(length), parts):
            choices = []
            for i, at in enumerate(starts):
                end = starts[(i + 1) % parts] + (length if i + 1 == parts else 0)
                section = [cycle[k % length] for k in range(at, end + 1)]
                choices.append(_messages_over(net, section, copies, unicast))
            for messages in itertools.product(*choices):
                if tried == MOST_SETS:
                    return SearchResult(None, tried, True)
                tried += 1
                if simulate_wormhole(cube, messages, pair, copies).deadlocked:
                    return SearchResult([(s, sorted(d)) for s, d in messages], tried, False)
    return SearchResult(None, tried, False)
