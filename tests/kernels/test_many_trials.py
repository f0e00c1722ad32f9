"""Wherever two kernels serve a point they count the same trials alike, many of them: nothing else sees flaws of 1e-5 a trial.

Where one kernel serves it is held against the plain twin on 10^4 trials.

The points come from the tables of ``kernels/*/dispatch.py``: for each two kernels that serve one, both sides of the change from
one to the other, at the smallest, a middle and the largest n where it happens.
"""

from __future__ import annotations

import functools
import itertools
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from helpers import (
    dualcube_trials,
    gathering_trials,
    multicast_trials,
    planted_trials,
    routing_trials,
    spanning_trials,
    survival_trials,
    unicast_trials,
    unsafe_rate_trials,
)

import fastcube as fc
from fastcube import kernels as kernels_package
from fastcube.kernels.broadcasting import dispatch as broadcasting
from fastcube.kernels.dualcube import dispatch as dualcube
from fastcube.kernels.machine.dispatch import KernelTable
from fastcube.kernels.partition import dispatch as partition
from fastcube.kernels.routing import dispatch as routing
from fastcube.kernels.survival import dispatch as survival
from fastcube.kernels.trees import dispatch as trees
from fastcube.kernels.unicast import dispatch as unicast
from fastcube.kernels.unsafe import dispatch as unsafe

#: Most and fewest trials of one comparison, and seconds that both kernels may take: a point where they hold fewer is left out.
MOST, FEWEST, SECONDS = 10**6, 1000, 2.0

#: Most trials that a kernel does together: one of them takes as long.
TOGETHER = 512

#: Numbers of faults, links and destinations that are looked through: all small ones, then ten to a doubling.
SIZES = tuple(sorted({*range(34), *(round(2 ** (i / 10)) for i in range(50, 161))}))


@dataclass(frozen=True, eq=False)
class Sweep:
    """The points of a study that are looked through: its axis n (or m) by ``along``, at each of ``others``."""

    study: str
    table: KernelTable
    along: str
    values: tuple[float, ...]
    others: tuple[dict[str, Any], ...] = ({},)

    def points(self, others):
        """Those of them that there are, by n and the number of the value."""
        study = fc.study(self.study)
        axis = next(axis for axis in study.axes if axis.name in ("n", "m"))
        out = {}
        for n, (i, value) in itertools.product(range(int(axis.low), int(axis.high) + 1), enumerate(self.values)):
            try:
                point = study.point({axis.name: n, self.along: value, **others})
                study.check(point)
            except fc.ParameterError:
                continue
            out[n, i] = point
        return out


RATES = tuple(i / 200 for i in range(1, 200, 3))
SWEEPS = (
    Sweep("unsafe-fraction", unsafe.UNSAFE_FRACTION, "f", SIZES),
    Sweep("unsafe-critical", unsafe.UNSAFE_CRITICAL, "p", RATES),
    Sweep("routing", routing.ROUTING, "f", SIZES, tuple({"links": 0, "k": k} for k in (1, 2, 4))),
    Sweep("broadcast", broadcasting.BROADCAST, "f", SIZES, ({"links": 0},)),
    Sweep("find-tree", trees.FIND_TREE, "links", SIZES, ({"f": 0},)),
    Sweep("optimal-tree", trees.OPTIMAL_TREE, "links", SIZES, ({"f": 0},)),
    Sweep("two-partition", partition.TWO_PARTITION, "f", SIZES),
    Sweep(
        "survival",
        survival.SURVIVAL,
        "f",
        SIZES,
        tuple(
            {"network": network, "links": links}
            for network, links in (("hypercube", 0), ("crossed", 0), ("moebius1", 9))
        ),
    ),
    Sweep("survival-rate", survival.SURVIVAL_RATE, "rate", RATES, ({"network": "crossed", "link_rate": 0.0},)),
    Sweep("rivals", unicast.RIVALS, "f", SIZES, ({"links": 0},)),
    Sweep("dualcube-routing", dualcube.DUALCUBE_ROUTING, "rate", tuple(i / 10 for i in range(10))),
)


@functools.cache
def looked_through(sweep, number):
    """The points at one of the others, and the kernel that is taken at each."""
    points = sweep.points(sweep.others[number])
    return points, {at: sweep.table.choose_name(*point.values()) for at, point in points.items()}


def served(sweep, number, a, b):
    """Points of each n that both kernels serve: the sides of a change between them, or else one where one of them is taken."""
    points, taken = looked_through(sweep, number)
    both = {at for at, p in points.items() if all(sweep.table.is_served(name, *p.values()) for name in (a, b))}
    changes, near, some = {}, {}, {}
    for n, i in sorted(both):
        for other in ((n, i + 1), (n + 1, i)):
            if other in both and {taken[n, i], taken[other]} == {a, b}:
                changes.setdefault(n, []).append([points[n, i], points[other]])
        if taken[n, i] in (a, b):
            near.setdefault(n, []).append([points[n, i]])
        some.setdefault(n, []).append([points[n, i]])
    found, part = (changes, 0.25) if changes else (near or some, 0.6)  # the dense end may take seconds a trial
    return {n: those[int(part * len(those))] for n, those in found.items()}


def chosen(sweep, a, b):
    """Those at the smallest, a middle and the largest n, in turn at each of the others."""
    out = []
    for number in range(max(3, len(sweep.others))):
        by_n = served(sweep, number % len(sweep.others), a, b)
        at = sorted(by_n)
        out += by_n[at[(0, len(at) // 2, -1)[number % 3]]] if at else []
    return [point for i, point in enumerate(out) if point not in out[:i]]


PAIRS = [(sweep, a, b) for sweep in SWEEPS for a, b in itertools.combinations(sweep.table.names, 2)]


def counted(kernel, study, point, first, stop):
    """Counters and extremes; the digits that a counter is kept in may differ."""
    slots = study.tally.new_tally()
    kernel.compiled(np.uint64(study.key(7, point)), first, stop, study.parameters(point), slots)
    return study.tally.read(slots)


def seconds(kernel, study, point):
    """About what a trial among many takes, once the kernel is compiled; too long to be compared where that is certain."""
    counted(kernel, study, point, 0, 0)
    trials = 1
    while True:
        begin = time.process_time()
        counted(kernel, study, point, 0, trials)
        took = time.process_time() - begin
        if took > SECONDS / FEWEST * max(trials, TOGETHER) or (trials >= TOGETHER and took > 0.02) or trials >= 4096:
            return took / trials
        trials *= 8


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="millions of trials need compiled code")
@pytest.mark.parametrize(("sweep", "a", "b"), PAIRS, ids=lambda value: getattr(value, "study", value))
def test_two_kernels_count_the_same_trials_alike(sweep, a, b):
    study = fc.study(sweep.study)
    one, other = sweep.table.load_kernel(a), sweep.table.load_kernel(b)
    for point in chosen(sweep, a, b):
        took = [seconds(kernel, study, point) for kernel in (one, other)]
        trials = min(MOST, int(SECONDS / sum(took)))
        if trials < FEWEST:
            continue
        first = 5 + 2**35
        one_way, other_way = (counted(kernel, study, point, first, first + trials) for kernel in (one, other))
        assert one_way == other_way, (point, trials)


#: The modules with thresholds inside their kernels, and the table by which other kernels serve the same points.
EDGES_OF = {
    "broadcasting.lanes": broadcasting.BROADCAST,
    "partition.lanes": partition.TWO_PARTITION,
    "routing.lanes": routing.ROUTING,
    "survival.lanes": survival.SURVIVAL,
    "trees.lanes": trees.FIND_TREE,
    "trees.lattice_lanes": trees.OPTIMAL_TREE,
    "unicast.lanes": unicast.RIVALS,
    "unicast.whole_cube": unicast.RIVALS,
    "unsafe.lanes": unsafe.UNSAFE_FRACTION,
}
STUDY_OF = {sweep.table: sweep.study for sweep in SWEEPS}
EDGES = [
    pytest.param(module, EDGES_OF[module], points, id=f"{module}: {reason}")
    for module in EDGES_OF
    for reason, points in import_module(f"fastcube.kernels.{module}").EDGES.items()
]


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="millions of trials need compiled code")
@pytest.mark.parametrize(("module", "table", "points"), EDGES)
def test_thresholds_inside_a_kernel_change_no_number(module, table, points):
    """On both sides of each threshold every kernel that serves the point counts as the first one that is no lane kernel."""
    study = fc.study(STUDY_OF[table])
    for values in points:
        point = study.point(dict(zip((axis.name for axis in study.axes), values, strict=True)))
        names = [name for name in table.names if table.is_served(name, *values)]
        kernels = [table.load_kernel(name) for name in sorted(names, key=lambda name: "scalar" not in name)]
        took = [seconds(kernel, study, point) for kernel in kernels]
        trials = min(MOST, max(FEWEST, int(SECONDS / sum(took))))
        wanted, *found = (counted(kernel, study, point, 0, trials) for kernel in kernels)
        assert found and found == [wanted] * len(found), (values, names, trials)


def test_every_lane_module_declares_its_edges():
    """Its own kernels serve one side at least of every threshold."""
    lanes = {f"{path.parent.name}.lanes" for path in Path(next(iter(kernels_package.__path__))).glob("*/lanes.py")}
    # Lanes of draws/ are no kernels; those of a dual-cube are chosen inside its one kernel, which its reference decides.
    assert lanes - {"draws.lanes", "dualcube.lanes"} <= set(EDGES_OF)
    for module, table in EDGES_OF.items():
        mine = [name for name in table.names if name.startswith(module.rpartition(".")[2])]
        for reason, points in import_module(f"fastcube.kernels.{module}").EDGES.items():
            assert len(points) > 1 and (not mine or any(table.is_served(n, *p) for n in mine for p in points)), reason


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: sweep.study)
def test_what_is_taken_serves(sweep):
    """At every point that is looked through, or the table refuses it."""
    for number in range(len(sweep.others)):
        points, taken = looked_through(sweep, number)
        assert len(points) == len(taken) > 50 and set(taken.values()) <= set(sweep.table.names)


# ---------------------------------------------------------------- where one kernel serves: the twin


def dualcube_by_the_twin(m, rate, trials):
    study = fc.study("dualcube-routing")
    found = study.tally.read(dualcube_trials.run_trials(study, m, rate, 0, trials))
    assert found == dualcube_trials.reference_tally(study, m, rate, 0, trials)


def critical_by_the_twin(n, p, trials):
    wanted = unsafe_rate_trials.reference_tally(n, p, range(trials)).tolist()
    for method in unsafe_rate_trials.serving_methods(n, p):
        assert unsafe_rate_trials.tally_of(method, n, p, 0, trials).tolist() == wanted


#: Comparisons with a twin: what is called, with which point; each takes a number of trials.
TWINS = {
    "unsafe-critical": lambda trials: critical_by_the_twin(4, 0.25, trials),
    "unsafe-rare": lambda trials: planted_trials.check_planted(6, 5, 0, trials),
    "routing-rate": lambda trials: routing_trials.check_rate(6, 0.3, 2, trials),
    "gather, rerouting": lambda trials: gathering_trials.check_trials(4, 6, 1, trials),
    "dualcube-routing": lambda trials: dualcube_by_the_twin(3, 0.4, trials),
    "edst-broadcast": lambda trials: spanning_trials.check_packets({"n": 4, "d": 3, "packets": 7}, 0, trials),
    "edge-disjoint-trees": lambda trials: spanning_trials.check_numbers({"n": 4, "f": 3, "links": 4}, 0, trials),
    "multicast": lambda trials: multicast_trials.check_multicasts(3, 2, 3, 0, trials),
    "multicast-deadlock": lambda trials: multicast_trials.check_graphs(3, 2, 0, trials),
    "survival-components": lambda trials: survival_trials.check_parts("crossed", 4, 5, 2, 0, trials),
    "rivals": lambda trials: unicast_trials.check_rules(4, 4, 1, trials),
    "rivals-rate": lambda trials: unicast_trials.check_rate(4, 0.4, trials),
    "rivals-status": lambda trials: unicast_trials.check_status(4, 5, 0, trials),
    "multicast-wormhole": lambda trials: multicast_trials.check_simulations((3, 1, 3, 2), 0, trials),
}


def test_no_study_is_left_out():
    found = {sweep.study for sweep in SWEEPS} | {name for names in TWINS for name in names.split(", ")}
    assert found == set(fc.study_names())


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="ten thousand trials need compiled code")
@pytest.mark.parametrize("study", TWINS)
def test_one_kernel_counts_as_its_twin(study):
    TWINS[study](10_000)
