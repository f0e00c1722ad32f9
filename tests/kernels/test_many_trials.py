"""Wherever two kernels serve a point they count the same trials alike, many of them: nothing else sees flaws of 1e-5 a trial.

Where one kernel serves it is held against the plain twin on 10^4 trials.

The points come from the tables of ``kernels/*/dispatch.py``: for each two kernels that serve one, both sides of the change from
one to the other, at the smallest, a middle and the largest n where it happens.
"""

from __future__ import annotations

import functools
import itertools
import random
import time
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest
from helpers.study_table import STUDIES

import fastcube as fc
from fastcube import kernels as kernels_package
from fastcube.kernels.broadcasting import dispatch as broadcasting
from fastcube.kernels.cube.slots import SLOTS
from fastcube.kernels.free_subcube import dispatch as free_subcube
from fastcube.kernels.partition import dispatch as partition
from fastcube.kernels.routing import dispatch as routing
from fastcube.kernels.routing_rules import dispatch as routing_rules
from fastcube.kernels.survival import dispatch as survival
from fastcube.kernels.trees import dispatch as trees
from fastcube.kernels.unsafe import dispatch as unsafe

#: Most and fewest trials of one comparison, and seconds that both kernels may take: a point where they hold fewer is left out.
MOST, FEWEST, SECONDS = 10**6, 1000, 2.0

#: Fewest trials at a threshold: four vectors of the narrowest lanes, where a trial of the scalar kernel takes milliseconds.
FEWEST_AT_EDGES = 256

#: Most trials that a kernel does together: one of them takes as long.
TOGETHER = 512

SWEEPS = [name for name, row in STUDIES.items() if row.sweep]


@functools.cache
def looked_through(name, number):
    """The points of a study at one of its sweep's others, and the kernel that is taken at each."""
    row = STUDIES[name]
    points = row.sweep.find_points(name, row.sweep.others[number])
    return points, {at: row.table.choose_name(*point.values()) for at, point in points.items()}


def served(name, number, a, b):
    """Points of each n that both kernels serve: the sides of a change between them, or else one where one of them is taken."""
    points, taken = looked_through(name, number)
    both = {
        at for at, p in points.items() if all(STUDIES[name].table.is_served(kernel, *p.values()) for kernel in (a, b))
    }
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


def chosen(name, a, b):
    """Those at the smallest, a middle and the largest n, in turn at each of the others."""
    out, others = [], len(STUDIES[name].sweep.others)
    for number in range(max(3, others)):
        by_n = served(name, number % others, a, b)
        at = sorted(by_n)
        out += by_n[at[(0, len(at) // 2, -1)[number % 3]]] if at else []
    return [point for i, point in enumerate(out) if point not in out[:i]]


PAIRS = [(name, a, b) for name in SWEEPS for a, b in itertools.combinations(STUDIES[name].table.names, 2)]


def counted(kernel, study, point, first, stop):
    """Return counters and maxima. The digits of a wide counter may differ."""
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
@pytest.mark.parametrize(("name", "a", "b"), PAIRS)
def test_two_kernels_count_the_same_trials_alike(name, a, b):
    study, table = fc.study(name), STUDIES[name].table
    one, other = table.load_kernel(a), table.load_kernel(b)
    for point in chosen(name, a, b):
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
    "free_subcube.lanes": free_subcube.FREE_SUBCUBE,
    "partition.lanes": partition.TWO_PARTITION,
    "routing.lanes": routing.ROUTING,
    "survival.lanes": survival.SURVIVAL,
    "trees.lanes": trees.FIND_TREE,
    "trees.lattice_lanes": trees.OPTIMAL_TREE,
    "routing_rules.lanes": routing_rules.ROUTING_RULES,
    "routing_rules.whole_cube": routing_rules.ROUTING_RULES,
    "unsafe.lanes": unsafe.UNSAFE_FRACTION,
}
STUDY_OF = {STUDIES[name].table: name for name in SWEEPS}
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
        trials = min(MOST, max(FEWEST_AT_EDGES, int(SECONDS / sum(took))))
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


#: Values of axes at which all kernels that serve a point are compared, and most points of a study and trials of a point.
SERVED_VALUES = {
    "n": (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33),
    "f": (0, 1, 2, 3, 5, 8, 13, 40),
    "links": (0, 1, 4, 9, 40),
    "rate": (0.0, 0.01, 0.1, 0.5, 1.0),
    "link_rate": (0.0, 0.01, 0.3),
    "network": tuple(SLOTS),
}
SERVED_POINTS, SERVED_TRIALS = 150, 600


def iter_served_points(name):
    """Yield the points of a study that two kernels or more serve, in a fixed order that differs from the grid's."""
    study = fc.study(name)
    values = list(itertools.product(*(SERVED_VALUES[axis.name] for axis in study.axes)))
    for point in random.Random(name).sample(values, len(values)):
        try:
            at = study.point(dict(zip((axis.name for axis in study.axes), point, strict=True)))
            study.check(at)
        except fc.ParameterError:
            continue
        if len(STUDIES[name].find_serving(at)) > 1:
            yield at


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="thousands of trials need compiled code")
@pytest.mark.parametrize("name", ["survival", "survival-rate"])
def test_every_kernel_counts_alike_wherever_it_serves(name):
    """Over all networks, with and without faulty links; also at points where a kernel is never taken."""
    study, row = fc.study(name), STUDIES[name]
    for point in itertools.islice(iter_served_points(name), SERVED_POINTS):
        kernels = [row.table.load_kernel(kernel) for kernel in row.find_serving(point)]
        took = max(seconds(kernel, study, point) for kernel in kernels)
        trials = min(SERVED_TRIALS, max(1, int(0.05 / took)))
        wanted, *found = (counted(kernel, study, point, 0, trials) for kernel in kernels)
        assert found == [wanted] * len(found), (point, row.find_serving(point), trials)


@pytest.mark.parametrize("name", SWEEPS)
def test_what_is_taken_serves(name):
    """At every point that is looked through, or the table refuses it."""
    row = STUDIES[name]
    for number in range(len(row.sweep.others)):
        points, taken = looked_through(name, number)
        assert len(points) == len(taken) > 50 and set(taken.values()) <= set(row.table.names)


# ---------------------------------------------------------------- where one kernel serves: the reference implementation


#: Each comparison once, because two studies of one kernel share it.
REFERENCES = list({repr(row.reference): name for name, row in STUDIES.items() if row.reference}.values())


def test_every_study_is_compared_with_another_kernel_or_with_its_reference():
    assert all(row.sweep or row.reference for row in STUDIES.values()) and set(STUDIES) == set(fc.study_names())


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="ten thousand trials need compiled code")
@pytest.mark.parametrize("name", REFERENCES)
def test_one_kernel_counts_as_its_reference(name):
    STUDIES[name].load_reference()(10_000)
