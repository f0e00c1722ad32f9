"""The routing rules (V7, V8), one block per rule: ``rule(world, status, s, t) -> links``.

A rule returns the number of links on a message's route, or why it is not delivered: STUCK, LIVELOCK, LIMIT, LOST, REFUSED, or
UNKNOWN if the safety statuses that it needs are not computed.  ``world`` holds the trial's faults and scratch memory
(``RuleContext``).  ``status`` holds the safety statuses of the nodes (``safety_status``).  A user's rule is such a block too::

    @first_path
    @block
    def straight(world, status, s, t):
        return LOST

Codes V3 to V8 are definitions in docs/readings/routing-rules.md.  H is the Hamming distance of s and t.  A dimension, its bit,
and the hop and neighbour over it are *preferred* if they lead nearer to t, else *spare*.  A hop is *good* if its link and the
neighbour are nonfaulty.  The *first path* corrects bits from the most significant down.  Faulty and *unsafe* nodes (Lee & Hayes)
fill disjoint subcubes, the *unsafe subcubes*, which ``unsafe_subcubes`` of ``draws/faults.py`` finds; all others are *active*.

Each rule begins with a test that decides most messages without simulation.  The tests and their proofs:

- FIRST_PATH_IS_CLEAR: no fault is on the first path.  ROUTE, ROUTE1, A1 and DFS try this path first, and so do rules made by
  ``first_path``.
- FAULTS_BETWEEN = 0: no faulty node or link is in the subcube of s and t.  Every preferred hop there is good, so SIDETRACK stays
  in the subcube.
- FIRST_PATH_IS_UNSAFE: a faulty or unsafe node is on the first path.  If not, ROUTE3 takes the path.
- SHARED_UNSAFE_SUBCUBE: the maximal unsafe subcube that contains both s and t.  If there is none, LEVELS and VECTORS deliver over
  H.  For either s is outside all these subcubes, or a preferred dimension leads out of its subcube; from a node outside, whose
  safety status is full, Wu's theorem promises a shortest path to t.  If the shared subcube is not the whole cube a spare
  dimension leads out of it, so a message that no preferred neighbour promises to deliver goes over H + 2 links.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, has_label, label_set
from ..draws.faults import FAULTY_LINKS, FAULTY_NODES, Faults, is_faulty, is_faulty_link
from ..draws.philox import CHOICES, random_word
from ..machine import simd
from ..machine.array_types import I64, U64, Ints, Words, Words32
from ..machine.bits import HALF_WORD_BITS, ONE, ZERO, extract, highest_bit, popcount
from ..machine.jit import block, scratch
from ..routing.rules import LIMIT, LOST, STUCK, SearchScratch, search_scratch_for, simulate_route1, simulate_route3
from ..routing.shortest import SearchBitmasks, search_bitmasks_for
from .layout import fallback_of
from .safety_status import LEVELS, VECTORS, bit_at, compute_status, dimension_of, level_at, stride

#: Results of a rule, besides the results in ``routing``.
REFUSED, UNKNOWN = np.int64(-5), np.int64(-6)

#: Most hops of DFS, and of SIDETRACK per dimension of the cube (V8).
DFS_HOPS, SIDETRACK_HOPS = np.int64(1 << 16), np.int64(8)

#: Up to this number of faulty nodes a node is compared with all of them to find its faulty neighbours; above it, each neighbour
#: is looked up.  Both take 24 ns at n = 10 (AMD EPYC, Zen 4), the only n with so many faults in a grid.  In larger cubes
#: comparing is the faster one up to 300 faults and more.
_MOST_COMPARED_FAULTS = 128

#: Indices of ``RuleContext.facts``.  Three facts are 0 or 1: whether the first path has no fault, whether it has a faulty or
#: unsafe node, and whether some node is active.  Then come the index of the unsafe subcube of both ends, or -1, and the number of
#: faulty nodes and links in the subcube of s and t.
FIRST_PATH_IS_CLEAR, FIRST_PATH_IS_UNSAFE, HAS_ACTIVE_NODE, SHARED_UNSAFE_SUBCUBE, FAULTS_BETWEEN = range(5)

#: In place of a result of LEVELS or VECTORS that is not found yet; no rule returns it.
NO_RESULT = np.int64(-7)

#: Indices of ``RuleContext.now``: the point's key, and the trial.
POINT_KEY, TRIAL_NUMBER = np.int64(0), np.int64(1)


class RuleContext(NamedTuple):
    """The trial as rules see it, with scratch memory; made by ``rule_context_for``."""

    n: I64
    whole: U64  #: mask of all n dimensions
    faults: Faults  #: sampled and closed under unsafe nodes
    facts: Ints  #: (5): FIRST_PATH_IS_CLEAR .. FAULTS_BETWEEN, of the present message
    known: Ints  #: (2): results of LEVELS and VECTORS, by these indices, that lanes have found, else NO_RESULT
    now: Words  #: (2): POINT_KEY and TRIAL_NUMBER, for randomised rules
    search: SearchScratch  #: for rules of the study ``routing``
    cube: SearchBitmasks  #: for shortest paths
    seen: LabelSet  #: nodes that a message of DFS has visited
    bits: Words  #: list of bits inside one call of a rule: in DFS of the hops on its stack, in A1 of those left to correct
    between: Words32  #: for minimal paths: the nodes between two ends


@scratch
def rule_context_for(n, faults, between):
    """Return scratch memory for messages in Q_n; minimal paths are searched up to Hamming distance ``between``."""
    deep = np.int64(1) << min(n, np.int64(17))  # DFS visits at most DFS_HOPS + 1 nodes
    return RuleContext(
        n,
        (ONE << np.uint64(n)) - ONE,
        faults,
        np.zeros(FAULTS_BETWEEN + 1, np.int64),
        np.full(2, NO_RESULT),
        np.zeros(2, np.uint64),
        search_scratch_for(np.int64(1)),
        search_bitmasks_for(n),
        label_set(deep),
        np.empty(deep, np.uint64),
        np.empty(np.int64(1) << between, np.uint32),  # at most 64 MiB, for 24, of which few messages touch much
    )


@block(always=True, stored=True)
def blocked_bits(faults, x, whole):
    """Return the dimensions of node ``x`` over which a hop is not good: the link or the neighbour is faulty."""
    f = faults.size[FAULTY_NODES]
    out = ZERO
    if f <= _MOST_COMPARED_FAULTS:
        # a fault that differs from x in one bit contributes that bit
        own = simd.splat(x)
        one = simd.splat(ONE)
        zero = simd.splat(ZERO)
        found = zero
        for at in range(0, f, 8):
            difference = simd.load(faults.labels, at) ^ own
            near = simd.popcount(difference) == one
            if f - at < 8:  # the vector goes past the last fault
                near = near & simd.mask(difference, (ONE << np.uint64(f - at)) - ONE)
            found = found | simd.select(near, difference, zero)
        out = simd.union(found)
    else:
        rest = whole
        while rest:
            bit = rest & (ZERO - rest)
            rest ^= bit
            if is_faulty(faults, x ^ bit):
                out |= bit
    for j in range(faults.size[FAULTY_LINKS]):
        bit = ONE << faults.dims[j]
        if faults.lower[j] == x & ~bit:
            out |= bit
    return out


def first_path(rule: Any) -> Any:
    """Return a rule that takes ROUTE's path if it has no fault, and else routes by ``rule``.

    Lane kernels decide such a rule on a free first path without running it.  A rule that may leave a free path is run in every
    trial.  Raises TypeError if ``rule`` is not a function.
    """
    fallback = fallback_of(rule) or rule
    inner = getattr(fallback, "py_func", fallback)
    if not inspect.isfunction(inner):
        raise TypeError(f"first_path must be given a block, got {rule!r}")

    @block(always=True)
    def route_first_path(world, status, s, t):
        if world.facts[FIRST_PATH_IS_CLEAR]:
            return popcount(s ^ t)
        return rule(world, status, s, t)

    function = getattr(route_first_path, "py_func", route_first_path)
    function._first_path_of = fallback
    for named in (function, route_first_path):
        named.__name__, named.__doc__ = inner.__name__, inner.__doc__
    return route_first_path


# ---------------------------------------------------------------- Lee & Hayes


@first_path
@block(always=True)
def route(world, status, s, t):
    """Route by ROUTE, which tries the first path only."""
    return LOST


@first_path
@block(always=True, stored=True)
def route1(world, status, s, t):
    """Route by ROUTE1(1)."""
    return simulate_route1(world.faults, s, t, world.whole, np.int64(1), world.search)


@block(always=True, stored=True)
def route3(world, status, s, t):
    """Route by ROUTE3(1); refuse the message if no node is active."""
    if not world.facts[HAS_ACTIVE_NODE]:
        return REFUSED
    if not world.facts[FIRST_PATH_IS_UNSAFE]:
        return popcount(s ^ t)
    return simulate_route3(world.faults, s, t, world.whole, np.int64(1), world.search)


# ---------------------------------------------------------------- Wu


@block(always=True)
def _add_last_link(links, faults, u, t):
    """Add 1 for the last link of a route, from ``u`` to ``t``, to the length of the links before it; STUCK if it is faulty."""
    return STUCK if is_faulty_link(faults, u, u ^ t) else links + 1


class StatusSubcube(NamedTuple):
    """The unsafe subcube of both ends, whose safety statuses are computed."""

    place: I64  #: its index among the subcubes of the faults
    dimension: I64
    size: I64  #: words of a plane of its statuses
    free: U64  #: mask of its free dimensions


@block(always=True)
def _shared_subcube(world):
    """Return the unsafe subcube of both ends, which exists."""
    i = world.facts[SHARED_UNSAFE_SUBCUBE]
    d = dimension_of(world.faults, i)
    return StatusSubcube(i, d, stride(d), world.faults.free[i])


@block(always=True)
def _highest_level_bit(status, subcube, n, u, among):
    """Return the first of the bits ``among`` whose neighbour has the highest level, and that level; ZERO if all levels are 0.

    No link is tested, because both ends of a faulty link show level 0 (V6).
    """
    best, most = ZERO, np.int64(0)
    while among:
        bit = highest_bit(among)
        among ^= bit
        found = level_at(status, subcube.place, subcube.size, n, extract(u ^ bit, subcube.free))
        if found > most:
            best, most = bit, found
    return best, most


@block
def _route_by_level(faults, status, subcube, n, u, t):
    """Return the length of a route from u to t inside a computed subcube, each hop to the highest preferred level, or STUCK.

    The ends differ.
    """
    links = np.int64(0)
    while popcount(u ^ t) > 1:
        bit, _ = _highest_level_bit(status, subcube, n, u, u ^ t)
        if bit == ZERO:
            return STUCK
        u ^= bit
        links += 1
    return _add_last_link(links, faults, u, t)


@block(always=True)
def _first_vector_bit(faults, status, subcube, u, among, k):
    """Return the first of the bits ``among`` over a good link to a node with bit k in its vector; ZERO if there is none."""
    while among:
        bit = highest_bit(among)
        among ^= bit
        x = extract(u ^ bit, subcube.free)
        if bit_at(status, VECTORS, subcube.place, subcube.size, k, x) and not is_faulty_link(faults, u, bit):
            return bit
    return ZERO


@block
def _route_by_vector(faults, status, subcube, u, t):
    """Route as ``_route_by_level``, with each hop to the first preferred neighbour that has bit h - 1, h links being left."""
    links = np.int64(0)
    while popcount(u ^ t) > 1:
        bit = _first_vector_bit(faults, status, subcube, u, u ^ t, popcount(u ^ t) - 1)
        if bit == ZERO:
            return STUCK
        u ^= bit
        links += 1
    return _add_last_link(links, faults, u, t)


@block(always=True)
def _add_first_link(links):
    """Add 1 for the first link to the length of the rest of a route; failures are returned unchanged."""
    return links + 1 if links >= 0 else links


@block(always=True)
def set_known_results(world, by_levels, by_vectors):
    """Set the results of LEVELS and VECTORS in the next trial, as lanes have found them, or NO_RESULT for both."""
    world.known[LEVELS], world.known[VECTORS] = by_levels, by_vectors


@block(always=True)
def _decide_before_routing(world, status, s, t, kind):
    """Return a status rule's result if it needs no route, else NO_RESULT with the ``status`` of ``kind`` of the ends' subcube."""
    h, i, known = popcount(s ^ t), world.facts[SHARED_UNSAFE_SUBCUBE], world.known[kind]
    if known != NO_RESULT:
        return known
    if i < 0:
        return h
    if not compute_status(status, world.faults, i, kind):
        return UNKNOWN
    return h if h == 1 and not is_faulty_link(world.faults, s, s ^ t) else NO_RESULT


@block(always=True, stored=True)
def levels(world, status, s, t):
    """Route by LEVELS.  The source's level is not needed: if it is H > 1 or more, a preferred neighbour has H - 1 or more."""
    result = _decide_before_routing(world, status, s, t, LEVELS)
    if result != NO_RESULT:
        return result
    faults, n, h, subcube = world.faults, world.n, popcount(s ^ t), _shared_subcube(world)
    bit, most = _highest_level_bit(status, subcube, n, s, s ^ t)
    if h > 1 and most >= h - 1:
        return _add_first_link(_route_by_level(faults, status, subcube, n, s ^ bit, t))
    if subcube.dimension < n:
        return h + 2
    bit, most = _highest_level_bit(status, subcube, n, s, world.whole & ~(s ^ t))
    return _add_first_link(_route_by_level(faults, status, subcube, n, s ^ bit, t)) if most > h else REFUSED


@block(always=True, stored=True)
def vectors(world, status, s, t):
    """Route by VECTORS, as by LEVELS but with safety vectors."""
    result = _decide_before_routing(world, status, s, t, VECTORS)
    if result != NO_RESULT:
        return result
    faults, n, h, subcube = world.faults, world.n, popcount(s ^ t), _shared_subcube(world)
    bit = _first_vector_bit(faults, status, subcube, s, s ^ t, h - 1) if h > 1 else ZERO
    if bit == ZERO:
        if subcube.dimension < n:
            return h + 2
        bit = _first_vector_bit(faults, status, subcube, s, world.whole & ~(s ^ t), h + 1) if h < n else ZERO
    return _add_first_link(_route_by_vector(faults, status, subcube, s ^ bit, t)) if bit else REFUSED


# ---------------------------------------------------------------- Chen & Shin, Gordon & Stout


def make_bounded_rules(blocked_bits: Any) -> Any:
    """Return A1, DFS and SIDETRACK for a block ``blocked_bits(faults, x, whole)``, with ``faults`` in any form that it accepts.

    The block returns the dimensions of node ``x`` over which a hop is not good, as a mask inside ``whole``, all dimensions.
    The scratch memory ``queue`` has room for n bits, ``stack`` and ``seen`` for min(2^n, DFS_HOPS + 1); a call fills it anew.
    """

    @block
    def a1(faults, s, t, whole, queue):
        """Route by A1.  ``queue`` holds the bits left to correct, in order; an appended bit may be the bit of the last hop."""
        left = np.int64(0)
        rest = s ^ t
        while rest:
            queue[left] = highest_bit(rest)
            rest ^= queue[left]
            left += 1
        tag = ZERO  # bits that no spare hop may take any more
        u = s
        links = np.int64(0)
        while left:
            bad = blocked_bits(faults, u, whole)
            i = np.int64(0)
            while i < left and queue[i] & bad:
                i += 1
            if i < left:
                u ^= queue[i]
                left -= 1
                for j in range(i, left):
                    queue[j] = queue[j + 1]
            else:
                for j in range(left):
                    tag |= queue[j]
                rest = whole & ~tag & ~bad
                if rest == ZERO:
                    return STUCK
                bit = highest_bit(rest)
                tag |= bit
                queue[left] = bit
                left += 1
                u ^= bit
            links += 1
        return links

    @block
    def dfs(faults, s, t, whole, stack, seen):
        """Route by DFS.  ``stack`` holds the bits of the hops from s to the present node, ``seen`` the visited nodes."""
        clear_labels(seen)
        add_label(seen, s)
        u = s
        depth, links = np.int64(0), np.int64(0)
        while u != t:
            good = whole & ~blocked_bits(faults, u, whole)
            rest = good & (u ^ t)
            other = good & ~(u ^ t)
            best = ZERO
            while rest | other and best == ZERO:
                if rest == ZERO:
                    rest = other
                    other = ZERO
                bit = highest_bit(rest)
                rest ^= bit
                if not has_label(seen, u ^ bit):
                    best = bit
            if best == ZERO and depth == 0:
                return STUCK
            if links == DFS_HOPS:
                return LIMIT
            if best == ZERO:
                depth -= 1
                best = stack[depth]
            else:
                stack[depth] = best
                depth += 1
                add_label(seen, u ^ best)
            u ^= best
            links += 1
        return links

    @block
    def sidetrack(faults, s, t, whole, n, key, trial):
        """Route by SIDETRACK: each hop is a random good preferred one, or without one a random good one."""
        u = s
        links = np.int64(0)
        while u != t:
            good = whole & ~blocked_bits(faults, u, whole)
            rest = good & (u ^ t)
            if rest == ZERO:
                rest = good
            if rest == ZERO:
                return STUCK
            if links == SIDETRACK_HOPS * n:
                return LIMIT
            x = random_word(key, trial, np.uint64(links), CHOICES) >> HALF_WORD_BITS
            for _ in range(np.int64((x * np.uint64(popcount(rest))) >> HALF_WORD_BITS)):  # skip so many bits
                rest ^= highest_bit(rest)
            u ^= highest_bit(rest)
            links += 1
        return links

    return a1, dfs, sidetrack


_a1, _dfs, _sidetrack = make_bounded_rules(blocked_bits)


@first_path
@block(always=True, stored=True)
def a1(world, status, s, t):
    """Route by A1 (Chen & Shin)."""
    return _a1(world.faults, s, t, world.whole, world.bits)


@first_path
@block(always=True, stored=True)
def dfs(world, status, s, t):
    """Route by DFS, the depth-first search of Chen & Shin."""
    return _dfs(world.faults, s, t, world.whole, world.bits, world.seen)


@block(always=True, stored=True)
def sidetrack(world, status, s, t):
    """Route by SIDETRACK (Gordon & Stout)."""
    if world.facts[FAULTS_BETWEEN] == 0:
        return popcount(s ^ t)
    return _sidetrack(world.faults, s, t, world.whole, world.n, world.now[POINT_KEY], world.now[TRIAL_NUMBER])


#: The rules by their names.
RULES = {
    "ROUTE": route,
    "ROUTE1": route1,
    "ROUTE3": route3,
    "LEVELS": levels,
    "VECTORS": vectors,
    "A1": a1,
    "DFS": dfs,
    "SIDETRACK": sidetrack,
}
