"""
A routing rule of your own among thirty years of rules
======================================================

ROUTE3 needs to know the unsafe nodes, and LEVELS needs the level of each node. All nodes compute these together. The rule of
this page looks only two links ahead. In each trial every rule routes the same message among the same faults, so results
differ by the rule alone.
"""

# %%
# The rule
# --------
# A rule is a block ``rule(world, status, s, t)``. It returns the number of links on the message's path, or why the message was
# not delivered. Where every node decides for itself, the rule is made of a block for one step: at a node ``curr`` whose label
# differs from the destination's in the bits ``difference``, it returns the bit to cross, or zero if it finds no such bit.
# ``make_simulator`` makes a rule of it and detects livelocks. The rule of this page moves to the nonfaulty neighbour that has
# the fewest faulty neighbours. It first considers neighbours that are nearer to the destination, then those that are farther.

# sphinx_gallery_thumbnail_path = "pictures/routing-rules-heavy-card.svg"

import numpy as np

import fastcube as fc
from fastcube.blocks import (
    POINT_KEY,
    STUCK,
    TRIAL_NUMBER,
    ZERO,
    block,
    blocked_bits,
    first_path,
    highest_bit,
    make_simulator,
    popcount,
    random_below,
)


@block
def most_careful(faults, curr, among, whole, t):
    """Return the bit of ``among`` whose neighbour is t or has the fewest faulty neighbours; ZERO for none."""
    best, fewest = ZERO, np.int64(64)
    among &= ~blocked_bits(faults, curr, whole)
    while among:
        bit = highest_bit(among)
        among ^= bit
        if curr ^ bit == t:
            return bit
        count = popcount(blocked_bits(faults, curr ^ bit, whole))
        if count < fewest:
            best, fewest = bit, count
    return best


@block
def carefully(faults, curr, difference, whole, k, search):
    """Return the bit of a nonfaulty neighbour that is nearer to the destination, or else of one that is farther."""
    bit = most_careful(faults, curr, difference, whole, curr ^ difference)
    return bit if bit else most_careful(faults, curr, whole & ~difference, whole, curr ^ difference)


walk_carefully = make_simulator(carefully)


@first_path
@block
def careful(world, status, s, t):
    """Return the number of links; ``first_path`` takes ROUTE's path where it has no fault."""
    return walk_carefully(world.faults, s, t, world.whole, np.int64(1), world.search)


# %%
# A random rule
# -------------
# A rule may use random numbers: ``random_below(key, t, i, m)`` is the i-th random integer below m of trial t. It depends on
# these alone, so the trial can be replayed.


@block
def drunken(world, status, s, t):
    """Cross any nonfaulty link, nearer or farther, until the message arrives, 100 hops at most."""
    curr, hops = s, np.int64(0)
    while curr != t:
        good = world.whole & ~blocked_bits(world.faults, curr, world.whole)
        if good == ZERO or hops == 100:
            return STUCK
        for _ in range(random_below(world.now[POINT_KEY], np.int64(world.now[TRIAL_NUMBER]), hops, popcount(good))):
            good ^= highest_bit(good)
        curr ^= highest_bit(good)
        hops += 1
    return hops


# %%
# The table
# ---------
# Trial t has the faults and the message of trial t of study ``routing``. Each rule routes all messages. The study also has the
# paired difference of each other rule and LEVELS, such as ``careful_minus_levels``. ``compared_with="A1"`` compares all rules
# with A1 instead.

STUDY = fc.routing_rules_study([careful, drunken, "ROUTE3", "LEVELS", "A1"])

if __name__ == "__main__":  # not where it is loaded as a study
    results = fc.run(STUDY, n=[6, 8], f=[4, 8, 16], links=0, trials=20_000)
    print(" n   f   delivered: careful  drunken   ROUTE3   LEVELS       A1")
    for point, _ in results:
        e = results.estimates(point)
        fractions = [e[f"{name}_delivered"].value for name in ("careful", "drunken", "route3", "levels", "a1")]
        print(
            f"{point['n']:2}  {point['f']:2}{fractions[0]:20.5f}"
            + "".join(f"{fraction:9.5f}" for fraction in fractions[1:])
        )

# %%
# The careful rule can be caught among faults. The results hold the number of the trial with its longest path. This trial is
# replayed here, with the path of each built-in rule. A rule of your own returns no path, so its result is shown.

if __name__ == "__main__":
    point = {"n": 6, "f": 16, "links": 0}
    longest, trial = results.tallies[6, 16, 0].maxima["careful_most"]
    print(STUDY.explain(point, STUDY.key(0, point), trial).text)
