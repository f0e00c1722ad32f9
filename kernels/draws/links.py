"""Sample K distinct links of Q_n as a pure function of (key, trial), one trial at a time or in lanes.

Position j of a trial's sequence proposes the link of a node in a dimension.  Both are fields of w = 16 bits (n <= 16) or 32 bits
of word j: the node for LINKS (and HIGH_LINKS, for n > 32), the dimension for DIMENSIONS.  The dimension is
``floor(field n / 2^w)``.  It is uniform if the few fields with ``field n mod 2^w < 2^w mod n`` are skipped (Lemire 2019), at most
one in 7,000.  So lanes stay together: a skipped position is a row that proposes nothing, and is rarer than a repeated link.
(Another method takes the fewest bits that hold n - 1 and skips values from n on.  It would skip 3 of 8 positions at n = 10, so
that no trial of 32 links would avoid a skip.  In lanes, 32 links take 13.2 ns per trial with the method used, 11.1 ns with the
other.)

The trial's links are the first distinct ones.  ``distinct_links`` finds repeated links by a search, for any n;
``mark_distinct_links`` by the words of their nodes, for n <= 16; ``decode_link_lanes`` leaves them to a kernel of many trials.  A
link is stored as its lower end, whose bit in the dimension is clear, and the dimension.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, kernel, scratch
from . import philox
from .nodes import field_position, next_fields, next_labels, store_interleaved

# Up to this number of links a search through the sampled links is faster than a table.
_MAX_SCANNED = 32

_EIGHT = np.uint64(8)

# Above this n a link does not fit an entry of a table.  Its node does, and repeats only with negligible probability.
_MAX_PACKED = 57


class LinkDraws(NamedTuple):
    """Scratch memory for sixteen positions, in their order, and for all links so far; made by ``link_draws_for``."""

    nodes: Words  #: (32): the nodes, and sixteen spare entries
    links: Words  #: (32): n times the fields of their dimensions (in ``survival``, numbers of links), and sixteen spare entries
    seen: LabelSet  #: the links sampled so far, if there are many


@scratch
def link_draws_for(count):
    """Return scratch memory for up to ``count`` distinct links."""
    return LinkDraws(np.empty(32, np.uint64), np.empty(32, np.uint64), label_set(count if count > _MAX_SCANNED else 0))


class ProposedLinks(NamedTuple):
    """Scratch memory of ``mark_distinct_links``: the links of 32 positions, each at ``_place_of``; made by ``proposed_links``."""

    lower: Words  #: (32): lower ends
    bit: Words  #: (32): dimensions, as single bits; 0 for a skipped position


@scratch
def proposed_links():
    """Return scratch memory for ``mark_distinct_links``, for any number of links."""
    return ProposedLinks(np.empty(32, np.uint64), np.empty(32, np.uint64))


@block
def link_field_width(n):
    """Return the width in bits of the fields of a link: 16 for n <= 16, else 32; an int64."""
    return np.int64(16) if n <= 16 else np.int64(32)


@block
def _is_new(x, k, lower, dims, taken, n, draws):
    """Whether the link of ``x`` in dimension k is not among the first ``taken`` links; a new one is added to ``draws.seen``."""
    if draws.seen.capacity > 1:  # the set is used
        if add_label(draws.seen, x | k << np.uint64(n) if n <= _MAX_PACKED else x):
            return True
        if n <= _MAX_PACKED:
            return False
    i = np.int64(0)
    while i < taken and (lower[i] != x or dims[i] != k):
        i += 1
    return i == taken


@block
def distinct_links(key, t, n, count, lower, dims, draws):
    """Write the first ``count`` distinct links of trial ``t``'s sequence, uniform over all sets of that size.

    Parameters
    ----------
    key : uint64
    t, n, count : int64
        1 <= n <= 62, 0 <= count <= n 2^(n-1); not checked.  The last links take long: with r links left to
        sample from, n 2^(n-1) / r positions are expected for the next one.
    lower, dims : uint64 arrays of at least ``count``
        Link i joins ``lower[i]``, whose bit ``dims[i]`` is clear, to ``lower[i] | 1 << dims[i]``.
    draws : LinkDraws
        From ``link_draws_for`` with at least ``count``.
    """
    width = link_field_width(n)
    block_, shift = field_position(t, width)
    field_mask = (ONE << np.uint64(width)) - ONE
    skipped = (field_mask + ONE) % np.uint64(n)  # number of remainders for which a position is skipped
    halves = simd.iota(simd.splat(ZERO))
    taken = np.int64(0)
    while taken < count:
        next_labels(key, block_, shift, n, halves, philox.LINKS, philox.HIGH_LINKS, draws.nodes)
        even, odd = next_fields(key, block_, shift, halves, philox.DIMENSIONS)
        mask = simd.splat(field_mask)
        times = simd.splat(np.uint64(n))
        store_interleaved((even & mask) * times, (odd & mask) * times, draws.links)
        for i in range(16):
            k = draws.links[i] >> np.uint64(width)
            x = draws.nodes[i] & ~(ONE << k)
            is_kept = draws.links[i] & field_mask >= skipped
            if taken < count and is_kept and _is_new(x, k, lower, dims, taken, n, draws):
                lower[taken] = x
                dims[taken] = k
                taken += 1
        halves = halves + 8
    clear_labels(draws.seen)


@block(always=True)
def _place_of(position):
    """Return the entry of ``ProposedLinks`` for a position: in each sixteen, the eight even ones come before the odd ones.

    The generator returns the even and the odd words of a block as two vectors, which are stored whole.
    """
    return (position & 16) + 8 * (position & 1) + (position >> 1 & 7)


@block(always=True)
def _store_links(nodes, fields, shift, n, proposed, place):
    """Write the links that a vector of words proposes, those of eight positions, to the entries from ``place`` on."""
    by, mask, one = simd.splat(shift), simd.splat(np.uint64(0xFFFF)), simd.splat(ONE)
    product = simd.mul32((fields >> by) & mask, simd.splat(n))
    is_kept = simd.splat(np.uint64(65536) % n) <= (product & mask)
    bit = simd.select(is_kept, one << (product >> 16), simd.splat(ZERO))
    inside = simd.splat((ONE << n) - ONE)
    simd.store(proposed.lower, place, (nodes >> by) & inside & ~bit)
    simd.store(proposed.bit, place, bit)


@block(always=True)
def _mark_link(proposed, place, fault_words, lower, bit, taken):
    """Mark one proposed link and list it as number ``taken``; return the new number, unchanged if it was marked or is skipped.

    The list is written in any case, because that needs no branch: the next link overwrites a repeated one.  All indices are
    unsigned, because Numba tests signed indices for being negative.
    """
    u, link = proposed.lower[place], proposed.bit[place]
    word = np.uint64(fault_words[u])
    fault_words[u] = np.uint16(word | link)
    fault_words[u | link] |= np.uint16(link)
    lower[taken] = np.uint16(u)
    bit[taken] = np.uint16(link)
    return taken + np.uint64((word & link) != link)


@block
def mark_distinct_links(key, t, n, count, fault_words, lower, bit, proposed):
    """Write the links of ``distinct_links`` and mark them in words of the nodes, n <= 16: no set lookup, almost no branches.

    Parameters
    ----------
    key, t, n, count
        As of ``distinct_links``.
    fault_words : uint16 array of 2^n
        Clear; bit k of word v is set for the link of v in dimension k.
    lower, bit : uint16 arrays of at least ``count``
        Lower ends, and dimensions as single bits.
    proposed : ProposedLinks
    """
    block_, shift = field_position(t, np.int64(16))
    first, eight = simd.splat(block_), simd.splat(_EIGHT)
    blocks = simd.join(first, first, first, first)
    of_nodes, of_dimensions = simd.splat(philox.LINKS), simd.splat(philox.DIMENSIONS)
    purposes = simd.join(of_nodes, of_nodes, of_dimensions, of_dimensions)
    halves = simd.iota(first)
    taken, wanted = ZERO, np.uint64(count)
    while taken < wanted:
        later = halves + eight
        evens, odds = philox.mixed_lanes(key, blocks, simd.join(halves, later, halves, later), purposes)
        even, odd = simd.quarters(evens), simd.quarters(odds)
        _store_links(even[0], even[2], shift, np.uint64(n), proposed, _place_of(0))
        _store_links(odd[0], odd[2], shift, np.uint64(n), proposed, _place_of(1))
        _store_links(even[1], even[3], shift, np.uint64(n), proposed, _place_of(16))
        _store_links(odd[1], odd[3], shift, np.uint64(n), proposed, _place_of(17))
        # The list has the order of the positions, so the links must be marked in that order too.
        if taken + np.uint64(32) <= wanted:
            for i in range(np.uint64(8)):  # places i and i + 8 have positions 2 i and 2 i + 1
                taken = _mark_link(proposed, i, fault_words, lower, bit, taken)
                taken = _mark_link(proposed, i + _EIGHT, fault_words, lower, bit, taken)
            for i in range(np.uint64(16), np.uint64(24)):
                taken = _mark_link(proposed, i, fault_words, lower, bit, taken)
                taken = _mark_link(proposed, i + _EIGHT, fault_words, lower, bit, taken)
        else:
            for position in range(32):
                if taken < wanted:
                    taken = _mark_link(proposed, np.uint64(_place_of(position)), fault_words, lower, bit, taken)
        halves = later + eight


@block(always=True)
def decode_link_lanes(nodes, fields, n):
    """Return a link for each lane, from one word for LINKS and one for DIMENSIONS of eight blocks; 1 <= n <= 32.

    Parameters
    ----------
    nodes, fields : vectors
        The even words of both purposes or the odd ones (``philox.word_lanes``), viewed by ``simd.as16`` (n <= 16) or
        ``simd.as32``; b is the index of the first block:

            words of blocks    b        b+1            b+7      8 lanes of 64 bits
            n <= 16            0 1 2 3  4 5 6 7  ...  28 .. 31  trial 4 b + i in lane i of 32
            n > 16             0   1    2   3    ...  14    15  trial 2 b + i in lane i of 16

    n : uint64

    Returns
    -------
    lower : vector
        Lower ends.
    bit : vector
        Their dimensions, as single bits.
    skipped : mask
        Lanes with a skipped position.  Their values must not be stored as sampled, because they may validly come later.
    """
    times = simd.splat_like(fields, n)
    bit = simd.one_hot(simd.mul_high(fields, times))
    none = bit - bit
    inside = simd.one_hot(times) - 1  # n = 32 or 16: 0 - 1, all bits
    least = simd.splat_like(bit, (ONE << np.uint64(16 if n <= np.uint64(16) else 32)) % n)
    skipped = simd.every_lane(none) & ~(least <= (fields * times))  # the product is modulo 2^w
    return nodes & inside & ~bit, bit, skipped


@kernel("uint64[:, ::1](uint64, int64, int64, int64)")
def link_set(key, t, n, count):
    """Return the faulty links of trial ``t`` as rows (lower end, dimension); see ``distinct_links``."""
    lower = np.empty(count, np.uint64)
    dims = np.empty(count, np.uint64)
    distinct_links(key, t, n, count, lower, dims, link_draws_for(count))
    out = np.empty((count, 2), np.uint64)
    for i in range(count):
        out[i, 0] = lower[i]
        out[i, 1] = dims[i]
    return out
