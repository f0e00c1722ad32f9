"""
Leu & Kuo: gathering data over a tree
=====================================

FIND_TREE chooses a communication tree with few faulty links, FTTC works around the faulty ones that are left. The
paper measures neither.
"""

# %%
# One cube
# --------
# Example 2 of the paper: three faulty links of Q_3, and a tree without any of them.

import fastcube as fc

cube = fc.Hypercube(3, faulty_links=[(0b100, 0b101), (0b101, 0b111), (0b001, 0b011)])
tree = fc.find_tree(cube)
print(tree, "; faulty links in it:", tree.faulty_links)

# %%
# How often is there no fault in FIND_TREE's tree?
# ------------------------------------------------
# Always with one faulty link, not with two; a tree without faulty links exists whenever there are at most n - 1. The
# best tree is found by a search of all of them: above, how many faulty links each has, below, how often none.

trees = fc.run("optimal-tree", trials=14_000, output="optimal-tree.h5")
trees.plot()

# %%
# What arrives
# ------------
# FTTC in three variants: Figure 13 of the paper by the letter, by the comments printed beside it, and corrected.

gathered = fc.run("gather", output="gather.h5")
gathered.plot()

# %%
# Example 3 by the letter: nodes 0000, 1000 and 1001 wait for ever. By the comments nothing is lost.

cube = fc.Hypercube(4, faulty_links=[(0b1011, 0b1010), (0b1011, 0b1001)])
tree = fc.CommunicationTree(cube, sink=0, order=(0, 1, 2, 3))
for variant in ("as_printed", "as_commented", "corrected"):
    g = fc.gather(cube, tree, variant=variant)
    print(f"{variant:9}lost {g.lost} of {g.expected} units, waiting for ever: {[cube.label(v) for v in g.blocked]}")

# %%
# What it costs
# -------------
# Steps over n, beside a detour for each faulty link.

rerouting = fc.run("rerouting", trials=36_000, output="rerouting.h5")
rerouting.plot()
