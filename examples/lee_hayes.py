"""
Lee & Hayes: unsafe nodes, routing, broadcasting
================================================

Which nodes of a faulty hypercube should a message keep away from, and how well do algorithms do that keep away from
them?
"""

# %%
# Figure 8 of the paper
# ---------------------
# The average fraction of unsafe nodes among f random faulty ones. The paper states less than 15% for f up to floor(n/2);
# the grid is the paper's. One fault makes no node unsafe, so f = 1 has no place on the logarithmic axis. What is sampled is
# kept in the file: the same line again reads it.

import fastcube as fc

figure_8 = fc.run("unsafe-fraction", output="unsafe-fraction.h5")
figure_8.plot()

# %%
# One cube
# --------
# Faults 0000, 0110 and 1101 of Q_4 look harmless. Node 0010 has two faulty neighbours, so it is unsafe, and so on; after
# five rounds, as many as the paper's bound allows, no node is left.

cube = fc.Hypercube(4, faulty_nodes=[0b0000, 0b0110, 0b1101])
unsafe = fc.find_unsafe(cube)
print(unsafe.rounds, "rounds, all unsafe:", unsafe.all_unsafe, [str(part) for part in unsafe.subcubes])

# %%
# One trial of the figure
# -----------------------
# A trial is a pure function of study, seed, point and its number. Here is trial 5 at n = 6, f = 3, in words.

study = fc.study("unsafe-fraction")
point = {"n": 6, "f": 3}
print(study.explain(point, study.key(0, point), 5).text)

# %%
# Routing
# -------
# The paper measures none of its routing algorithms. All four take the same messages among the same faults; ROUTE knows
# of no fault, ROUTE1 and ROUTE2 look at their neighbours, ROUTE3 keeps away from unsafe nodes.

routing = fc.run("routing", trials=230_000, output="routing.h5")
routing.plot()

# %%
# One of those messages. From 000 to 011 both ways that are short are shut: ROUTE loses the message, ROUTE1 sends it to
# 100 and back for ever, ROUTE3 goes round in two links more.

cube = fc.Hypercube(3, faulty_nodes=[0b001, 0b010])
for algorithm in ("ROUTE", "ROUTE1", "ROUTE2", "ROUTE3"):
    r = fc.route(cube, 0b000, 0b011, algorithm=algorithm)
    print(f"{algorithm:7}{r.outcome:10}", [cube.label(v) for v in r.path])

# %%
# Broadcasting
# ------------
# What share of the nonfaulty nodes a broadcast reaches, by an algorithm that knows of no fault and by two that do.

broadcast = fc.run("broadcast", trials=280_000, output="broadcast.h5")
broadcast.plot()
