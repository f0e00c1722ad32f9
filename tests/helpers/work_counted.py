"""How many operations a trial takes."""

import sys
from collections import Counter

import numpy as np

import fastcube as fc
from fastcube.kernels.draws import philox
from fastcube.kernels.machine import simd
from helpers.compiled import KERNELS

#: Of a study at a point: the kernel that is fastest there, and of 256 trials, which fill four vectors of every lane, the vector
#: operations and the calls of the generator, which gives a pair of words, or of eight pairs, a call; four as one are four.
WORK = {
    ("unsafe-fraction", (5, 3)): ("small.SMALL_6", 6635, 10),
    ("unsafe-fraction", (8, 4)): ("lanes.LANES_16", 6903, 15),
    ("unsafe-fraction", (12, 6)): ("lanes.LANES_16", 7059, 26),
    ("unsafe-fraction", (16, 8)): ("lanes.LANES_16", 5092, 32),
    ("unsafe-fraction", (20, 10)): ("lanes.LANES_32", 11171, 80),
    ("unsafe-rare", (20, 12)): ("planting.PLANTED_TRIALS", 39574, 160),
    ("routing", (8, 4, 0, 1)): ("lanes.ROUTING_LANES_8", 6599, 30),
    ("routing", (12, 6, 0, 1)): ("lanes.ROUTING_LANES_16", 7893, 37),
    ("routing", (20, 10, 0, 1)): ("lanes.ROUTING_LANES_32", 14219, 96),
    ("routing-rate", (5, 0.3, 2)): ("rate.routing_rate", 25314, 148),
    ("routing-rate", (20, 0.1, 1)): ("rate.routing_rate", 28176, 84),
    ("find-tree", (5, 4, 0)): ("lanes.FIND_TREE_LANES_5", 15784, 48),
    ("find-tree", (8, 9, 0)): ("lanes.FIND_TREE_LANES_5", 48584, 80),
    ("find-tree", (12, 64, 0)): ("lanes.FIND_TREE_LANES_8", 407128, 528),
    ("optimal-tree", (5, 5, 0)): ("lattice_lanes.optimal_tree_lanes", 54576, 58),
    ("optimal-tree", (5, 5, 1)): ("lattice.OPTIMAL_TREE_8", 256982, 1280),
    ("two-partition", (12, 8)): ("lanes.TWO_PARTITION_LANES_16", 4945, 33),
    ("two-partition", (24, 20)): ("lanes.TWO_PARTITION_LANES_32", 20142, 160),
    ("survival", ("hypercube", 4, 4, 0)): ("lanes.SURVIVAL_NODES", 5823, 42),
    ("survival-rate", ("hypercube", 4, 0.3, 0.0)): ("lanes.SURVIVAL_RATE_NODES", 9454, 72),
    ("survival-rate", ("hypercube", 4, 0.5, 0.0)): ("lanes.SURVIVAL_RATE_NODES", 12556, 26),
    ("survival", ("hypercube", 9, 12, 0)): ("few.SURVIVAL_FEW_16", 15206, 64),
    ("broadcast", (8, 6, 0)): ("lanes.BROADCAST_LANES_16", 433726, 37),
    ("dualcube-routing", (4, 0.4)): ("scalar.TRIALS", 347978, 134),
    ("rivals", (9, 12, 0)): ("whole.RIVALS_WHOLE_16", 300684, 734),
}


def count_operations(study, point):
    """The kernel, its vector operations and its calls of the generator for trials 0 .. 255 of a point."""
    table, measure = KERNELS[study][0], fc.study(study)
    name = table.choose_name(*point)
    values = measure.point(dict(zip((a.name for a in measure.axes), point, strict=True)))
    body, slots, calls = table.load_kernel(name).compiled, measure.tally.new_tally(), Counter()
    rooms = {module.__file__: module.__name__.rpartition(".")[2] for module in (simd, philox)}

    def record_call(frame, event, _):
        room = rooms.get(frame.f_code.co_filename)
        if event == "call" and room and frame.f_code.co_name in COUNTED_FUNCTIONS[room]:
            taken = frame.f_locals
            vector = taken.get("x", taken.get("a"))
            calls[room] += max(getattr(vector, "nbytes", 64) // 64, 1)

    key, parameters = np.uint64(measure.key(0, values)), measure.parameters(values)
    sys.setprofile(record_call)
    try:
        body(key, 0, 256, parameters, slots)
    finally:
        sys.setprofile(None)
    return [name, calls["simd"], calls["philox"]]


#: What counts: every operation on vectors but what only names or views them, and what each function of the generator ends with.
COUNTED_FUNCTIONS = {
    "simd": {name for name in vars(simd) if not name.startswith("_")}
    - {"join", "quarters", "as8", "as16", "as32", "as64"},
    "philox": {"pair", "_last_rounds"},
}
