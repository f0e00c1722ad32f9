"""
Li, Peng & Chu: routing in faulty dual-cubes
============================================

DC(m) joins 2^(2m+1) nodes with m + 1 links each. How often does a rule that queries only neighbours deliver a message, and
how long is its path?
"""

# %%
# Figures 1 and 2
# ---------------
# The figures show success rate and path length when every node is faulty with the same probability, for m = 5 .. 9 as in the
# paper. It states more than 90% below a rate of 30%, and in most cases more than 50% up to 50%.

import fastcube as fc

figures = fc.run("dualcube-routing", trials=4_600, output="dualcube-routing.h5")
figures.plot()

# %%
# 2^61 nodes
# ----------
# DC(30) has 2^61 nodes, which no memory holds. But the status of a node is a hash of its label, computed on demand, so the
# cost of a trial depends only on the nodes that its route visits.

large = fc.run("dualcube-routing", grid="large", output="dualcube-routing-large.h5")
large.plot()

# %%
# One route
# ---------
# Three of ten nodes of DC(20) are faulty. The lines show a route between two nonfaulty nodes, its length, the distance
# without faults, and the number of statuses that were queried.

dual = fc.DualCube(20, faulty_nodes=fc.random_faults(0.3, seed=1))
r = fc.route(dual, 5, 2**40 + 12345)
print(
    r.outcome,
    r.length,
    "links; distance without faults",
    dual.intact_distance(5, 2**40 + 12345),
    "; statuses queried",
    r.lookups,
)

# %%
# An error of the printed algorithm
# ---------------------------------
# The printed algorithm of Theorem 1 fails with a single faulty node of DC(1), although a path of four links exists. The
# corrected algorithm delivers.

dual = fc.DualCube(1, faulty_nodes=[0b000])
print("shortest path:", fc.distance(dual, 0b001, 0b010), "links")
for variant in ("as_printed", "corrected"):
    print(variant, fc.route(dual, 0b001, 0b010, algorithm="OFFLINE", k=0, variant=variant))
