"""PRACTICAL routing of hundreds of trials at a time with vectors: path lengths only, equal to those of ``practical``.

Entry point: ``route_lengths``, which takes a batch of pairs from the kernels of ``scalar``.  It samples nothing.  The status of a
node is a hash of its label and of the pair's status key, which ``draw_pairs`` derives from the study's key.

Most routes succeed at the first attempt: leave the cluster, cross, walk to v', cross, walk to t.  For eight trials at once the
two walks are set up and the three nodes between them are tested.  Scalar code finds the first exit where s is not an exit itself.

Then all walks advance together.  Each pass hashes the next wanted neighbour of every walk and compacts the walks that are still
under way, so no walk waits for its own hash.  A walk whose wanted neighbours are all faulty detours over the new node of T_1,
eight walks at a time, and continues with the other walks.  If that node does not help either, scalar code finishes the walk from
its current node.  A trial whose first attempt fails, or whose path might contain loops, is routed again from the start by
``practical.route``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.nodes import status_lanes
from ..machine import simd
from ..machine.array_types import U64, Words
from ..machine.bits import ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import block, scratch
from ..machine.target import FEATURES
from .practical import DualCubeStatus, append_hyp_path, next_exit, route
from .routing import CLUSTER_TREE, EXIT_TREE, ExitTree, position_dims
from .trees import BEFORE_ROOT, ROOT, SINGLE, node_offset, start_tree

_TWO = np.uint64(2)
# Value of ``RouteBatch.links`` for a trial that is to be routed from the start.
_REROUTE_NEEDED = np.uint64(0xFFFFFFFFFFFFFFFF)


class DualCube(NamedTuple):
    """The dual-cube of a point, with the failure rate of its nodes."""

    m: U64  #: dimension of a cluster
    limit: U64  #: ``nodes.threshold`` of the rate


class Walks(NamedTuple):
    """Compacted walks, one walk per column.

    keys        k0 k1 k2 ...    status key of the trial
    nodes       a0 a1 a2 ...    current node
    rests       r0 r1 r2 ...    dimensions still to cross
    choices     c0 c1 c2 ...    dimensions to try next at this node: under way, those of ``rests`` that are not yet refused;
                                stuck, for a detour, all that the walk has not crossed
    numbers     w0 w1 w2 ...    2 i + 0 or 1: first or second walk of trial i of the batch
    """

    keys: Words
    nodes: Words
    rests: Words
    choices: Words
    numbers: Words


class RouteBatch(NamedTuple):
    """The state of a batch of trials, made by ``route_batch_for``."""

    under_way: Walks
    stuck: Walks  #: walks whose wanted neighbours are all faulty
    firsts: Words  #: (2, trials): value of ``rests`` with which the two walks of each trial started
    links: Words  #: links of each trial's path so far, or _REROUTE_NEEDED


@scratch
def route_batch_for(trials):
    """Return a ``RouteBatch`` for ``trials`` trials, two walks each."""
    rows = np.zeros((13, 2 * trials + 16), np.uint64)
    under_way = Walks(rows[0], rows[1], rows[2], rows[3], rows[4])
    stuck = Walks(rows[5], rows[6], rows[7], rows[12], rows[8])
    return RouteBatch(under_way, stuck, rows[9:11], rows[11])


@block(always=True)
def _queue_walk(count, key, node, rest, number, under_way):
    """Queue a walk unless it has one link, whose end is known to be nonfaulty; return the number of queued walks."""
    if rest & (rest - ONE):
        under_way.keys[count] = key
        under_way.nodes[count] = node
        under_way.rests[count] = rest
        under_way.choices[count] = rest
        under_way.numbers[count] = number
        return count + 1
    return count


@block(always=True)
def _write_walks(at, chosen, columns, walks):
    """Write the lanes ``chosen`` of ``columns``, a ``Walks`` of vectors, from index ``at`` on; return their number."""
    simd.store_compressed(walks.keys, at, chosen, columns.keys)
    simd.store_compressed(walks.nodes, at, chosen, columns.nodes)
    simd.store_compressed(walks.rests, at, chosen, columns.rests)
    simd.store_compressed(walks.choices, at, chosen, columns.choices)
    simd.store_compressed(walks.numbers, at, chosen, columns.numbers)
    return popcount(chosen)


@block(always=True)
def _queue_lanes(count, wanted, key, node, rest, numbers, under_way):
    """Queue the walks of the lanes ``wanted`` that have at least two links."""
    zero = simd.splat(ZERO)
    long = (rest & (rest - 1)) != zero
    return count + _write_walks(count, simd.bits(long) & wanted, Walks(key, node, rest, rest, numbers), under_way)


@block(always=True)
def _set_up_first_attempt(count, i, cube, pairs, batch, workspace):
    """Set up the first attempt of trial ``i`` in scalar code, and return the number of queued walks."""
    key, s, t = pairs.keys[i], pairs.sources[i], pairs.targets[i]
    world = DualCubeStatus(key, cube.limit, cube.m)
    cross = ONE << (cube.m + cube.m)
    dims = position_dims(t, cube.m)
    other = (cross - ONE) ^ dims
    number = np.uint64(i + i)
    a = s
    links = 0
    out = ROOT
    if (s ^ t) & cross:
        start_tree(EXIT_TREE, other, workspace.trees)
        out, _ = next_exit(ExitTree(EXIT_TREE, s, other, ZERO), BEFORE_ROOT, SINGLE, world, workspace.trees)
        if out < 0:
            batch.links[i] = _REROUTE_NEEDED
            return count
        a = s ^ node_offset(EXIT_TREE, out, workspace.trees) ^ cross
        links = popcount(np.uint64(out)) + 1
        if (a ^ t) & other == ZERO:
            batch.firsts[0, i] = ZERO
            batch.firsts[1, i] = a ^ t
            batch.links[i] = np.uint64(links + popcount(a ^ t))
            return _queue_walk(count, key, a, a ^ t, number + ONE, batch.under_way)
    difference = (a ^ t) & other
    start_tree(CLUSTER_TREE, dims, workspace.trees)
    j, _ = next_exit(ExitTree(CLUSTER_TREE, a, dims, difference), BEFORE_ROOT, SINGLE, world, workspace.trees)
    if j < 0 or (j == 0 and out > 0):  # straight back through a' : a after a tree path, so the path may contain a loop
        batch.links[i] = _REROUTE_NEEDED
        return count
    if (s ^ t) & cross and j == 0:
        links -= 2  # the loop from s to s' and back is erased
    u = a ^ node_offset(CLUSTER_TREE, j, workspace.trees)
    rest = u ^ difference ^ t
    batch.firsts[0, i] = difference
    batch.firsts[1, i] = rest
    batch.links[i] = np.uint64(links + popcount(np.uint64(j)) + 2 + popcount(difference) + popcount(rest))
    count = _queue_walk(count, key, u ^ cross, difference, number, batch.under_way)
    return _queue_walk(count, key, u ^ difference, rest, number + ONE, batch.under_way)


@block(always=True)
def _set_up_first_attempts(n, cube, pairs, batch, workspace):
    """Set up the first attempts of ``n`` trials, eight at a time, and return the number of queued walks."""
    cross = ONE << (cube.m + cube.m)
    low = simd.splat((ONE << cube.m) - ONE)
    high = low << simd.splat(cube.m)
    cross_bit = simd.splat(cross)
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    least = simd.splat(cube.limit)
    count = np.int64(0)
    for v in range(0, n, 8):
        active = first_lanes(n - v)
        key, s, t = simd.load(pairs.keys, v), simd.load(pairs.sources, v), simd.load(pairs.targets, v)
        same = ((s ^ t) & cross_bit) == zero
        # From here on, a is in the class of t.  Vector code leaves the cluster of a only at a itself.
        a = simd.select(same, s, s ^ cross_bit)
        cluster_dims = simd.select((t & cross_bit) == zero, high, low)
        difference = (a ^ t) & cluster_dims
        entry = a ^ difference
        nonfaulty = least <= status_lanes(key, s ^ cross_bit)
        nonfaulty = nonfaulty & (least <= status_lanes(key, entry))
        nonfaulty = nonfaulty & (least <= status_lanes(key, entry ^ cross_bit))
        inside = same & (difference == zero)
        chosen = simd.bits(nonfaulty | inside) & active
        rest = entry ^ t
        links = simd.popcount(difference) + simd.popcount(rest)
        # two cross edges, one when s' is in the class of t (s : s' : s is erased), none inside a cluster
        links = links + simd.select(same, simd.select(inside, zero, one + one), one)
        simd.store(batch.firsts[0], v, difference)
        simd.store(batch.firsts[1], v, rest)
        simd.store(batch.links, v, links)
        numbers = simd.splat(np.uint64(2 * v)) + (simd.iota(zero) << one)
        count = _queue_lanes(count, chosen, key, a ^ cross_bit, difference, numbers, batch.under_way)
        count = _queue_lanes(count, chosen, key, entry, rest, numbers + one, batch.under_way)
        unset = active & ~chosen
        while unset:
            i = v + lowest(unset)
            unset &= unset - ONE
            count = _set_up_first_attempt(count, i, cube, pairs, batch, workspace)
    return count


@block(always=True)
def _advance_walks(count, stuck, limit, batch):
    """Advance all queued walks until each ends or is stuck; return the stuck walks, including ``stuck`` earlier ones."""
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    least = simd.splat(limit)
    under_way = batch.under_way
    while count > 0:
        kept = 0
        for v in range(0, count, 8):
            active = first_lanes(count - v)
            key, node, rest = simd.load(under_way.keys, v), simd.load(under_way.nodes, v), simd.load(under_way.rests, v)
            choices, numbers = simd.load(under_way.choices, v), simd.load(under_way.numbers, v)
            d = simd.top_bit(choices)
            there = node ^ d
            nonfaulty = least <= status_lanes(key, there)
            node = simd.select(nonfaulty, there, node)
            rest = simd.select(nonfaulty, rest ^ d, rest)
            choices = simd.select(nonfaulty, rest, choices ^ d)
            going = simd.bits((rest & (rest - one)) != zero) & active
            blocked = simd.bits(choices == zero) & going
            if blocked:
                stuck += _write_walks(stuck, blocked, Walks(key, node, rest, choices, numbers), batch.stuck)
                going &= ~blocked
            kept += _write_walks(kept, going, Walks(key, node, rest, choices, numbers), under_way)
        count = kept
    return stuck


@block(always=True)
def _first_nonfaulty(key, node, dims, pending, limit):
    """Return each lane's first dimension of ``dims`` with a nonfaulty neighbour of ``node``, and the bits of lanes that have one.

    Only the lanes ``pending`` are examined.  The hashes of a pass do not depend on the results of the pass before.
    """
    zero = simd.splat(ZERO)
    least = simd.splat(limit)
    found = zero
    found_lanes = ZERO
    pending &= simd.bits(dims != zero)
    while pending:
        d = simd.top_bit(dims)
        nonfaulty = simd.bits(least <= status_lanes(key, node ^ d)) & pending
        found = simd.select(simd.mask(d, nonfaulty), d, found)
        found_lanes |= nonfaulty
        dims = dims ^ d
        pending &= ~nonfaulty & simd.bits(dims != zero)
    return found, found_lanes


@block(always=True)
def _first_rest_position(number):
    """Return the row and column in ``RouteBatch.firsts`` of the walk ``number``."""
    return np.int64(number & ONE), np.int64(number >> ONE)


@block(always=True)
def _find_uncrossed_dims(first, count, m, batch):
    """Set ``choices`` of the stuck walks from ``first`` on to the dimensions that they have not crossed.

    A dimension is not crossed if it is in both or neither of the walk's first and current ``rests``.
    """
    stuck = batch.stuck
    for j in range(first, count):
        crossed = batch.firsts[_first_rest_position(stuck.numbers[j])] ^ stuck.rests[j]
        stuck.choices[j] = position_dims(stuck.nodes[j], m) & ~crossed


@block(always=True)
def _detour_walks(first, end, limit, batch):
    """Move the stuck walks from ``first`` on over the new node of their T_1, if that node has a nonfaulty wanted neighbour.

    Returns the number of walks under way again and the number of stuck walks.
    """
    count = np.int64(0)
    kept = first
    stuck = batch.stuck
    for v in range(first, end, 8):
        key, node, rest = simd.load(stuck.keys, v), simd.load(stuck.nodes, v), simd.load(stuck.rests, v)
        numbers, uncrossed = simd.load(stuck.numbers, v), simd.load(stuck.choices, v)
        active = first_lanes(end - v)
        child, has_child = _first_nonfaulty(key, node, uncrossed & ~rest, active, limit)
        there = node ^ child
        d, goes_on = _first_nonfaulty(key, there, rest, has_child, limit)
        simd.store(stuck.choices, end, child)
        for lane in range(8):
            if goes_on >> np.uint64(lane) & ONE:
                at = _first_rest_position(stuck.numbers[v + lane])
                batch.firsts[at] ^= stuck.choices[end + lane]
                batch.links[at[1]] += _TWO
        kept += _write_walks(kept, active & ~goes_on, Walks(key, node, rest, uncrossed, numbers), stuck)
        rest = (rest | child) ^ d
        count += _write_walks(count, goes_on, Walks(key, there ^ d, rest, rest, numbers), batch.under_way)
    return count, kept


#: The rate up to which vectors are faster than one route at a time, for m = 0, per dimension, and at most.  Measured at
#: m = 10 .. 24 on an AMD EPYC (Zen 4) in November 2026, with AVX-512 and compiled for AVX2.
_RATE_AT_0, _RATE_PER_M, _MOST_RATE = (0.29, 0.02, 0.62) if "avx512f" in FEATURES else (0.34, 0.01, 0.6)


@block(always=True)
def is_faster_in_lanes(m, rate):
    """Whether vectors are faster than one route at a time; they are not if most first attempts fail or need trees."""
    return rate < min(_RATE_AT_0 + _RATE_PER_M * m, _MOST_RATE)


@block(always=True)
def route_lengths(in_lanes, n, cube, pairs, lengths, batch, workspace):
    """Write the number of links of each of ``n`` trials' paths, or EXHAUSTED or LIMIT, to ``lengths`` (int64).

    ``batch`` comes from ``route_batch_for``.  ``in_lanes`` (``is_faster_in_lanes``) affects the speed only.
    """
    place = simd.take_addresses(workspace)
    links = batch.links
    stuck = batch.stuck
    end = np.int64(0)
    if in_lanes:
        count = _set_up_first_attempts(n, cube, pairs, batch, place)
        while count > 0:
            first = end
            end = _advance_walks(count, end, cube.limit, batch)
            _find_uncrossed_dims(first, end, cube.m, batch)
            count, end = _detour_walks(first, end, cube.limit, batch)
    else:
        links[:n] = _REROUTE_NEEDED
    for j in range(end):
        i = np.int64(stuck.numbers[j] >> ONE)
        if links[i] != _REROUTE_NEEDED:
            node, rest = stuck.nodes[j], stuck.rests[j]
            world = DualCubeStatus(stuck.keys[j], cube.limit, cube.m)
            at = append_hyp_path(world, node, node ^ rest, stuck.choices[j], ROOT, place)
            links[i] = links[i] + np.uint64(at - popcount(rest)) if at >= 0 else _REROUTE_NEEDED
    for trial in range(n):
        if links[trial] == _REROUTE_NEEDED:
            world = DualCubeStatus(pairs.keys[trial], cube.limit, cube.m)
            nodes = route(world, pairs.sources[trial], pairs.targets[trial], place)
            lengths[trial] = nodes - 1 if nodes > 0 else nodes
        else:
            lengths[trial] = np.int64(links[trial])
