"""Multicast in one faulty hypercube with wormhole switching (Wang, Lin & Kuo, section 4, Figures 16 and 17).

A 2-partition divides the cube into supernodes of four nodes, labelled along a Hamilton path.  A message to D_H visits the
destinations with higher supernode labels in ascending order, a message to D_L the lower ones in descending order.  Messages to
D_E stay in the source's supernode.  A message is a sorted header of destinations, and every node that it reaches sends on the
rest of the header.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import ParameterError, is_many, short_repr
from ..networks.hypercube import Hypercube
from .partition import Pair, Supercube, check_partition, faults_of

#: Largest n for ``path="hamilton"``, which visits up to 2^(n-2) supernodes.
LARGEST_HAMILTON = 24

#: The two versions of R': the values of ``path``.
PATHS = ("shortcut", "hamilton")


@dataclass(frozen=True)
class Use:
    """One use of a channel: a message of class ``kind`` (E, H or L) goes from ``u`` to ``v`` with a header.

    ``detour`` says that the node p chosen by R' is faulty, so v is a buddy of u, a neighbour in its supernode (A6).  The detour
    may share the channel with a message for the supernode (A8).
    """

    kind: str
    u: int
    v: int
    header: tuple[int, ...]
    detour: bool = False


@dataclass(frozen=True)
class Multicast:
    """The result of ``fastcube.multicast``.

    Attributes
    ----------
    channels : list of (u, v)
        One entry per use, in first-in first-out order.  At a node channels between supernodes come first, then low dimensions
        (A11).
    delivered : set of int
        The destinations reached.
    partition : (int, int)
        The pair of dimensions (lo, hi).
    depth : int
        Largest number of channels on the way from the source to a destination.
    detours : int
        Number of uses of a buddy because p was faulty.
    uses : list of Use
        The channel uses with their messages.
    """

    channels: list[tuple[int, int]]
    delivered: set[int]
    partition: Pair
    depth: int
    detours: int
    uses: list[Use]

    @property
    def N(self) -> int:  # noqa: N802  (the paper's name)
        """Number of channel uses."""
        return len(self.channels)


def source_messages(net: Supercube, s: int, destinations: Iterable[int], path: str) -> list[Use]:
    """Return the source's messages, Figure 16: to D_E over the low and the high dimension, to D_H, to D_L (A7, A8, A9)."""
    label = net.label(s)
    labelled = sorted((net.label(d), d) for d in set(destinations) - {s})
    inside = [d for a, d in labelled if a == label]
    above = [d for a, d in labelled if a > label]
    below = [d for _, d in sorted((-a, d) for a, d in labelled if a < label)]
    uses = list(_messages_inside(net, "E", s, inside))
    for kind, header in (("H", above), ("L", below)):
        if header:
            v, detour = net.next_node_toward(s, net.label(header[0]), path)
            uses.append(Use(kind, s, v, tuple(header), detour))
    return uses


def forward_messages(net: Supercube, use: Use, path: str) -> list[Use]:
    """Return the messages that the end of a channel sends on, Figure 17; a detour joins another message there (A8)."""
    w = use.v
    header = [d for d in use.header if d != w]
    supernode = w & ~net.inside
    inside = [d for d in header if d & ~net.inside == supernode]
    rest = tuple(d for d in header if d & ~net.inside != supernode)
    uses = list(_messages_inside(net, use.kind, w, inside))
    if not rest:
        return uses
    v, detour = net.next_node_toward(w, net.label(rest[0]), path)
    for i, other in enumerate(uses):
        if other.v == v:
            uses[i] = Use(use.kind, w, v, other.header + rest, detour)
            return uses
    return [*uses, Use(use.kind, w, v, rest, detour)]


def _messages_inside(net: Supercube, kind: str, w: int, destinations: list[int]) -> Iterator[Use]:
    """Yield the messages from w into its own supernode, low dimension first."""
    for v in (w ^ net.low, w ^ net.high):
        header = tuple(d for d in destinations if net.next_node_within(w, d) == v)
        if header:
            yield Use(kind, w, v, header)


def make_supercube(cube: Hypercube, partition: Pair | None, path: str) -> Supercube:
    """Return the supercube of ``partition``, or of the default (A13), for one of the two kinds of path."""
    if not isinstance(path, str) or path not in PATHS:
        raise ParameterError(f"path must be {' or '.join(PATHS)}, got {short_repr(path)}")
    faults = faults_of(cube)
    if path == "hamilton" and cube.n > LARGEST_HAMILTON:
        raise ParameterError(f"n must be in [1, {LARGEST_HAMILTON}] for path='hamilton', got {cube.n}")
    return Supercube(cube.n, faults, check_partition(cube, partition))


def check_message(cube: Hypercube, net: Supercube, s: object, destinations: object) -> tuple[int, frozenset[int]]:
    """Return the source, and the destinations other than the source, as ints.  All must be nonfaulty."""
    if not is_many(destinations):
        raise ParameterError(
            f"destinations must be labels of nonfaulty nodes for n={cube.n}, got {short_repr(destinations)}"
        )
    start = _check_nonfaulty(cube, net, "s", s)
    return start, frozenset(_check_nonfaulty(cube, net, "destinations", d) for d in destinations) - {start}


def _check_nonfaulty(cube: Hypercube, net: Supercube, name: str, label: object) -> int:
    node = cube.check_node(name, label)
    if node in net.faults:
        reason = "faulty" if cube.is_faulty(node) else "an end of a faulty link"
        raise ParameterError(f"{name} must be nonfaulty, got {node} ({cube.label(node)}), which is {reason}")
    return node


def multicast(
    cube: Hypercube,
    s: int,
    destinations: Iterable[int],
    partition: Pair | None = None,
    path: str = "shortcut",
) -> Multicast:
    """Send one message from ``s`` to many destinations.

    Parameters
    ----------
    cube : Hypercube
        With listed faults, not faults sampled on demand.  Both ends of a faulty link count as faulty (A12).
    s : int
        Label of a nonfaulty node.
    destinations : iterable of int
        Labels of nonfaulty nodes.  If ``s`` is one of them, it is ignored.
    partition : (int, int), optional
        A fault-tolerant pair of dimensions, in either order; by default the first pair of the exhaustive search (A13).
    path : str
        ``shortcut``: R' goes as far along the Hamilton path as one channel can (A5), any n.  ``hamilton``: R' goes to the
        next supernode on the path, n <= 24.

    Returns
    -------
    Multicast

    Raises
    ------
    ParameterError
        If a label is faulty, or the cube has no fault-tolerant pair of dimensions.

    Notes
    -----
    N is at most 2^n - 1.  No message enters a node twice, and none enters the source.  The only exception: the source's detours
    can share a buddy with each other and with D_E.  But each detour leaves out a faulty node, which no message enters.

    Examples
    --------
    >>> m = fc.multicast(fc.Hypercube(3), 0, [1, 2, 4])
    >>> m.delivered, m.N
    ({1, 2, 4}, 3)
    """
    net = make_supercube(cube, partition, path)
    source, wanted = check_message(cube, net, s, destinations)
    uses: list[Use] = []
    depth = detours = 0
    delivered = set()
    queue = deque((use, 1) for use in source_messages(net, source, wanted, path))
    while queue:
        use, distance = queue.popleft()
        uses.append(use)
        detours += use.detour
        if use.v in wanted:
            delivered.add(use.v)
            depth = max(depth, distance)
        queue.extend((sent, distance + 1) for sent in forward_messages(net, use, path))
    return Multicast([(use.u, use.v) for use in uses], delivered, net.partition, depth, detours, uses)
