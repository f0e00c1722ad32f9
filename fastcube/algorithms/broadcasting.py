"""Broadcasting in a hypercube with faults (Lee & Hayes 1988, sections 2 and 4): BROADCAST, BROADCAST1, BROADCAST2.

A node x that receives the mask CONTROL = M is responsible for the region {x ^ m : m subset of M}.  With each copy it passes on
part of this region: the copy in dimension b gets the nodes with bit b flipped and the bits of earlier copies unchanged.  So the
regions of the copies are disjoint, and no node receives twice.  A region without unsafe nodes and with at most single faults
is counted by a formula.  Only the other regions are simulated, so 2^60 nodes cost no more than 2^8.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..networks.hypercube import Hypercube
from ..networks.network import descending_bits
from .registry import Algorithms, check_end
from .routing import is_blocked
from .unsafe import faulty_labels, find_unsafe

#: Largest dimension for which the receipts and copies can be listed.
LARGEST_LISTED = 20

#: Largest number of regions that are simulated, a limit on time and memory.
MAX_REGIONS = 2**22

#: The copies that a node sends, in order: the dimension as a bit, and the CONTROL mask of the copy.
Copies = Iterator[tuple[int, int]]


@dataclass(frozen=True)
class Broadcast:
    """The result of one broadcast.

    Attributes
    ----------
    reached : int
        Number of nonfaulty nodes that hold the message at the end, the source included.
    steps : int
        The last time unit in which a nonfaulty node receives; 0 if none does.
    copies : int
        Number of copies sent, lost copies included.
    lost : int
        Number of copies lost at a faulty node or link; always 0 for BROADCAST1 and BROADCAST2.
    cube : Hypercube
        The cube with its faults.
    """

    reached: int
    steps: int
    copies: int
    lost: int
    cube: Hypercube = field(repr=False)
    _source: int = field(repr=False)
    _rule: Callable[[int, int], Copies] = field(repr=False, compare=False)

    @functools.cached_property
    def _receipts_and_sends(self) -> tuple[NDArray[np.int64], list[tuple[int, int, int]]]:
        n = self.cube.n
        if n > LARGEST_LISTED:
            raise ParameterError(
                f"received and sends list up to 2^n items, n must be in [1, {LARGEST_LISTED}], got {n}"
            )
        received = np.full(2**n, -1, np.int64)
        received[self._source] = 0
        sends = []
        waiting = [(self._source, 2**n - 1, 0)]
        while waiting:
            x, control, time = waiting.pop()
            for bit, rest in self._rule(x, control):
                time += 1
                sends.append((time, x, x ^ bit))
                if not is_blocked(self.cube, x, bit):
                    received[x ^ bit] = time
                    waiting.append((x ^ bit, rest, time))
        return received, sorted(sends)

    @property
    def received(self) -> NDArray[np.int64]:
        """The time unit in which each node receives: 2^n values, 0 at the source, -1 for never.  Needs n <= 20."""
        return self._receipts_and_sends[0]

    @property
    def sends(self) -> list[tuple[int, int, int]]:
        """The copies as (time, u, v), lost copies included, sorted by time and then u.  Needs n <= 20."""
        return self._receipts_and_sends[1]


BROADCASTING: Algorithms[Broadcast] = Algorithms("broadcast", homes=("broadcasting",), network="cube")


def broadcast(cube: Hypercube, s: int, algorithm: str | None = None, **options: Any) -> Broadcast:
    """Send a message from ``s`` to all nodes.  A node sends one copy per time unit (R12).

    Parameters
    ----------
    cube : Hypercube
        Any n; n <= 26 with faults sampled on demand, because the status of every node is needed.
    s : int
        Label of a nonfaulty node.
    algorithm : str, optional
        ``BROADCAST``, ``BROADCAST1`` or ``BROADCAST2`` (default) of Lee & Hayes.  In the last two a node knows its unsafe
        neighbours.  They also run, as printed, from an unsafe source or in an unsafe cube.

    Returns
    -------
    Broadcast

    Raises
    ------
    ParameterError
        If unsafe subcubes are so large and contain so many faults that more than 2^22 regions would have to be simulated.

    Examples
    --------
    >>> b = fc.broadcast(fc.Hypercube(3), 0)  # without faults one copy a node, the last after 3 time units
    >>> b.reached, b.steps, b.copies
    (8, 3, 7)
    """
    chosen = BROADCASTING.choose(cube, algorithm, options)
    return chosen(cube, check_end(cube, "s", s))


@BROADCASTING.register(Hypercube, "BROADCAST")
def broadcast_basic(cube: Hypercube, s: int) -> Broadcast:
    """Run BROADCAST, Figure 1(b), which knows nothing of faults; lost copies take their time unit (R12, R13, R17).

    The node at offset o = x ^ s receives over the lowest set bit of o.  Let ``low`` be the value of this bit.  The node passes
    the message to o + 1, ..., o + low - 1.  So a copy lost on the way to o leaves all offsets in [o, o + low) without the
    message.  Two such intervals are nested or disjoint.
    """
    intervals = {int(y) ^ s for y in faulty_labels(cube)}
    for u, v in cube.faulty_links:
        offset = max(u ^ s, v ^ s)
        if (u ^ v) == offset & -offset:  # BROADCAST sends no copy over any other link
            intervals.add(offset)
    sizes, end = [], 0  # sizes of the outermost intervals, and the end of the last one
    for offset in sorted(intervals):
        if offset >= end:
            sizes.append(offset & -offset)
            end = offset + sizes[-1]
    silenced = sum(sizes)
    steps = 0
    for i in range(cube.n):  # offsets with lowest set bit i receive in time unit n - i
        low = 1 << i
        if (1 << cube.n - 1 - i) > sum((size // low + 1) // 2 for size in sizes if size >= low):
            steps = cube.n - i
            break
    reached = 2**cube.n - silenced
    return Broadcast(reached, steps, reached - 1 + len(sizes), len(sizes), cube, s, _basic_copies)


def _basic_copies(x: int, control: int) -> Copies:
    """Yield the copies that x sends under BROADCAST."""
    for bit in descending_bits(control):
        control ^= bit
        yield bit, control


@BROADCASTING.register(Hypercube, "BROADCAST1")
def broadcast1(cube: Hypercube, s: int) -> Broadcast:
    """Run BROADCAST1(1), Figure 9, as printed for any source (R11-R14)."""
    return _SafetyBroadcast(cube, None).broadcast(s)


@BROADCASTING.register(Hypercube, "BROADCAST2", default=True)
def broadcast2(cube: Hypercube, s: int) -> Broadcast:
    """Run BROADCAST2(1): as BROADCAST1, but an unsafe source sends the message to its first active neighbour (R15)."""
    return _SafetyBroadcast(cube, s).broadcast(s)


class _SafetyBroadcast:
    """The rule of BROADCAST1 on one cube, and the counts of one broadcast.

    Attributes
    ----------
    silent : int or None
        BROADCAST2's source, to which no node sends; None for BROADCAST1.
    closed : list of (int, int)
        The subcubes of faulty and unsafe nodes: the smallest label of each, and the mask of its free dimensions.
    reached, steps, copies : int
        As in :class:`Broadcast`.
    entered : int
        Number of regions that were simulated.
    """

    def __init__(self, cube: Hypercube, silent: int | None) -> None:
        self.cube = cube
        self.silent = silent
        self.closed = [(part.base, part.free) for part in find_unsafe(cube).subcubes]
        self.reached = self.steps = self.copies = self.entered = 0

    def is_closed(self, x: int) -> bool:
        """Whether a node is faulty or unsafe."""
        return any((x ^ base) & ~free == 0 for base, free in self.closed)

    def copies_of(self, x: int, control: int) -> Copies:
        """Yield the copies that x sends: first to active neighbours, then to unsafe neighbours."""
        if x == self.silent and self.is_closed(x):  # BROADCAST2 from an unsafe source
            # both ends of a faulty link are faulty or unsafe, so a link to an active node is nonfaulty
            first = next((b for b in descending_bits(control) if not self.is_closed(x ^ b)), None)
            if first is not None:
                yield first, control
            return
        later = []
        for bit in descending_bits(control):
            if not self.is_closed(x ^ bit):
                control ^= bit
                yield bit, control
            elif not is_blocked(self.cube, x, bit) and x ^ bit != self.silent:
                later.append(bit)
        for bit in later:
            control ^= bit
            yield bit, control

    def broadcast(self, s: int) -> Broadcast:
        """Count receipts and copies region by region, as the module's docstring explains."""
        waiting = [(s, 2**self.cube.n - 1, 0, self.closed)]
        while waiting:
            x, control, time, inside = waiting.pop()
            inside = [(base, free) for base, free in inside if (base ^ x) & ~free & ~control == 0]
            if all(free == 0 for _, free in inside):
                self.count_region(control.bit_count(), len(inside), time)
                continue
            if self.entered == MAX_REGIONS:
                raise ParameterError(
                    f"faults must leave at most {MAX_REGIONS} regions to enter, got more: unsafe subcubes are too large"
                )
            self.entered += 1
            self.reached += 1
            self.steps = max(self.steps, time)
            for bit, rest in self.copies_of(x, control):
                time += 1
                self.copies += 1
                waiting.append((x ^ bit, rest, time, inside))
        return Broadcast(self.reached, self.steps, self.copies, 0, self.cube, s, self.copies_of)

    def count_region(self, m: int, faults: int, time: int) -> None:
        """Count a region of m dimensions without unsafe nodes, whose node x received the message at ``time``.

        Two faults are at distance three or more, so at most one neighbour of x is faulty, over bit q, and x skips it.  Then the
        m - 1 copies go to regions that cover all offsets but 0 and q.  Each is a region of this kind: the i-th has m - i
        dimensions and starts at time + i.  The last has one dimension, q.  Its other node is adjacent to the skipped
        fault, so it is nonfaulty, and it receives at time + m.  Hence all nonfaulty nodes receive, the last one m units after x
        (for m = 1 only if the other node is nonfaulty).
        """
        self.reached += 2**m - faults
        self.copies += 2**m - faults - 1
        self.steps = max(self.steps, time + (m if m > 1 or not faults else 0))
