"""
A routing rule of your own beside thirty years of others
========================================================

Is knowing the unsafe nodes worth it? ROUTE3 needs them, LEVELS needs levels, and both are found by all nodes together. This
rule looks only two links ahead. All walk with the same message among the same faults, in one trial, so that what differs
between them is the rule alone.
"""

# %%
# The rule
# --------
# A rule of a table is a block ``rule(world, words, s, t)`` that gives the links on a message's way, or why it ends elsewhere. If
# every node decides anew, it is made of one that gives, at a node ``curr`` whose label differs from the destination's in the
# bits ``apart``, the one bit to cross, or zero for none: ``make_simulator`` turns that into a whole way and tells
# livelocks. This one prefers the nonfaulty neighbour with the fewest faulty neighbours of its own: among those nearer to
# the destination first, then among the others.

# sphinx_gallery_thumbnail_path = "pictures/rivals-heavy-card.svg"

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
    """The bit among these whose neighbour has the fewest faulty neighbours; t itself at once; ZERO for none."""
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
def carefully(faults, curr, apart, whole, k, search):
    """Nearer if any neighbour there is nonfaulty, else farther."""
    bit = most_careful(faults, curr, apart, whole, curr ^ apart)
    return bit if bit else most_careful(faults, curr, whole & ~apart, whole, curr ^ apart)


walk_carefully = make_simulator(carefully)


@first_path
@block
def careful(world, words, s, t):
    """The whole way; where no fault is on ROUTE's path nothing is risked on it."""
    return walk_carefully(world.faults, s, t, world.whole, np.int64(1), world.search)


# %%
# One that draws
# --------------
# A rule may throw dice: ``below(key, t, i, m)`` is the i-th whole number of the trial, so that the trial can be replayed alone.


@block
def drunken(world, words, s, t):
    """Over any good link, nearer or farther, until it is there, 100 hops at most."""
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
# Trial t has the faults and the message of trial t of study ``routing``. Each rule is measured among all messages; where LEVELS
# is among them the study also has what each of its rivals gains over it, trial by trial.

STUDY = fc.rivals_study([careful, drunken, "ROUTE3", "LEVELS", "A1"])

if __name__ == "__main__":  # not where it is loaded as a study
    results = fc.run(STUDY, n=[6, 8], f=[4, 8, 16], links=0, trials=20_000)
    print(" n   f   delivered: careful  drunken   ROUTE3   LEVELS       A1")
    for point, _ in results:
        e = results.estimates(point)
        shares = [e[f"{name}_delivered"].value for name in ("careful", "drunken", "route3", "levels", "a1")]
        print(f"{point['n']:2}  {point['f']:2}{shares[0]:20.5f}" + "".join(f"{share:9.5f}" for share in shares[1:]))

# %%
# The careful rule can be caught among faults. The trial in which it takes its longest way is stored as a witness, and told again,
# with every rule's way beside it:

if __name__ == "__main__":
    point = {"n": 6, "f": 16, "links": 0}
    longest, trial = results.tallies[6, 16, 0].extremes["careful_most"]
    print(STUDY.explain(point, STUDY.key(0, point), trial).words)
