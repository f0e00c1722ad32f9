"""
Leu & Kuo: gathering data over a tree
=====================================

Does all data arrive at one node? FIND_TREE chooses a communication tree with few faulty links, and FTTC works around the
faulty links that remain in it. The paper measures neither.
"""

# %%
# One cube
# --------
# In Example 2 of the paper Q_3 has three faulty links, but FIND_TREE finds a tree without any of them.

import fastcube as fc

cube = fc.Hypercube(3, faulty_links=[(0b100, 0b101), (0b101, 0b111), (0b001, 0b011)])
tree = fc.find_tree(cube)
print(tree, "; faulty links in it:", tree.faulty_links)

# %%
# How often is there no fault in FIND_TREE's tree?
# ------------------------------------------------
# Always with one faulty link, but not always with two, although a tree without faulty links exists whenever at most n - 1
# links are faulty. A search of all trees finds the best one. The upper panels show the mean number of faulty links of
# each tree, and the lower panels how often a tree has none.

trees = fc.run("optimal-tree", trials=14_000, output="optimal-tree.h5")
trees.plot()

# %%
# What arrives
# ------------
# FTTC has three variants here: Figure 13 of the paper as printed, as its printed comments describe it, and corrected.

gathered = fc.run("gather", output="gather.h5")
gathered.plot()

# %%
# In Example 3 as printed, nodes 0000, 1000 and 1001 wait for ever. As commented, nothing is lost.

cube = fc.Hypercube(4, faulty_links=[(0b1011, 0b1010), (0b1011, 0b1001)])
tree = fc.CommunicationTree(cube, sink=0, order=(0, 1, 2, 3))
for variant in ("as_printed", "as_commented", "corrected"):
    g = fc.gather(cube, tree, variant=variant)
    print(f"{variant:9}lost {g.lost} of {g.expected} units, waiting for ever: {[cube.label(v) for v in g.blocked]}")

# %%
# How long it takes
# -----------------
# The figure shows steps divided by n, compared with a detour for each faulty link.

rerouting = fc.run("rerouting", trials=36_000, output="rerouting.h5")
rerouting.plot()
