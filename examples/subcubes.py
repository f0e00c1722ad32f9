"""
How large a block can a scheduler still give to a job?
======================================================

This page compares the whole blocks that are left when nodes of a 1,024-node machine fail: any fault-free subcube, and only the
aligned blocks that a buddy system allocates.
"""

import matplotlib.pyplot as plt

import fastcube as fc

# %%
# One machine
# -----------
# A star is a free dimension, so seven stars are a block of 128 nodes.

faulty_nodes = fc.fault_sets("free-subcube", n=10, f=16, links=0, trials=1)[0]
cube = fc.Hypercube(10, faulty_nodes)
print("any:    ", fc.fault_free_subcube(cube))
print("aligned:", fc.fault_free_subcube(cube, aligned=True))

# %%
# Many machines
# -------------
# Both kinds are looked for under the same faults.

faults = range(2, 65, 2)
results = fc.run("free-subcube", n=10, f=faults, links=0, trials=10_000)
for name, label in (("fault_free_eighth", "any subcube"), ("aligned_eighth", "aligned block")):
    estimates = [results.estimate(name, f=f) for f in faults]
    plt.plot(faults, [e.value for e in estimates], label=label)
    plt.fill_between(faults, [e.low for e in estimates], [e.high for e in estimates], alpha=0.3)
plt.xlabel("faulty nodes of 1,024")
plt.ylabel("P(a fault-free block of 128 nodes)")
plt.legend()
plt.show()
