"""The unsafe nodes of one fault set as maximal subcubes, for any n (Lee & Hayes 1988, section 3.2; R1 and R3).

Faults are merged into subcubes at distance 3 or more from each other (``subcubes.py``).  These evolve independently, so
FIND_UNSAFE's rounds are run inside each d-cube by itself, for any n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import set_node
from ..cube.subcubes import is_in_subcube, merge_faults
from ..machine import bits
from ..machine.array_types import Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from .rounds import make_vector_masks, run_bitmask_rounds, run_word_rounds

#: Largest dimension of a subcube whose rounds are run: 2^30 nodes take 128 MiB.
MAX_DIMENSION = 30
#: Largest dimension of a cube with scratch memory of its own, 33 MB, which the system provides when it is first written to.  A
#: larger cube allocates it in each trial, and its new pages take longer than its rounds.
_MAX_KEPT_DIMENSION = 27


class CubeScratch(NamedTuple):
    """Scratch memory of ``rounds_inside``, uint64."""

    state: Words  #: bitmask of a cube
    other: Words  #: bitmask of a cube
    masks: Words  #: from ``make_vector_masks``


@scratch
def _cube_scratch_of(d):
    """Return scratch memory for cubes of up to d dimensions."""
    word_count = np.int64(1) << max(d - 6, np.int64(3))
    return CubeScratch(
        np.empty(word_count, np.uint64),
        np.empty(word_count, np.uint64),
        make_vector_masks(d),
    )


@scratch
def make_cube_scratch(n):
    """Return scratch memory for subcubes of an n-cube, n an int64."""
    return _cube_scratch_of(min(n, np.int64(_MAX_KEPT_DIMENSION)))


@block
def set_fault_inside(state, base, free, x):
    """Mark a fault in a subcube's bitmask, if it is inside."""
    if is_in_subcube(base, free, x):
        set_node(state, bits.extract(x, free))


@scratch
def rounds_inside(labels, f, base, free, spare):
    """Return the number of rounds inside one subcube, run in its own d-cube; -1 if d > 30 is too large to run.

    ``labels`` holds f distinct faults, inside or not; ``spare`` is from ``make_cube_scratch``.
    """
    d = bits.popcount(free)
    if d > MAX_DIMENSION:
        return np.int64(-1)
    if d <= 6:
        word = ZERO
        for i in range(f):
            if is_in_subcube(base, free, labels[i]):
                word |= ONE << bits.extract(labels[i], free)
        rounds, _ = run_word_rounds(word, d)
        return rounds
    word_count = np.int64(1) << max(d - 6, 3)
    if word_count > spare.state.size:
        spare = _cube_scratch_of(d)
    spare.state[:word_count] = ZERO
    for i in range(f):
        set_fault_inside(spare.state, base, free, labels[i])
    return run_bitmask_rounds(spare.state, spare.other, spare.masks, d)


@scratch
def evaluate_fault_set(labels, f, base, free, spare):
    """Find the unsafe nodes of f distinct faults in any cube.

    Parameters
    ----------
    labels, f, base, free
        As in ``subcubes.merge_faults``.
    spare : CubeScratch
        From ``make_cube_scratch``.

    Returns
    -------
    unsafe : uint64
        Number of nonfaulty unsafe nodes.
    rounds : int64
        Last round of FIND_UNSAFE that marks a node, 0 if none does; -1 if a subcube of more than 30 dimensions
        is too large to run.
    close_pair : bool
        Whether two faults are within distance 2.
    largest : int64
        Dimension of the largest subcube; n if no node is active.
    """
    count = merge_faults(labels, f, base, free)
    largest = np.int64(0)
    rounds = np.int64(0)
    closed = ZERO
    for i in range(count):
        d = bits.popcount(free[i])
        closed += ONE << np.uint64(d)
        largest = max(largest, d)
        if d > 0 and rounds >= 0:
            inside = rounds_inside(labels, f, base[i], free[i], spare)
            rounds = max(rounds, inside) if inside >= 0 else inside
    return closed - np.uint64(f), rounds, count < f, largest
