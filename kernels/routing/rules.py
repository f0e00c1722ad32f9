"""The rules ROUTE1(k), ROUTE2(k) and ROUTE3(1), and the simulation of messages by such rules (Lee & Hayes 1988, section 3).

A rule is a block ``rule(world, curr, difference, whole, k, search) -> bit``.  At node ``curr``, whose label differs from the
destination's in the dimensions ``difference``, it returns the single bit of the dimension to send on, ZERO if all links are
refused, or CUT if its search expands too many nodes.  ``whole`` is the mask of all n dimensions.  Bits are tried from the
most significant down, because the paper counts links from the left.  :func:`make_simulator` makes a message simulator from
a rule, so that a user's own rule can be run on the same faults as the paper's rules::

    @block
    def mine(world, curr, difference, whole, k, search): ...

    simulate_mine = make_simulator(mine)
    links = simulate_mine(faults, s, t, whole, np.int64(1), search)      # or STUCK, LIVELOCK, LIMIT

``world`` holds the faults, as :class:`fastcube.kernels.draws.faults.Faults` or in any form that a user's blocks accept.  The
rules query it only by the block ``blocked(world, x, bit)``, whether a link or the node behind it is faulty, and ROUTE3(1) also by
``is_closed(world, x)``, whether a node is faulty or unsafe.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..draws import faults as listed
from ..draws.faults import FAULTY_LINKS, FAULTY_NODES
from ..machine.array_types import Ints, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, highest_bit, popcount
from ..machine.jit import block, scratch

#: Results for a message that is not delivered; the result for a delivered message is its number of links, 0 or more.
STUCK, LIVELOCK, LIMIT, LOST = np.int64(-1), np.int64(-2), np.int64(-3), np.int64(-4)

#: Largest number of nodes that ROUTE2's searches for one message may expand.
MOST_EXPANDED = np.int64(1 << 16)

#: Returned by a rule in place of a bit when its search is cut off.
CUT = ALL_BITS


class SearchScratch(NamedTuple):
    """Scratch memory of ROUTE2's searches, made by :func:`search_scratch_for`.

    A search lasts for one call of the rule, a message for all its calls: only ``expanded`` and ``path`` outlive a search.
    """

    nodes: Words  #: (64): the nodes of the search's current path
    left: Words  #: (64): the bits left to try at each of them
    seen: LabelSet  #: the nodes that the search has visited
    expanded: Ints  #: (1): nodes expanded for this message; a simulator of ROUTE2 sets it to 0
    path: Words  #: (2^17, or 0 up to k = 2): the nodes on the route of a message that is cut off


@scratch
def search_scratch_for(k):
    """Return scratch memory for searches of depth k; up to k = 2 no visited nodes are stored, because none is reached twice."""
    most_nodes = MOST_EXPANDED if k > 2 else np.int64(0)
    return SearchScratch(
        np.zeros(64, np.uint64),
        np.zeros(64, np.uint64),
        label_set(most_nodes),
        np.zeros(1, np.int64),
        # Each link nearer to t expands a node or delivers, and a route has at most n more links away from t than towards it.  So
        # this holds all nodes of a route that is cut off, or all but its last n.
        np.zeros(2 * most_nodes, np.uint64),
    )


def _make_memoryless_simulator(rule: Any) -> Any:
    """Return the block ``simulate(world, s, t, whole, k, search)``: links on a message's route, or STUCK, LIVELOCK, LIMIT.

    A rule has no memory (R8), so a node that is reached again proves a livelock.  No path is stored: a node is compared with the
    node before the last, and with the node at the last power of two of the links (Brent 1980).
    """

    @block
    def simulate(world, s, t, whole, k, search):
        curr = s
        previous = ALL_BITS
        mark = s
        links = np.int64(0)
        power = np.int64(1)
        while curr != t:
            bit = rule(world, curr, curr ^ t, whole, k, search)
            if bit == ZERO:
                return STUCK
            if bit == CUT:
                return LIMIT
            following = curr ^ bit
            if following in (previous, mark):
                return LIVELOCK
            previous = curr
            curr = following
            links += 1
            if links == power:
                mark = curr
                power += power
        return links

    return simulate


def _make_cutoff_classifier(rule: Any) -> Any:
    """Return the block ``classify_cutoff`` for messages cut off: LIVELOCK if one met a node twice before, else LIMIT.

    Only the nodes that fit into ``search.path`` are compared.  Up to k = 2 it holds none, so the result is always LIMIT.
    """

    @block
    def classify_cutoff(world, s, t, whole, k, search):
        search.expanded[0] = 0
        curr = s
        for links in range(search.path.size):
            for i in range(links):
                if search.path[i] == curr:
                    return LIVELOCK
            search.path[links] = curr
            bit = rule(world, curr, curr ^ t, whole, k, search)
            if bit == CUT:
                return LIMIT
            curr ^= bit
        return LIMIT

    return classify_cutoff


def _make_sampling_simulator(rule: Any) -> Any:
    """Return the simulator of a randomised rule, whose message may revisit nodes and is stopped after 8 n links (V8)."""

    @block
    def simulate(world, s, t, whole, k, search, key, trial):
        curr = s
        links = np.int64(0)
        while curr != t:
            if links == np.int64(8) * popcount(whole):
                return LIMIT
            bit = rule(world, curr, curr ^ t, whole, k, search, key, trial, links)
            if bit == ZERO:
                return STUCK
            curr ^= bit
            links += 1
        return links

    return simulate


def make_simulator(rule: Any, searching: bool = False, drawing: bool = False) -> Any:
    """Return the block ``simulate(world, s, t, whole, k, search)``: links on a message's route, or the reason of its failure.

    Parameters
    ----------
    rule : block
        A rule as described at the top of this module.
    searching : bool
        The rule may return CUT.
    drawing : bool
        The rule is randomised, or has a memory: it is ``rule(world, curr, difference, whole, k, search, key, trial, links)`` and
        the simulator is ``simulate(world, s, t, whole, k, search, key, trial)``.  ``links`` (int64) counts the links so far, so
        that ``random_below(key, trial, links, m)`` is a new number at each node.  Visiting a node again is then not a livelock;
        after 8 n links the message ends with LIMIT.
    """
    if drawing:
        return _make_sampling_simulator(rule)
    simulate_rule = _make_memoryless_simulator(rule)
    if not searching:
        return simulate_rule
    classify_cutoff = _make_cutoff_classifier(rule)

    @block
    def simulate(world, s, t, whole, k, search):
        search.expanded[0] = 0
        links = simulate_rule(world, s, t, whole, k, search)
        return classify_cutoff(world, s, t, whole, k, search) if links == LIMIT else links

    return simulate


def _make_detour_finder(blocked: Any) -> Any:
    """Return the block ``find_detour(world, curr, difference, whole, k)``: the next hop when no minimal path is free (R6)."""

    @block
    def find_detour(world, curr, difference, whole, k):
        """Return the first g whose path curr(g, f_1, ..., f_l, g) has no fault among its first k nodes (R6); ZERO for none."""
        steps = min(k, popcount(difference) + 2)  # l + 2 links: g twice, because a detour has to be crossed back
        rest = whole & ~difference
        while rest:
            g = highest_bit(rest)
            rest ^= g
            clear_path = not blocked(world, curr, g)
            y = curr ^ g
            left = difference
            j = np.int64(1)
            while clear_path and j < steps:
                bit = highest_bit(left) if left else g
                left &= ~bit
                clear_path = not blocked(world, y, bit)
                y ^= bit
                j += 1
            if clear_path:
                return g
        return ZERO

    return find_detour


def _make_route1_rule(blocked: Any, find_detour: Any) -> Any:
    """Return the rule of ROUTE1(k)."""

    @block
    def route1(world, curr, difference, whole, k, search):
        """Return ROUTE1(k)'s bit (Figure 4): try cyclic shifts of the minimal path f_1, ..., f_l, then the detours (R4-R6)."""
        steps = min(k, popcount(difference))
        rest = difference
        while rest:
            first = highest_bit(rest)
            rest ^= first
            y = curr
            left = difference & (first | (first - ONE))
            clear_path = True
            for _ in range(steps):
                if left == ZERO:
                    left = difference & ~(first | (first - ONE))
                bit = highest_bit(left)
                left ^= bit
                if blocked(world, y, bit):
                    clear_path = False
                    break
                y ^= bit
            if clear_path:
                return first
        return find_detour(world, curr, difference, whole, k)

    return route1


def _make_route2_rule(blocked: Any, find_detour: Any) -> Any:
    """Return the rule of ROUTE2(k)."""

    @block
    def route2(world, curr, difference, whole, k, search):
        """Return ROUTE2(k)'s bit: try the first k nodes of minimal paths in lexicographic order, then ROUTE1(k)'s detours (R7).

        The search is depth first.  The paths behind a node depend only on the node, so no node is visited twice.
        """
        goal = min(k, popcount(difference))
        nodes, left = search.nodes, search.left
        nodes[0] = curr
        left[0] = difference
        depth = np.int64(0)
        first = ZERO
        clear_labels(search.seen)
        while depth >= 0:
            if left[depth] == ZERO:
                depth -= 1
                continue
            bit = highest_bit(left[depth])
            left[depth] ^= bit
            if depth == 0:
                first = bit
            if blocked(world, nodes[depth], bit):
                continue
            if depth + 1 == goal:
                return first
            y = nodes[depth] ^ bit
            if goal > 2 and not add_label(search.seen, y):
                continue
            if search.expanded[0] == MOST_EXPANDED:
                return CUT
            search.expanded[0] += 1
            depth += 1
            nodes[depth] = y
            left[depth] = y ^ curr ^ difference
        return find_detour(world, curr, difference, whole, k)

    return route2


def make_route_rules(blocked: Any) -> Any:
    """Return the rules of ROUTE1 and ROUTE2 for a block ``blocked(world, x, bit)``."""
    find_detour = _make_detour_finder(blocked)
    return _make_route1_rule(blocked, find_detour), _make_route2_rule(blocked, find_detour)


def _make_bit_finder(is_refused: Any) -> Any:
    """Return the block ``find_bit(world, curr, dims)``: the first of the bits ``dims`` that is not refused, or ZERO."""

    @block(always=True)
    def find_bit(world, curr, dims):
        while dims:
            bit = highest_bit(dims)
            dims ^= bit
            if not is_refused(world, curr, bit):
                return bit
        return ZERO

    return find_bit


def make_route3_rule(blocked: Any, is_closed: Any) -> Any:
    """Return the rule of ROUTE3(1) for blocks ``blocked(world, x, bit)`` and ``is_closed(world, x)``: faulty or unsafe."""

    @block(always=True)
    def leads_to_closed(world, curr, bit):
        return is_closed(world, curr ^ bit)

    find_active, find_nonfaulty = _make_bit_finder(leads_to_closed), _make_bit_finder(blocked)

    @block
    def route3_rule(world, curr, difference, whole, k, search):
        """Return ROUTE3(1)'s bit (Figure 6): try nearer active, then nearer unsafe, then farther active neighbours (R10, R11).

        The ends of a faulty link are faulty or unsafe, so a faulty link never leads to an active node.
        """
        bit = find_active(world, curr, difference)
        if bit == ZERO:
            bit = find_nonfaulty(world, curr, difference)
        if bit == ZERO:
            bit = find_active(world, curr, whole & ~difference)
        return bit

    return route3_rule


route1_rule, route2_rule = make_route_rules(listed.blocked)
route3_rule = make_route3_rule(listed.blocked, listed.is_closed)  # the faults after ``unsafe_subcubes``
simulate_route1, simulate_route2, simulate_route3 = (
    make_simulator(route1_rule),
    make_simulator(route2_rule, searching=True),
    make_simulator(route3_rule),
)


@block
def is_on_route(e, r):
    """Whether ROUTE's path from s to t contains a node y, or overlaps a subcube, with offsets e = y ^ s and r = y ^ t.

    Offsets of a subcube are those outside its free dimensions.  The path corrects bits from the most significant down.  After
    some corrections its node agrees with t down to a bit, and with s below that bit.  So y is on the path iff all bits in which
    it differs from t lie below the lowest bit in which it differs from s.  A subcube overlaps the path iff this holds for its
    fixed dimensions, because its free dimensions can be chosen.
    """
    return r & (e | (ZERO - e)) == ZERO


@block
def route_passes(faults, s, t):
    """Whether no faulty node and no faulty link is on ROUTE's path."""
    for i in range(faults.size[FAULTY_NODES]):
        if is_on_route(faults.labels[i] ^ s, faults.labels[i] ^ t):
            return False
    for i in range(faults.size[FAULTY_LINKS]):  # a shortest path with both ends of a link on it uses the link
        x = faults.lower[i]
        y = x | ONE << faults.dims[i]
        if is_on_route(x ^ s, x ^ t) and is_on_route(y ^ s, y ^ t):
            return False
    return True
