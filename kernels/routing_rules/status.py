"""Trials of the study ``safety-status``: the nodes that each definition calls safe, and the rounds to compute it.

Faults are sampled as for ``routing-rules``.  Nodes outside the maximal unsafe subcubes are safe by every definition.  Inside each
subcube the planes of levels and vectors (``safety_status``) are counted, and Wu and Fernandez's marking is run (V2).  Codes are
those of docs/readings/routing-rules.md, and for R1 and R2 of docs/readings/lee-hayes.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import neighbour_word
from ..draws.faults import FAULTY_LINKS, SUBCUBES, Faults, draw, faults_for, unsafe_subcubes
from ..machine import simd
from ..machine.array_types import I64, Ints, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, popcount
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from ..unsafe.rounds import make_vector_masks, run_link_rounds
from .layout import LINKS, SAFETY_STATUS, STATUS_NAMES, F, N
from .safety_status import (
    LEVELS,
    MOST_PLANE_DIMENSIONS,
    VECTORS,
    SafetyStatus,
    compute_planes,
    dimension_of,
    few_neighbours_outside,
    forget_safety_status,
    place_mask,
    release_planes,
    safety_status_for,
    stride,
)

#: Indices of STATUS_NAMES.
_LEE_HAYES, _WU_FERNANDEZ, _BY_LEVELS, _BY_VECTORS = range(len(STATUS_NAMES))


class Scratch(NamedTuple):
    """Scratch memory of trials at one point."""

    n: I64
    faults: Faults
    status: SafetyStatus
    marked: Words  #: the nodes of a subcube that a marking has marked so far
    marked_next: Words  #: the nodes that its next round marks
    marked_first: Words  #: faulty nodes and ends of faulty links, for the first round of FIND_UNSAFE
    masks: Words  #: from ``make_vector_masks``, for the rounds of FIND_UNSAFE
    safe: Ints  #: (4): nodes of the trial's subcubes that each definition of STATUS_NAMES calls safe
    rounds: Ints  #: (4): rounds of each definition


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, f, links) = params."""
    n, f, links = np.int64(params[N]), np.int64(params[F]), np.int64(params[LINKS])
    words = stride(min(n, np.int64(MOST_PLANE_DIMENSIONS)))
    return Scratch(
        n,
        faults_for(n, f, links, np.int64(2)),
        safety_status_for(n, f, links),
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        make_vector_masks(min(n, np.int64(MOST_PLANE_DIMENSIONS))),
        np.zeros(4, np.int64),
        np.zeros(4, np.int64),
    )


@block
def _count_plane_nodes(status, plane, size):
    """Return the number of nodes in the plane that begins at word ``plane``."""
    count = np.int64(0)
    for w in range(size):
        count += popcount(status.planes[plane + w])
    return count


@block
def _is_missing_nodes(status, plane, size):
    """Whether some nonfaulty node of the subcube computed last is not in the plane that begins at word ``plane``."""
    missing = ZERO
    for w in range(size):
        missing |= status.nonfaulty[w] & ~status.planes[plane + w]
    return missing != ZERO


@block
def _mark_safe_nodes(scratch, d, size):
    """Mark the subcube computed last by Wu and Fernandez's rule; return the number of nodes left unmarked, and of rounds.

    A nonfaulty node is marked if two neighbours are faulty, or three are faulty or marked (V2).
    """
    nonfaulty, marked, marked_next = scratch.status.nonfaulty, scratch.marked, scratch.marked_next
    for w in range(size):
        marked[w] = ZERO
    rounds = np.int64(0)
    while True:
        new = ZERO
        for w in range(size):
            faulty1, faulty2 = ZERO, ZERO  # nodes with that many faulty neighbours, or more
            closed1, closed2, closed3 = ZERO, ZERO, ZERO  # nodes with that many faulty or marked neighbours, or more
            for i in range(d):
                neighbour = ~neighbour_word(nonfaulty, w, i)  # which nodes have a faulty neighbour over dimension i
                faulty2 |= faulty1 & neighbour
                faulty1 |= neighbour
                neighbour |= neighbour_word(marked, w, i)
                closed3 |= closed2 & neighbour
                closed2 |= closed1 & neighbour
                closed1 |= neighbour
            marked_next[w] = nonfaulty[w] & (faulty2 | closed3)
            new |= marked_next[w] & ~marked[w]
        if new == ZERO:
            break
        rounds += 1
        for w in range(size):
            marked[w] |= marked_next[w]
    safe = np.int64(0)
    for w in range(size):
        safe += popcount(nonfaulty[w] & ~marked[w])
    return safe, rounds


@block
def _add_subcube(scratch, i):
    """Add the safe nodes of subcube i, and its rounds, for all definitions; return False if its statuses are not computed.

    Lee and Hayes call no node of the subcube safe.
    """
    faults, status, safe, rounds = scratch.faults, scratch.status, scratch.safe, scratch.rounds
    d = dimension_of(faults, i)
    size = stride(d)
    if not compute_planes(status, faults, i, LEVELS):
        return False
    first_plane, depth = status.start[LEVELS, i], status.depth[LEVELS, i]
    count = _count_plane_nodes(status, first_plane, size)
    last_round = np.int64(0)
    for k in range(1, depth):
        next_count = _count_plane_nodes(status, first_plane + k * size, size)
        if next_count < count:  # some node has level k
            last_round = np.int64(k)
        count = next_count
    safe[_BY_LEVELS] += count + _count_link_ends_of_full_level(status, first_plane, d, size, depth)
    rounds[_BY_LEVELS] = max(rounds[_BY_LEVELS], last_round)
    if faults.size[FAULTY_LINKS] == 0:
        unmarked, marking_rounds = _mark_safe_nodes(scratch, d, size)
        safe[_WU_FERNANDEZ] += unmarked
        rounds[_WU_FERNANDEZ] = max(rounds[_WU_FERNANDEZ], marking_rounds)
    release_planes(status)  # of levels, so that the planes of vectors find space
    compute_planes(status, faults, i, VECTORS)
    first_plane, depth = status.start[VECTORS, i], status.depth[VECTORS, i]
    safe[_BY_VECTORS] += _count_nodes_in_all_planes(status, first_plane, depth, size)
    for k in range(2, depth + 1):
        if _is_missing_nodes(status, first_plane + (k - 1) * size, size):
            rounds[_BY_VECTORS] = max(rounds[_BY_VECTORS], k - 1)
    rounds[_LEE_HAYES] = max(rounds[_LEE_HAYES], _count_unsafe_rounds(scratch, d, size, first_plane))
    release_planes(status)
    return True


@block
def _count_link_ends_of_full_level(status, first_plane, d, size, depth):
    """Return the number of ends of faulty links whose own level is n, although they show level 0 to their neighbours (V6).

    ``first_plane`` and ``depth`` are of the planes of levels.
    """
    count = np.int64(0)
    for v in range(0, size if status.cut.size else 0, 8):
        full = simd.load(status.nonfaulty, v) & ~simd.load(status.planes, first_plane + v)
        for k in range(1, d):
            full = full & few_neighbours_outside(
                status.planes, status.cut, first_plane + (min(k, depth) - 1) * size, d, size, v, k, True
            )
        count += np.int64(simd.total(simd.popcount(full)))
    return count


@block
def _count_nodes_in_all_planes(status, first_plane, depth, size):
    """Return the number of nodes that are in all ``depth`` planes from ``first_plane`` on."""
    count = np.int64(0)
    for w in range(size):
        nodes = ALL_BITS
        for k in range(depth):
            nodes &= status.planes[first_plane + k * size + w]
        count += popcount(nodes)
    return count


@block
def _count_unsafe_rounds(scratch, d, size, first_plane):
    """Return the number of rounds of FIND_UNSAFE inside the subcube computed last (Lee and Hayes, R1 and R2).

    In round 1 it marks the ends of faulty links, too: with the faulty nodes these are all nodes outside ``first_plane``.
    """
    status = scratch.status
    marked, marked_next, marked_first = scratch.marked[:size], scratch.marked_next[:size], scratch.marked_first[:size]
    for w in range(size):
        marked[w] = ~status.nonfaulty[w] & place_mask(d, w)
        marked_first[w] = ~status.planes[first_plane + w] & place_mask(d, w)
    return run_link_rounds(marked, marked_first, marked_next, scratch.masks, d)


_KNOWN = SAFETY_STATUS.counter("known")
_NODES = tuple(SAFETY_STATUS.moments(f"{name}_nodes") for name in STATUS_NAMES)
_STEPS = tuple(SAFETY_STATUS.moments(f"{name}_steps") for name in STATUS_NAMES)
_MOST = tuple(int(SAFETY_STATUS.maximum(f"{name}_most_rounds")) for name in STATUS_NAMES)


@block
def count_trial(key, t, params, scratch, tally):
    """Run trial t and tally it; nothing is tallied if a subcube is too large for statuses."""
    faults, n = scratch.faults, scratch.n
    draw(key, t, n, faults)
    unsafe_subcubes(faults)
    forget_safety_status(scratch.status, faults)
    outside = ONE << np.uint64(n)
    known = True
    for j in range(4):
        scratch.safe[j] = 0
        scratch.rounds[j] = 0
    for i in range(faults.size[SUBCUBES]):
        outside -= ONE << np.uint64(dimension_of(faults, i))
        if faults.free[i] != ZERO and not _add_subcube(scratch, i):
            known = False
            break
    if not known:
        return
    tally[_KNOWN] += 1
    for j in range(4):
        if j == _WU_FERNANDEZ and faults.size[FAULTY_LINKS]:  # not defined under faulty links
            continue
        add_quantity(tally, _NODES[j], np.int64(outside) + scratch.safe[j])
        add_quantity(tally, _STEPS[j], scratch.rounds[j])
        offer(tally, _MOST[j], scratch.rounds[j], t)


#: Kernel at (n, f, links) = params; see ``layout.SAFETY_STATUS``.
SAFETY_STATUS_SINGLE = trials_kernel(set_up, count_trial)
