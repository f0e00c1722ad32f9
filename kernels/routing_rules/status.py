"""Trials of the study ``safety-status``: the nodes that each definition calls safe, and the rounds to compute it.

Faults are sampled as for ``routing-rules``.  Nodes outside the maximal unsafe subcubes are safe by every definition.  Inside each
subcube the planes of levels and vectors (``safety_status``) are counted, and Wu and Fernandez's marking is run (V2).
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
    marked: Words  #: (3, words): marked nodes, those of the next round, and nodes marked in the first round
    masks: Words  #: from ``make_vector_masks``, for the rounds of FIND_UNSAFE
    safe: Ints  #: (4): nodes of the subcubes that each definition of STATUS_NAMES calls safe
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
        np.zeros((3, words), np.uint64),
        make_vector_masks(min(n, np.int64(MOST_PLANE_DIMENSIONS))),
        np.zeros(4, np.int64),
        np.zeros(4, np.int64),
    )


@block
def _count_plane_nodes(status, at, size):
    count = np.int64(0)
    for w in range(size):
        count += popcount(status.planes[at + w])
    return count


@block
def _is_missing_nodes(status, at, size):
    """Whether some nonfaulty node of the subcube computed last is not in a plane."""
    lacking = ZERO
    for w in range(size):
        lacking |= status.nonfaulty[w] & ~status.planes[at + w]
    return lacking != ZERO


@block
def _mark_safe_nodes(scratch, d, size):
    """Mark the subcube computed last by Wu and Fernandez's rule; return the number of safe nodes and of rounds.

    A nonfaulty node is marked if two neighbours are faulty, or three are faulty or marked.
    """
    nonfaulty = scratch.status.nonfaulty
    old, new = scratch.marked[0], scratch.marked[1]
    for w in range(size):
        old[w] = ZERO
    rounds = np.int64(0)
    while True:
        more = ZERO
        for w in range(size):
            faulty1, faulty2 = ZERO, ZERO  # nodes with that many faulty neighbours
            closed1, closed2, closed3 = ZERO, ZERO, ZERO  # nodes with that many faulty or marked neighbours
            for i in range(d):
                x = ~neighbour_word(nonfaulty, w, i)
                faulty2 |= faulty1 & x
                faulty1 |= x
                x |= neighbour_word(old, w, i)
                closed3 |= closed2 & x
                closed2 |= closed1 & x
                closed1 |= x
            new[w] = nonfaulty[w] & (faulty2 | closed3)
            more |= new[w] & ~old[w]
        if more == ZERO:
            break
        rounds += 1
        for w in range(size):
            old[w] |= new[w]
    safe = np.int64(0)
    for w in range(size):
        safe += popcount(nonfaulty[w] & ~old[w])
    return safe, rounds


@block
def _add_subcube(scratch, i):
    """Add a subcube's safe nodes and rounds; return False if its statuses are not computed."""
    faults, status, safe, rounds = scratch.faults, scratch.status, scratch.safe, scratch.rounds
    d = dimension_of(faults, i)
    size = stride(d)
    if not compute_planes(status, faults, i, LEVELS):
        return False
    at = status.start[LEVELS, i]
    last = _count_plane_nodes(status, at, size)
    last_round = np.int64(0)
    for k in range(1, status.depth[LEVELS, i]):
        here = _count_plane_nodes(status, at + k * size, size)
        if here < last:  # some node has level k
            last_round = np.int64(k)
        last = here
    safe[_BY_LEVELS] += last + _count_own_full(status, at, d, size, status.depth[LEVELS, i])
    rounds[_BY_LEVELS] = max(rounds[_BY_LEVELS], last_round)
    if faults.size[FAULTY_LINKS] == 0:
        count, steps = _mark_safe_nodes(scratch, d, size)
        safe[_WU_FERNANDEZ] += count
        rounds[_WU_FERNANDEZ] = max(rounds[_WU_FERNANDEZ], steps)
    status.used[0] = 0
    compute_planes(status, faults, i, VECTORS)
    at, depth = status.start[VECTORS, i], status.depth[VECTORS, i]
    safe[_BY_VECTORS] += _count_nodes_in_all_planes(status, at, depth, size)
    for k in range(2, depth + 1):
        if _is_missing_nodes(status, at + (k - 1) * size, size):
            rounds[_BY_VECTORS] = max(rounds[_BY_VECTORS], k - 1)
    status.used[0] = 0
    return True


@block
def _count_own_full(status, at, d, size, depth):
    """Return the number of ends of faulty links whose own level is n (V6), although they show 0."""
    count = np.int64(0)
    for v in range(0, size if status.cut.size else 0, 8):
        own = simd.load(status.nonfaulty, v) & ~simd.load(status.planes, at + v)
        for k in range(1, d):
            own = own & few_neighbours_outside(
                status.planes, status.cut, at + (min(k, depth) - 1) * size, d, size, v, k, True
            )
        count += np.int64(simd.total(simd.popcount(own)))
    return count


@block
def _count_nodes_in_all_planes(status, at, depth, size):
    count = np.int64(0)
    for w in range(size):
        x = ALL_BITS
        for k in range(depth):
            x &= status.planes[at + k * size + w]
        count += popcount(x)
    return count


@block
def _unsafe_rounds(scratch, i):
    """Return the number of rounds of FIND_UNSAFE inside a subcube (R1, R2)."""
    faults, status = scratch.faults, scratch.status
    d = dimension_of(faults, i)
    size = stride(d)
    at = status.start[VECTORS, i]
    old, new, ends = scratch.marked[0, :size], scratch.marked[1, :size], scratch.marked[2, :size]
    for w in range(size):
        old[w] = ~status.nonfaulty[w] & place_mask(d, w)
        ends[w] = ~status.planes[at + w] & place_mask(d, w)
    return run_link_rounds(old, ends, new, scratch.masks, d)


_KNOWN = SAFETY_STATUS.counter("known")
_NODES = tuple(SAFETY_STATUS.moments(f"{name}_nodes") for name in STATUS_NAMES)
_STEPS = tuple(SAFETY_STATUS.moments(f"{name}_steps") for name in STATUS_NAMES)
_MOST = tuple(int(SAFETY_STATUS.maximum(f"{name}_most_rounds")) for name in STATUS_NAMES)


@block
def count_trial(key, t, params, scratch, tally):
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
        if faults.free[i] != ZERO:
            if not _add_subcube(scratch, i):
                known = False
                break
            scratch.rounds[_LEE_HAYES] = max(scratch.rounds[_LEE_HAYES], _unsafe_rounds(scratch, i))
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
