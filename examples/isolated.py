"""Measure how often a nonfaulty node of Q_n has no nonfaulty neighbour."""

import numpy as np

import fastcube as fc
from fastcube.blocks import status, status_key, threshold


@fc.trial
def isolated(key, t, params, out):
    """Let each node fail with probability p; set out[0] to 1 if a node is isolated, and out[1] to the number of such nodes."""
    n, limit = int(params[0]), threshold(params[1])
    mine = status_key(key, np.uint64(t))
    for v in range(1 << n):
        nonfaulty = 0
        for k in range(n):
            nonfaulty += status(mine, np.uint64(v ^ (1 << k))) >= limit
        if nonfaulty == 0 and status(mine, np.uint64(v)) >= limit:
            out[0] = 1
            out[1] += 1


STUDY = fc.trial_study(
    "isolated",
    "Isolated nonfaulty nodes of Q_n when nodes fail independently",
    [
        fc.Axis("n", "dimension of the cube", int, 1, 16),
        fc.Axis("p", "node failure rate", float, 0, 1, open_above=True),
    ],
    [
        fc.Output("isolated", "some nonfaulty node is isolated"),
        fc.Output("nodes", "isolated nodes", lambda point: 2 ** point["n"]),
    ],
    isolated,
    fc.product_grid(n=[4, 6, 8], p=[0.1, 0.2, 0.3, 0.4, 0.5]),
    trials=20_000,
)
