"""
A routing rule of your own beside ROUTE3
========================================

Is knowing the unsafe nodes worth it? ROUTE3 needs them, and they are found by all nodes together. This rule looks
only two links ahead. Both walk with the same message among the same faults, in one trial, so that what differs
between them is the rule alone.
"""

# %%
# The rule
# --------
# A rule is a block that gives, at a node ``curr`` whose label differs from the destination's in the bits ``apart``, the
# one bit to cross, or zero for none. This one prefers the nonfaulty neighbour with the fewest faulty neighbours of its
# own: among those nearer to the destination first, then among the others. ``walking`` turns it into a whole way and
# tells livelocks.

from typing import Any, NamedTuple

import numpy as np

import fastcube as fc
from fastcube.engine.study import point_key, product_grid
from fastcube.kernels.bits import ONE, ZERO, popcount, top
from fastcube.kernels.faults import blocked, close, draw, faults_for, is_safe
from fastcube.kernels.jit import block
from fastcube.kernels.routing.rules import search_for, walk3, walking


@block
def most_careful(faults, curr, among, whole, t):
    """The bit among these whose nonfaulty neighbour has the fewest faulty neighbours; t itself at once; ZERO for none."""
    best, fewest = ZERO, np.int64(64)
    while among:
        bit = top(among)
        among ^= bit
        if blocked(faults, curr, bit):
            continue
        if curr ^ bit == t:
            return bit
        left, count = whole, np.int64(0)
        while left:
            other = top(left)
            left ^= other
            count += blocked(faults, curr ^ bit, other)
        if count < fewest:
            best, fewest = bit, count
    return best


@block
def careful(faults, curr, apart, whole, k, search):
    """Nearer if any neighbour there is nonfaulty, else farther."""
    bit = most_careful(faults, curr, apart, whole, curr ^ apart)
    return bit if bit else most_careful(faults, curr, whole & ~apart, whole, curr ^ apart)


walk_careful = walking(careful)

# %%
# One trial that runs both
# ------------------------
# The set-up makes room once for all trials of a call. ``draw`` draws the faults and the two ends of study ``routing``'s
# law, ``close`` finds the unsafe nodes for ROUTE3, a walk gives its number of links, or a negative number. Only cubes
# with an active node count, as the paper has it for ROUTE3.


class Room(NamedTuple):
    faults: Any
    search: Any


@fc.trial
def set_up(params):
    return Room(faults_for(np.int64(params[0]), np.int64(params[1]), np.int64(0), np.int64(2)), search_for(np.int64(1)))


@fc.trial
def both_walk(key, t, params, room, out):
    n = np.int64(params[0])
    whole = (ONE << np.uint64(n)) - ONE
    draw(key, t, n, room.faults)
    close(room.faults)
    if not is_safe(room.faults, n):
        return
    out[0] = 1
    s, end = room.faults.ends[0], room.faults.ends[1]
    apart = popcount(s ^ end)
    mine = walk_careful(room.faults, s, end, whole, np.int64(1), room.search)
    theirs = walk3(room.faults, s, end, whole, np.int64(1), room.search)
    out[1] = mine >= 0
    out[2] = theirs >= 0
    out[3] = mine > apart
    out[4] = theirs > apart
    out[5] = mine >= 0 and (theirs < 0 or mine < theirs)
    out[6] = theirs >= 0 and (mine < 0 or theirs < mine)


STUDY = fc.trial_study(
    "careful-routing",
    "A rule that looks two links ahead, beside ROUTE3 on the same messages",
    [
        fc.Axis("n", "dimension of the cube", int, 3, 16),
        fc.Axis("f", "faulty nodes", int, 0, 64),
    ],
    [
        fc.Output("safe", "Q_n is not unsafe"),
        fc.Output("careful_delivered", "the careful rule delivers", among="safe"),
        fc.Output("route3_delivered", "ROUTE3 delivers", among="safe"),
        fc.Output("careful_detour", "the careful rule takes a detour", among="safe"),
        fc.Output("route3_detour", "ROUTE3 takes a detour", among="safe"),
        fc.Output("careful_better", "the careful rule delivers where ROUTE3 does not, or in fewer links", among="safe"),
        fc.Output("route3_better", "ROUTE3 delivers where the careful rule does not, or in fewer links", among="safe"),
    ],
    both_walk,
    product_grid(n=[5, 6, 7, 8], f=[2, 4, 6, 8]),
    set_up=set_up,
    trials=200_000,
)

# %%
# The answer
# ----------

results = fc.run(STUDY)
print(" n   f   delivered: careful   ROUTE3    better: careful   ROUTE3")
for point, _ in results:
    e = results.estimates(point)
    print(
        f"{point['n']:2}  {point['f']:2}{e['careful_delivered'].value:20.6f}{e['route3_delivered'].value:9.6f}"
        f"{e['careful_better'].value:19.6f}{e['route3_better'].value:9.6f}"
    )

# %%
# ROUTE3 never fails where some node is active (Theorem 4); the careful rule can be caught among faults. The first trial
# that shows it is stored as a witness of the largest value seen, and told again:

point = {"n": 5, "f": 4}
largest, trial = results.tallies[5, 4].extremes["route3_better"]
print(STUDY.explain(point, point_key(STUDY.name, 0, point), trial).words)
