"""
Wang, Lin & Kuo: multicast in wormhole hypercubes
=================================================

A 2-partition divides a faulty cube into supernodes of four nodes with at most one fault each. A multicast then follows a
Hamilton path of supernodes. Does the partition exist, how many channels does a multicast take, and can it deadlock?
"""

# %%
# Partitions
# ----------
# How often do f random faults leave a 2-partition, and how often does the greedy search of Figure 2 find it? Up to n - 1
# faults always leave one.

import fastcube as fc

partitions = fc.run("two-partition", trials=130_000, output="two-partition.h5")
partitions.plot()

# %%
# One multicast
# -------------

cube = fc.Hypercube(4, faulty_nodes=[0b0101, 0b1000])
m = fc.multicast(cube, 0b0000, [0b0011, 0b1110, 0b1111, 0b0100])
print("2-partition", m.partition, "; channels", m.N, "; delivered to", [cube.label(v) for v in sorted(m.delivered)])

# %%
# Table 3
# -------
# The figure compares the channels that a multicast takes in Q_10 with the numbers of the paper.

table_3 = fc.run("multicast", trials=57_000, output="multicast.h5")
table_3.plot()

# %%
# Theorem 2: no deadlock
# ----------------------
# The theorem excludes deadlocks, but with n - 1 faults two messages to one destination each can wait for one another for
# ever, for example in Q_3 with faults 000 and 111:

cube = fc.Hypercube(3, faulty_nodes=[0b000, 0b111])
w = fc.simulate_wormhole(cube, [(0b011, [0b101]), (0b100, [0b010])])
print("deadlocked:", w.deadlocked)
w = fc.simulate_wormhole(cube, [(0b011, [0b101]), (0b100, [0b010])], virtual_channels=2)
print("with a second virtual channel:", w.deadlocked)

# %%
# The figure shows how often the channel dependency graph has a cycle, with one and with two virtual channels.

deadlock = fc.run("multicast-deadlock", output="multicast-deadlock.h5")
deadlock.plot()
