"""Trials of ``survival`` and ``survival-rate``, 512 at a time: a network, and the hypercube under the same faults.

Entry points: ``SURVIVAL_NODES`` and the other kernels at the end of this module.  They sample trials with the study's key
(``drawing.py``), which takes most of the time, and evaluate them by sweeps (``sweeps.py``, which defines lanes and rows).  The
random pair of nonfaulty nodes s, t is sampled only in lanes in which a network is disconnected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.tables import named_slots, named_step
from ..draws import philox
from ..draws.lanes import valid_lanes
from ..draws.nodes import field_width
from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import ALL_BITS, ONE, ZERO, lowest
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel
from ..tally.layout import Layout
from . import drawing
from .drawing_by_rate import draw_links_by_rate, draw_nodes_by_rate, rate_sampling_for
from .layout import COMPARED_EVENTS, SURVIVAL
from .scalar import read_point
from .sweeps import (
    CONNECTED,
    NO_ISOLATED,
    PAIR_CONNECTED,
    TWO_SURVIVORS,
    fill_verdict,
    is_surely_connected,
    make_preparation,
    most_faults_examined,
    set_connected_verdict,
)

_COUNTS = SURVIVAL.family("{}", COMPARED_EVENTS)
_CUBE = SURVIVAL.family("cube_{}", COMPARED_EVENTS)
_PAIRS = SURVIVAL.counter("pairs")

_3, _6, _63 = np.uint64(3), np.uint64(6), np.uint64(63)

# ---------------------------------------------------------------- pairs


@block(always=True)
def _is_set(rows, v, lane):
    return (rows[8 * v + (lane >> 6)] >> np.uint64(lane & 63)) & ONE == ONE


@block(always=True)
def _read_bits(rows, x, lanes):
    """Return, for eight nodes x and eight lanes, the bits of these lanes in the nodes' rows; any bit for no node (all ones)."""
    inside = x != simd.splat(ALL_BITS)
    at = (x << simd.splat(_3)) + (lanes >> simd.splat(_6))
    word = simd.gather(rows, simd.select(inside, at, simd.splat(ZERO)))
    return (word >> (lanes & simd.splat(_63))) & 1


@block(always=True)
def _add_candidates(x, new, s, t):
    """Return the pairs s, t with the candidates x of the lanes ``new`` added to pairs that lack a node."""
    none = simd.splat(ALL_BITS)
    new = new & (x != s)
    free = s == none
    t = simd.select(new & ~free & (t == none), x, t)
    return simd.select(new & free, x, s), t


@block
def draw_pairs(key, group, n, by_rate, lanes, places, alive):
    """Return the pairs s, t of eight lanes of a group: the first two distinct nonfaulty labels of each.

    ``by_rate``: the labels are all fields of the words for PAIRS.  Otherwise a lane's labels continue its sequence of LABELS from
    the position in ``places`` on.  Each is a field of a word, whose other fields belong to other trials (``draws/nodes.py``).
    Position j is in word j, and step ``half`` samples words 2 half and 2 half + 1.  Fields have 8 or 16 bits, as n <= 16.
    """
    one, none, label_mask = simd.splat(ONE), simd.splat(ALL_BITS), simd.splat((ONE << np.uint64(n)) - ONE)
    place = simd.gather(places, lanes)
    half = place >> one  # words are sampled two at a time
    blocks = lanes + simd.splat(np.uint64(group))
    width = np.uint64(field_width(n))
    shift = simd.splat(ZERO)
    fields = np.uint64(64) if by_rate else ONE
    if not by_rate:  # 8 or 4 trials share a block
        log_sharing = np.uint64(3 if n <= 8 else 2)
        shift = (blocks & simd.splat((ONE << log_sharing) - ONE)) << simd.splat(np.uint64(6) - log_sharing)
        blocks = blocks >> simd.splat(log_sharing)
    s = t = none
    early = (place & one) == one  # lanes in which the word is before the place
    never = simd.no_lane(one)
    while simd.bits(t == none):
        word, odd = philox.mixed_lanes(key, blocks, half, simd.splat(philox.PAIRS if by_rate else philox.LABELS))
        for _ in range(2):
            at = ZERO
            while at < fields and simd.bits(t == none):
                for _ in range(4 if by_rate else 1):  # four together, because gathers have a long latency
                    x = (word >> (shift + simd.splat(at))) & label_mask
                    s, t = _add_candidates(x, (_read_bits(alive, x, lanes) == one) & ~early, s, t)
                    at += width
            word, early = odd, never
        half = half + one
    return s, t


class GroupSample(NamedTuple):
    """The faults of 512 trials, and the workspace of their pairs."""

    alive: Words  #: rows of the nodes: lanes in which each is nonfaulty
    works: Words  #: rows of the links: lanes in which each works
    valid: Words  #: one vector: the lanes whose trials count
    lanes: Words  #: the lanes in which a network is disconnected, and seven more
    eight: Words  #: of eight pairs at hand s, t and the lane


@block
def _is_connected_in_lane(s, t, lane, sample, links, net):
    """Whether s and t are in one component in a lane, if neither is in the seed's component."""
    net.listed[0] = s
    count = np.int64(1)
    net.seen[s >> 6] |= ONE << np.uint64(s & 63)
    at = np.int64(0)
    found = False
    while at < count and not found:
        v = net.listed[at]
        at += 1
        for i in range(net.begin[v], net.begin[v + 1]):
            w = np.int64(net.near[i]) >> 3
            over = np.int64(net.over[i]) >> 3 if links else np.int64(0)
            if not _is_set(sample.alive, w, lane) or (links and not _is_set(sample.works, over, lane)):
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
def _record_pair_verdict(s, t, lanes, sample, links, net):
    """Set the verdict PAIR_CONNECTED of eight disconnected lanes, where t can be reached from s."""
    eight = sample.eight
    s_reached, t_reached = _read_bits(net.reached, s, lanes), _read_bits(net.reached, t, lanes)
    joined, beside = simd.bits((s_reached & t_reached) == 1), simd.bits((s_reached | t_reached) == 0)
    simd.store(eight, 0, s)
    simd.store(eight, 8, t)
    simd.store(eight, 16, lanes)
    while beside:
        i = lowest(beside)
        beside &= beside - ONE
        x, y = np.int64(eight[i]), np.int64(eight[8 + i])
        if _is_connected_in_lane(x, y, np.int64(eight[16 + i]), sample, links, net):
            joined |= ONE << np.uint64(i)
    for i in range(8):
        lane = eight[16 + i]
        net.verdict[8 * PAIR_CONNECTED + np.int64(lane >> _6)] |= (joined >> np.uint64(i) & ONE) << (lane & _63)


@block
def _list_disconnected_lanes(sample, own, cube):
    """List the valid lanes with a pair s, t in which one of the networks is disconnected; return their number.

    Lanes are read eight at a time, so the last one is repeated to fill a vector.
    """
    count = np.int64(0)
    for word in range(8):
        two = own.verdict[8 * TWO_SURVIVORS + word] & sample.valid[word]
        rest = two & ~(own.verdict[8 * PAIR_CONNECTED + word] & cube.verdict[8 * PAIR_CONNECTED + word])
        while rest:
            sample.lanes[count] = np.uint64(64 * word + lowest(rest))
            count += 1
            rest &= rest - ONE
    if count > 0:
        for i in range(count, count + 7):
            sample.lanes[i] = sample.lanes[count - 1]
    return count


@block(always=True)
def decide_pairs(key, group, n, by_rate, places, sample, links, own, other, same):
    """Set the verdict PAIR_CONNECTED of a network in disconnected lanes, and of the ``other`` one unless it is the ``same``.

    The first arguments are those of ``draw_pairs``; ``links`` says whether links fail.
    """
    for i in range(0, _list_disconnected_lanes(sample, own, other), 8):
        lanes = simd.load(sample.lanes, i)
        s, t = draw_pairs(key, group, n, by_rate, lanes, places, sample.alive)
        _record_pair_verdict(s, t, lanes, sample, links, own)
        if not same:
            _record_pair_verdict(s, t, lanes, sample, links, other)


# ---------------------------------------------------------------- counting


@block(always=True)
def count_bits(x):
    return np.int64(simd.total(simd.popcount(x)))


def make_verdict_counter(layout: Layout, other: str) -> Any:
    """Return the block that tallies the verdicts of two sides by a layout, whose counters of the second begin with ``other``."""
    counts, others = layout.family("{}", COMPARED_EVENTS), layout.family(f"{other}_{{}}", COMPARED_EVENTS)
    gains, differs = layout.family("{}_diff", COMPARED_EVENTS), layout.family("{}_differs", COMPARED_EVENTS)
    pairs = layout.counter("pairs")

    @block
    def count_verdicts(valid, own, other, compared, tally):
        """Tally the verdicts of the valid lanes, and with ``compared`` also those of the other side."""
        mask = simd.load(valid, 0)
        tally[pairs] += count_bits(mask & simd.load(own.verdict, 8 * TWO_SURVIVORS))
        for i in range(len(counts)):
            x = mask & simd.load(own.verdict, 8 * i)
            a = count_bits(x)
            tally[counts[i]] += a
            if compared:
                y = mask & simd.load(other.verdict, 8 * i)
                b = count_bits(y)
                tally[others[i]] += b
                tally[gains[i]] += a - b
                tally[differs[i]] += count_bits(x ^ y)

    return count_verdicts


_count_verdicts = make_verdict_counter(SURVIVAL, "cube")


@block
def count_surely_connected(trials, has_pair, tally):
    """Tally trials in which the network cannot be disconnected; ``has_pair`` says whether two nodes are nonfaulty."""
    for i in (CONNECTED, NO_ISOLATED):
        tally[_COUNTS[i]] += trials
        tally[_CUBE[i]] += trials
    if has_pair:
        tally[_COUNTS[PAIR_CONNECTED]] += trials
        tally[_CUBE[PAIR_CONNECTED]] += trials
        tally[_PAIRS] += trials


def survival_kernel(step: Any, slots: Any, *, by_rate: bool, links: bool, variant: str, **cached: Any) -> Kernel:
    """Return the kernel for the trials of networks given by a block ``step(index, v, d, n)``.

    ``params`` is (index of the network, n, f, number of faulty links) or, with ``by_rate``, (index, n, node failure rate, link
    failure rate).

    Parameters
    ----------
    slots : block
        ``slots(index, n)`` is the number of slots d of each node.
    by_rate : bool
        Whether nodes and links fail by rates.
    links : bool
        Whether links fail; without it the last parameter is taken to be 0.
    variant : str
        Name of the kernel among those made here.
    **cached
        ``cache`` and ``code`` of ``kernel``, for a user's network.
    """
    prepare = make_preparation(step)
    prepare_cube = make_preparation(named_step)
    with_links = np.int64(1 if links else 0)
    named = step is named_step

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def survival(key, first, stop, params, tally):
        """Count trials of the network, ``own``, and of the hypercube, ``cube``, under the same faults.

        They are the ``same`` if the network is the hypercube, or if its faulty links name no links of the hypercube, so that the
        two are not ``compared``.
        """
        point = read_point(params)
        index, n = point.network, point.n
        nodes = np.int64(1) << n
        f = np.int64(-1) if by_rate else np.int64(point.faults)
        faulty_links = np.int64(point.links) if links and not by_rate else np.int64(0)
        own = prepare(index, n, slots(index, n), with_links)
        compared = not links or own.paired or point.links == 0
        same = (named and index == 0) or not compared
        cube = own if same else prepare_cube(np.int64(0), n, n, with_links)
        # fewer faults than the least degree disconnect none of the built-in networks
        if named and not links and 0 <= f < min(n, _min_degree(own)):
            count_surely_connected(stop - first, nodes - f >= 2, tally)
            return
        examined = not same and not links and 0 <= f <= most_faults_examined(n)
        workspace = drawing.drawing_workspace_for(n, f)
        # the hypercube has more links if none fails and the network does not contain it
        most_links = max(own.links, cube.links)
        # point.faults and point.links are rates if ``by_rate``, else numbers
        sampling = rate_sampling_for(nodes, point.faults if by_rate else 1.0)
        link_sampling = rate_sampling_for(most_links, point.links if by_rate and links else 1.0)
        empty = drawing.empty_row_index(n)
        alive = drawing.rows_for(empty + 1)
        alive[8 * empty :] = 0
        works = drawing.rows_for(most_links)
        valid = np.empty(8, np.uint64)
        lanes = np.empty(drawing.GROUP_TRIALS + 8, np.uint64)
        sample = GroupSample(alive, works, valid, lanes, np.empty(24, np.uint64))
        for group in range(first - first % drawing.GROUP_TRIALS, stop, drawing.GROUP_TRIALS):
            if by_rate:
                draw_nodes_by_rate(key, group, n, sampling, alive, workspace)
            else:
                drawing.draw_nodes(key, group, n, f, alive, workspace)
            if links:
                if by_rate:
                    draw_links_by_rate(key, group, n, link_sampling, own.numbers, works, workspace)
                else:
                    drawing.draw_links(key, group, n, faulty_links, own.numbers, works, workspace)
            fill_verdict(alive, works, links, own)
            if examined and is_surely_connected(alive, n, f):
                set_connected_verdict(cube)
            elif not same:
                fill_verdict(alive, works, links, cube)
            for word in range(8):
                valid[word] = valid_lanes(group + 64 * word, 1, 64, first, stop)
            decide_pairs(key, group, n, by_rate, workspace.place, sample, links, own, cube, same)
            _count_verdicts(valid, own, cube, compared, tally)

    return survival


@block
def _min_degree(net):
    """Return the least number of links of a node; entries of no neighbour point beyond the nodes."""
    least = np.int64(64)
    for v in range(net.later.size):
        degree = np.int64(0)
        for i in range(net.begin[v], net.begin[v + 1]):
            degree += np.int64(np.int64(net.near[i]) >> 3 < net.later.size)
        least = min(least, degree)
    return least


SURVIVAL_NODES = survival_kernel(named_step, named_slots, by_rate=False, links=False, variant="nodes")
SURVIVAL_LINKS = survival_kernel(named_step, named_slots, by_rate=False, links=True, variant="links")
SURVIVAL_RATE_NODES = survival_kernel(named_step, named_slots, by_rate=True, links=False, variant="rate_nodes")
SURVIVAL_RATE_LINKS = survival_kernel(named_step, named_slots, by_rate=True, links=True, variant="rate_links")

#: Points (network, n, f, links) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "fewer faults than the least degree disconnect nothing": tuple(
        (network, 6, f, 0) for network in ("hypercube", "crossed", "folded", "exchanged") for f in (2, 3, 5, 6)
    ),
    "up to 2n - 3 faults the hypercube is connected if no node is isolated (n < 9)": (
        ("crossed", 4, 5, 0),
        ("crossed", 4, 6, 0),
        ("crossed", 8, 13, 0),
        ("crossed", 8, 14, 0),
    ),
    "above 256 nodes (``sweeps``), isolated nodes are searched for where lanes are left": (
        ("crossed", 8, 96, 0),
        ("crossed", 9, 192, 0),
    ),
    "from n = 9 on, up to 3n - 6 faults, it is connected if every node has two nonfaulty neighbours": (
        ("crossed", 9, 15, 0),
        ("crossed", 9, 16, 0),
        ("crossed", 9, 21, 0),
        ("crossed", 9, 22, 0),
    ),
    "below n = 3 a node has no neighbour over bit 2": (
        ("crossed", 2, 1, 0),
        ("crossed", 2, 2, 0),
        ("crossed", 3, 2, 0),
        ("crossed", 3, 3, 0),
    ),
}
