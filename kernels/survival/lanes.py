"""What survives, 512 trials at a time: a bit a trial, a vector a node.

Entry: ``SURVIVAL_NODES`` and its like, the whole study's trials.  Draws trials by the study's key alone (``drawing.py``), which
takes most of the time, and floods the network and the hypercube on the same faults.

Nodes stand in the order of their distance from node 0.  A lane's *seed* is its first survivor with a surviving neighbour.  One
sweep upwards, in which only earlier neighbours can hold anything yet, and one downwards, in which only later ones have
changed, reach nearly all of the seed's part; the few nodes with lanes not reached are then swept until nothing changes.
Lanes in which such a node is isolated leave at once.  What is not reached then is apart.  s and t are drawn only in lanes
that are apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.tables import named_slots, named_step, tabulating
from ..draws import philox
from ..draws.nodes import node_label
from ..machine import simd
from ..machine.bits import ALL, ONE, ZERO, first_lanes, lowest
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from . import drawing
from .layout import COMPARED, SURVIVAL

_COUNTS = np.array([SURVIVAL.counter(name) for name in COMPARED])
_CUBE = np.array([SURVIVAL.counter(f"cube_{name}") for name in COMPARED])
_GAIN = np.array([SURVIVAL.counter(f"{name}_gain") for name in COMPARED])
_DIFFERS = np.array([SURVIVAL.counter(f"{name}_differs") for name in COMPARED])
_PAIRS = SURVIVAL.counter("pairs")

#: Rows of a flood's ``verdict``, in the order of COMPARED, and the lanes with at least two nonfaulty nodes.
_CONNECTED, _NO_ISOLATED, _HIDDEN, _JOINED, _TWO = range(5)


class Sweeps(NamedTuple):
    """A network prepared for sweeps; every node and link as the place of its row."""

    order: Any  #: int64: nodes by distance from node 0
    begin: Any  #: int64: where each one's neighbours begin, in ``near``
    later: Any  #: int64: where those begin that stand later than it
    near: Any  #: int64: neighbours, the earlier ones first
    over: Any  #: int64: the rows of the links to them; empty where no links fail
    listed: Any  #: int64: nodes with lanes not reached
    reached: Any  #: uint64: rows of the lanes in which a node is in the seed's part
    verdict: Any  #: uint64: five vectors
    seen: Any  #: uint64: a bitmask of nodes


def preparing(step: Any) -> Any:
    """The scratch ``prepare(index, n, slots, links)`` that makes a network's Sweeps from a block ``step(index, v, d, n)``."""
    tabulate = tabulating(step)

    @scratch
    def prepare(index, n, slots, links):
        nodes = np.int64(1) << n
        table = np.empty((nodes, slots), np.int32)
        tabulate(index, n, table)
        order = np.zeros(nodes, np.int64)
        rank = np.full(nodes, -1)
        rank[0] = 0
        count = np.int64(1)
        for i in range(nodes):
            if i == count:  # a network that is not connected, which its family was not checked for
                break
            for d in range(slots):
                w = table[order[i], d]
                if rank[w] < 0:
                    rank[w] = count
                    order[count] = w
                    count += 1
        begin = np.zeros(nodes + 1, np.int64)
        later = np.zeros(nodes, np.int64)
        near = np.empty(nodes * slots, np.int64)
        over = np.empty(nodes * slots if links else 0, np.int64)
        at = np.int64(0)
        for i in range(nodes):
            v = order[i]
            begin[i] = at
            for half in range(2):
                if half:
                    later[i] = at
                for d in range(slots):
                    w = np.int64(table[v, d])
                    if w != v and (rank[w] > i) == (half == 1):
                        near[at] = 8 * w
                        if links:
                            low = v if (v >> d) & 1 == 0 else w
                            below = (np.int64(1) << d) - 1
                            over[at] = 8 * (d << (n - 1) | (low & below) | (low & ~below) >> 1)
                        at += 1
        begin[nodes] = at
        empty = drawing.rows_for(nodes)
        return Sweeps(
            order,
            begin,
            later,
            near[:at],
            over[: at if links else 0],
            np.empty(nodes, np.int64),
            empty,
            np.empty(40, np.uint64),
            np.zeros((nodes + 63) // 64, np.uint64),
        )

    return prepare


@block(always=True)
def _any_of(rows, works, links, net, first, stop):
    """Lanes in which one of the neighbours ``first .. stop - 1`` is set in ``rows`` and the link to it works."""
    out = simd.splat(ZERO)
    near = net.near[first:stop]  # a slice: Numba would ask of every index whether it is negative
    if links:
        over = net.over[first:stop]
        for i in range(near.size):
            out = simd.either(out, simd.both(simd.load(rows, near[i]), simd.load(works, over[i])))
        return out
    other = out
    for i in range(near.size >> 1):
        out = simd.either(out, simd.load(rows, near[2 * i]))
        other = simd.either(other, simd.load(rows, near[2 * i + 1]))
    if near.size & 1:
        out = simd.either(out, simd.load(rows, near[near.size - 1]))
    return simd.either(out, other)


@block(always=True)
def _nothing(x):
    return simd.bits(simd.differ(x, simd.splat(ZERO))) == ZERO


@block
def _seed(alive, works, links, net):
    """The upward sweep as far as lanes want a seed or a second survivor: returns how far, and where one and two survive."""
    nodes = net.order.size
    full = simd.splat(ALL)
    taken = one = two = simd.splat(ZERO)
    i = np.int64(0)
    while i < nodes and not _nothing(simd.without(full, simd.both(taken, two))):
        v = 8 * net.order[i]
        a = simd.load(alive, v)
        found = simd.both(a, _any_of(alive, works, links, net, net.begin[i], net.begin[i + 1]))
        two = simd.either(two, simd.both(one, a))
        one = simd.either(one, a)
        x = simd.either(simd.without(found, taken), _any_of(net.reached, works, links, net, net.begin[i], net.later[i]))
        taken = simd.either(taken, found)
        simd.store(net.reached, v, simd.both(x, a))
        i += 1
    return i, one, two


@block
def _sweep(alive, works, links, net, i):
    """The rest of the upward sweep from node ``i`` of the order, and the downward one; lists the nodes not wholly reached."""
    nodes = net.order.size
    while i < nodes:
        v = 8 * net.order[i]
        x = _any_of(net.reached, works, links, net, net.begin[i], net.later[i])
        simd.store(net.reached, v, simd.both(x, simd.load(alive, v)))
        i += 1
    count = np.int64(0)
    for j in range(nodes - 1, -1, -1):
        v = 8 * net.order[j]
        a = simd.load(alive, v)
        x = simd.either(
            simd.load(net.reached, v), _any_of(net.reached, works, links, net, net.later[j], net.begin[j + 1])
        )
        x = simd.both(x, a)
        simd.store(net.reached, v, x)
        net.listed[count] = j
        count += np.int64(not _nothing(simd.xor(x, a)))
    return count


@block
def _settle(alive, works, links, net, count):
    """Sweep the listed nodes until nothing changes: lanes in which one is isolated, and those in which one is apart."""
    isolated = apart = simd.splat(ZERO)
    changed, alone = True, False
    up = True
    while count and changed:
        changed = False
        kept = np.int64(0)
        for k in range(count):
            j = net.listed[k]
            v = 8 * net.order[j]
            a, old = simd.load(alive, v), simd.load(net.reached, v)
            x = simd.either(old, simd.both(a, _any_of(net.reached, works, links, net, net.begin[j], net.begin[j + 1])))
            left = simd.without(a, x)
            changed |= not _nothing(simd.xor(x, old))
            simd.store(net.reached, v, x)
            if _nothing(left):
                continue
            if not alone:
                lonely = simd.without(left, _any_of(alive, works, links, net, net.begin[j], net.begin[j + 1]))
                isolated = simd.either(isolated, lonely)
                if _nothing(simd.without(left, lonely)):
                    continue
            net.listed[kept] = j
            kept += 1
        alone = True
        count = kept
        up = not up
        for k in range(count >> 1):  # the other way next time
            net.listed[k], net.listed[count - 1 - k] = net.listed[count - 1 - k], net.listed[k]
    for k in range(count):
        v = 8 * net.order[net.listed[k]]
        apart = simd.either(apart, simd.without(simd.load(alive, v), simd.load(net.reached, v)))
    return isolated, simd.either(apart, isolated)


@block
def _flood(alive, works, links, net):
    """Fill the ``verdict``; JOINED only where all survivors are in one part."""
    i, one, two = _seed(alive, works, links, net)
    isolated, apart = _settle(alive, works, links, net, _sweep(alive, works, links, net, i))
    full = simd.splat(ALL)
    apart = simd.both(apart, two)
    simd.store(net.verdict, 8 * _CONNECTED, simd.without(one, apart))
    simd.store(net.verdict, 8 * _NO_ISOLATED, simd.without(full, isolated))
    simd.store(net.verdict, 8 * _HIDDEN, simd.without(apart, isolated))
    simd.store(net.verdict, 8 * _JOINED, simd.without(two, apart))
    simd.store(net.verdict, 8 * _TWO, two)


# ---------------------------------------------------------------- pairs


@block(always=True)
def _is_set(rows, v, lane):
    return (rows[8 * v + (lane >> 6)] >> np.uint64(lane & 63)) & ONE == ONE


@block
def draw_pair(key, t, n, lane, place, alive):
    """The first two different nonfaulty labels, from ``place`` of the trial's sequence on or, -1, of its words for PAIRS."""
    s = np.int64(-1)
    k = max(place, np.int64(0))
    while True:
        if place < 0:
            x = np.int64(philox.word(key, np.uint64(t), np.uint64(k), philox.PAIRS) & ((ONE << np.uint64(n)) - ONE))
        else:
            x = np.int64(node_label(key, t, k, n))
        k += 1
        if x != s and _is_set(alive, x, lane):
            if s >= 0:
                return s, x
            s = x


@block
def _leads(s, t, lane, alive, works, links, net, rank):
    """Whether s and t are in one part in a lane, where neither is in the seed's."""
    net.listed[0] = s
    count = np.int64(1)
    net.seen[s >> 6] |= ONE << np.uint64(s & 63)
    at = np.int64(0)
    found = False
    while at < count and not found:
        j = rank[net.listed[at]]
        at += 1
        for i in range(net.begin[j], net.begin[j + 1]):
            w = net.near[i] >> 3
            if not _is_set(alive, w, lane) or (links and not _is_set(works, net.over[i] >> 3, lane)):
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
def _join(s, t, lane, alive, works, links, net, rank):
    """Enter into the verdict that t can be reached from s, in a lane that is apart."""
    a, b = _is_set(net.reached, s, lane), _is_set(net.reached, t, lane)
    if a == b and (a or _leads(s, t, lane, alive, works, links, net, rank)):
        net.verdict[8 * _JOINED + (lane >> 6)] |= ONE << np.uint64(lane & 63)


class Pairs(NamedTuple):
    """Room to draw s and t in."""

    lanes: Any  #: uint64: lanes that want a pair
    words: Any  #: uint64: candidates of eight of them, a word of the sequence a row


@scratch
def _pairs():
    return Pairs(np.zeros(drawing.GROUP + 8, np.uint64), np.zeros(8 * _CANDIDATES + 8, np.uint64))


#: Candidates that are drawn together; where they do not hold two nonfaulty nodes the lane is drawn by itself.
_CANDIDATES = 8


@block
def _draw_words(key, group, n, by_rate, i, places, pairs):
    """The first candidates of eight lanes, from the even place at or before each one's own."""
    t = simd.add(simd.load(pairs.lanes, i), simd.splat(np.uint64(group)))
    one = simd.splat(ONE)
    if by_rate:
        blocks, shifts, half = t, simd.sub(t, t), simd.sub(t, t)
    else:
        per = np.uint64(3 if n <= 8 else 2)
        blocks = simd.shift_right(t, simd.splat(per))
        field = simd.both(t, simd.splat((ONE << per) - ONE))
        shifts = simd.shift_left(field, simd.splat(np.uint64(6) - per))
        for lane in range(8):
            pairs.words[lane] = np.uint64(places[np.int64(pairs.lanes[i + lane])])
        half = simd.shift_right(simd.load(pairs.words, 0), one)
    for k in range(0, _CANDIDATES, 2):
        even, odd = philox.mixed_lanes(key, blocks, half, philox.PAIRS if by_rate else philox.LABELS)
        simd.store(pairs.words, 8 * k, simd.shift_right(even, shifts))
        simd.store(pairs.words, 8 * k + 8, simd.shift_right(odd, shifts))
        half = simd.add(half, one)


@block
def _pair_of(key, group, n, by_rate, lane, column, places, alive, pairs):
    """s and t of a lane."""
    place = np.int64(-1) if by_rate else np.int64(places[lane])
    s = np.int64(-1)
    for k in range(np.int64(0) if by_rate else place & 1, _CANDIDATES):
        x = np.int64(pairs.words[8 * k + column] & ((ONE << np.uint64(n)) - ONE))
        if x != s and _is_set(alive, x, lane):
            if s >= 0:
                return s, x
            s = x
    return draw_pair(key, group + lane, n, lane, place, alive)


@block
def _join_pairs(key, group, n, by_rate, valid, alive, works, links, places, same, own, rank, cube, cube_rank, pairs):
    """Draw s and t in the lanes that are apart in one of the networks, and look for a path in those."""
    count = np.int64(0)
    for word in range(8):
        two = own.verdict[8 * _TWO + word] & valid[word]
        rest = two & ~(own.verdict[8 * _JOINED + word] & cube.verdict[8 * _JOINED + word])
        while rest:
            pairs.lanes[count] = np.uint64(64 * word + lowest(rest))
            count += 1
            rest &= rest - ONE
    for i in range(0, count, 8):
        _draw_words(key, group, n, by_rate, i, places, pairs)
        for column in range(min(8, count - i)):
            lane = np.int64(pairs.lanes[i + column])
            s, t = _pair_of(key, group, n, by_rate, lane, column, places, alive, pairs)
            if not _is_set(own.verdict, _JOINED, lane):
                _join(s, t, lane, alive, works, links, own, rank)
            if not same and not _is_set(cube.verdict, _JOINED, lane):
                _join(s, t, lane, alive, works, links, cube, cube_rank)


# ---------------------------------------------------------------- counting


@block(always=True)
def _population(x):
    return np.int64(simd.total(simd.popcount(x)))


@block
def _count(valid, own, cube, tally):
    """Enter the verdicts of the valid lanes into the tally."""
    mask = simd.load(valid, 0)
    tally[_PAIRS] += _population(simd.both(mask, simd.load(own.verdict, 8 * _TWO)))
    for i in range(4):
        x = simd.both(mask, simd.load(own.verdict, 8 * i))
        y = simd.both(mask, simd.load(cube.verdict, 8 * i))
        a, b = _population(x), _population(y)
        tally[_COUNTS[i]] += a
        tally[_CUBE[i]] += b
        tally[_GAIN[i]] += a - b
        tally[_DIFFERS[i]] += _population(simd.xor(x, y))


@block(always=True)
def _valid(group, first, stop, valid):
    """Which trials of a group are in [first, stop)."""
    for word in range(8):
        begin = group + 64 * word
        valid[word] = first_lanes(stop - begin, 64) & ~first_lanes(first - begin, 64)


@scratch
def _ranks(net):
    rank = np.empty(net.order.size, np.int64)
    for i in range(rank.size):
        rank[net.order[i]] = i
    return rank


@block
def count_sure(trials, pairs, tally):
    """Enter trials in which nothing can be apart."""
    for i in (_CONNECTED, _NO_ISOLATED):
        tally[_COUNTS[i]] += trials
        tally[_CUBE[i]] += trials
    if pairs:
        tally[_COUNTS[_JOINED]] += trials
        tally[_CUBE[_JOINED]] += trials
        tally[_PAIRS] += trials


def survival_kernel(step: Any, slots: Any, by_rate: bool, links: bool, variant: str, **cached: Any) -> Kernel:
    """The kernel of the trials of networks given by a block ``step(index, v, d, n)``.

    ``params`` is (index of the network, n, f, K) or, ``by_rate``, (index, n, node failure rate, link failure rate).

    Parameters
    ----------
    slots : block
        ``slots(index, n)``.
    links : bool
        Whether links fail; without it the last parameter is taken to be 0.
    """
    prepare = preparing(step)
    prepare_cube = preparing(named_step)
    of_links = np.int64(1 if links else 0)
    named = step is named_step

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def survival(key, first, stop, params, tally):
        index, n = np.int64(params[0]), np.int64(params[1])
        nodes, many = np.int64(1) << n, n << (n - 1)
        f = np.int64(-1) if by_rate else np.int64(params[2])
        k = np.int64(params[3]) if links and not by_rate else np.int64(0)
        own = prepare(index, n, slots(index, n), of_links)
        same = named and index == 0
        cube = own if same else prepare_cube(np.int64(0), n, n, of_links)
        if named and not links and 0 <= f < min(n, _least(own)):
            count_sure(stop - first, nodes - f >= 2, tally)
            return
        room = drawing.room_for(n, f, many if links and by_rate else k)
        law = drawing.law_for(nodes, params[2] if by_rate else 1.0)
        link_law = drawing.law_for(many, params[3] if by_rate and links else 1.0)
        alive = drawing.rows_for(max(nodes, 64))
        works = drawing.rows_for(((many + 63) >> 6) << 6 if links else 0)
        valid = np.empty(8, np.uint64)
        rank, cube_rank = _ranks(own), _ranks(cube)
        pairs = _pairs()
        for group in range(first - first % drawing.GROUP, stop, drawing.GROUP):
            if by_rate:
                drawing.draw_nodes_by_rate(key, group, n, law, alive, room)
                drawing.invert_rows(alive, nodes)
            else:
                drawing.draw_nodes(key, group, n, f, alive, room)
            if links:
                if by_rate:
                    drawing.draw_links_by_rate(key, group, n, link_law, works, room)
                else:
                    drawing.draw_links(key, group, n, k, works, room)
                drawing.invert_rows(works, many)
            _flood(alive, works, links, own)
            if not same:
                _flood(alive, works, links, cube)
            _valid(group, first, stop, valid)
            _join_pairs(
                key, group, n, by_rate, valid, alive, works, links, room.place, same, own, rank, cube, cube_rank, pairs
            )
            _count(valid, own, cube, tally)

    return survival


@block
def _least(net):
    """Least number of neighbours of a node."""
    least = np.int64(64)
    for i in range(net.order.size):
        least = min(least, net.begin[i + 1] - net.begin[i])
    return least


SURVIVAL_NODES = survival_kernel(named_step, named_slots, False, False, "nodes")
SURVIVAL_LINKS = survival_kernel(named_step, named_slots, False, True, "links")
SURVIVAL_RATE_NODES = survival_kernel(named_step, named_slots, True, False, "rate_nodes")
SURVIVAL_RATE_LINKS = survival_kernel(named_step, named_slots, True, True, "rate_links")
