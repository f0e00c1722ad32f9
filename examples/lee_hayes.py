"""
Lee & Hayes: unsafe nodes, routing, broadcasting
================================================

Which nodes of a faulty hypercube should a message avoid, and how much do algorithms gain that avoid them?
"""

# %%
# Figure 8 of the paper
# ---------------------
# The figure shows the average fraction of unsafe nodes with f random faulty nodes. The paper states less than 15% for f up
# to floor(n/2), and the grid is the paper's. One fault makes no node unsafe, so f = 1 has no place on the logarithmic axis.
# The file stores the sample, so the same line reads it the next time.

import fastcube as fc

figure_8 = fc.run("unsafe-fraction", output="unsafe-fraction.h5")
figure_8.plot()

# %%
# One cube
# --------
# Faults 0000, 0110 and 1101 of Q_4 look harmless, but node 0010 has two faulty neighbours and is therefore unsafe. It makes
# further nodes unsafe in turn. After five rounds, as many as the paper's bound allows, no active node is left.

cube = fc.Hypercube(4, faulty_nodes=[0b0000, 0b0110, 0b1101])
unsafe = fc.find_unsafe(cube)
print(unsafe.rounds, "rounds, all unsafe:", unsafe.all_unsafe, [str(part) for part in unsafe.subcubes])

# %%
# One trial of the figure
# -----------------------
# A trial is a pure function of study, seed, point and its number, so any trial can be explained later. This is trial 5 at
# n = 6, f = 3.

study = fc.study("unsafe-fraction")
point = {"n": 6, "f": 3}
print(study.explain(point, study.key(0, point), 5).text)

# %%
# Routing
# -------
# The paper measures none of its routing algorithms. Here all four route the same messages among the same faults. ROUTE
# ignores faults, ROUTE1 and ROUTE2 look at their neighbours, whereas ROUTE3 avoids unsafe nodes.

routing = fc.run("routing", trials=230_000, output="routing.h5")
routing.plot()

# %%
# For example, both shortest paths from 000 to 011 are blocked if 001 and 010 are faulty. ROUTE loses the message, and ROUTE1
# sends it to 100 and back for ever, but ROUTE3 takes a detour of two more links.

cube = fc.Hypercube(3, faulty_nodes=[0b001, 0b010])
for algorithm in ("ROUTE", "ROUTE1", "ROUTE2", "ROUTE3"):
    r = fc.route(cube, 0b000, 0b011, algorithm=algorithm)
    print(f"{algorithm:7}{r.outcome:10}", [cube.label(v) for v in r.path])

# %%
# Broadcasting
# ------------
# Which fraction of the nonfaulty nodes does a broadcast reach? The first algorithm ignores faults, and the other two do not.

broadcast = fc.run("broadcast", trials=280_000, output="broadcast.h5")
broadcast.plot()
