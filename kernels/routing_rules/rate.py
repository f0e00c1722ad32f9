"""Trials of the study ``routing-rules-rate``: independently faulty nodes, and the rules that need no safety status.

Every node is faulty with a given rate, decided by a hash of its label on demand.  Sampling works as in ``routing-rate``: a trial
is sampled again as a whole until its ends differ and are nonfaulty.  Pairs are sampled in batches, then evaluated one at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, label_set
from ..draws.nodes import status, threshold
from ..draws.pairs import BATCH, Pairs, PairSource, draw_pairs, pair_arrays
from ..machine.array_types import Ints, Words
from ..machine.bits import ONE, ZERO, highest_bit, popcount
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..routing.rate import walk1
from ..routing.rules import LOST, SearchScratch, search_scratch_for
from .layout import BLIND_RULES, RATE, ROUTING_RULES_RATE, N
from .rules import make_bounded_rules
from .scalar import make_route_recorder


@block
def _blocked_bits(world, x, whole):
    """Return the dimensions across which the neighbour of ``x`` is faulty."""
    out = ZERO
    rest = whole
    while rest:
        bit = rest & (ZERO - rest)
        rest ^= bit
        if status(world[0], x ^ bit) < world[1]:
            out |= bit
    return out


_a1, _dfs, _sidetrack = make_bounded_rules(_blocked_bits)


class Scratch(NamedTuple):
    pairs: Pairs
    search: SearchScratch
    seen: LabelSet
    came: Words
    links: Ints  #: result of each rule


@scratch
def set_up(n):
    deep = np.int64(1) << min(n, np.int64(17))
    return Scratch(
        pair_arrays(),
        search_scratch_for(np.int64(1)),
        label_set(deep),
        np.zeros(deep, np.uint64),
        np.zeros(8, np.int64),
    )


@block
def _first_path(world, s, t):
    """Route by ROUTE: return the Hamming distance, or LOST if a node on the first path is faulty."""
    u = s
    while u != t:
        u ^= highest_bit(u ^ t)
        if status(world[0], u) < world[1]:
            return LOST
    return popcount(s ^ t)


_VALID = int(ROUTING_RULES_RATE.counter("valid"))
_record_route = make_route_recorder(ROUTING_RULES_RATE, BLIND_RULES)


@block
def _evaluate_trial(key, world, s, t, n, at, scratch, tally):
    """Route by all rules and tally; if ROUTE delivers, ROUTE1, A1 and DFS take the same path."""
    whole = (ONE << np.uint64(n)) - ONE
    h = popcount(s ^ t)
    links = scratch.links
    links[0] = _first_path(world, s, t)
    if links[0] == h:
        links[1], links[2], links[3] = h, h, h
    else:
        links[1] = walk1(world, s, t, whole, np.int64(1), scratch.search)
        links[2] = _a1(world, s, t, whole, scratch.came)
        links[3] = h if links[2] == h else _dfs(world, s, t, whole, scratch.came, scratch.seen)
    links[4] = _sidetrack(world, s, t, whole, n, key, np.uint64(at))
    for i in range(len(BLIND_RULES)):
        _record_route(tally, i, links[i], h, at)


@kernel(TRIALS_SIGNATURE)
def ROUTING_RULES_RATE_SINGLE(key, first, stop, params, tally):  # noqa: N802  (a kernel, as those that factories make)
    """Run trials at (n, rate) = params, 2 <= n <= 62, 0 <= rate < 1; see ``layout.ROUTING_RULES_RATE``."""
    n = np.int64(params[N])
    limit = threshold(params[RATE])
    lazy = PairSource(key, limit, n, True)
    scratch = set_up(n)
    pairs = scratch.pairs
    for begin in range(first, stop, BATCH):
        count = draw_pairs(begin, min(begin + BATCH, stop), lazy, pairs)
        tally[_VALID] += count
        for i in range(count):
            world = (pairs.keys[i], limit)
            _evaluate_trial(
                key, world, pairs.sources[i], pairs.targets[i], n, np.int64(pairs.trials[i]), scratch, tally
            )
