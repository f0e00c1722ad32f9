"""All faults of one trial: nodes, links, the subcubes of faulty and unsafe nodes, and the ends of a message.

Trial t's faulty nodes are sampled by ``nodes``, its faulty links by ``links``.  The ends are the next distinct labels
of the same sequence, so fault set and ends are jointly uniform and no trial is discarded.  A ``Faults`` is made once per
call and filled for each trial::

    faults = faults_for(n, f, links, ends)     # in a @scratch
    draw(key, t, n, faults)                    # fills labels, ends, lower and dims
    unsafe_subcubes(faults)                    # fills base and free
    if blocked(faults, curr, bit): ...
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, has_label, label_set
from ..cube.subcubes import merge_subcubes
from ..machine import simd
from ..machine.array_types import Flags, Ints, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, kernel, scratch
from .enumerate_sets import next_combination
from .links import LinkDraws, distinct_links, link_draws_for
from .nodes import Draws, count_sampled_labels, distinct_nodes, draws_for

#: Up to this number of labels a search through them, eight at a time, is faster than a table.
_MAX_SCANNED = 32

#: Indices of ``Faults.size``: numbers of faulty nodes, of faulty links, of ends, and of subcubes in ``base`` and ``free``.
FAULTY_NODES, FAULTY_LINKS, ENDS, SUBCUBES = np.int64(0), np.int64(1), np.int64(2), np.int64(3)


class Faults(NamedTuple):
    """Faults and ends of one trial in Q_n; made by ``faults_for``."""

    size: Ints  #: (4): how many FAULTY_NODES, FAULTY_LINKS, ENDS and SUBCUBES the arrays below hold
    labels: Words  #: the faulty nodes, distinct; the array is longer
    known: LabelSet  #: the faulty nodes as a set, if they are many
    lower: Words  #: the lower ends of the faulty links
    dims: Words  #: their dimensions
    ends: Words  #: the ends of the message, distinct and nonfaulty
    base: Words  #: a node of each maximal subcube of faulty and unsafe nodes (R3)
    free: Words  #: its free dimensions
    marked: Flags  #: one entry per node, False between trials: scratch memory if the nonfaulty nodes are sampled
    draws: Draws  #: scratch memory to sample nodes
    link_draws: LinkDraws  #: scratch memory to sample links


@scratch(stored=True)
def faults_for(n, f, links, ends):
    """Return a ``Faults`` for f faulty nodes, ``links`` faulty links and distinct ends in Q_n; f + ends <= 2^n, not checked."""
    sampled = count_sampled_labels(n, f)
    count = sampled + ends if sampled == f else sampled
    size = np.zeros(SUBCUBES + 1, np.int64)
    size[FAULTY_NODES] = f
    size[FAULTY_LINKS] = links
    size[ENDS] = ends
    return Faults(
        size,
        np.zeros(max(f, count) + 16, np.uint64),
        label_set(f if f > _MAX_SCANNED else 0),
        np.zeros(links, np.uint64),
        np.zeros(links, np.uint64),
        np.zeros(ends, np.uint64),
        np.zeros(f + links + 16, np.uint64),
        np.zeros(f + links + 16, np.uint64),
        np.zeros(np.int64(1) << n if sampled < f else 0, np.bool_),
        draws_for(count),
        link_draws_for(links),
    )


@block
def index_faults(faults):
    """Update the table of faulty nodes, if there are many; needed after ``labels`` was changed."""
    if faults.size[FAULTY_NODES] > _MAX_SCANNED:
        clear_labels(faults.known)
        for i in range(faults.size[FAULTY_NODES]):
            add_label(faults.known, faults.labels[i])


@block
def _replace_by_others(faults, count):
    """Replace the first ``count`` labels by all other labels, ascending."""
    for i in range(count):
        faults.marked[faults.labels[i]] = True
    at = np.int64(0)
    for x in range(faults.marked.size):
        if faults.marked[x]:
            faults.marked[x] = False
        else:
            faults.labels[at] = x
            at += 1


@block(stored=True)
def draw(key, t, n, faults):
    """Sample trial ``t``'s faults and ends.

    For f <= 2^(n-1) the ends are the labels that follow the f faults in the trial's sequence of distinct labels.  For more
    faults, where the nonfaulty nodes are sampled, the ends are the first of these.
    """
    f, ends = faults.size[FAULTY_NODES], faults.size[ENDS]
    sampled = count_sampled_labels(n, f)
    distinct_nodes(key, t, n, sampled + ends if sampled == f else sampled, faults.labels, faults.draws)
    first_end = f if sampled == f else np.int64(0)
    for i in range(ends):
        faults.ends[i] = faults.labels[first_end + i]
    if sampled < f:
        _replace_by_others(faults, sampled)
    index_faults(faults)
    if faults.size[FAULTY_LINKS]:
        distinct_links(key, t, n, faults.size[FAULTY_LINKS], faults.lower, faults.dims, faults.link_draws)


@block
def next_sparing_set(n, numbers, faults):
    """Write the fault set {number + 1} of ascending numbers, which does not contain node 0, and advance the numbers."""
    f = faults.size[FAULTY_NODES]
    for i in range(f):
        faults.labels[i] = np.uint64(numbers[i] + 1)
    index_faults(faults)
    next_combination(numbers, f, (1 << n) - 1)


@block(stored=True)
def unsafe_subcubes(faults):
    """Merge nodes and links into the maximal subcubes of faulty and unsafe nodes (R2, R3); return their number."""
    nodes, links = faults.size[FAULTY_NODES], faults.size[FAULTY_LINKS]
    for i in range(nodes):
        faults.base[i] = faults.labels[i]
        faults.free[i] = ZERO
    for i in range(links):
        faults.base[nodes + i] = faults.lower[i]
        faults.free[nodes + i] = ONE << faults.dims[i]
    count = merge_subcubes(faults.base, faults.free, nodes + links)
    faults.size[SUBCUBES] = count
    return count


@block
def is_faulty(faults, x):
    """Whether node ``x`` is faulty."""
    f = faults.size[FAULTY_NODES]
    if f > _MAX_SCANNED:
        return has_label(faults.known, x)
    wanted = simd.splat(x)
    for at in range(0, f, 8):
        same = simd.bits(simd.load(faults.labels, at) == wanted)
        if f - at < 8:
            same &= (ONE << np.uint64(f - at)) - ONE
        if same:
            return True
    return False


@block
def is_faulty_link(faults, x, bit):
    """Whether the link of node ``x`` in the dimension ``bit`` (a single bit) is faulty."""
    count = faults.size[FAULTY_LINKS]
    i = np.int64(0)
    while i < count and (faults.lower[i] != x & ~bit or ONE << faults.dims[i] != bit):
        i += 1
    return i < count


@block
def blocked(faults, x, bit):
    """Whether the link of node ``x`` in the dimension ``bit``, or the node behind it, is faulty."""
    return is_faulty(faults, x ^ bit) or is_faulty_link(faults, x, bit)


@block
def is_closed(faults, x):
    """Whether node ``x`` is faulty or unsafe."""
    count = faults.size[SUBCUBES]
    wanted = simd.splat(x)
    zero = simd.splat(ZERO)
    for at in range(0, count, 8):
        difference = (simd.load(faults.base, at) ^ wanted) & ~simd.load(faults.free, at)
        inside = simd.bits(difference == zero)
        if count - at < 8:
            inside &= (ONE << np.uint64(count - at)) - ONE
        if inside:
            return True
    return False


@block
def is_safe(faults, n):
    """Whether some node of Q_n is active, that is, no subcube is the whole cube."""
    whole = (ONE << np.uint64(n)) - ONE
    all_unsafe = False
    for i in range(faults.size[SUBCUBES]):
        all_unsafe |= faults.free[i] == whole
    return not all_unsafe


@kernel("Tuple((uint64[::1], uint64[:, ::1], uint64[::1]))(uint64, int64, int64, int64, int64, int64)")
def trial_faults(key, t, n, f, links, ends):
    """Return the results of ``draw``: faulty nodes, faulty links as rows (lower end, upper end), and ends."""
    faults = faults_for(n, f, links, ends)
    draw(key, t, n, faults)
    pairs = np.empty((links, 2), np.uint64)
    for i in range(links):
        pairs[i, 0] = faults.lower[i]
        pairs[i, 1] = faults.lower[i] | ONE << faults.dims[i]
    return faults.labels[:f].copy(), pairs, faults.ends
