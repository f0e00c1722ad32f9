"""Trials of independent node faults by kernel, and by the plain reference."""

from reference.bernoulli import close, faulty_nodes

from fastcube.kernels.unsafe.dispatch import UNSAFE_CRITICAL as TABLE
from fastcube.kernels.unsafe.layout import UNSAFE_CRITICAL as LAYOUT
from fastcube.measure.tally import Tally
from helpers.tallies import check_tally, count_trials, new_counts

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
    return count_trials(TABLE.load_kernel(method), LAYOUT, (n, p), first, stop, key)


def reference_tally(n, p, first, stop):
    """Return the tally of some trials, from the reference implementations of sampling and of the rounds."""
    out, most = new_counts(LAYOUT), (-1, -1)
    for t in range(first, stop):
        faulty = faulty_nodes(KEY, t, n, p)
        rounds, state = close(faulty, n)
        faults, unsafe = int(faulty.sum()), int(state.sum() - faulty.sum())
        out["unsafe_nodes"] += unsafe
        out["unsafe_nodes_squared"] += unsafe**2
        out["with_unsafe"] += unsafe > 0
        out["all_unsafe"] += state.all()
        out["rounds"] += rounds
        out["rounds_squared"] += rounds**2
        out["rounds_bins"][rounds] += 1
        out["faults"] += faults
        most = max(most, (rounds, t), key=lambda pair: pair[0])
    return Tally(((first, stop),), out, {"rounds": most})


def serving_methods(n, p):
    return [name for name in TABLE.names if TABLE.is_served(name, n, p)]


def check_critical(n, p, trials, first=0):
    """Compare trials of every kernel that serves a point with the reference implementation."""
    wanted = reference_tally(n, p, first, first + trials)
    for method in serving_methods(n, p):
        check_tally(tally_of(method, n, p, first, first + trials), wanted, f"{method}, n={n}, p={p}")
