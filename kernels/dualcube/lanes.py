"""PRACTICAL routing, lengths only, hundreds of trials at a time: the fast form of :mod:`dualcube` in lanes.

Most routes succeed at their first attempt: leave the cluster, cross, walk to v', cross, walk to t.  For eight trials
at once the two walks are set up and the three nodes between them tested; where s itself is not the exit, the
first attempt's exit is found by scalar code.  All walks then go together: each pass asks every walk's next wanted
neighbour, and compacts those that are still under way, so no walk waits for its own hash.  Walks that find all
wanted neighbours faulty are taken over the one new node of T_1, eight at a time, and go on with the others; where
that fails too, scalar code finishes the walk from where it stands.  A trial whose first attempt fails, or whose path
might have loops, is routed from the start by :func:`dualcube.route`.
"""

from __future__ import annotations

import numpy as np

from .. import simd
from ..bits import ZERO, lowest, popcount
from ..jit import block, scratch
from ..sampling import status_lanes
from .practical import CLUSTER, EXITS, next_way, position_dims, route, walk
from .trees import BEFORE, ROOT, SINGLE, node_offset, plant

_ONE = np.uint64(1)
_TWO = np.uint64(2)
# Rows of walks: under way from _WAY on, stuck from _STUCK on.
_WAY, _STUCK = np.int64(0), np.int64(5)

#: ``links`` of a trial that is to be routed from the start.
_AGAIN = np.uint64(0xFFFFFFFFFFFFFFFF)


@scratch
def walk_arrays(batch):
    """Scratch for the walks of a batch of trials, uint64, rows: (key, node, rest, candidates, walk) of those under way;
    (key, node, rest, walk) of those stuck; each trial's first rests of walk 1 and of walk 2; its links; the dimensions
    free to those stuck."""
    return np.zeros((13, 2 * batch + 16), np.uint64)


@block(always=True)
def first_lanes(n):
    """The first ``n`` lanes of eight, as bits."""
    return np.uint64(0xFF) if n >= 8 else (_ONE << np.uint64(n)) - _ONE


@block(always=True)
def _queue(count, key, node, rest, index, which, w):
    """Queue a walk of at least two links (the last hop asks nothing); returns the number queued."""
    if rest & (rest - _ONE):
        w[0, count] = key
        w[1, count] = node
        w[2, count] = rest
        w[3, count] = rest
        w[4, count] = index + index + which
        return count + 1
    return count


@block(always=True)
def _put(row, at, chosen, key, node, rest, w):
    """Write the lanes ``chosen`` to three rows from ``row`` on."""
    mask = simd.mask(rest, chosen)
    simd.store(w[row], at, simd.compress(mask, key))
    simd.store(w[row + 1], at, simd.compress(mask, node))
    simd.store(w[row + 2], at, simd.compress(mask, rest))


@block(always=True)
def _put_way(at, chosen, key, node, rest, candidates, walks, w):
    """Write the lanes ``chosen`` to the rows of walks under way; returns how many they are."""
    mask = simd.mask(rest, chosen)
    _put(_WAY, at, chosen, key, node, rest, w)
    simd.store(w[3], at, simd.compress(mask, candidates))
    simd.store(w[4], at, simd.compress(mask, walks))
    return popcount(chosen)


@block(always=True)
def _put_stuck(at, chosen, key, node, rest, walks, w):
    """Write the lanes ``chosen`` to the rows of stuck walks; returns how many they are."""
    _put(_STUCK, at, chosen, key, node, rest, w)
    simd.store(w[8], at, simd.compress(simd.mask(rest, chosen), walks))
    return popcount(chosen)


@block(always=True)
def _queue_lanes(count, wanted, key, node, rest, walks, w):
    """Queue the walks of the lanes ``wanted`` that have at least two links."""
    zero = simd.splat(ZERO)
    long = simd.differ(simd.both(rest, simd.sub(rest, simd.splat(_ONE))), zero)
    return count + _put_way(count, simd.bits(long) & wanted, key, node, rest, rest, walks, w)


@block(always=True)
def _attempt(count, i, key, s, t, m, limit, w, trees):
    """Set up the first attempt of trial ``i`` in scalar code; returns the number of walks queued."""
    world = (key, limit)
    cross = _ONE << (m + m)
    dims = position_dims(t, m)
    other = (cross - _ONE) ^ dims
    index = np.uint64(i)
    a = s
    links = 0
    out = ROOT
    if (s ^ t) & cross:
        plant(EXITS, other, trees)
        out, _ = next_way(EXITS, BEFORE, SINGLE, world, s, other, ZERO, cross, trees)
        if out < 0:
            w[11, i] = _AGAIN
            return count
        a = s ^ node_offset(EXITS, out, trees) ^ cross
        links = popcount(np.uint64(out)) + 1
        if (a ^ t) & other == ZERO:
            w[9, i] = ZERO
            w[10, i] = a ^ t
            w[11, i] = np.uint64(links + popcount(a ^ t))
            return _queue(count, key, a, a ^ t, index, _ONE, w)
    apart = (a ^ t) & other
    plant(CLUSTER, dims, trees)
    j, _ = next_way(CLUSTER, BEFORE, SINGLE, world, a, dims, apart, cross, trees)
    if j < 0 or (j == 0 and out > 0):  # straight back through a' : a after a tree path: it may meet that path again
        w[11, i] = _AGAIN
        return count
    if (s ^ t) & cross and j == 0:
        links -= 2  # s : s' : s is erased
    u = a ^ node_offset(CLUSTER, j, trees)
    rest = u ^ apart ^ t
    w[9, i] = apart
    w[10, i] = rest
    w[11, i] = np.uint64(links + popcount(np.uint64(j)) + 2 + popcount(apart) + popcount(rest))
    count = _queue(count, key, u ^ cross, apart, index, ZERO, w)
    return _queue(count, key, u ^ apart, rest, index, _ONE, w)


@block(always=True)
def _first_attempts(n, m, limit, keys, sources, targets, w, trees):
    """Set up every trial's first attempt; returns the number of walks queued."""
    cross = _ONE << (m + m)
    low = simd.splat((_ONE << m) - _ONE)
    high = simd.shift_left(low, simd.splat(m))
    x = simd.splat(cross)
    zero = simd.splat(ZERO)
    one = simd.splat(_ONE)
    least = simd.splat(limit)
    count = np.int64(0)
    for v in range(0, n, 8):
        active = first_lanes(n - v)
        key, s, t = simd.load(keys, v), simd.load(sources, v), simd.load(targets, v)
        same = simd.equal(simd.both(simd.xor(s, t), x), zero)
        # from here on in the class of t: leave the cluster of ``a`` at ``a`` itself
        a = simd.select(same, s, simd.xor(s, x))
        names = simd.select(simd.equal(simd.both(t, x), zero), high, low)
        apart = simd.both(simd.xor(a, t), names)
        entry = simd.xor(a, apart)
        good = simd.less_equal(least, status_lanes(key, simd.xor(s, x)))
        good = simd.mask_and(good, simd.less_equal(least, status_lanes(key, entry)))
        good = simd.mask_and(good, simd.less_equal(least, status_lanes(key, simd.xor(entry, x))))
        inside = simd.mask_and(same, simd.equal(apart, zero))
        chosen = simd.bits(simd.mask_or(good, inside)) & active
        rest = simd.xor(entry, t)
        links = simd.add(simd.popcount(apart), simd.popcount(rest))
        # two cross edges, one when s' is in the class of t (s : s' : s is erased), none inside a cluster
        links = simd.add(links, simd.select(same, simd.select(inside, zero, simd.add(one, one)), one))
        simd.store(w[9], v, apart)
        simd.store(w[10], v, rest)
        simd.store(w[11], v, links)
        walks = simd.add(simd.splat(np.uint64(2 * v)), simd.shift_left(simd.iota(zero), one))
        count = _queue_lanes(count, chosen, key, simd.xor(a, x), apart, walks, w)
        count = _queue_lanes(count, chosen, key, entry, rest, simd.add(walks, one), w)
        left = active & ~chosen
        while left:
            i = v + lowest(left)
            left &= left - _ONE
            count = _attempt(count, i, keys[i], sources[i], targets[i], m, limit, w, trees)
    return count


@block(always=True)
def _walk_all(count, stuck, limit, w):
    """Take all queued walks to their end or until stuck; returns the number of stuck ones, ``stuck`` of them from before."""
    zero = simd.splat(ZERO)
    one = simd.splat(_ONE)
    least = simd.splat(limit)
    while count > 0:
        kept = 0
        for v in range(0, count, 8):
            active = first_lanes(count - v)
            key, node, rest = simd.load(w[0], v), simd.load(w[1], v), simd.load(w[2], v)
            candidates, walks = simd.load(w[3], v), simd.load(w[4], v)
            d = simd.top(candidates)
            there = simd.xor(node, d)
            good = simd.less_equal(least, status_lanes(key, there))
            node = simd.select(good, there, node)
            rest = simd.select(good, simd.xor(rest, d), rest)
            candidates = simd.select(good, rest, simd.xor(candidates, d))
            going = simd.bits(simd.differ(simd.both(rest, simd.sub(rest, one)), zero)) & active
            blocked = simd.bits(simd.equal(candidates, zero)) & going
            if blocked:
                stuck += _put_stuck(stuck, blocked, key, node, rest, walks, w)
                going &= ~blocked
            kept += _put_way(kept, going, key, node, rest, candidates, walks, w)
        count = kept
    return stuck


@block(always=True)
def _first_good(key, node, dims, pending, limit):
    """The first of each lane's ``dims`` across which ``node`` has a nonfaulty neighbour, and the lanes that have one.

    Only the lanes ``pending`` are asked.  No pass waits for the last: what it asks does not depend on it.
    """
    zero = simd.splat(ZERO)
    least = simd.splat(limit)
    found = zero
    has = ZERO
    pending &= simd.bits(simd.differ(dims, zero))
    while pending:
        d = simd.top(dims)
        good = simd.bits(simd.less_equal(least, status_lanes(key, simd.xor(node, d)))) & pending
        found = simd.select(simd.mask(d, good), d, found)
        has |= good
        dims = simd.xor(dims, d)
        pending &= ~good & simd.bits(simd.differ(dims, zero))
    return found, has


@block(always=True)
def _first_rest(walk):
    """Row and column of a walk's first rest."""
    return np.int64(9) + np.int64(walk & _ONE), np.int64(walk >> _ONE)


@block(always=True)
def _find_free(first, stuck, m, w):
    """Tell each stuck walk from ``first`` on the dimensions it has not crossed: those in neither its first rest nor
    its rest, or in both."""
    for j in range(first, stuck):
        w[12, j] = position_dims(w[6, j], m) & ~(w[_first_rest(w[8, j])] ^ w[7, j])


@block(always=True)
def _detour_all(first, stuck, limit, w):
    """Take the stuck walks from ``first`` on over their T_1, where its one new node has a nonfaulty wanted neighbour.

    Returns how many are under way again, and how many are stuck.
    """
    count = np.int64(0)
    kept = first
    for v in range(first, stuck, 8):
        key, node, rest = simd.load(w[5], v), simd.load(w[6], v), simd.load(w[7], v)
        walks, free = simd.load(w[8], v), simd.load(w[12], v)
        active = first_lanes(stuck - v)
        child, has = _first_good(key, node, simd.without(free, rest), active, limit)
        there = simd.xor(node, child)
        d, has = _first_good(key, there, rest, has, limit)
        simd.store(w[12], stuck, child)
        for lane in range(8):
            if has >> np.uint64(lane) & _ONE:
                at = _first_rest(w[8, v + lane])
                w[at] ^= w[12, stuck + lane]
                w[11, at[1]] += _TWO
        lost = active & ~has
        simd.store(w[12], kept, simd.compress(simd.mask(free, lost), free))
        kept += _put_stuck(kept, lost, key, node, rest, walks, w)
        rest = simd.xor(simd.either(rest, child), d)
        count += _put_way(count, has, key, simd.xor(there, d), rest, rest, walks, w)
    return count, kept


@block(always=True)
def pays(m, rate):
    """Whether lanes are faster than one route at a time: unless most first attempts fail or need trees.

    Measured: the two break even near rate 0.38 at m = 5, 0.43 at 7, 0.47 at 9 and beyond 0.5 from 11 on.
    """
    return rate < 0.29 + 0.02 * m


@block(always=True)
def route_lengths(in_lanes, n, m, limit, keys, sources, targets, lengths, w, path, trees):
    """Links on each of ``n`` trials' paths, or EXHAUSTED or LIMIT, into ``lengths`` (int64); ``w`` from ``walk_arrays``.

    ``in_lanes`` (see :func:`pays`) decides how, not what.
    """
    stuck = np.int64(0)
    if in_lanes:
        count = _first_attempts(n, m, limit, keys, sources, targets, w, trees)
        while count > 0:
            first = stuck
            stuck = _walk_all(count, stuck, limit, w)
            _find_free(first, stuck, m, w)
            count, stuck = _detour_all(first, stuck, limit, w)
    else:
        w[11, :n] = _AGAIN
    for j in range(stuck):
        i = np.int64(w[8, j] >> _ONE)
        if w[11, i] != _AGAIN:
            node, rest = w[6, j], w[7, j]
            at = walk((w[5, j], limit), node, node ^ rest, w[12, j], path, ROOT, trees)
            w[11, i] = w[11, i] + np.uint64(at - popcount(rest)) if at >= 0 else _AGAIN
    for i in range(n):
        if w[11, i] == _AGAIN:
            nodes = route((keys[i], limit), sources[i], targets[i], m, path, trees)
            lengths[i] = nodes - 1 if nodes > 0 else nodes
        else:
            lengths[i] = np.int64(w[11, i])
