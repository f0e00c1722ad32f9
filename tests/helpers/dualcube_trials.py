"""Trials of dual-cube routing by kernel, and by the plain reference."""

from __future__ import annotations

import itertools

import numpy as np
from reference import dualcube as twin

import fastcube as fc
from fastcube.kernels.dualcube import scalar as kernels

KEY = 0x1234_5678_9ABC_DEF0


def philox(key, block, half, purpose):
    a, b, c, d = block & 0xFFFFFFFF, block >> 32, half, purpose
    x, y = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (q >> 32) ^ b ^ x, q & 0xFFFFFFFF, (p >> 32) ^ d ^ y, p & 0xFFFFFFFF
        x, y = (x + 0x9E3779B9) & 0xFFFFFFFF, (y + 0xBB67AE85) & 0xFFFFFFFF
    return a | b << 32, c | d << 32


def reference_pair(key, trial, m, rate):
    """Reading B8, by the book."""
    status_key = philox(key, trial, 0, 2)[0]
    faulty = twin.lazy_faults(status_key, rate)
    labels = 2 ** (2 * m + 1) - 1
    if m <= 2 and sum(not faulty(u) for u in range(labels + 1)) < 2:
        return None
    i = 0
    while True:
        s, t = (w & labels for w in philox(key, trial, i, 6))
        if s != t and not faulty(s) and not faulty(t):
            return [status_key, s, t, trial]
        i += 1


def run_trials(study, m, rate, first, stop, key=KEY):
    tally = study.tally.new_tally()
    kernels.TRIALS(key, first, stop, np.array([m, rate], float), tally)
    return tally


def reference_tally(study, m, rate, first, stop):
    """What the kernel counts, from the recipe and the twin."""
    counts = dict.fromkeys((c.name for c in study.tally.counters), 0)
    maxima = {"longest": (-1, -1), "detour": (-1, -1)}
    searching = m <= 9
    for trial in range(first, stop):
        drawn = reference_pair(KEY, trial, m, rate)
        if drawn is None:
            counts["discarded"] += 1
            continue
        key, s, t, _ = drawn
        plain = twin.Practical(m, twin.lazy_faults(key, rate))
        path, reason = plain.route(s, t)
        shortest = plain.shortest(s, t) if searching else None
        counts["valid"] += 1
        if searching or trial % 64 == 0:
            counts["lookups_counted"] += 1
            counts["lookups"] += len(plain.asked)
            counts["lookups_lookups"] += len(plain.asked) ** 2
        if shortest is not None:
            counts["connected"] += 1
        if path is None:
            counts[reason] += 1
            continue
        length, distance = len(path) - 1, twin.distance_without_faults(m, s, t)
        counts["delivered"] += 1
        sums = {"length": length, "distance": distance}
        if shortest is not None:
            sums["shortest"] = shortest
            counts["shortest_routes"] += length == shortest
            counts["longer"] += length > shortest
        counts["detours"] += length > distance
        for (a, x), (b, y) in itertools.combinations_with_replacement(sums.items(), 2):
            if f"{a}_{b}" in counts:
                counts[f"{a}_{b}"] += x * y
        for name, value in sums.items():
            counts[name] += value
        for name, value in (("longest", length), ("detour", length - distance)):
            if value > maxima[name][0]:
                maxima[name] = (value, trial)
    return counts, maxima


#: m, rate, the first trial and how many.  At (4, 0.5) one from 3 on walks to t in vain where another node of its cluster could
#: do it, and two from 2590 on go around the cluster of both ends, as 1 in 500 does: what only these meet, others would not miss.
TALLIES = [(m, rate, 3, 147) for m, rate in ((1, 0.6), (3, 0.5), (5, 0.3), (3, 0.4), (11, 0.4), (4, 0.5))]


def check_trials(m, rate, trials):
    """Compare trials of the kernel with the reference implementation."""
    study = fc.study("dualcube-routing")
    assert study.tally.read(run_trials(study, m, rate, 0, trials)) == reference_tally(study, m, rate, 0, trials)
