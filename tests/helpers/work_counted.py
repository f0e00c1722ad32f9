"""How many operations a trial takes."""

import inspect
import sys
from collections import Counter

import numpy as np
from pytest import MonkeyPatch

import fastcube as fc
from fastcube.kernels.draws import philox
from fastcube.kernels.machine import simd
from helpers.study_table import STUDIES

#: Of a study at a point: the kernel that is fastest there, and of 256 trials, which fill four vectors of every lane, the vector
#: operations and the calls of the generator, which gives a pair of words, or of eight pairs, a call; four as one are four.
WORK = {
    ("unsafe-fraction", (5, 3)): ("small.SMALL_6", 6635, 10),
    ("unsafe-fraction", (8, 4)): ("lanes.LANES_16", 6806, 15),
    ("unsafe-fraction", (12, 6)): ("lanes.LANES_16", 6970, 26),
    ("unsafe-fraction", (16, 8)): ("lanes.LANES_16", 5021, 32),
    ("unsafe-fraction", (20, 10)): ("lanes.LANES_32", 11141, 80),
    ("unsafe-rare", (20, 12)): ("planting.PLANTED_TRIALS", 39574, 160),
    ("routing", (8, 4, 0, 1)): ("lanes.ROUTING_LANES_8", 6500, 30),
    ("routing", (12, 6, 0, 1)): ("lanes.ROUTING_LANES_16", 7824, 37),
    ("routing", (20, 10, 0, 1)): ("lanes.ROUTING_LANES_32", 14204, 96),
    ("routing-rate", (5, 0.3, 2)): ("rate.routing_rate", 25021, 148),
    ("routing-rate", (20, 0.1, 1)): ("rate.routing_rate", 27703, 84),
    ("find-tree", (5, 4, 0)): ("lanes.find_tree_lanes", 16408, 48),
    ("find-tree", (8, 9, 0)): ("lanes.find_tree_lanes", 50216, 80),
    ("find-tree", (12, 64, 0)): ("lanes.find_tree_lanes", 406328, 528),
    ("optimal-tree", (5, 5, 0)): ("lattice_lanes.optimal_tree_lanes", 55026, 58),
    ("optimal-tree", (5, 5, 1)): ("lattice.OPTIMAL_TREE_8", 255694, 1280),
    ("two-partition", (12, 8)): ("lanes.TWO_PARTITION_LANES_16", 4889, 33),
    ("two-partition", (24, 20)): ("lanes.TWO_PARTITION_LANES_32", 20140, 160),
    ("free-subcube", (8, 6, 0)): ("lanes.FREE_SUBCUBE_LANES_8", 3357, 16),
    ("free-subcube", (10, 8, 0)): ("lanes.FREE_SUBCUBE_LANES_16", 8481, 40),
    ("free-subcube", (20, 16, 0)): ("lanes.FREE_SUBCUBE_LANES_32", 42036, 128),
    ("free-subcube", (40, 12, 0)): ("lanes.FREE_SUBCUBE_LANES_32", 44090, 192),
    ("survival", ("hypercube", 4, 4, 0)): ("lanes.SURVIVAL_NODES", 5782, 42),
    ("survival-domains", ("hypercube", 4, 2, "board-2", 2)): ("domains.SURVIVAL_BOARDS", 26387, 165),
    ("survival-rate", ("hypercube", 4, 0.3, 0.0)): ("lanes.SURVIVAL_RATE_NODES", 9313, 72),
    ("survival-rate", ("hypercube", 4, 0.5, 0.0)): ("lanes.SURVIVAL_RATE_NODES", 12195, 26),
    ("survival", ("hypercube", 9, 12, 0)): ("close_faults.SURVIVAL_CLOSE_FAULTS_16", 15022, 64),
    ("broadcast", (8, 6, 0)): ("lanes.BROADCAST_LANES_16", 408224, 37),
    ("dualcube-routing", (4, 0.4)): ("scalar.TRIALS", 347776, 134),
    ("routing-rules", (9, 12, 0)): ("whole_cube.ROUTING_RULES_WHOLE_16", 295189, 734),
}


class CountedVector(np.ndarray):
    """A vector or mask whose operators count themselves, except those inside the functions of ``simd``."""

    operations = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **settings):
        plain = [x.view(np.ndarray) if isinstance(x, CountedVector) else x for x in inputs]
        result = getattr(ufunc, method)(*plain, **settings)
        if not isinstance(result, np.ndarray) or method != "__call__":
            return result
        # The complement is part of the instruction that takes it.
        if ufunc is not np.invert and sys._getframe(1).f_code.co_filename != simd.__file__:
            CountedVector.operations += count_registers(*inputs)
        return result.view(CountedVector)


def count_registers(*values):
    """The vector registers that the widest of ``values`` fills; a mask fills one for each 64 lanes."""
    return max([max(v.nbytes // 64, 1) for v in values if isinstance(v, np.ndarray)], default=1)


def mark_counted(value):
    """The same vectors as :class:`CountedVector`; anything else as it is."""
    if type(value) is tuple:
        return tuple(map(mark_counted, value))
    return value.view(CountedVector) if isinstance(value, np.ndarray) else value


def count_calls(name, function):
    """A function of ``simd`` that counts its calls and gives counted vectors."""

    names = list(inspect.signature(function).parameters)

    def counted(*arguments):
        if name not in UNCOUNTED:
            CountedVector.operations += count_registers(arguments[names.index("x")]) if "x" in names else 1
        return mark_counted(function(*arguments))

    return counted


def count_operations(study, point):
    """The kernel, its vector operations and its calls of the generator for trials 0 .. 255 of a point."""
    table, measure = STUDIES[study].table, fc.study(study)
    name = table.choose_name(*point)
    values = measure.point(dict(zip((a.name for a in measure.axes), point, strict=True)))
    body, slots, calls = table.load_kernel(name).compiled, measure.tally.new_tally(), Counter()

    def record_call(frame, event, _):
        if event == "call" and frame.f_code.co_filename == philox.__file__:
            calls[frame.f_code.co_name] += count_registers(frame.f_locals.get("a"))

    key, parameters = np.uint64(measure.key(0, values)), measure.parameters(values)
    CountedVector.operations = 0
    with MonkeyPatch.context() as patch:
        for function in SIMD_FUNCTIONS:
            patch.setattr(simd, function, count_calls(function, getattr(simd, function)))
        sys.setprofile(record_call)
        try:
            body(key, 0, 256, parameters, slots)
        finally:
            sys.setprofile(None)
    return [name, CountedVector.operations, sum(calls[name] for name in GENERATOR)]


SIMD_FUNCTIONS = [
    n
    for n, v in vars(simd).items()
    if callable(v) and not n.startswith("_") and getattr(v, "__module__", "") == simd.__name__
]
#: Operations that only name, view or make vectors without an instruction in a loop.
UNCOUNTED = {"join", "quarters", "as8", "as16", "as32", "as64", "addresses", "lanes_of"}
#: The functions of the generator that every call ends with.
GENERATOR = ("word_pair", "_run_last_rounds")
