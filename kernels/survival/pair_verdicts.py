"""Whether the random nonfaulty nodes s and t of a trial are connected, for the disconnected lanes of a group of 512 trials.

Most lanes need no pair, because all their nonfaulty nodes are connected; ``sweeps.fill_verdict`` has set PAIR_CONNECTED in these.
``decide_pairs`` sets it in the other lanes.  It samples their pairs eight at a time, because a vector has eight words.  If s and
t are both in the seed's component they are connected, and if only one is they are not.  If neither is, the component of s is
searched in this lane alone.  Lanes, rows, seeds and verdicts are those of ``sweeps``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws import philox
from ..draws.lanes import valid_lanes
from ..draws.nodes import field_width
from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import ALL_BITS, ONE, ZERO, lowest
from ..machine.jit import block, scratch
from . import drawing
from .sweeps import PAIR_CONNECTED, TWO_SURVIVORS

_3, _6, _63 = np.uint64(3), np.uint64(6), np.uint64(63)


class GroupSample(NamedTuple):
    """The faults of 512 trials, and the workspace of their pairs."""

    alive: Words  #: rows of the nodes: lanes in which each is nonfaulty; the last row stays zero
    works: Words  #: rows of the links: lanes in which each works
    valid: Words  #: one row: the lanes whose trials count
    lanes: Words  #: (512 + 8): scratch, the lanes that need a pair, and seven repeats of the last one
    #: (8) each: scratch, the nodes s and t of eight pairs, and their lanes
    pair_s: Words
    pair_t: Words
    pair_lanes: Words


@scratch
def alive_rows_for(n):
    """Return rows for the nodes of a network, and the empty row, which is zero."""
    no_node = drawing.empty_row_index(n)
    alive = drawing.rows_for(no_node + 1)
    alive[8 * no_node :] = 0
    return alive


@scratch
def group_sample_for(alive, works):
    """Return a sample with these rows of nodes and of links."""
    return GroupSample(
        alive,
        works,
        np.empty(8, np.uint64),
        np.empty(drawing.GROUP_TRIALS + 8, np.uint64),
        np.empty(8, np.uint64),
        np.empty(8, np.uint64),
        np.empty(8, np.uint64),
    )


@block(always=True)
def set_valid_lanes(sample, group, first, stop):
    """Set the lanes of a group, which begins with trial ``group``, whose trials are in first .. stop - 1."""
    for word in range(8):
        sample.valid[word] = valid_lanes(group + 64 * word, 1, 64, first, stop)


@block(always=True)
def _is_set(rows, v, lane):
    """Whether row v has a lane."""
    return (rows[8 * v + (lane >> 6)] >> np.uint64(lane & 63)) & ONE == ONE


@block(always=True)
def _read_bits(rows, x, lanes):
    """Return, for eight nodes x and eight lanes, the bits of these lanes in the nodes' rows; any bit for no node (all ones)."""
    is_node = x != simd.splat(ALL_BITS)
    at = (x << simd.splat(_3)) + (lanes >> simd.splat(_6))
    word = simd.gather(rows, simd.select(is_node, at, simd.splat(ZERO)))
    return (word >> (lanes & simd.splat(_63))) & 1


@block(always=True)
def _add_candidates(x, new, s, t):
    """Return eight pairs s, t with the nodes x of the lanes ``new`` added to pairs that lack a node; all ones: no node yet."""
    none = simd.splat(ALL_BITS)
    new = new & (x != s)
    lacks_s = s == none
    t = simd.select(new & ~lacks_s & (t == none), x, t)
    return simd.select(new & lacks_s, x, s), t


@block
def draw_pairs(key, group, n, by_rate, lanes, places, alive):
    """Return the pairs s, t of eight lanes of a group: the first two distinct nonfaulty labels of each.

    ``by_rate``: the labels are all fields of the words for PAIRS.  Otherwise a lane's labels continue its sequence of LABELS from
    the position in ``places`` on.  Each is a field of a word, whose other fields belong to other trials (``draws/nodes.py``), and
    position j is in word j.  Words are sampled two at a time, an even and an odd one, so that with an odd position the even word
    is too early.  Fields have 8 or 16 bits, as n <= 16.
    """
    one, none, label_mask = simd.splat(ONE), simd.splat(ALL_BITS), simd.splat((ONE << np.uint64(n)) - ONE)
    place = simd.gather(places, lanes)
    word_pair = place >> one
    blocks = lanes + simd.splat(np.uint64(group))
    width = np.uint64(field_width(n))
    shift = simd.splat(ZERO)
    field_bits = np.uint64(64) if by_rate else ONE  # one field per word unless ``by_rate``
    if not by_rate:  # 8 or 4 trials share a block
        log_sharing = np.uint64(3 if n <= 8 else 2)
        shift = (blocks & simd.splat((ONE << log_sharing) - ONE)) << simd.splat(np.uint64(6) - log_sharing)
        blocks = blocks >> simd.splat(log_sharing)
    s = t = none
    is_early = (place & one) == one
    never = simd.no_lane(one)
    while simd.bits(t == none):
        word, odd_word = philox.mixed_lanes(
            key, blocks, word_pair, simd.splat(philox.PAIRS if by_rate else philox.LABELS)
        )
        for _ in range(2):
            at = ZERO
            while at < field_bits and simd.bits(t == none):
                for _ in range(4 if by_rate else 1):  # four together, because gathers have a long latency
                    x = (word >> (shift + simd.splat(at))) & label_mask
                    s, t = _add_candidates(x, (_read_bits(alive, x, lanes) == one) & ~is_early, s, t)
                    at += width
            word, is_early = odd_word, never
        word_pair = word_pair + one
    return s, t


@block
def _is_connected_in_lane(s, t, lane, sample, links_fail, net):
    """Whether a breadth-first search from s finds t in a lane; uses ``listed`` as its queue, and leaves ``seen`` empty."""
    net.listed[0] = s
    count = np.int64(1)
    net.seen[s >> 6] |= ONE << np.uint64(s & 63)
    at = np.int64(0)
    found = False
    while at < count and not found:
        v = net.listed[at]
        at += 1
        for i in range(net.begin[v], net.begin[v + 1]):
            w = np.int64(net.neighbour_words[i]) >> 3
            link = np.int64(net.link_words[i]) >> 3 if links_fail else np.int64(0)
            if not _is_set(sample.alive, w, lane) or (links_fail and not _is_set(sample.works, link, lane)):
                continue
            if net.seen[w >> 6] >> np.uint64(w & 63) & ONE == ZERO:
                net.seen[w >> 6] |= ONE << np.uint64(w & 63)
                net.listed[count] = w
                count += 1
                found |= w == t
    for i in range(count):
        net.seen[net.listed[i] >> 6] = ZERO
    return found


@block
def _record_pair_verdict(s, t, lanes, sample, links_fail, net):
    """Set the verdict PAIR_CONNECTED of eight disconnected lanes, where t can be reached from s."""
    s_reached, t_reached = _read_bits(net.reached, s, lanes), _read_bits(net.reached, t, lanes)
    joined = simd.bits((s_reached & t_reached) == 1)
    undecided = simd.bits((s_reached | t_reached) == 0)  # neither is in the seed's component
    simd.store(sample.pair_s, 0, s)
    simd.store(sample.pair_t, 0, t)
    simd.store(sample.pair_lanes, 0, lanes)
    while undecided:
        i = lowest(undecided)
        undecided &= undecided - ONE
        x, y = np.int64(sample.pair_s[i]), np.int64(sample.pair_t[i])
        if _is_connected_in_lane(x, y, np.int64(sample.pair_lanes[i]), sample, links_fail, net):
            joined |= ONE << np.uint64(i)
    for i in range(8):
        lane = sample.pair_lanes[i]
        net.verdict[8 * PAIR_CONNECTED + np.int64(lane >> _6)] |= (joined >> np.uint64(i) & ONE) << (lane & _63)


@block
def _list_disconnected_lanes(sample, own, other):
    """List the valid lanes with a pair s, t in which one of the networks is disconnected; return their number.

    Lanes are read eight at a time, so the last one is repeated to fill a vector.
    """
    count = np.int64(0)
    for word in range(8):
        with_pair = own.verdict[8 * TWO_SURVIVORS + word] & sample.valid[word]
        rest = with_pair & ~(own.verdict[8 * PAIR_CONNECTED + word] & other.verdict[8 * PAIR_CONNECTED + word])
        while rest:
            sample.lanes[count] = np.uint64(64 * word + lowest(rest))
            count += 1
            rest &= rest - ONE
    if count > 0:
        for i in range(count, count + 7):
            sample.lanes[i] = sample.lanes[count - 1]
    return count


@block(always=True)
def decide_pairs(key, group, n, by_rate, places, sample, links_fail, own, other, same):
    """Set the verdict PAIR_CONNECTED of a network in disconnected lanes, and of the ``other`` one unless it is the ``same``.

    The verdicts of ``fill_verdict`` must be those of this group.  The first arguments are those of ``draw_pairs``.
    """
    for i in range(0, _list_disconnected_lanes(sample, own, other), 8):
        lanes = simd.load(sample.lanes, i)
        s, t = draw_pairs(key, group, n, by_rate, lanes, places, sample.alive)
        _record_pair_verdict(s, t, lanes, sample, links_fail, own)
        if not same:
            _record_pair_verdict(s, t, lanes, sample, links_fail, other)
