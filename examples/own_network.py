"""
A network of your own among the cubes
=====================================

How can you measure a network of your own? A network on 2^n nodes is a function that returns the neighbour of a
node over each of its slots. A first version has an error, which fastcube finds before any trial. The corrected network is
then compared with the hypercube: trial t has the same faulty nodes in both.
"""

# %%
# A function with an error
# ------------------------
# In a Moebius cube, slot d of a node leads to the node that differs in bit d. If bit d + 1 of the node is set, all bits
# below d differ too; above the top slot it counts as set. The function ``wrong`` tests bit d in place of bit d + 1. The step
# changes bit d, so slot d of the neighbour does not lead back.

import fastcube as fc


def wrong(v, d, n):
    return v ^ ((2 << d) - 1) if (v >> d) & 1 else v ^ (1 << d)


try:
    fc.custom_network("overlay", "a twisted overlay", step=wrong, slots=lambda n: n)
except fc.ParameterError as error:
    print(error)

# %%
# The corrected function
# ----------------------
# Now every slot is a matching. Slot d always flips bit d, so the network is also *matched*: its links have the names of the
# hypercube's links, and both networks have the same faulty links.


def step(v, d, n):
    above = (v >> (d + 1)) & 1 if d + 1 < n else 1
    return v ^ ((2 << d) - 1) if above else v ^ (1 << d)


OVERLAY = fc.custom_network("overlay", "a twisted overlay", step=step, slots=lambda n: n)
print(OVERLAY.is_matched(8), [fc.diameter(fc.network(OVERLAY, n)) for n in range(2, 9)])

# %%
# One fault set
# -------------

net = fc.network(OVERLAY, 8, faulty_nodes=fc.random_faults(0.4, seed=1))
found = fc.survival(net)
print(found.connected, found.isolated, found.components[:4])

# %%
# Is it better than the hypercube?
# --------------------------------
# Each trial counts both networks on the same faults. ``connected_diff`` is the mean difference per trial.

STUDY = fc.survival_study(OVERLAY)
results = fc.run(STUDY, n=4, f=range(17), links=0, trials=20_000)
for f in (6, 8, 10):
    gain = results.estimate("connected_diff", f=f)
    print(f"f={f}: {gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]")

# %%
# At any failure rate
# -------------------
# From trials at all f, ``fc.reliability`` computes the difference at a rate at which each node fails independently.

for rate in (0.05, 0.3, 0.5):
    e = fc.reliability(results, rate, against="hypercube")
    print(f"rate {rate}: {e.value:+.5f} [{e.low:+.5f}, {e.high:+.5f}]")

results.plot()
