"""A study that a test can count by hand: output 0 is one bit of the trial's word 0, output 1 its next three bits."""

import numpy as np

import fastcube as fc
from fastcube.kernels.draws import philox
from fastcube.measure.study import product_grid


@fc.trial
def bits(key, t, params, out):
    word = philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS)
    out[0] = np.int64(word & np.uint64(1))
    out[1] = np.int64((word >> np.uint64(1)) & np.uint64(7))
    for _ in range(int(params[1])):  # only to take time, 2 ns each
        word ^= word << np.uint64(13)
        word ^= word >> np.uint64(7)
        word ^= word << np.uint64(17)
    if word == np.uint64(0xFFFFFFFFFFFFFFFF):
        out[0] = 2


TOY = fc.trial_study(
    "toy",
    "Bits of a word",
    [fc.Axis("a", "a label", int, 0, 100), fc.Axis("work", "loops a trial", float, 0, 1e12)],
    [fc.Output("bit", "one bit"), fc.Output("octal", "three bits", 7)],
    bits,
    product_grid(a=[1, 2], work=[0.0]),
    trials=5000,
    source="none",
)
