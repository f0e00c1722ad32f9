"""PRACTICAL routing, lengths only, hundreds of trials at a time: the fast form of :mod:`dualcube` in lanes.

Most routes succeed at their first attempt: leave the cluster, cross, walk to v', cross, walk to t.  For eight trials
at once the two walks are set up and the three nodes between them tested; where s itself is not the exit, the
first attempt's exit is found by scalar code.  All walks then go together: each pass asks every walk's next wanted
neighbour, and compacts those that are still under way, so no walk waits for its own hash.  A walk that finds all
wanted neighbours faulty is finished by scalar code, from where it stands; a trial whose first attempt fails, or
whose path might have loops, is routed from the start by :func:`dualcube.route`.
"""

from __future__ import annotations

import numpy as np

from . import simd
from .bits import ZERO, lowest, popcount
from .dualcube import CLUSTER, EXITS, next_way, position_dims, route, walk
from .dualcube_trees import BEFORE, ROOT, SINGLE, node_offset, plant
from .jit import fused, inline
from .sampling import status_lanes

_ONE = np.uint64(1)

#: ``links`` of a trial that is to be routed from the start.
_AGAIN = np.uint64(0xFFFFFFFFFFFFFFFF)


@inline
def walk_arrays(batch):
    """Scratch for the walks of a batch of trials, uint64, rows: (key, node, rest, candidates, walk) of those under way;
    (key, node, rest, walk) of those stuck; each trial's first rests of walk 1 and of walk 2; its links."""
    return np.zeros((12, 2 * batch + 16), np.uint64)


@fused
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


@fused
def _queue_lanes(count, wanted, key, node, rest, walks, w):
    """Queue the walks of the lanes ``wanted`` that have at least two links."""
    zero = simd.splat(ZERO)
    long = simd.differ(simd.both(rest, simd.sub(rest, simd.splat(_ONE))), zero)
    chosen = simd.bits(long) & wanted
    mask = simd.mask(rest, chosen)
    packed = simd.compress(mask, rest)
    simd.store(w[0], count, simd.compress(mask, key))
    simd.store(w[1], count, simd.compress(mask, node))
    simd.store(w[2], count, packed)
    simd.store(w[3], count, packed)
    simd.store(w[4], count, simd.compress(mask, walks))
    return count + popcount(chosen)


@fused
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


@fused
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
        active = np.uint64(0xFF) if n - v >= 8 else (_ONE << np.uint64(n - v)) - _ONE
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


@fused
def _walk_all(count, limit, w):
    """Take all queued walks to their end or until stuck; returns the number of stuck ones."""
    zero = simd.splat(ZERO)
    one = simd.splat(_ONE)
    least = simd.splat(limit)
    stuck = 0
    while count > 0:
        kept = 0
        for v in range(0, count, 8):
            active = np.uint64(0xFF) if count - v >= 8 else (_ONE << np.uint64(count - v)) - _ONE
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
                mask = simd.mask(key, blocked)
                simd.store(w[5], stuck, simd.compress(mask, key))
                simd.store(w[6], stuck, simd.compress(mask, node))
                simd.store(w[7], stuck, simd.compress(mask, rest))
                simd.store(w[8], stuck, simd.compress(mask, walks))
                stuck += popcount(blocked)
                going &= ~blocked
            mask = simd.mask(key, going)
            simd.store(w[0], kept, simd.compress(mask, key))
            simd.store(w[1], kept, simd.compress(mask, node))
            simd.store(w[2], kept, simd.compress(mask, rest))
            simd.store(w[3], kept, simd.compress(mask, candidates))
            simd.store(w[4], kept, simd.compress(mask, walks))
            kept += popcount(going)
        count = kept
    return stuck


@fused
def pays(m, rate):
    """Whether lanes are faster than one route at a time: unless most first attempts fail or need trees.

    Measured: the two break even near rate 0.38 at m = 5, 0.43 at 7, 0.47 at 9 and beyond 0.5 from 11 on.
    """
    return rate < 0.29 + 0.02 * m


@fused
def route_lengths(in_lanes, n, m, limit, keys, sources, targets, lengths, w, path, trees):
    """Links on each of ``n`` trials' paths, or EXHAUSTED or LIMIT, into ``lengths`` (int64); ``w`` from ``walk_arrays``.

    ``in_lanes`` (see :func:`pays`) decides how, not what.
    """
    stuck = 0
    if in_lanes:
        count = _first_attempts(n, m, limit, keys, sources, targets, w, trees)
        stuck = _walk_all(count, limit, w)
    else:
        w[11, :n] = _AGAIN
    for j in range(stuck):
        i = np.int64(w[8, j] >> _ONE)
        if w[11, i] == _AGAIN:
            continue
        node, rest = w[6, j], w[7, j]
        crossed = (w[10, i] if w[8, j] & _ONE else w[9, i]) ^ rest
        free = position_dims(node, m) & ~crossed
        at = walk((w[5, j], limit), node, node ^ rest, free, path, ROOT, trees)
        w[11, i] = w[11, i] + np.uint64(at - popcount(rest)) if at >= 0 else _AGAIN
    for i in range(n):
        if w[11, i] == _AGAIN:
            nodes = route((keys[i], limit), sources[i], targets[i], m, path, trees)
            lengths[i] = nodes - 1 if nodes > 0 else nodes
        else:
            lengths[i] = np.int64(w[11, i])
