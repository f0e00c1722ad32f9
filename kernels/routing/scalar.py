"""Routing trials one at a time, for any n, faults, links and k.  Lane kernels give identical counts and use it for hard trials.

A trial runs ROUTE, ROUTE1(k), ROUTE2(k) and, unless all nodes of Q_n are unsafe, ROUTE3(1) on one fault set between one pair of
ends.  ROUTE's path corrects the bits in which the ends differ from the most significant down.  A nonfaulty node is *unsafe* if it
has two or more faulty or unsafe neighbours, or a faulty link, and else *active*; the faulty and unsafe nodes form subcubes.  Up
to n = 12 the routes are compared with a shortest path.  ``ROUTING_SETS`` counts every fault set of a small cube.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import SUBCUBES, Faults, draw, faults_for, is_faulty, is_safe, next_sparing_set, unsafe_subcubes
from ..machine.array_types import I64
from ..machine.bits import ONE, ZERO, popcount
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .entry import (
    ROUTE_DELIVERED,
    SAME_SUBCUBE,
    record1,
    record2,
    record3,
    record_active,
    record_comparison,
    record_limit,
    record_shortest,
)
from .layout import FIRST_ELEMENT, LEAST_LINKS, LINKS, MAX_SEARCHED_DIMENSION, RADIUS, F, K, N
from .rules import (
    LOST,
    SearchScratch,
    is_on_route,
    route_passes,
    search_scratch_for,
    simulate_route1,
    simulate_route2,
    simulate_route3,
)
from .shortest import SearchBitmasks, find_shortest_length, search_bitmasks_for


class RoutingScratch(NamedTuple):
    """Scratch memory of trials at one point."""

    n: I64
    k: I64
    faults: Faults  #: of the trial
    search: SearchScratch  #: for ROUTE2
    cube: SearchBitmasks  #: for ``find_shortest_length``


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, f, links, k) = params."""
    n = np.int64(params[N])
    k = np.int64(params[K])
    faults = faults_for(n, np.int64(params[F]), np.int64(params[LINKS]), np.int64(2))
    return RoutingScratch(n, k, faults, search_scratch_for(k), search_bitmasks_for(n))


@block
def is_same_subcube(faults, s, t):
    """Whether two nonfaulty nodes are in one maximal unsafe subcube (R21)."""
    found = False
    for i in range(faults.size[SUBCUBES]):
        found |= ((faults.base[i] ^ s) | (faults.base[i] ^ t)) & ~faults.free[i] == ZERO
    return found


@block
def is_closed_on_route(faults, s, t):
    """Whether a faulty or unsafe node lies on ROUTE's path."""
    for i in range(faults.size[SUBCUBES]):
        fixed = ~faults.free[i]
        if is_on_route((faults.base[i] ^ s) & fixed, (faults.base[i] ^ t) & fixed):
            return True
    return False


def make_trial_finisher(route1: Any, route2: Any, route3: Any, find_shortest: Any, is_same: Any) -> Any:
    """Return the block ``finish_trial(work, path_clear, path_unsafe, has_active, s, t, trial, tally)``.

    It routes and counts one trial; ``work`` has the fields n, k, faults, search and cube.

    - ``path_clear``: no fault is on ROUTE's path.  ROUTE1 and ROUTE2 then take that path, because they try it first at each of
      its nodes.
    - ``path_unsafe``: a faulty or unsafe node is on that path.  If not, ROUTE3 takes the path, because the first nearer neighbour
      is active at each node.
    - ``has_active``: some node is active.

    ROUTE2(1) equals ROUTE1(1): both send to the first nonfaulty nearer neighbour, and without one both take the same detour.

    Parameters
    ----------
    route1, route2, route3 : block
        Simulators of ROUTE1, ROUTE2 and ROUTE3 (``rules.make_simulator``) on ``work.faults``, which are closed.
    find_shortest : block
        ``find_shortest(faults, s, t, n, cube)``: links of a shortest path, or -1.
    is_same : block
        ``is_same(faults, s, t)``: whether two nonfaulty nodes are in one maximal unsafe subcube (R21).
    """

    @block
    def finish_trial(work, path_clear, path_unsafe, has_active, s, t, trial, tally):
        faults, search, k = work.faults, work.search, work.k
        whole = (ONE << np.uint64(work.n)) - ONE
        h = popcount(s ^ t)
        links1 = h
        links2 = h
        links3 = LOST
        if not path_clear:
            links1 = route1(faults, s, t, whole, k, search)
            links2 = links1 if k == 1 else route2(faults, s, t, whole, k, search)
        tally[ROUTE_DELIVERED] += path_clear
        record1(tally, links1, h, trial)
        record2(tally, links2, h, trial)
        record_limit(tally, links2)
        if has_active:
            links3 = route3(faults, s, t, whole, k, search) if path_unsafe else h
            record_active(tally, 1, path_clear, links1 >= 0, links2 >= 0)
            record3(tally, links3, h, trial)
            record_comparison(tally, links1, links3)
            tally[SAME_SUBCUBE] += is_same(faults, s, t)
        if work.n <= MAX_SEARCHED_DIMENSION:
            shortest = h  # no path is shorter
            if h not in (links1, links2, links3):
                shortest = find_shortest(faults, s, t, work.n, work.cube)
            record_shortest(tally, links1, links2, links3, shortest)

    return finish_trial


finish_trial = make_trial_finisher(
    simulate_route1, simulate_route2, simulate_route3, find_shortest_length, is_same_subcube
)


@block
def run_trial(key, t, params, work, tally):
    """Sample, route and tally trial ``t``."""
    faults = work.faults
    draw(key, t, work.n, faults)
    unsafe_subcubes(faults)
    source, target = faults.ends[0], faults.ends[1]
    path_clear = route_passes(faults, source, target)
    path_unsafe = is_closed_on_route(faults, source, target)
    finish_trial(work, path_clear, path_unsafe, is_safe(faults, work.n), source, target, t, tally)


#: Kernel at (n, f, links, k) = params; see ``layout.ROUTING``.
ROUTING_SINGLE = trials_kernel(set_up, run_trial)


@block
def is_crowded(faults, f, whole, k, radius):
    """Whether a nonfaulty node has more than k of the f faulty nodes within distance ``radius``; False for radius 0."""
    for x in range(whole + ONE if radius > 0 and f > k else ZERO):
        near, nearest = 0, radius  # 0 in ``nearest``: x is faulty
        for i in range(f):
            distance = popcount(faults.labels[i] ^ np.uint64(x))
            near += distance <= radius
            nearest = min(nearest, distance)
        if nearest > 0 and near > k:
            return True
    return False


@block
def run_set(key, t, params, work, tally):
    """Run and tally all messages from node 0 under the fault set at the end of ``params``."""
    faults, n, f = work.faults, work.n, np.int64(params[F])
    radius, least = np.int64(params[RADIUS]), np.int64(params[LEAST_LINKS])
    next_sparing_set(n, params[FIRST_ELEMENT:], faults)
    if is_crowded(faults, f, (ONE << np.uint64(n)) - ONE, work.k, radius):
        return
    unsafe_subcubes(faults)
    has_active = is_safe(faults, n)
    for x in range(1, 1 << n):
        end = np.uint64(x)
        if popcount(end) >= least and not is_faulty(faults, end):
            path_clear, path_unsafe = route_passes(faults, ZERO, end), is_closed_on_route(faults, ZERO, end)
            finish_trial(work, path_clear, path_unsafe, has_active, ZERO, end, t, tally)


#: Kernel of all C(2^n - 1, f) fault sets without node 0, with messages from node 0 to every other node.  Translations of all
#: labels are symmetries of routing, so these messages represent all pairs of ends.  Its parameters are (n, f, 0, k, radius,
#: least, 0, 1, ..., f - 1).  With ``radius`` > 0 it leaves out fault sets in which a nonfaulty node has more than k faults within
#: that distance, and destinations nearer than ``least`` links; (0, 1) leaves out nothing.
ROUTING_SETS = trials_kernel(set_up, run_set)
