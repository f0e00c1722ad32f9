"""PRACTICAL routing of hundreds of trials at a time with vectors: path lengths only, equal to those of ``practical``.

Entry point: ``route_lengths``, which takes a batch of pairs from the kernels of ``scalar``.  It samples nothing.  The status of a
node is a hash of its label and of the pair's status key, which ``draw_pairs`` derives from the study's key.

``routing`` and ``practical`` document the terms: walk, exit, u', v and v', wanted and free dimensions.  T_1 is the tree of a
walk's current node and one neighbour of it.  A path between two clusters of one class has two walks, u' to v' (the first) and v
to t (the second).

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

from ..draws.statuses import status_lanes
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
    rests       r0 r1 r2 ...    wanted dimensions: those still to cross
    numbers     w0 w1 w2 ...    2 i + 0 or 1: first or second walk of trial i of the batch
    """

    keys: Words
    nodes: Words
    rests: Words
    numbers: Words


class RouteBatch(NamedTuple):
    """The state of a batch of trials, made by ``route_batch_for``."""

    under_way: Walks
    untried: Words  #: of each walk under way, the wanted dimensions not yet tried at its current node
    stuck: Walks  #: walks whose wanted neighbours are all faulty
    free: Words  #: free dimensions of each stuck walk (``_find_free_dims``)
    children: Words  #: (8): dimension from each of eight stuck walks to the new node of its T_1
    #: (2, trials): dimensions that the two walks of each trial have to cross, at their start or since a detour.  A dimension in
    #: it and not in ``rests`` is used up.
    to_cross: Words
    links: Words  #: links of each trial's path so far, or _REROUTE_NEEDED


@scratch
def route_batch_for(trials):
    """Return a ``RouteBatch`` for ``trials`` trials, two walks each."""
    rows = np.zeros((13, 2 * trials + 16), np.uint64)  # stores of whole vectors may write up to 16 entries more
    under_way, untried = Walks(rows[0], rows[1], rows[2], rows[3]), rows[4]
    stuck, free = Walks(rows[5], rows[6], rows[7], rows[8]), rows[9]
    return RouteBatch(under_way, untried, stuck, free, np.zeros(8, np.uint64), rows[10:12], rows[12])


@block(always=True)
def _queue_walk(count, key, node, rest, number, batch):
    """Queue a walk unless it has one link, whose end is known to be nonfaulty; return the number of queued walks."""
    if rest & (rest - ONE):
        walks = batch.under_way
        walks.keys[count] = key
        walks.nodes[count] = node
        walks.rests[count] = rest
        walks.numbers[count] = number
        batch.untried[count] = rest
        return count + 1
    return count


@block(always=True)
def _append_walks(count, chosen, columns, dims, walks, walk_dims):
    """Append the lanes ``chosen`` of ``columns``, a ``Walks`` of vectors, to the first ``count`` walks; return their number.

    The lanes of ``dims`` are appended to ``walk_dims``, which is ``untried`` or ``free``.
    """
    simd.store_compressed(walks.keys, count, chosen, columns.keys)
    simd.store_compressed(walks.nodes, count, chosen, columns.nodes)
    simd.store_compressed(walks.rests, count, chosen, columns.rests)
    simd.store_compressed(walk_dims, count, chosen, dims)
    simd.store_compressed(walks.numbers, count, chosen, columns.numbers)
    return count + popcount(chosen)


@block(always=True)
def _queue_lanes(count, wanted, walks, batch):
    """Queue those of the lanes ``wanted`` of ``walks`` that have at least two links; return the number of queued walks."""
    has_links_left = simd.bits((walks.rests & (walks.rests - 1)) != simd.splat(ZERO))
    return _append_walks(count, has_links_left & wanted, walks, walks.rests, batch.under_way, batch.untried)


@block(always=True)
def _set_up_first_attempt(count, i, cube, pairs, batch, workspace):
    """Set up the first attempt of trial ``i`` in scalar code, and return the number of queued walks.

    The path may leave s by a tree path (EXIT_TREE) to the class of t, and there a by a tree path (CLUSTER_TREE) to u.
    """
    key, s, t = pairs.keys[i], pairs.sources[i], pairs.targets[i]
    world = DualCubeStatus(key, cube.limit, cube.m)
    cross = ONE << (cube.m + cube.m)
    dims = position_dims(t, cube.m)
    other = (cross - ONE) ^ dims
    number = np.uint64(i + i)
    a = s
    links = 0
    exit_node = ROOT
    if (s ^ t) & cross:
        start_tree(EXIT_TREE, other, workspace.trees)
        exit_node, _ = next_exit(ExitTree(EXIT_TREE, s, other, ZERO), BEFORE_ROOT, SINGLE, world, workspace.trees)
        if exit_node < 0:
            batch.links[i] = _REROUTE_NEEDED
            return count
        a = s ^ node_offset(EXIT_TREE, exit_node, workspace.trees) ^ cross
        links = popcount(np.uint64(exit_node)) + 1
        if (a ^ t) & other == ZERO:
            batch.to_cross[0, i] = ZERO
            batch.to_cross[1, i] = a ^ t
            batch.links[i] = np.uint64(links + popcount(a ^ t))
            return _queue_walk(count, key, a, a ^ t, number + ONE, batch)
    difference = (a ^ t) & other
    start_tree(CLUSTER_TREE, dims, workspace.trees)
    cluster_exits = ExitTree(CLUSTER_TREE, a, dims, difference)
    u_node, _ = next_exit(cluster_exits, BEFORE_ROOT, SINGLE, world, workspace.trees)
    if u_node < 0 or (u_node == 0 and exit_node > 0):
        # back through a' : a after a tree path, so the path may contain a loop
        batch.links[i] = _REROUTE_NEEDED
        return count
    if (s ^ t) & cross and u_node == 0:
        links -= 2  # the loop from s to s' and back is erased
    u = a ^ node_offset(CLUSTER_TREE, u_node, workspace.trees)
    rest = u ^ difference ^ t
    batch.to_cross[0, i] = difference
    batch.to_cross[1, i] = rest
    batch.links[i] = np.uint64(links + popcount(np.uint64(u_node)) + 2 + popcount(difference) + popcount(rest))
    count = _queue_walk(count, key, u ^ cross, difference, number, batch)
    return _queue_walk(count, key, u ^ difference, rest, number + ONE, batch)


@block(always=True)
def _set_up_first_attempts(n, cube, pairs, batch, workspace):
    """Set up the first attempts of ``n`` trials, eight at a time, and return the number of queued walks."""
    cross = ONE << (cube.m + cube.m)
    low = simd.splat((ONE << cube.m) - ONE)
    high = low << simd.splat(cube.m)
    cross_bit = simd.splat(cross)
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    least_nonfaulty = simd.splat(cube.limit)  # the least status of a nonfaulty node
    count = np.int64(0)
    for v in range(0, n, 8):
        active = first_lanes(n - v)
        key, s, t = simd.load(pairs.keys, v), simd.load(pairs.sources, v), simd.load(pairs.targets, v)
        same_class = ((s ^ t) & cross_bit) == zero
        # From here on, a is in the class of t.  Vector code leaves the cluster of a only at a itself.
        a = simd.select(same_class, s, s ^ cross_bit)
        cluster_dims = simd.select((t & cross_bit) == zero, high, low)
        difference = (a ^ t) & cluster_dims
        landing = a ^ difference  # v of TO_CLUSTER(a, t), for u = a
        nonfaulty = least_nonfaulty <= status_lanes(key, s ^ cross_bit)
        nonfaulty = nonfaulty & (least_nonfaulty <= status_lanes(key, landing))
        nonfaulty = nonfaulty & (least_nonfaulty <= status_lanes(key, landing ^ cross_bit))
        same_cluster = same_class & (difference == zero)
        ready = simd.bits(nonfaulty | same_cluster) & active
        rest = landing ^ t
        links = simd.popcount(difference) + simd.popcount(rest)
        # two cross edges, one when s' is in the class of t (s : s' : s is erased), none inside a cluster
        links = links + simd.select(same_class, simd.select(same_cluster, zero, one + one), one)
        simd.store(batch.to_cross[0], v, difference)
        simd.store(batch.to_cross[1], v, rest)
        simd.store(batch.links, v, links)
        numbers = simd.splat(np.uint64(2 * v)) + (simd.iota(zero) << one)
        count = _queue_lanes(count, ready, Walks(key, a ^ cross_bit, difference, numbers), batch)
        count = _queue_lanes(count, ready, Walks(key, landing, rest, numbers + one), batch)
        not_ready = active & ~ready
        while not_ready:
            i = v + lowest(not_ready)
            not_ready &= not_ready - ONE
            count = _set_up_first_attempt(count, i, cube, pairs, batch, workspace)
    return count


@block(always=True)
def _advance_walks(count, stuck_count, limit, batch):
    """Advance the ``count`` walks under way until each ends or is stuck.

    Appends the walks that get stuck to the ``stuck_count`` earlier ones, and returns the number of all.
    """
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    least_nonfaulty = simd.splat(limit)
    walks = batch.under_way
    while count > 0:
        # Walks that go on are written to the front.  Their number is at most v, so none is overwritten before it is loaded.
        kept_count = 0
        for v in range(0, count, 8):
            active = first_lanes(count - v)
            key, node, rest = simd.load(walks.keys, v), simd.load(walks.nodes, v), simd.load(walks.rests, v)
            untried, numbers = simd.load(batch.untried, v), simd.load(walks.numbers, v)
            d = simd.top_bit(untried)
            neighbour = node ^ d
            nonfaulty = least_nonfaulty <= status_lanes(key, neighbour)
            node = simd.select(nonfaulty, neighbour, node)
            rest = simd.select(nonfaulty, rest ^ d, rest)
            untried = simd.select(nonfaulty, rest, untried ^ d)
            # The last link needs no query: the end of a walk is nonfaulty.
            going = simd.bits((rest & (rest - one)) != zero) & active
            blocked = simd.bits(untried == zero) & going
            columns = Walks(key, node, rest, numbers)
            if blocked:
                stuck_count = _append_walks(stuck_count, blocked, columns, untried, batch.stuck, batch.free)
                going &= ~blocked
            kept_count = _append_walks(kept_count, going, columns, untried, walks, batch.untried)
        count = kept_count
    return stuck_count


@block(always=True)
def _first_nonfaulty(key, node, dims, pending, limit):
    """Return each lane's first dimension of ``dims`` with a nonfaulty neighbour of ``node``, and the bits of lanes that have one.

    Only the lanes ``pending`` are examined.  The hashes of a pass do not depend on the results of the pass before.
    """
    zero = simd.splat(ZERO)
    least_nonfaulty = simd.splat(limit)
    found = zero
    found_lanes = ZERO
    pending &= simd.bits(dims != zero)
    while pending:
        d = simd.top_bit(dims)
        nonfaulty = simd.bits(least_nonfaulty <= status_lanes(key, node ^ d)) & pending
        found = simd.select(simd.mask(d, nonfaulty), d, found)
        found_lanes |= nonfaulty
        dims = dims ^ d
        pending &= ~nonfaulty & simd.bits(dims != zero)
    return found, found_lanes


@block(always=True)
def _walk_and_trial(number):
    """Return which walk of its trial a walk ``number`` is, 0 or 1, and the trial."""
    return np.int64(number & ONE), np.int64(number >> ONE)


@block(always=True)
def _find_free_dims(first, count, m, batch):
    """Write the free dimensions of the stuck walks from ``first`` on: those of the cluster that are not used up."""
    stuck = batch.stuck
    for j in range(first, count):
        walk, trial = _walk_and_trial(stuck.numbers[j])
        used_up = batch.to_cross[walk, trial] ^ stuck.rests[j]
        batch.free[j] = position_dims(stuck.nodes[j], m) & ~used_up


@block(always=True)
def _detour_walks(first, stuck_count, limit, batch):
    """Move the stuck walks from ``first`` on over the new node of their T_1, if that node has a nonfaulty wanted neighbour.

    A detour has two links more, and its first dimension, which stays free, has to be crossed back.  Returns the number of walks
    under way again and the number of stuck walks.
    """
    count = np.int64(0)
    kept_count = first
    stuck = batch.stuck
    for v in range(first, stuck_count, 8):
        key, node, rest = simd.load(stuck.keys, v), simd.load(stuck.nodes, v), simd.load(stuck.rests, v)
        numbers, free = simd.load(stuck.numbers, v), simd.load(batch.free, v)
        active = first_lanes(stuck_count - v)
        child, has_child = _first_nonfaulty(key, node, free & ~rest, active, limit)
        neighbour = node ^ child
        d, goes_on = _first_nonfaulty(key, neighbour, rest, has_child, limit)
        simd.store(batch.children, 0, child)
        for lane in range(8):
            if goes_on >> np.uint64(lane) & ONE:
                walk, trial = _walk_and_trial(stuck.numbers[v + lane])
                batch.to_cross[walk, trial] ^= batch.children[lane]
                batch.links[trial] += _TWO
        kept_count = _append_walks(
            kept_count, active & ~goes_on, Walks(key, node, rest, numbers), free, stuck, batch.free
        )
        rest = (rest | child) ^ d
        columns = Walks(key, neighbour ^ d, rest, numbers)
        count = _append_walks(count, goes_on, columns, rest, batch.under_way, batch.untried)
    return count, kept_count


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
    workspace_addresses = simd.take_addresses(workspace)
    links = batch.links
    stuck = batch.stuck
    stuck_count = np.int64(0)
    if in_lanes:
        count = _set_up_first_attempts(n, cube, pairs, batch, workspace_addresses)
        while count > 0:
            first = stuck_count
            stuck_count = _advance_walks(count, stuck_count, cube.limit, batch)
            _find_free_dims(first, stuck_count, cube.m, batch)
            count, stuck_count = _detour_walks(first, stuck_count, cube.limit, batch)
    else:
        links[:n] = _REROUTE_NEEDED
    for j in range(stuck_count):
        i = np.int64(stuck.numbers[j] >> ONE)
        if links[i] != _REROUTE_NEEDED:
            node, rest = stuck.nodes[j], stuck.rests[j]
            world = DualCubeStatus(stuck.keys[j], cube.limit, cube.m)
            # From index 0 on, so the size of the path is the number of links of the rest of the walk.
            size = append_hyp_path(world, node, node ^ rest, batch.free[j], ROOT, workspace_addresses)
            links[i] = links[i] + np.uint64(size - popcount(rest)) if size >= 0 else _REROUTE_NEEDED
    for trial in range(n):
        if links[trial] == _REROUTE_NEEDED:
            world = DualCubeStatus(pairs.keys[trial], cube.limit, cube.m)
            nodes = route(world, pairs.sources[trial], pairs.targets[trial], workspace_addresses)
            lengths[trial] = nodes - 1 if nodes > 0 else nodes
        else:
            lengths[trial] = np.int64(links[trial])
