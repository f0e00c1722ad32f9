"""Trials of the study ``routing-rules-rate``: independently faulty nodes, and the rules that need no safety status.

Every node is faulty with a given rate, decided by a hash of its label on demand.  Sampling works as in ``routing-rate``: a trial
is sampled again as a whole until its ends differ and are nonfaulty.  Pairs are sampled in batches, then evaluated one at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, label_set
from ..draws.pairs import BATCH, Pairs, PairSource, draw_pairs, pair_arrays
from ..draws.statuses import threshold
from ..machine.array_types import Ints, Words
from ..machine.bits import ONE, ZERO, highest_bit, popcount
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..routing.rate import World, is_faulty_node, simulate_route1
from ..routing.rules import LOST, SearchScratch, search_scratch_for
from .layout import BLIND_RULES, RATE, ROUTING_RULES_RATE, N
from .recorders import make_route_recorder
from .rules import make_bounded_rules


@block
def _blocked_bits(world, x, whole):
    """Return the dimensions across which the neighbour of ``x`` is faulty."""
    out = ZERO
    rest = whole
    while rest:
        bit = rest & (ZERO - rest)
        rest ^= bit
        if is_faulty_node(world, x ^ bit):
            out |= bit
    return out


_a1, _dfs, _sidetrack = make_bounded_rules(_blocked_bits)


class Scratch(NamedTuple):
    """Scratch memory of trials at one point."""

    pairs: Pairs
    search: SearchScratch  #: for ROUTE1
    seen: LabelSet  #: the nodes that DFS has visited
    bits: Words  #: list of bits inside one call of a rule: in DFS of the hops on its stack, in A1 of those left to correct
    results: Ints  #: result of each of BLIND_RULES


@scratch
def set_up(n):
    """Return scratch memory for trials in Q_n."""
    capacity = np.int64(1) << min(n, np.int64(17))  # DFS visits at most DFS_HOPS + 1 nodes
    return Scratch(
        pair_arrays(),
        search_scratch_for(np.int64(1)),
        label_set(capacity),
        np.zeros(capacity, np.uint64),
        np.zeros(len(BLIND_RULES), np.int64),
    )


@block
def _simulate_route(world, s, t):
    """Route by ROUTE: return the Hamming distance, or LOST if a node on the first path is faulty."""
    u = s
    while u != t:
        u ^= highest_bit(u ^ t)
        if is_faulty_node(world, u):
            return LOST
    return popcount(s ^ t)


#: Indices of BLIND_RULES.
_ROUTE, _ROUTE1, _A1, _DFS, _SIDETRACK = range(len(BLIND_RULES))

_VALID = int(ROUTING_RULES_RATE.counter("valid"))
_record_route = make_route_recorder(ROUTING_RULES_RATE, BLIND_RULES)


@block
def _evaluate_trial(key, world, s, t, n, trial, scratch, tally):
    """Route by all rules and tally.

    If ROUTE delivers, ROUTE1, A1 and DFS take the same path.  If A1 delivers over the Hamming distance it has found a good
    preferred hop at every node; DFS takes the first such hop at each node, as A1 does, so it takes the same path.
    """
    whole = (ONE << np.uint64(n)) - ONE
    h = popcount(s ^ t)
    results = scratch.results
    results[_ROUTE] = _simulate_route(world, s, t)
    if results[_ROUTE] == h:
        results[_ROUTE1], results[_A1], results[_DFS] = h, h, h
    else:
        results[_ROUTE1] = simulate_route1(world, s, t, whole, np.int64(1), scratch.search)
        results[_A1] = _a1(world, s, t, whole, scratch.bits)
        results[_DFS] = h if results[_A1] == h else _dfs(world, s, t, whole, scratch.bits, scratch.seen)
    results[_SIDETRACK] = _sidetrack(world, s, t, whole, n, key, np.uint64(trial))
    for i in range(len(BLIND_RULES)):
        _record_route(tally, i, results[i], h, trial)


@kernel(TRIALS_SIGNATURE)
def ROUTING_RULES_RATE_SINGLE(key, first, stop, params, tally):  # noqa: N802  (a kernel, as those that factories make)
    """Run trials at (n, rate) = params, 2 <= n <= 62, 0 <= rate < 1; see ``layout.ROUTING_RULES_RATE``."""
    n = np.int64(params[N])
    limit = threshold(params[RATE])
    source = PairSource(key, limit, n, True)
    scratch = set_up(n)
    pairs = scratch.pairs
    for begin in range(first, stop, BATCH):
        count = draw_pairs(begin, min(begin + BATCH, stop), source, pairs)
        tally[_VALID] += count
        for i in range(count):
            world = World(pairs.keys[i], limit)
            _evaluate_trial(
                key, world, pairs.sources[i], pairs.targets[i], n, np.int64(pairs.trials[i]), scratch, tally
            )
