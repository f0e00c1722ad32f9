"""Compiled or not, the same tallies: the kernels' Python bodies, with the plain meaning of each vector operation.

As Python every kernel is quick to ask, so all of a study are held against each other and against the compiled one of the
default tests; the others compiled, and further points, are marked ``kernels``.
"""

import json

import pytest
from helpers.points_compared import count_as_json
from helpers.processes import run_without_compiling
from helpers.study_table import POINTS, STUDIES

import fastcube as fc


def some_of_each():
    """Return the points served by a kernel that serves no point before."""
    seen, out = set(), []
    for name, point, trials in POINTS:
        kernels = {(name, kernel) for kernel in STUDIES[name].find_serving(point)}
        out += [(name, point, trials)] * (not kernels <= seen)
        seen |= kernels
    return out


#: With a spare counter before each entry of every layout.
PLAIN = """
import json
from fastcube.kernels.tally import layout
made = layout.Layout.__init__
def spread(self, *entries):
    made(self, *(one for i, e in enumerate(entries) for one in (layout.Counter(f"spare_{{i}}", ""), e)))
layout.Layout.__init__ = spread
from helpers.points_compared import count_as_json
from helpers.study_table import POINTS, STUDIES
for name, point, trials in map(POINTS.__getitem__, {}):
    print(json.dumps({{kernel: count_as_json(name, kernel, point, trials) for kernel in STUDIES[name].find_serving(point)}}))
"""


@pytest.fixture(
    scope="module", params=[some_of_each(), pytest.param(POINTS, marks=pytest.mark.kernels)], ids=["few", "all"]
)
def points(request):
    """Points at which all kernels are held against each other; by default as few as serve each of them once."""
    return request.param


@pytest.fixture(scope="module")
def spread(points):
    """Return the counts of each kernel at each point, run as Python: counters, also unused ones, and maxima."""
    lines = run_without_compiling(PLAIN.format([POINTS.index(point) for point in points])).splitlines()
    return [{kernel: json.loads(text) for kernel, text in json.loads(line).items()} for line in lines]


@pytest.fixture(scope="module")
def plain(spread):
    """The same without the spare counters, each as :func:`count_as_json`."""
    own = [{kernel: [_but_spares(counts), rest] for kernel, (counts, rest) in found.items()} for found in spread]
    return [{kernel: json.dumps(both) for kernel, both in found.items()} for found in own]


def _but_spares(counts):
    return {name: value for name, value in counts.items() if not name.startswith("spare_")}


def test_no_kernel_takes_a_slot_from_its_neighbour(points, spread):
    for (name, point, _), found in zip(points, spread, strict=True):
        for kernel, (counts, _) in found.items():
            spares = {counts[spare] for spare in counts.keys() - _but_spares(counts).keys()}
            assert spares == {0}, (name, point, kernel)


def test_all_kernels_count_the_same_as_plain_python(points, plain):
    for (name, point, _), found in zip(points, plain, strict=True):
        assert len(set(found.values())) == 1, (name, point, found)


def test_the_compiled_kernel_of_each_study_counts_as_plain_python(points, plain):
    for (name, point, trials), found in zip(points, plain, strict=True):
        kernel = STUDIES[name].default
        if kernel in found:
            assert count_as_json(name, kernel, point, trials) == found[kernel], (name, point)


@pytest.mark.kernels
def test_every_compiled_kernel_counts_as_plain_python(points, plain):
    for (name, point, trials), found in zip(points, plain, strict=True):
        for kernel, wanted in found.items():
            assert count_as_json(name, kernel, point, trials) == wanted, (name, kernel, point)


def test_every_kernel_of_every_study_has_a_point():
    assert set(STUDIES) == set(fc.study_names())
    for name, study in STUDIES.items():
        served = {kernel for point, _ in study.points for kernel in study.find_serving(point)}
        assert served == set(study.table.names) and (not study.default or study.default in served), name
