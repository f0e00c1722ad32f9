"""
A network of your own among the cubes
=====================================

An overlay on 2^n nodes is a rule for neighbours. This one twists the hypercube so that paths get shorter, and the first
try at the twist is wrong: the law of slots finds it before anything is measured. The right one then meets the same
faults, trial for trial, as the hypercube.
"""

# %%
# A rule that is wrong
# --------------------
# Slot d of a node leads to the node that differs in bit d and, where bit d + 1 is set, in all bits below too. That is a
# Moebius cube. The slip: the bit asked for is bit d itself, which the step changes, so that the way back is another one.

import fastcube as fc


def wrong(v, d, n):
    return v ^ ((2 << d) - 1) if (v >> d) & 1 else v ^ (1 << d)


try:
    fc.family("overlay", "a twisted overlay", step=wrong, slots=lambda n: n)
except fc.ParameterError as error:
    print(error)

# %%
# The rule, right
# ---------------
# Every slot is a matching now; the family is *matched* too: slot d flips bit d, so that its links have the names that
# the hypercube's have, and fail together with them.


def step(v, d, n):
    above = (v >> (d + 1)) & 1 if d + 1 < n else 1
    return v ^ ((2 << d) - 1) if above else v ^ (1 << d)


OVERLAY = fc.family("overlay", "a twisted overlay", step=step, slots=lambda n: n)
print(OVERLAY.matched, [fc.diameter(fc.network(OVERLAY, n)) for n in range(2, 9)])

# %%
# One instance
# ------------

net = fc.network(OVERLAY, 8, faulty_nodes=fc.random_faults(0.4, seed=1))
found = fc.survival(net)
print(found.connected, found.isolated, found.components[:4])

# %%
# Is it better than the hypercube?
# --------------------------------
# Each trial looks at both on the same faults, so the difference has a much narrower interval than two runs would give.

STUDY = fc.survival_study(OVERLAY)
results = fc.run(STUDY, n=4, f=range(17), links=0, trials=20_000)
for f in (6, 8, 10):
    gain = results.estimate("connected_diff", f=f)
    print(f"f={f}: {gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]")

# %%
# At any rate of failure
# ----------------------
# Trials at all f are the reliability polynomial.

for rate in (0.05, 0.3, 0.5):
    e = fc.reliability(results, rate, against="hypercube")
    print(f"rate {rate}: {e.value:+.5f} [{e.low:+.5f}, {e.high:+.5f}]")

results.plot()
