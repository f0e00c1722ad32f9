"""Trials of routing by kernel, and by the plain reference."""

from __future__ import annotations

from collections import Counter

from reference.routing import Cube

import fastcube as fc
from fastcube.kernels.routing import replay
from fastcube.measure import registry

RATE = registry.study("routing-rate")


def record_route(counts, maxima, name, outcome, links, h, trial):
    """What a tally holds of one algorithm's route."""
    if outcome != "delivered":
        counts[f"{name}_{outcome}"] += 1
        return
    products = {
        "delivered": 1,
        "above_hamming": links > h,
        "links": links,
        "distance": h,
        "links_links": links * links,
        "links_distance": links * h,
        "distance_distance": h * h,
    }
    for what, value in products.items():
        counts[f"{name}_{what}"] += value
    if links - h > maxima.get(name, (-1, 0))[0]:
        maxima[name] = links - h, trial


def check_routing(tally, counts, maxima):
    assert tally.counts == {name: counts[name] for name in tally.counts}
    for name, value in tally.maxima.items():
        assert value == maxima.get(name.removesuffix("_excess"), (-1, -1)), name


def check_rate(n, rate, k, trials):
    """So many trials of ``routing-rate`` by the kernel and by the twin."""
    point = {"n": n, "rate": rate, "k": k}
    tally, key = RATE.count(point, trials, first=99), fc.study("routing-rate").key(0, point)
    counts, maxima = Counter(), {}
    for trial in range(99, 99 + trials):
        valid, status_key, s, t = replay.routing_rate(key, trial, n, rate)
        assert valid
        counts["valid"] += 1
        faults = fc.random_faults(rate).__class__(rate, int(status_key))
        cube, s, t = Cube(n, faults.__contains__), int(s), int(t)
        counts["route_delivered"] += cube.route("ROUTE", s, t)[0] == "delivered"
        for name in ("route1", "route2"):
            outcome, path = cube.route(name.upper(), s, t, k)
            h = (s ^ t).bit_count()
            record_route(counts, maxima, name, outcome, len(path) - 1, h, trial)
            counts[f"{name}_at_hamming"] += outcome == "delivered" and len(path) - 1 == h
    check_routing(tally, counts, maxima)
