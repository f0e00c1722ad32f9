"""Trials of independent node faults by kernel, and by the plain reference."""

import numpy as np
from reference.bernoulli import close, faulty_nodes

from fastcube.kernels.unsafe.dispatch import UNSAFE_CRITICAL as TABLE
from fastcube.kernels.unsafe.layout import UNSAFE_CRITICAL as LAYOUT

KEY = 0x9D3F2B1A55AA1234


# every regime: no fault, few, near p_1/2, just below and above 1/64, many, all; probabilities with 1, 8, 9 and 53 digits
POINTS = [
    *((n, p, 24) for n in (1, 2, 3, 4) for p in (0.0, 0.01, 0.015624999, 1 / 64, 0.3, 0.5, 0.9, 1.0)),
    *(
        (n, p, 24)
        for n in (5, 6, 7, 8)
        for p in (0.002, 0.0156, 1 / 64, 0.03125, 0.05, 0.1, 0.37, 255 / 256, 511 / 512)
    ),
    *((n, p, 16) for n, p in ((9, 0.0), (9, 0.0138), (9, 0.0181), (9, 0.2), (10, 0.002), (10, 0.0097), (10, 0.1))),
    *((n, p, 8) for n, p in ((11, 0.0067), (11, 0.04), (12, 0.0046), (12, 0.1), (12, 1.0), (13, 0.003), (14, 0.0021))),
    *((n, p, 3) for n, p in ((15, 0.0015), (16, 0.0005), (16, 0.0011), (16, 0.0012), (16, 0.03))),
]


#: One of three of the small cubes, and all larger ones, of which each has steps of its own.
SELECTED_POINTS = [p for i, p in enumerate(POINTS) if p[0] > 8 or not i % 3]


def tally_of(method, n, p, first, stop, key=KEY):
    tally = LAYOUT.new_tally()
    TABLE.load_kernel(method)(np.uint64(key), first, stop, np.array([n, p]), tally)
    return tally


def reference_tally(n, p, trials):
    """Return the tally of some trials, from the reference implementations of sampling and of the rounds."""
    out = LAYOUT.new_tally()
    best = (-1, 1)
    for t in trials:
        faulty = faulty_nodes(KEY, t, n, p)
        rounds, state = close(faulty, n)
        faults, unsafe = int(faulty.sum()), int(state.sum() - faulty.sum())
        out[:8] += [unsafe, unsafe**2 % 2**32, unsafe**2 >> 32, unsafe > 0, state.all(), rounds, rounds**2, faults]
        best = max(best, (rounds, -t))
    out[8:] = best[0], -best[1]
    return out


def serving_methods(n, p):
    return [name for name in TABLE.names if TABLE.is_served(name, n, p)]


def check_critical(n, p, trials):
    """Compare trials of every kernel that serves a point with the reference implementation."""
    wanted = reference_tally(n, p, range(trials)).tolist()
    for method in serving_methods(n, p):
        assert tally_of(method, n, p, 0, trials).tolist() == wanted
