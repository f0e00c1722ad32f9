"""Faults of 512 trials at once, a bit each: row v of an array, 8 words, has bit t of a group of 512 where node or link v works.

The laws are those of ``nodes``, ``links`` and ``bernoulli`` of the shared draws, and reading N4; trial t of a group is bit t & 63
of word t >> 6.  A link of a matched network has the number ``d 2^(n-1)`` + its end with bit d clear, without bit d.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws import bernoulli, philox
from ..draws.links import LinkDraws, distinct_links, link_draws_for
from ..draws.nodes import Draws, distinct_nodes, drawn, draws_for, field_width, node_label, others
from ..machine import simd
from ..machine.bits import ALL, ONE, ZERO, first_lanes, lowest
from ..machine.jit import block, scratch

#: Trials of a group.
GROUP = 512

_3, _6, _9, _63 = np.uint64(3), np.uint64(6), np.uint64(9), np.uint64(63)


class Room(NamedTuple):
    """What drawing needs, for one point; made by :func:`room_for`."""

    rows8: Any  #: uint8: labels of 64 trials, a place a row
    rows16: Any  #: the same as uint16
    slices: Any  #: uint64: of each 64 trials a word a node
    place: Any  #: uint64 of 512: the place of each trial's sequence where its pair begins
    labels: Any  #: uint64: one trial's nodes, or lower ends of links
    dims: Any  #: uint64: their dimensions
    draws: Draws
    link_draws: LinkDraws


class Law(NamedTuple):
    """Every one of ``many`` numbers faulty at a rate; made by :func:`law_for`."""

    many: Any  #: int64
    head: Any  #: uint64: see ``bernoulli.digit_threshold``; 0 for rates below 1/64
    tail: Any
    base: Any  #: int64: see ``bernoulli.binomial_table``
    thresholds: Any
    guide: Any
    waiting: Any  #: uint64: numbers not decided by their heads, their trials, and ten vectors


@block
def places(n, f):
    """Places of a trial's sequence that are drawn in lanes: enough for nearly all trials."""
    few = drawn(n, f)
    return (few + few * few // (np.int64(1) << n) + 6) & ~np.int64(1)


@scratch
def room_for(n, f, links):
    """For f faulty nodes (-1: not a number of them) and at most so many links."""
    rows = 64 * places(n, f) if f >= 0 else np.int64(0)
    wide = n > 8
    return Room(
        np.empty(0 if wide else rows, np.uint8),
        np.empty(rows if wide else 0, np.uint16),
        rows_for(max(np.int64(1) << n, 8) if f >= 0 else np.int64(0)),
        np.zeros(GROUP, np.uint64),
        np.empty(max(f, links, np.int64(1) << n) + 16, np.uint64),
        np.empty(links + 16, np.uint64),
        draws_for(np.int64(1) << n),
        link_draws_for(links),
    )


@scratch
def rows_for(count):
    """So many rows, each a line of the cache: half of the time of a sweep is what a vector across two lines costs."""
    words = np.empty(8 * count + 8, np.uint64)
    skipped = (-(words.ctypes.data >> 3)) & 7
    return words[skipped : skipped + 8 * count]


@block(always=True)
def _fill_rows(rows, count, ground):
    for v in range(count):
        simd.store(rows, 8 * v, simd.splat(ground))


# ---------------------------------------------------------------- f distinct nodes


@block(always=True)
def _mark(key, first, n, few, ready, labels, word, ground, slices, place):
    """Flip bits, ``ground`` before, of the ``few`` first distinct labels of trials first .. first + 63, in slice ``word``."""
    inside = (np.int64(1) << n) - 1
    own = slices[word << n :]
    for i in range(64):
        bit = ONE << np.uint64(i)
        got = np.int64(0)
        k = np.int64(0)
        while k < few:  # as if none were repeated
            x = np.int64(labels[64 * k + i]) & inside
            marked = own[x] ^ ground
            own[x] = ground ^ (marked | bit)
            got += np.int64(marked & bit == ZERO)
            k += 1
        while got < few:
            x = np.int64(labels[64 * k + i]) & inside if k < ready else np.int64(node_label(key, first + i, k, n))
            marked = own[x] ^ ground
            own[x] = ground ^ (marked | bit)
            got += np.int64(marked & bit == ZERO)
            k += 1
        place[64 * word + i] = k


@block
def draw_nodes(key, group, n, f, rows, room):
    """Write the nonfaulty nodes of trials ``group``, a multiple of 512, and on, f faulty ones each, to the 2^n ``rows``.

    They are marked in slices, which stay in the first-level cache, and these exchanged for rows.
    """
    few = drawn(n, f)
    ready = places(n, f)
    nodes = np.int64(1) << n
    ground = ~ZERO if few == f else ZERO  # what is drawn are the nonfaulty nodes where these are fewer
    _fill_rows(room.slices, nodes, ground)
    width = field_width(n)
    for word in range(8):
        first = group + 64 * word
        for part in range(width // 8):  # 8 blocks hold 64 trials' fields of 8 bits, 32 of 16
            prepared = philox.prepare_lanes(key, np.uint64(first * width // 64 + 8 * part), philox.LABELS)
            for k in range(0, ready, 2):
                even, odd = philox.lanes(key, prepared, np.uint64(k >> 1))
                if n <= 8:
                    simd.store(room.rows8, 64 * k, simd.as8(even))
                    simd.store(room.rows8, 64 * k + 64, simd.as8(odd))
                else:
                    simd.store(room.rows16, 64 * k + 32 * part, simd.as16(even))
                    simd.store(room.rows16, 64 * k + 64 + 32 * part, simd.as16(odd))
        if n <= 8:
            _mark(key, first, n, few, ready, room.rows8, word, ground, room.slices, room.place)
        else:
            _mark(key, first, n, few, ready, room.rows16, word, ground, room.slices, room.place)
    for v in range(0, nodes, 8):
        simd.transpose(room.slices, v, nodes, rows, 8 * v)
    if few < f:
        room.place[:] = 0  # the pair is the first of the nonfaulty nodes drawn


# ---------------------------------------------------------------- K distinct links


@block
def _mark_links(key, t, n, count, word, bit, rows, room):
    distinct_links(key, t, n, count, room.labels, room.dims, room.link_draws)
    for i in range(count):
        d = room.dims[i]
        below = (ONE << d) - ONE
        x = (room.labels[i] & below) | ((room.labels[i] & ~below) >> ONE)
        rows[8 * np.int64(d << np.uint64(n - 1) | x) + word] &= ~bit


@block
def draw_links(key, group, n, count, rows, room):
    """Write the links that work in 512 trials, ``count`` faulty ones each, to the n 2^(n-1) ``rows``."""
    _fill_rows(rows, n << (n - 1), ALL)
    for i in range(GROUP):
        _mark_links(key, group + i, n, count, i >> 6, ONE << np.uint64(i & 63), rows, room)


# ---------------------------------------------------------------- every one at a rate


@scratch
def law_for(many, rate):
    """The law of ``many`` numbers, each faulty at a rate in [0, 1]."""
    if rate >= bernoulli.MANY:
        head, tail = bernoulli.digit_threshold(rate)
        none = np.empty(0, np.uint64)
        return Law(many, head, tail, np.int64(0), none, np.empty(0, np.int64), np.empty(_WORDS + 64, np.uint64))
    first, thresholds, guide = bernoulli.binomial_table(many, rate)
    return Law(many, ZERO, ZERO, first, thresholds, guide, np.empty(0, np.uint64))


#: Numbers that wait for their tails before they are drawn.
_FULL = np.int64(9 * GROUP)

#: Behind them: places of a vector's words in the rows, what of them is undecided, and eight vectors.
_ROWS, _LEFT, _WORDS = 2 * _FULL, 2 * _FULL + 8, 2 * _FULL + 16


@block
def _many(key, group, law, digits, tails, rows):
    """Write which numbers are not faulty in 512 trials, for a rate of at least 1/64.

    The digits of 64 numbers of a trial are a word.  The same vector of words of each 64 trials is drawn in turn, so that rows, 64
    apart, which the cache keeps few of, are written whole.
    """
    words = (law.many + 63) >> 6
    if law.head >= np.uint64(256):
        _fill_rows(rows, 64 * words, ZERO)
        return
    waiting = law.waiting
    count = np.int64(0)
    at = np.int64(0)
    for j in range(8 * words):
        for e in range(8):
            waiting[_ROWS + e] = np.uint64(at)
            at += 512
            if at >= 512 * words:
                at += 8 - 512 * words
        for part in range(8):
            first = group + 64 * part
            faulty, undecided = bernoulli.compare_digits(
                key, np.uint64(first * words + 8 * j), law.head, law.tail, digits
            )
            simd.store(waiting, _WORDS + 8 * part, simd.xor(faulty, simd.splat(ALL)))
            simd.store(waiting, _LEFT, undecided)
            some = simd.bits(simd.differ(undecided, simd.splat(ZERO)))
            while some:
                e = lowest(some)
                some &= some - ONE
                place, rest = waiting[_ROWS + e], waiting[_LEFT + e]
                while rest:
                    number = (place >> _9 << _6) + np.uint64(lowest(rest))
                    waiting[count] = number
                    waiting[_FULL + count] = np.uint64(64 * part) + (place >> _3 & _63)
                    count += np.int64(number < np.uint64(law.many))
                    rest &= rest - ONE
        simd.transpose(waiting, _WORDS, np.int64(8), waiting, _WORDS)
        for e in range(8):
            simd.store(rows, np.int64(waiting[_ROWS + e]), simd.load(waiting, _WORDS + 8 * e))
        if count > _FULL - 8 * GROUP:  # all that eight vectors can add
            _decide(key, group, law.tail, tails, count, waiting, rows)
            count = np.int64(0)
    _decide(key, group, law.tail, tails, count, waiting, rows)
    for w in range(words):
        _transpose(rows, 512 * w)


@block
def _decide(key, group, tail, purpose, count, waiting, rows):
    """Clear the numbers that wait and whose tails are below ``tail``."""
    one = simd.splat(ONE)
    for i in range(0, count, 8):
        v = simd.load(waiting, i)
        t = simd.load(waiting, _FULL + i)
        even, odd = philox.mixed_lanes(
            key, simd.add(t, simd.splat(np.uint64(group))), simd.shift_right(v, one), purpose
        )
        drawn_tail = simd.select(simd.equal(simd.both(v, one), one), odd, even)
        faulty = simd.bits(simd.less_equal(drawn_tail, simd.splat(tail - ONE))) & first_lanes(count - i, 8)
        while faulty:
            lane = lowest(faulty)
            faulty &= faulty - ONE
            x, own = waiting[i + lane], np.int64(waiting[_FULL + i + lane])
            rows[8 * (64 * np.int64(x >> _6) + (own & 63)) + (own >> 6)] &= ~(ONE << (x & _63))


@block
def _transpose(rows, at):
    """Exchange rows and bits of eight 64 x 64 matrices: row i is word i of each, from word ``at`` on."""
    low = np.uint64(0x00000000FFFFFFFF)
    shift = np.int64(32)
    while shift:
        mask = simd.splat(low)
        by = simd.splat(np.uint64(shift))
        for i in range(64):
            if i & shift == 0:
                a = simd.load(rows, at + 8 * i)
                b = simd.load(rows, at + 8 * (i + shift))
                moved = simd.both(simd.xor(simd.shift_right(a, by), b), mask)
                simd.store(rows, at + 8 * i, simd.xor(a, simd.shift_left(moved, by)))
                simd.store(rows, at + 8 * (i + shift), simd.xor(b, moved))
        shift >>= 1
        low ^= low << np.uint64(shift)


@block
def _few_nodes(key, group, n, law, rows, room):
    """Write the nonfaulty nodes of 512 trials for a rate below 1/64."""
    _fill_rows(rows, np.int64(1) << n, ALL)
    for i in range(GROUP):
        t = group + i
        k = bernoulli.number_of_faults(key, np.uint64(t), law.base, law.thresholds, law.guide, philox.COUNTS)
        few = drawn(n, k)
        distinct_nodes(key, t, n, few, room.labels, room.draws)
        if few < k:
            others(n, few, room.labels)
        for j in range(k):
            rows[8 * np.int64(room.labels[j]) + (i >> 6)] &= ~(ONE << np.uint64(i & 63))


@block
def _few_links(key, group, n, law, rows, room):
    """Write the links that work in 512 trials for a rate below 1/64."""
    _fill_rows(rows, n << (n - 1), ALL)
    for i in range(GROUP):
        t = group + i
        k = bernoulli.number_of_faults(key, np.uint64(t), law.base, law.thresholds, law.guide, philox.LINK_COUNTS)
        _mark_links(key, t, n, k, i >> 6, ONE << np.uint64(i & 63), rows, room)


@block
def draw_nodes_by_rate(key, group, n, law, rows, room):
    """Write the nonfaulty nodes of 512 trials to ``rows``, a multiple of 64 of them."""
    if law.head:
        _many(key, group, law, philox.NODE_DIGITS, philox.NODE_TAILS, rows)
    else:
        _few_nodes(key, group, n, law, rows, room)


@block
def draw_links_by_rate(key, group, n, law, rows, room):
    """Write the links that work in 512 trials to ``rows``, a multiple of 64 of them."""
    if law.head:
        _many(key, group, law, philox.LINK_DIGITS, philox.LINK_TAILS, rows)
    else:
        _few_links(key, group, n, law, rows, room)
