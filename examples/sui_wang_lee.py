"""
Sui, Wang & Lee: broadcasting on edge-disjoint trees
====================================================

How fast is a broadcast of a long message? A cube with one faulty node has n - 1 spanning trees that share no directed link,
so the packets of the message can travel on all of them at once.
"""

# %%
# The trees
# ---------
# The source is 000, and node 110 of Q_3 is faulty. Each row is a tree, given by the parent of every node, with -1 at the root
# and -2 at the faulty node.

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
# Theorem 2 states the number of steps of M packets. The figure compares it with a single tree, and with a lower bound for all
# schedules.

theorem_2 = fc.run("edst-broadcast", output="edst-broadcast.h5")
theorem_2.plot()

# %%
# In the cube above, whose faulty node is at distance 2 from the source, the theorem counts one step too many:

for packets in (1, 2, 3, 4, 8):
    print(packets, "packets:", fc.broadcast_packets(cube, 0b000, packets=packets), "steps on the trees")

# %%
# More faults
# -----------
# How many edge-disjoint trees do f random faulty nodes leave? Nearly always as many as the smallest degree. The second panel
# shows the fraction of fault sets that leave fewer.

many = fc.run("edge-disjoint-trees", output="edge-disjoint-trees.h5")
many.plot()

# %%
# The smallest cut certifies the number, because every tree must cross it on a directed link of its own.

rng = np.random.default_rng(0)
cube = fc.Hypercube(5, faulty_nodes=rng.choice(32, 6, replace=False))
print(fc.max_edge_disjoint_trees(cube), "trees; a cut of", len(fc.minimum_edge_cut(cube)), "links")
