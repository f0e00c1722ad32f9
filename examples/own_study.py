"""
A study of your own, in a notebook
==================================

How often do random faults leave a nonfaulty node without a nonfaulty neighbour? This notebook writes the study, tests it
against a plain loop, and runs it. :doc:`../study` has the same study as a file, with checkpoints and on clusters.
"""

# %%
# A trial
# -------
# ``key`` and ``t`` are all that a trial may depend on, besides the point's values in ``params``. Every node is faulty
# with probability p: its status is a hash of (key, t, label), so nothing has to be stored. ``out`` starts as zeros.

import numpy as np

import fastcube as fc
from fastcube.blocks import status, status_key, threshold


@fc.trial
def cut_off(key, t, params, out):
    n, limit = int(params[0]), threshold(params[1])
    mine = status_key(key, np.uint64(t))
    for v in range(1 << n):
        nonfaulty = 0
        for k in range(n):
            nonfaulty += status(mine, np.uint64(v ^ (1 << k))) >= limit
        if nonfaulty == 0 and status(mine, np.uint64(v)) >= limit:
            out[0] = 1
            out[1] += 1


def study(name):
    return fc.trial_study(
        name,
        "Nonfaulty nodes of Q_n without a nonfaulty neighbour",
        [
            fc.Axis("n", "dimension of the cube", int, 1, 16),
            fc.Axis("p", "node failure rate", float, 0, 1, open_above=True),
        ],
        [
            fc.Output("some", "some node is cut off"),
            fc.Output("nodes", "nodes cut off", lambda point: 2 ** point["n"]),
        ],
        cut_off,
        fc.product_grid(n=[4, 6, 8], p=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        trials=20_000,
    )


mine = study("cut-off")

# %%
# Test it
# -------
# ``count`` runs trials at once, without a file. A plain loop over the same trials must give the same counts, because
# ``explain`` reports one trial.

point = {"n": 4, "p": 0.5}
key = mine.key(0, point)
reported = [mine.explain(point, key, t).data for t in range(1000)]
counts = mine.count(point, 1000).counts
assert counts["some_nonzero"] == sum(one["some"] for one in reported)
assert counts["nodes_total"] == sum(one["nodes"] for one in reported)
print(counts)

# %%
# The mean is also known from theory. A node is nonfaulty and cut off with probability (1 - p) p^n, so 2^n (1 - p) p^n nodes
# are cut off on average.

results = fc.run(mine)
for point, _ in results:
    e = results.estimates(point)["nodes"]
    exact = 2 ** point["n"] * (1 - point["p"]) * point["p"] ** point["n"]
    assert e.low <= exact <= e.high
    print(f"n={point['n']} p={point['p']}: {e.value:.5f} in [{e.low:.5f}, {e.high:.5f}], exactly {exact:.5f}")

# %%
# The figure
# ----------
# A study without a figure of its own gets a plot of the statistics of its table.

results.plot()
