"""Search for messages that deadlock: multicasts made from a cycle of the dependency graph and tried in the simulation.

Every arc c -> c' comes from a message whose source is the tail of c, with at most two destinations.  So a cycle of m channels
gives m messages: after the first step each holds its own channel and requests the channel of the next message, forever.  Fewer
messages suffice when some hold several channels of the cycle in a row before they request one of the next message.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from fastcube.algorithms.channel_dependencies import Channel, channel_of
from fastcube.algorithms.multicasting import Use, forward_messages, source_messages
from fastcube.algorithms.partition import Pair, Supercube, faults_of
from fastcube.algorithms.wormhole import simulate_wormhole
from fastcube.networks.hypercube import Hypercube

#: A source and its destinations.
Message = tuple[int, list[int]]

#: Largest number of messages tried per section of the cycle, and of sets of messages tried.  They bound the time of a search.
MOST_CANDIDATES, MOST_SETS = 6, 4000


class SearchResult(NamedTuple):
    """Result of a search for messages that deadlock."""

    messages: list[Message] | None  #: the first set found that deadlocks, smaller sets first; None if none is found
    tried: int  #: number of sets of messages tried, the found one included
    cut: bool  #: whether the search ended at ``MOST_SETS``; ``MOST_CANDIDATES`` limits it in any case


def _list_chains(net: Supercube, message: Message, copies: int) -> list[tuple[Channel, ...]]:
    """Return all maximal chains of channels from the source of a message."""

    def channel_taken(use: Use) -> Channel:
        return channel_of(net, use.kind, use.u, use.v, copies)

    chains: list[tuple[Channel, ...]] = []
    stack: list[tuple[tuple[Channel, ...], Use]]
    stack = [((channel_taken(use),), use) for use in source_messages(net, *message, "shortcut")]
    while stack:
        chain, use = stack.pop()
        forwarded = forward_messages(net, use, "shortcut")
        if not forwarded:
            chains.append(chain)
        stack += [((*chain, channel_taken(successor)), successor) for successor in forwarded]
    return chains


def _find_messages(net: Supercube, section: Sequence[Channel], copies: int, unicast: bool) -> list[Message]:
    """Return at most ``MOST_CANDIDATES`` messages of which a chain from the source begins with the channels ``section``.

    The source is the tail of the first channel.  The destinations are one nonfaulty node, or this node and the heads of all
    channels of the section except the last.
    """
    source = section[0][0]
    heads = [channel[1] for channel in section[:-1]]
    found: list[Message] = []
    for d in range(2**net.n):
        if d in net.faults or d == source:
            continue
        several = list(dict.fromkeys([*heads, d]))
        candidates = [[d]] if unicast or len(several) == 1 or source in several else [[d], several]
        for destinations in candidates:
            chains = _list_chains(net, (source, destinations), copies)
            if any(chain[: len(section)] == tuple(section) for chain in chains):
                found.append((source, destinations))
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

    @functools.cache  # many cuts have a section in common
    def find_candidates(start: int, next_start: int) -> list[Message]:
        section = [cycle[i % length] for i in range(start, next_start + 1)]
        return _find_messages(net, section, copies, unicast)

    for sections in range(2, length + 1):
        for starts in itertools.combinations(range(length), sections):
            boundaries = itertools.pairwise([*starts, starts[0] + length])
            for messages in itertools.product(*itertools.starmap(find_candidates, boundaries)):
                if tried == MOST_SETS:
                    return SearchResult(None, tried, True)
                tried += 1
                if simulate_wormhole(cube, messages, pair, copies).deadlocked:
                    return SearchResult([(s, sorted(d)) for s, d in messages], tried, False)
    return SearchResult(None, tried, False)
