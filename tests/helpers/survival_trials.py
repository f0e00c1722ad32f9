"""Trials of survival by kernel, and by the plain reference."""

from __future__ import annotations

import numpy as np
from reference import survival
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.kernels.cube.slots import SLOTS
from fastcube.kernels.survival import dispatch as tables
from fastcube.kernels.survival import replay
from fastcube.kernels.survival.layout import SURVIVAL
from fastcube.kernels.survival.layout import SURVIVAL_COMPONENTS as PARTS
from helpers.tallies import check_counts, new_counts

KEY = 0x5EED0123456789AB


FAMILIES = fc.network_families()


def agrees(events, trials, p):
    """Whether a binomial count is within its two-sided 1e-6 limits."""
    p = float(p)
    return min(bdtr(events, trials, p), bdtrc(events - 1, trials, p) if events else 1.0) > 5e-7


def count_trials(kernel, name, n, f, k=0, first=0, trials=1, key=KEY, layout=SURVIVAL):
    slots = layout.new_tally()
    params = np.array([list(SLOTS).index(name), n, f, k], np.float64)
    kernel.compiled(np.uint64(key), np.int64(first), np.int64(first + trials), params, slots)
    counts, maxima = layout.read(slots)
    return counts | {f"most_{name}": value for name, value in maxima.items()}


def reference_outcomes(name, n, drawn):
    """What the twin makes of trials, each (faulty nodes, names of faulty links, ends), of a network and the hypercube."""
    for faulty, dead, ends in drawn:
        pair = tuple(int(x) for x in ends) if len(ends) else None
        links = [(int(v), int(d)) for v, d in dead]
        own = survival.survival(name, n, map(int, faulty), links, pair)
        cube = [(v, d) for v, d in links if d < n]  # only asked where these are links of the hypercube
        yield own, survival.survival("hypercube", n, map(int, faulty), cube, pair)


def sample_trials(name, n, f, k, trials):
    """Return the samples of trials: faulty nodes, names of faulty links, and s and t."""
    table = FAMILIES[name].table(n)
    return [replay.sample_survival(np.uint64(KEY), t, n, f, k, table) for t in trials]


def count_pairs(sizes):
    """Pairs of nodes of one component."""
    return sum(size * (size - 1) // 2 for size in sizes)


def check_parts(name, n, f, k, first, trials):
    """So many trials of ``survival-components`` by the kernel and by the twin."""
    drawn = sample_trials(name, n, f, k, range(first, first + trials))
    found = count_trials(
        tables.SURVIVAL_COMPONENTS.kernel(name, n, f, k), name, n, f, k, first=first, trials=trials, layout=PARTS
    )
    out = new_counts(PARTS)
    most = (-1, -1)
    for t, (own, cube) in enumerate(reference_outcomes(name, n, drawn), first):
        size = int(own.largest * (2**n - f))
        out["largest"] += size
        out["largest_squares"] += size**2
        out["components"] += own.parts
        out["components_squares"] += own.parts**2
        out["some"] += own.parts > 0
        for g in (2, 3):
            out[f"extra_{g}"] += own.parts > 1 and min(own.sizes) > g
            out[f"at_least_{g + 1}_components"] += own.parts >= g + 1
        second = own.sizes[1] if own.parts > 1 else 0
        out["second"] += second
        out["second_squares"] += second**2
        out["second_some"] += second > 0
        joined = count_pairs(own.sizes)
        out["connected_pairs"] += joined
        out["connected_pairs_squares"] += joined**2
        out["connected_pairs_some"] += joined > 0
        if not k or FAMILIES[name].is_compared(n):
            gain = joined - count_pairs(cube.sizes)
            out["connected_pairs_diff"] += gain
            out["connected_pairs_diff_squares"] += gain**2
            out["connected_pairs_differs"] += gain != 0
        most = max(most, (own.parts, t), key=lambda pair: (pair[0], -pair[1]))
        if own.distance is not None:
            out["reached"] += 1
            out["length"] += own.distance
            out["length_squares"] += own.distance**2
            out["length_bins"][min(own.distance, 63)] += 1
            out["intact"] += own.intact
            out["intact_squares"] += own.intact**2
            out["length_intact"] += own.distance * own.intact
            other = cube if not k or FAMILIES[name].is_compared(n) else own
            if other.distance is not None:
                gain = own.distance - other.distance
                out["both"] += 1
                out["both_length"] += own.distance
                out["both_squares"] += own.distance**2
                out["distance_diff"] += gain
                out["distance_diff_squares"] += gain**2
                out["distance_diff_nonzero"] += gain != 0
    assert found.pop("most_components") == most
    check_counts(found, out, f"{name}, n={n}, f={f}, links={k}, trials {first} to {first + trials - 1}")
