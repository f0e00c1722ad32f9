"""Whether networks, and the hypercube under the same faults, stay connected under random faults, for 512 trials at a time.

Entry points: ``SURVIVAL_NODES`` and the other kernels of ``survival`` and ``survival-rate`` at the end of this module.  They
sample trials with the study's key (``drawing.py``), which takes most of the time.

A lane is a trial, and a row holds one bit per lane.  Row v begins at word 8 v of its array.  Lane t is bit t & 63 of word t >> 6.
Row v of ``alive`` has the lanes in which node v is nonfaulty, row v of ``reached`` the lanes in which a search has reached it.
Row i of ``works`` has the lanes in which link i is nonfaulty; it is not read if no links fail.

The *seed* of a lane is its first nonfaulty node with a nonfaulty neighbour.  The search begins with one sweep upwards in the
order of the labels, which can reach nodes only from earlier neighbours, and one sweep downwards, in which only later neighbours
have changed.  The sweeps reach nearly all of the seed's component.  The few nodes not reached in all lanes are then swept until
nothing changes, each without the lanes in which it is isolated.  A lane with a nonfaulty node that was not reached is
disconnected.  The random pair of nonfaulty nodes s, t is sampled only in disconnected lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.link_numbers import contains_hypercube, is_matched, names_link, number_links
from ..cube.tables import make_tabulate, named_slots, named_step
from ..draws import philox
from ..draws.lanes import valid_lanes
from ..draws.nodes import field_width
from ..machine import simd
from ..machine.array_types import I64, Ints, Ints32, Words, Words32
from ..machine.bits import ALL_BITS, ONE, ZERO, lowest
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from . import drawing
from .layout import COMPARED_EVENTS, SURVIVAL
from .scalar import read_point

_COUNTS = SURVIVAL.family("{}", COMPARED_EVENTS)
_CUBE = SURVIVAL.family("cube_{}", COMPARED_EVENTS)
_GAIN = SURVIVAL.family("{}_diff", COMPARED_EVENTS)
_DIFFERS = SURVIVAL.family("{}_differs", COMPARED_EVENTS)
_PAIRS = SURVIVAL.counter("pairs")

_2, _3, _4, _6, _63 = np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(6), np.uint64(63)

#: Rows of ``Sweeps.verdict``: the events of COMPARED_EVENTS in order, and the lanes with at least two nonfaulty nodes.
_VERDICTS = 5
_CONNECTED, _NO_ISOLATED, _EXTRA_1, _PAIR_CONNECTED, _TWO_SURVIVORS = range(_VERDICTS)


#: Up to this number of nodes, isolated nodes are searched without a test whether lanes are left, because usually there are some.
_UNCHECKED_NODES = 256


class Sweeps(NamedTuple):
    """A network prepared for sweeps.

    The first word of a row, 8 v, stands for node v in ``near``, and likewise for a link in ``over``.
    """

    begin: Words  #: index in ``near`` of each node's first neighbour; unsigned, so that Numba omits the test for negative indices
    later: Words  #: index in ``near`` of the node's first neighbour with a larger label
    near: Words32  #: neighbours, the earlier ones first; both groups padded to an even number by an empty row
    over: Words32  #: rows of the links to ``near``; empty if no links fail
    numbers: Ints32  #: (2^n, slots + 1): see ``number_links``; no rows if no links fail
    links: I64  #: number of links, 0 if none fail
    paired: bool  #: whether each link of the hypercube has its name and number in the network too, so that they fail together
    listed: Ints  #: nodes that are not reached in all lanes
    left: (
        Words  #: rows of the lanes left to reach, in the order of ``listed``; without lanes where the node is isolated
    )
    reached: Words  #: rows of the lanes in which a node is in the seed's component
    verdict: Words  #: five vectors
    seen: Words  #: a bitmask of nodes


@scratch
def prepare_table(table, n, links):
    """Return the ``Sweeps`` of the network of a table, whose links fail unless ``links`` is 0.

    Column d of the table has the neighbours in slot d, or the node itself if it has no link there.  In a matched network slot d
    flips bit d (``cube/link_numbers.py``).  ``half`` is 0 for the earlier neighbours of a node and 1 for the later ones.
    """
    nodes, slots = table.shape
    none = drawing.empty_row_index(n)
    begin = np.zeros(nodes + 1, np.uint64)
    later = np.zeros(nodes, np.uint64)
    near = np.full(nodes * (slots + 2), 8 * none, np.uint32)
    over = np.zeros(near.size if links else 0, np.uint32)
    matched = is_matched(table, n)
    numbers, many = np.empty((0, 0), np.int32), np.int64(0)
    if links:
        numbers, many = number_links(table, n)
    at = np.int64(0)
    for v in range(nodes):
        begin[v] = at
        for half in range(2):
            if half:
                at = (at + 1) & ~1
                later[v] = at
            for d in range(slots):
                w = np.int64(table[v, d])
                if w != v and (w > v) == (half == 1):
                    near[at] = 8 * w
                    if links:
                        over[at] = 8 * numbers[v if names_link(v, w, d, matched) else w, d]
                    at += 1
        at = (at + 1) & ~1
    begin[nodes] = at
    empty = drawing.rows_for(none + 1)
    empty[:] = 0
    return Sweeps(
        begin,
        later,
        near[:at],
        over[: at if links else 0],
        numbers,
        many,
        matched or contains_hypercube(table, n),
        np.empty(nodes, np.int64),
        drawing.rows_for(nodes),
        empty,
        np.empty(8 * _VERDICTS, np.uint64),
        np.zeros((nodes + 63) // 64, np.uint64),
    )


def make_preparation(step: Any) -> Any:
    """Return the block ``prepare_sweeps(index, n, slots, links)`` that makes a network's Sweeps from ``step(index, v, d, n)``."""
    tabulate = make_tabulate(step)

    @scratch
    def prepare_sweeps(index, n, slots, links):
        table = np.empty((np.int64(1) << n, slots), np.int32)
        tabulate(index, n, table)
        return prepare_table(table, n, links)

    return prepare_sweeps


@block(always=True)
def _marked_neighbour_lanes(rows, works, links, net, first, stop):
    """Return the lanes in which ``rows`` has one of the neighbours ``first .. stop - 1``, over a nonfaulty link."""
    out = simd.splat(ZERO)
    i = first
    while i < stop:
        if links:
            out = simd.bit_or3(
                out, _working_link_lanes(rows, works, net, i), _working_link_lanes(rows, works, net, i + ONE)
            )
        else:
            out = simd.bit_or3(out, simd.load(rows, net.near[i]), simd.load(rows, net.near[i + ONE]))
        i += _2
    return out


@block(always=True)
def _working_link_lanes(rows, works, net, i):
    """Return the lanes in which ``rows`` has the neighbour ``near[i]`` and the link to it is nonfaulty."""
    return simd.load(rows, net.near[i]) & simd.load(works, net.over[i])


@block(always=True)
def _is_empty(x):
    """Whether a row has no lane."""
    return simd.bits(x != 0) == ZERO


@block
def _find_seeds(alive, works, links, net):
    """Sweep upwards until every lane has a seed and two nonfaulty nodes.

    Returns the first node that is not swept, the lanes with a nonfaulty node, and the lanes with two.
    """
    full = simd.splat(ALL_BITS)
    seeded = one = two = simd.splat(ZERO)
    v = np.int64(0)
    while v < net.later.size and not _is_empty(full & ~(seeded & two)):
        a = simd.load(alive, 8 * v)
        joined = a & _marked_neighbour_lanes(alive, works, links, net, net.begin[v], net.begin[v + 1])
        two = two | (one & a)
        one = one | a
        x = (joined & ~seeded) | _marked_neighbour_lanes(net.reached, works, links, net, net.begin[v], net.later[v])
        seeded = seeded | joined
        simd.store(net.reached, 8 * v, x & a)
        v += 1
    return v, one, two


@block
def _sweep_nodes(alive, works, links, net, begin):
    """Finish the sweep upwards from node ``begin``, sweep downwards, and list the nodes that are not reached in all their lanes.

    Returns the index of the first node of the list, which ends at the end of ``listed``.
    """
    for v in range(begin, net.later.size):
        x = _marked_neighbour_lanes(net.reached, works, links, net, net.begin[v], net.later[v])
        simd.store(net.reached, 8 * v, x & simd.load(alive, 8 * v))
    at = net.listed.size  # filled from the end, so that the list is ascending
    for v in range(net.later.size - 1, -1, -1):
        a = simd.load(alive, 8 * v)
        x = simd.load(net.reached, 8 * v) | _marked_neighbour_lanes(
            net.reached, works, links, net, net.later[v], net.begin[v + 1]
        )
        x = x & a
        simd.store(net.reached, 8 * v, x)
        at -= 1
        net.listed[at] = v
        at += np.int64(_is_empty(x ^ a))
    return at


@block
def _drop_isolated_nodes(alive, works, links, net, begin):
    """Sweep the nodes listed from ``begin`` on upwards, and list the nodes with lanes left to reach, from index 0 on.

    Lanes in which the node is isolated are not left to reach.  Returns the lanes with an isolated node, the lanes in which the
    sweep reached a node, and the number of nodes listed.
    """
    isolated = some = simd.splat(ZERO)
    stop = np.int64(0)
    for k in range(begin, net.listed.size):
        v = net.listed[k]
        a, old = simd.load(alive, 8 * v), simd.load(net.reached, 8 * v)
        left = a & ~old
        new = left & _marked_neighbour_lanes(net.reached, works, links, net, net.begin[v], net.later[v])
        some = some | new
        simd.store(net.reached, 8 * v, old | new)
        left = left ^ new
        if net.later.size <= _UNCHECKED_NODES or not _is_empty(left):
            lonely = left & ~_marked_neighbour_lanes(alive, works, links, net, net.begin[v], net.begin[v + 1])
            isolated = isolated | lonely
            stop = _append_node(v, left ^ lonely, stop, np.int64(1), net)
    return isolated, some, stop


@block
def _sweep_until_stable(alive, works, links, net, begin):
    """Sweep the nodes listed from ``begin`` on until nothing changes.

    Returns the lanes in which a node is isolated, and the lanes in which a node is not reached.  Sweeps alternate in direction,
    and each leaves in the list, from ``first`` to ``stop``, the nodes with lanes left to reach.  A sweep upwards tests earlier
    neighbours only, because later ones have not changed since the sweep downwards before it, and vice versa.
    """
    isolated, some, stop = _drop_isolated_nodes(alive, works, links, net, begin)
    first = np.int64(0)
    step = np.int64(-1)
    while first < stop and not _is_empty(some):
        some = simd.splat(ZERO)
        at = to = first if step > 0 else stop - 1
        for _ in range(stop - first):
            v, left = net.listed[at], simd.load(net.left, 8 * at)
            begin_near, stop_near = (net.begin[v], net.later[v]) if step > 0 else (net.later[v], net.begin[v + 1])
            new = left & _marked_neighbour_lanes(net.reached, works, links, net, begin_near, stop_near)
            some = some | new
            simd.store(net.reached, 8 * v, new | simd.load(net.reached, 8 * v))
            to = _append_node(v, left ^ new, to, step, net)
            at += step
        if step > 0:
            stop = to
        else:
            first = to + 1
        step = -step
    apart = simd.splat(ZERO)
    for k in range(first, stop):
        apart = apart | simd.load(net.left, 8 * k)
    return isolated, apart | isolated


@block(always=True)
def _append_node(v, left, at, step, net):
    """List a node at ``at`` if it has lanes left to reach; return the next index."""
    net.listed[at] = v
    simd.store(net.left, 8 * at, left)
    return at if _is_empty(left) else at + step


@block
def _fill_verdict(alive, works, links, net):
    """Fill ``verdict`` for the faults of a group; ``_PAIR_CONNECTED`` only in lanes with all nonfaulty nodes connected."""
    i, one, two = _find_seeds(alive, works, links, net)
    isolated, apart = _sweep_until_stable(alive, works, links, net, _sweep_nodes(alive, works, links, net, i))
    full = simd.splat(ALL_BITS)
    apart = apart & two
    simd.store(net.verdict, 8 * _CONNECTED, one & ~apart)
    simd.store(net.verdict, 8 * _NO_ISOLATED, full & ~isolated)
    simd.store(net.verdict, 8 * _EXTRA_1, apart & ~isolated)
    simd.store(net.verdict, 8 * _PAIR_CONNECTED, two & ~apart)
    simd.store(net.verdict, 8 * _TWO_SURVIVORS, two)


@block
def evaluate_node_sets(alive, net):
    """Return the lanes in which the nonfaulty nodes are connected, and where they are not although none is isolated."""
    _fill_verdict(alive, alive, False, net)
    return simd.load(net.verdict, 8 * _CONNECTED), simd.load(net.verdict, 8 * _EXTRA_1)


@block
def _most_faults_examined(n):
    """Return the largest number of faulty nodes for which ``_is_surely_connected`` is used; -1 for n < 3."""
    if n < 3:
        return np.int64(-1)
    return 2 * n - 3 if n < 9 else 3 * n - 6


@block
def _is_surely_connected(alive, n, f):
    """Whether a few neighbours of each node show that the hypercube is connected in all lanes; False decides nothing.

    Up to f = 2n - 3, a disconnected hypercube has a node without a nonfaulty neighbour.  Up to f = 3n - 6 it has a node with at
    most one (N11; Harper's order, ``few.py``).
    """
    found = full = simd.splat(ALL_BITS)
    for v in range(np.int64(1) << n):
        a, b, c = simd.load(alive, 8 * (v ^ 1)), simd.load(alive, 8 * (v ^ 2)), simd.load(alive, 8 * (v ^ 4))
        near = simd.bit_or3(a, b, c)
        if f > 2 * n - 3:
            d, e, g = simd.load(alive, 8 * (v ^ 8)), simd.load(alive, 8 * (v ^ 16)), simd.load(alive, 8 * (v ^ 32))
            both = near & simd.bit_or3(d, e, g)
            near = simd.bit_or3(both, simd.majority(a, b, c), simd.majority(d, e, g))
        found = found & near
    return _is_empty(full & ~found)


@block
def _set_connected_verdict(net):
    """Fill ``verdict`` for a group in which every lane is connected."""
    for i in range(_VERDICTS):
        simd.store(net.verdict, 8 * i, simd.splat(ZERO if i == _EXTRA_1 else ALL_BITS))


# ---------------------------------------------------------------- pairs


@block(always=True)
def _is_set(rows, v, lane):
    return (rows[8 * v + (lane >> 6)] >> np.uint64(lane & 63)) & ONE == ONE


@block(always=True)
def _read_bits(rows, x, lane):
    """Return, for eight nodes x and eight lanes, the bits of these lanes in the nodes' rows; any bit for no node (all ones)."""
    inside = x != simd.splat(ALL_BITS)
    at = (x << simd.splat(_3)) + (lane >> simd.splat(_6))
    word = simd.gather(rows, simd.select(inside, at, simd.splat(ZERO)))
    return (word >> (lane & simd.splat(_63))) & 1


@block(always=True)
def _add_candidates(x, new, s, t):
    """Return the pairs s, t with the candidates x of the lanes ``new`` added to pairs that lack a node."""
    none = simd.splat(ALL_BITS)
    new = new & (x != s)
    free = s == none
    t = simd.select(new & ~free & (t == none), x, t)
    return simd.select(new & free, x, s), t


@block
def draw_pairs(key, group, n, by_rate, lane, places, alive):
    """Return the pairs s, t of eight lanes of a group: the first two distinct nonfaulty labels of each.

    ``by_rate``: the labels are all fields of the words for PAIRS.  Otherwise a lane's labels continue its sequence of LABELS from
    the position in ``places`` on.  Each is a field of a word, whose other fields belong to other trials (``draws/nodes.py``).
    Position j is in word j, and step ``half`` samples words 2 half and 2 half + 1.  Fields have 8 or 16 bits, as n <= 16.
    """
    one, none, label_mask = simd.splat(ONE), simd.splat(ALL_BITS), simd.splat((ONE << np.uint64(n)) - ONE)
    place = simd.gather(places, lane)
    half = place >> one  # words are sampled two at a time
    blocks = lane + simd.splat(np.uint64(group))
    width = np.uint64(field_width(n))
    shift = lane - lane
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
                    s, t = _add_candidates(x, (_read_bits(alive, x, lane) == one) & ~early, s, t)
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
    pairs: Words  #: s, t and the lane of eight lanes at hand


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
def _record_pair_verdict(s, t, lane, sample, links, net):
    """Set the verdict _PAIR_CONNECTED of eight disconnected lanes, where t can be reached from s."""
    pairs = sample.pairs
    a, b = _read_bits(net.reached, s, lane), _read_bits(net.reached, t, lane)
    joined, beside = simd.bits((a & b) == 1), simd.bits((a | b) == 0)
    simd.store(pairs, 0, s)
    simd.store(pairs, 8, t)
    simd.store(pairs, 16, lane)
    while beside:
        i = lowest(beside)
        beside &= beside - ONE
        a_node, b_node, at = np.int64(pairs[i]), np.int64(pairs[8 + i]), np.int64(pairs[16 + i])
        if _is_connected_in_lane(a_node, b_node, at, sample, links, net):
            joined |= ONE << np.uint64(i)
    for i in range(8):
        net.verdict[8 * _PAIR_CONNECTED + np.int64(pairs[16 + i] >> _6)] |= (joined >> np.uint64(i) & ONE) << (
            pairs[16 + i] & _63
        )


@block
def _list_disconnected_lanes(sample, own, cube):
    """List the valid lanes with a pair s, t in which one of the networks is disconnected; return their number.

    Lanes are read eight at a time, so the last one is repeated to fill a vector.
    """
    count = np.int64(0)
    for word in range(8):
        two = own.verdict[8 * _TWO_SURVIVORS + word] & sample.valid[word]
        rest = two & ~(own.verdict[8 * _PAIR_CONNECTED + word] & cube.verdict[8 * _PAIR_CONNECTED + word])
        while rest:
            sample.lanes[count] = np.uint64(64 * word + lowest(rest))
            count += 1
            rest &= rest - ONE
    if count > 0:
        for i in range(count, count + 7):
            sample.lanes[i] = sample.lanes[count - 1]
    return count


# ---------------------------------------------------------------- counting


@block(always=True)
def count_bits(x):
    return np.int64(simd.total(simd.popcount(x)))


@block
def _count_verdicts(valid, own, cube, compared, tally):
    """Tally the verdicts of the valid lanes, and with ``compared`` also the hypercube's verdicts."""
    mask = simd.load(valid, 0)
    tally[_PAIRS] += count_bits(mask & simd.load(own.verdict, 8 * _TWO_SURVIVORS))
    for i in range(4):
        x = mask & simd.load(own.verdict, 8 * i)
        a = count_bits(x)
        tally[_COUNTS[i]] += a
        if compared:
            y = mask & simd.load(cube.verdict, 8 * i)
            b = count_bits(y)
            tally[_CUBE[i]] += b
            tally[_GAIN[i]] += a - b
            tally[_DIFFERS[i]] += count_bits(x ^ y)


@block
def count_surely_connected(trials, pairs, tally):
    """Tally trials in which the network cannot be disconnected; ``pairs`` is whether two nodes are nonfaulty."""
    for i in (_CONNECTED, _NO_ISOLATED):
        tally[_COUNTS[i]] += trials
        tally[_CUBE[i]] += trials
    if pairs:
        tally[_COUNTS[_PAIR_CONNECTED]] += trials
        tally[_CUBE[_PAIR_CONNECTED]] += trials
        tally[_PAIRS] += trials


def survival_kernel(step: Any, slots: Any, by_rate: bool, links: bool, variant: str, **cached: Any) -> Kernel:
    """Return the kernel for the trials of networks given by a block ``step(index, v, d, n)``.

    ``params`` is (index of the network, n, f, number of faulty links) or, with ``by_rate``, (index, n, node failure rate, link
    failure rate).

    Parameters
    ----------
    slots : block
        ``slots(index, n)`` is the number of slots d of each node.
    links : bool
        Whether links fail; without it the last parameter is taken to be 0.
    """
    prepare = make_preparation(step)
    prepare_cube = make_preparation(named_step)
    of_links = np.int64(1 if links else 0)
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
        k = np.int64(point.links) if links and not by_rate else np.int64(0)
        own = prepare(index, n, slots(index, n), of_links)
        compared = not links or own.paired or point.links == 0
        same = (named and index == 0) or not compared
        cube = own if same else prepare_cube(np.int64(0), n, n, of_links)
        if named and not links and 0 <= f < min(n, _min_degree(own)):
            count_surely_connected(stop - first, nodes - f >= 2, tally)
            return
        examined = not same and not links and 0 <= f <= _most_faults_examined(n)
        room = drawing.drawing_workspace_for(n, f)
        many = max(own.links, cube.links)  # the hypercube has more if no link fails and the network does not contain it
        law = drawing.rate_sampling_for(nodes, point.faults if by_rate else 1.0)
        link_law = drawing.rate_sampling_for(many, point.links if by_rate and links else 1.0)
        none = drawing.empty_row_index(n)
        alive = drawing.rows_for(none + 1)
        alive[8 * none :] = 0
        works = drawing.rows_for(many)
        valid = np.empty(8, np.uint64)
        lanes = np.empty(drawing.GROUP_TRIALS + 8, np.uint64)
        sample = GroupSample(alive, works, valid, lanes, np.empty(24, np.uint64))
        for group in range(first - first % drawing.GROUP_TRIALS, stop, drawing.GROUP_TRIALS):
            if by_rate:
                drawing.draw_nodes_by_rate(key, group, n, law, alive, room)
            else:
                drawing.draw_nodes(key, group, n, f, alive, room)
            if links:
                if by_rate:
                    drawing.draw_links_by_rate(key, group, n, link_law, own.numbers, works, room)
                else:
                    drawing.draw_links(key, group, n, k, own.numbers, works, room)
            _fill_verdict(alive, works, links, own)
            if examined and _is_surely_connected(alive, n, f):
                _set_connected_verdict(cube)
            elif not same:
                _fill_verdict(alive, works, links, cube)
            for word in range(8):
                valid[word] = valid_lanes(group + 64 * word, 1, 64, first, stop)
            for i in range(0, _list_disconnected_lanes(sample, own, cube), 8):
                lane = simd.load(sample.lanes, i)
                s, t = draw_pairs(key, group, n, by_rate, lane, room.place, alive)
                _record_pair_verdict(s, t, lane, sample, links, own)
                if not same:
                    _record_pair_verdict(s, t, lane, sample, links, cube)
            _count_verdicts(valid, own, cube, compared, tally)

    return survival


@block
def _min_degree(net):
    least = np.int64(64)
    for v in range(net.later.size):
        degree = np.int64(0)
        for i in range(net.begin[v], net.begin[v + 1]):
            degree += np.int64(np.int64(net.near[i]) >> 3 < net.later.size)
        least = min(least, degree)
    return least


SURVIVAL_NODES = survival_kernel(named_step, named_slots, False, False, "nodes")
SURVIVAL_LINKS = survival_kernel(named_step, named_slots, False, True, "links")
SURVIVAL_RATE_NODES = survival_kernel(named_step, named_slots, True, False, "rate_nodes")
SURVIVAL_RATE_LINKS = survival_kernel(named_step, named_slots, True, True, "rate_links")

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
    "above _UNCHECKED_NODES nodes, isolated nodes are searched for where lanes are left": (
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
