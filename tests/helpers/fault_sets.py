"""Fault sets of every study, looked at."""

import pytest

import fastcube as fc
from fastcube.measure import registry
from fastcube.networks.faults import RandomFaults


def small_points():
    """The first point of each grid of each study that has some faults."""
    for study in registry.studies().values():
        for grid in study.grids:
            axes = ("f", "links", "rate", "p", "d", "failed")
            point = next((p for p in grid.points if any(p.get(a) for a in axes)), None)
            if point and point.get("m", 0) < 10 and point.get("n", 0) <= 12:
                yield pytest.param(study, point, id=f"{study.name}-{grid.name}")


def flatten_labels(value):
    """Labels in one list, whatever the nesting."""
    return [x for v in value for x in flatten_labels(v)] if isinstance(value, list) else [value]


def check_replay(study, point, trials=(0, 1, 70)):
    """Assert that replay shows the fault sets of these trials."""
    point = study.point(point)
    for trial in trials:
        reported = study.explain(point, study.key(5, point), trial).data

        def sampled_value(what, trial=trial):
            return fc.fault_sets(study.name, field=what, seed=5, first=trial, trials=1, **point)[0]

        others = dict(study.sample(point, study.key(5, point), trial).others)
        if others.pop("discarded", False):
            continue
        if "messages" in reported:  # sources and destinations, nested
            reported |= {
                "sources": [s for s, _ in reported["messages"]],
                "destinations": [d for _, d in reported["messages"]],
            }
        for name, value in others.items():
            assert (
                flatten_labels(reported[name]) == flatten_labels(value) == flatten_labels(sampled_value(name).tolist())
            )
        links = sampled_value("faulty_links").tolist()
        assert links == reported.get("faulty_links", [])
        nodes = sampled_value("faulty_nodes").tolist()
        if "faulty_nodes" in reported:
            assert nodes == reported["faulty_nodes"] if study.name != "edst-broadcast" else nodes == [reported["f"]]
        if "status_key" in reported:
            lazy = RandomFaults(point["rate"], reported["status_key"])
            bits = point["n"] if "n" in point else 2 * point["m"] + 1
            assert nodes == [v for v in range(2**bits) if v in lazy]
