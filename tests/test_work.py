"""How much work a trial is, counted and not timed: vector operations and calls of the generator, in the kernels' Python bodies.

Compiled, each operation of ``simd`` is one instruction, or a few; so an operation more in a hot loop stands here, whatever the
machine and its load.  Where a change makes less work, or more on purpose, the new numbers go into WORK.
"""

import json
import sys
from collections import Counter

import numpy as np
import pytest
from compiled import KERNELS
from processes import as_python

import fastcube as fc
from fastcube.kernels.draws import philox
from fastcube.kernels.machine import simd

#: Of a study at a point: the kernel that is fastest there, and of 64 trials, which fill vectors of every lane, the vector
#: operations and the calls of the generator, which gives a pair of words, or of eight pairs, a call.
WORK = {
    ("unsafe-fraction", (5, 3)): ("small.SMALL_6", 1523, 2),
    ("unsafe-fraction", (8, 4)): ("lanes.LANES_16", 2777, 4),
    ("unsafe-fraction", (12, 6)): ("lanes.LANES_16", 2930, 7),
    ("unsafe-fraction", (16, 8)): ("lanes.LANES_16", 2370, 8),
    ("unsafe-fraction", (20, 10)): ("lanes.LANES_32", 4497, 20),
    ("unsafe-rare", (20, 12)): ("planting.PLANTED_TRIALS", 8652, 40),
    ("routing", (8, 4, 0, 1)): ("lanes.ROUTING_LANES_8", 1870, 8),
    ("routing", (12, 6, 0, 1)): ("lanes.ROUTING_LANES_16", 1883, 8),
    ("routing", (20, 10, 0, 1)): ("lanes.ROUTING_LANES_32", 3406, 24),
    ("routing-rate", (5, 0.3, 2)): ("rate.routing_rate", 6010, 38),
    ("routing-rate", (20, 0.1, 1)): ("rate.routing_rate", 7627, 24),
    ("find-tree", (5, 4, 0)): ("lanes.FIND_TREE_LANES_5", 3834, 12),
    ("find-tree", (8, 9, 0)): ("lanes.FIND_TREE_LANES_5", 12186, 20),
    ("find-tree", (12, 64, 0)): ("lanes.FIND_TREE_LANES_8", 104142, 132),
    ("optimal-tree", (5, 5, 0)): ("lattice.OPTIMAL_TREE_8", 38811, 128),
    ("two-partition", (12, 8)): ("lanes.TWO_PARTITION_LANES_16", 2235, 8),
    ("two-partition", (24, 20)): ("lanes.TWO_PARTITION_LANES_32", 5454, 40),
    ("survival", ("hypercube", 4, 4, 0)): ("lanes.SURVIVAL_NODES", 4995, 42),
    ("survival-rate", ("hypercube", 4, 0.3, 0.0)): ("lanes.SURVIVAL_RATE_NODES", 8635, 69),
    ("survival-rate", ("hypercube", 4, 0.5, 0.0)): ("lanes.SURVIVAL_RATE_NODES", 4831, 12),
    ("survival", ("hypercube", 9, 12, 0)): ("few.SURVIVAL_FEW_16", 4038, 16),
    ("broadcast", (8, 6, 0)): ("lanes.BROADCAST_LANES_16", 149810, 8),
    ("dualcube-routing", (4, 0.4)): ("single.TRIALS", 82810, 40),
    ("rivals", (9, 12, 0)): ("whole.RIVALS_WHOLE_16", 76035, 161),
}


def done_by(study, point):
    """The kernel, its vector operations and its calls of the generator for trials 0 .. 63 of a point."""
    table, measure = KERNELS[study][0], fc.study(study)
    name = table.fastest(*point)
    values = measure.point(dict(zip((a.name for a in measure.axes), point, strict=True)))
    body, slots, calls = table.load(name).compiled, measure.tally.fresh(), Counter()
    rooms = {module.__file__: module.__name__.rpartition(".")[2] for module in (simd, philox)}

    def note(frame, event, _):
        room = rooms.get(frame.f_code.co_filename)
        if event == "call" and room and frame.f_code.co_name in COUNTED[room]:
            calls[room] += 1

    key, parameters = np.uint64(measure.key(0, values)), measure.parameters(values)
    sys.setprofile(note)
    try:
        body(key, 0, 64, parameters, slots)
    finally:
        sys.setprofile(None)
    return [name, calls["simd"], calls["philox"]]


#: What counts: every operation on vectors, and the functions of the generator that the others call.
COUNTED = {
    "simd": {name for name in vars(simd) if not name.startswith("_")},
    "philox": {"pair", "lanes", "mixed_lanes"},
}

PLAIN = """
import json
from test_work import WORK, done_by
print(json.dumps([done_by(*place) for place in WORK]))
"""


@pytest.fixture(scope="module")
def found():
    """The work at all points, as Python."""
    return dict(zip(WORK, map(tuple, json.loads(as_python(PLAIN))), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("place", WORK, ids=str)
def test_a_trial_is_no_more_work_than_it_was(found, place):
    assert found[place] == WORK[place]
