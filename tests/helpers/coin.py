"""A study of two outputs, sampled by a user's trial, and shared by all tests, so that it is compiled once."""

import numpy as np

import fastcube as fc
from fastcube.kernels.draws import philox
from fastcube.measure.study import product_grid


@fc.trial
def coins(key, t, params, out):
    """out[0]: word 0 is below the probability; out[1]: how many of ten bits of word 1 are set."""
    limit = np.uint64(params[0] * 2.0**64)
    out[0] = philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS) < limit
    word = philox.random_word(key, np.uint64(t), np.uint64(1), philox.LABELS)
    for i in range(10):
        out[1] += np.int64(word >> np.uint64(i)) & 1


COIN = fc.trial_study(
    "coin",
    "A biased coin",
    [fc.Axis("p", "probability", float, 0, 1)],
    [fc.Output("head", "head"), fc.Output("bits", "bits set", 10)],
    coins,
    product_grid(p=[0.5, 0.01]),
    trials=5000,
)
