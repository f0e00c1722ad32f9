"""
Sui, Wang & Lee: broadcasting on edge-disjoint trees
====================================================

A cube with one faulty node has n - 1 spanning trees that share no directed link. A long message, in packets, goes
down all of them at once.
"""

# %%
# The trees
# ---------
# Q_3 without node 110, broadcast from 000: each row is a tree, the parent of every node, -1 at the root, -2 at the
# faulty node.

import numpy as np

import fastcube as fc

cube = fc.Hypercube(3, faulty_nodes=[0b110])
trees = fc.edge_disjoint_spanning_trees(cube, 0b000)
print(trees)
links = [(int(parent), child) for tree in trees for child, parent in enumerate(tree) if parent >= 0]
print(len(links), "directed links, all different:", len(set(links)) == len(links))

# %%
# How long a broadcast takes
# --------------------------
# Theorem 2 states the steps of M packets. Beside it one tree, and a bound that no schedule can beat.

theorem_2 = fc.run("edst-broadcast", output="edst-broadcast.h5")
theorem_2.plot()

# %%
# The count is one step too many in Q_3 with the faulty node at distance 2, the cube above:

for packets in (1, 2, 3, 4, 8):
    print(packets, "packets:", fc.broadcast_packets(cube, 0b000, packets=packets), "steps on the trees")

# %%
# More faults
# -----------
# How many edge-disjoint trees do f random faulty nodes leave? As many as the smallest degree, nearly always: the share
# of fault sets with fewer.

many = fc.run("edge-disjoint-trees", output="edge-disjoint-trees.h5")
many.plot()

# %%
# The smallest cut certifies the number: for each cube that many directed links part some nodes from the others.

rng = np.random.default_rng(0)
cube = fc.Hypercube(5, faulty_nodes=rng.choice(32, 6, replace=False))
print(fc.max_edge_disjoint_trees(cube), "trees; a cut of", len(fc.minimum_edge_cut(cube)), "links")
