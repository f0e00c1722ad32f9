"""Values of odd types for every argument of every public name, and of the methods of returned objects.

An integer of any type means what the plain one means.  Anything else (a bool, a fraction, text, NaN, 10^400, an object whose
``__index__`` raises, ...) is refused in one line, or means what it says; no call crashes, hangs or takes it for another
number.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import inspect
from decimal import Decimal
from fractions import Fraction

import networkx
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import STUCK_SECONDS
from toy import TOY, bits

import fastcube as fc
from fastcube.kernels.tally import layout
from fastcube.measure.schema import describe_measure


class Index:
    """An integer type of a user's; hashed by identity."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def __repr__(self):
        return f"Index({self.value!r})"


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


#: The integer 2 in other types, which must act like 2.
TWO = {"int64": np.int64(2), "uint8": np.uint8(2), "array of no dimension": np.array(2), "__index__": Index(2)}

ODD = {
    "bool": True,
    "numpy bool": np.True_,
    "half": 1.5,
    "float": 2.0,
    "numpy float": np.float64(2.0),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "Fraction": Fraction(7, 2),
    "Decimal": Decimal("2.5"),
    "Decimal NaN": Decimal("NaN"),
    "complex": 2j,
    "10^400": 10**400,
    "-10^400": -(10**400),
    "None": None,
    "text": "two\nlines\x1b[2J",
    "digit": "2",
    "long text": "2" * 100_000,
    "NUL": "2\0",
    "half a surrogate pair": "2\ud800",
    "bytes": b"2",
    "list": [2],
    "nested list": [[[2]]],
    "dict": {2: 2},
    "array": np.arange(3),
    "array of floats": np.array([1.5, 2.5]),
    "structured array": np.zeros(2, [("a", "i8")]),
    "object": object(),
    "type": int,
    "function": lambda *_: 2,
    "__index__ raises": Index(RuntimeError("two\nlines")),
    "__index__ gives text": Index("2"),
    "no text": Unprintable(),
}

NUMBERS = {"half", "float", "numpy float", "Fraction", "Decimal"}
LISTS = {"list", "dict", "array"}

#: What a count takes besides integers.
WHOLE = {"digit", "float", "numpy float"}

#: What the values of a point take: the study checks them.
OF_POINTS = dict.fromkeys(("n", "f", "links", "k"), WHOLE)

#: What an argument takes besides integers, by the type of its usual value.
TAKES = {bool: {"bool", "numpy bool"}, list: LISTS, type(None): {"None"}, float: NUMBERS}

CUBE = fc.Hypercube(4, faulty_nodes=[3, 8])
LINKS = fc.Hypercube(4, faulty_links=[(0, 1)])
DUAL = fc.DualCube(2, faulty_nodes=[3])
TREE = fc.find_tree(LINKS)
UNSAFE = fc.find_unsafe(CUBE)
LAZY = fc.random_faults(0.5)
POINT = {"a": 1, "work": 0.0}
RESULTS = fc.run(TOY, **POINT, trials=10)
AN_EXTREME = fc.Maximum("e", "a maximum")
SLOTS = TOY.tally.new_tally()
AXIS = fc.Axis("a", "an axis", int, 0, 5)
ABOUT = {"name": "s", "description": "a statistic", "condition": None, "units": "1", "shown": True}
TEXTS = {"digit", "long text"}
CALLABLE = {"type", "function"}
OF_STATISTICS = dict.fromkeys(
    ("name", "description", "units", "events", "total", "squares", "numerator", "denominator", "counter", "label"),
    TEXTS,
)
OF_STATISTICS |= {"condition": {"None"} | TEXTS, "nonzero": {"None"} | TEXTS, "unit": CALLABLE, "bound": CALLABLE}


def flat(*arguments, **named):
    """A trial that is not jitted."""


def sets(study, **given):
    """The study is by position only."""
    return fc.fault_sets(study, **given)


def study(**changed):
    """A Study like TOY, of other parts."""
    return dataclasses.replace(TOY, **changed)


MINE = fc.custom_network("mine", "a network", step=lambda v, d, n: v ^ (1 << d), slots=lambda n: n)

OF_MEAN = {**ABOUT, "total": "a", "squares": "b", "nonzero": "c", "unit": flat, "bound": flat}

#: Calls that work, with what an argument takes besides.  Each argument is replaced by each odd value in turn.
CALLS = {
    "run": (fc.run, {"study": TOY, "grid": "default", "trials": 10, "shard": (0, 2), "seed": 3, "engine": "threads",
                     "workers": 1, "max_seconds": 600.0, "progress": "none", "force": False, "checkpoint": 15.0, **POINT},
            {"grid": {"None"}, "trials": {"None"} | WHOLE, "shard": {"None"}, "seed": WHOLE, "workers": {"None"} | WHOLE,
             "max_seconds": {"None", "digit", "infinity", "long text"}, "checkpoint": {"None", "digit"},
             "a": {"float", "numpy float", "digit"} | LISTS, "work": {"digit", "array of floats"} | LISTS}),
    "run to a target": (fc.run, {"study": TOY, "precision": 0.2, "relative": 0.9, "events": 3, "target": "bit", **POINT},
                        {"precision": {"None"}, "relative": {"None"}, "events": {"None"} | WHOLE, "target": {"None"},
                         "a": {"float", "numpy float", "digit"} | LISTS, "work": {"digit", "array of floats"} | LISTS}),
    "run into a file": (fc.run, {"study": TOY, **POINT, "trials": 10, "output": None},
                        {"trials": {"None"} | WHOLE, "output": {"digit", "text"}, "work": {"digit", "array of floats"} | LISTS,
                         "a": {"float", "numpy float", "digit"} | LISTS}),
    "DualCube": (fc.DualCube, {"m": 2, "faulty_nodes": [3, 5]}),
    "Hypercube": (fc.Hypercube, {"n": 4, "faulty_nodes": [3, 5], "faulty_links": [(0, 1)]}),
    "random_faults": (fc.random_faults, {"rate": 0.25, "seed": 3}),
    "broadcast": (fc.broadcast, {"cube": CUBE, "s": 2, "algorithm": "BROADCAST1"}, {"algorithm": {"None"}}),
    "network_families": (fc.network_families, {}),
    "greedy_two_partition": (fc.greedy_two_partition, {"n": 4, "faults": [3, 8], "map_back": True}),
    "routing_rules_study": (fc.routing_rules_study, {"rules": ["LEVELS", "A1"]}),
    "safety_levels": (fc.safety_levels, {"cube": CUBE}),
    "safety_vectors": (fc.safety_vectors, {"cube": CUBE}),
    "wu_fernandez_safe": (fc.wu_fernandez_safe, {"cube": CUBE}),
    "schedule_steps": (fc.schedule_steps, {"cube": fc.Hypercube(2, [2]), "s": 0, "packets": 1,
                                           "schedule": [[[0, 1, 0]], [[1, 3, 0]]]}),
    "study": (fc.study, {"name": "routing", "path": None}),
    "study_names": (fc.study_names, {}),
    "survival_study": (fc.survival_study, {"family": MINE, "domain": None}),
    "survival_study of domains": (fc.survival_study, {"family": MINE, "domain": "board-2"}, {"domain": {"None"}}),
    "survival_curve_study": (fc.survival_curve_study, {"family": MINE}),
    "custom_network": (fc.custom_network, {"name": "mine", "title": "a network", "step": lambda v, d, n: v ^ (1 << d),
                                           "slots": lambda n: n, "sizes": lambda n: n > 1},
                       {"name": {"digit"}, "title": TEXTS, "step": CALLABLE, "slots": CALLABLE, "sizes": {"None"} | CALLABLE}),
    "network": (fc.network, {"name": "crossed", "n": 4, "faulty_nodes": [3, 5], "faulty_links": [(0, 1)]}),
    "survival": (fc.survival, {"network": CUBE}),
    "from_networkx": (fc.from_networkx, {"graph": networkx.hypercube_graph(3), "family": "hypercube", "n": None},
                      {"n": {"None"}}),
    "read_fault_sets": (fc.read_fault_sets, {"path": "faults.csv"}),
    "diameter": (fc.diameter, {"network": CUBE}),
    "eccentricity": (fc.eccentricity, {"network": CUBE, "v": 2}),
    "exact_survival": (fc.exact_survival, {"name": "crossed", "n": 3}),
    "isolated_node_bounds": (fc.isolated_node_bounds, {"name": "crossed", "n": 4, "f": 2}),
    "isolated by rate": (fc.isolated_node_bounds, {"name": "crossed", "n": 4, "rate": 0.5}),
    "Choice": (fc.Choice, {"name": "rule", "description": "which", "names": ["a", "b"], "keyed": True},
               {"name": TEXTS, "description": TEXTS}),
    "distance": (fc.distance, {"network": CUBE, "s": 2, "t": 7}),
    "route": (fc.route, {"network": CUBE, "s": 2, "t": 7, "algorithm": "ROUTE1", "k": 2}),
    "route OFFLINE": (fc.route, {"network": DUAL, "s": 2, "t": 7, "algorithm": "OFFLINE", "k": 1, "variant": "as_printed"}),
    "exact_broadcast": (fc.exact_broadcast, {"n": 3, "f": 2}, OF_POINTS),
    "tolerance": (fc.tolerance, {"rule": "DFS", "n": 2, "most": 1}, {"most": {"None"}}),
    "exact_routing": (fc.exact_routing, {"n": 3, "f": 2, "k": 2}, OF_POINTS),
    "exact_gather": (fc.exact_gather, {"n": 3, "links": 1, "f": 1}, OF_POINTS),
    "exact_trees": (fc.exact_trees, {"n": 3, "links": 1, "f": 1}, OF_POINTS),
    "exact_unsafe": (fc.exact_unsafe, {"n": 4, "f": 2}),
    "draw": (fc.draw, {"network": CUBE, "route": [0, 1, 5], "rounds": True, "partition": [0, 2], "components": True},
             {"route": {"None"}, "partition": {"None"}}),
    "draw a tree": (fc.draw, {"network": LINKS, "tree": TREE, "broadcast": fc.broadcast(LINKS, 0)},
                    {"tree": {"None"}, "broadcast": {"None"}}),
    "find_unsafe": (fc.find_unsafe, {"cube": CUBE}),
    "broadcast_packets": (fc.broadcast_packets, {"cube": CUBE, "s": 2, "packets": 3, "trees": "bfs"}),
    "max_edge_disjoint_trees": (fc.max_edge_disjoint_trees, {"cube": CUBE}),
    "minimum_edge_cut": (fc.minimum_edge_cut, {"cube": CUBE}),
    "edge_disjoint_spanning_trees": (fc.edge_disjoint_spanning_trees,
                                     {"cube": fc.Hypercube(4), "s": 2, "pivoted": True, "algorithm": "light"},
                                     {"algorithm": {"None"}}),
    "CommunicationTree": (fc.CommunicationTree, {"cube": LINKS, "sink": 2, "order": [0, 1, 2, 3], "costs": ()}),
    "unusable_link_masks": (fc.unusable_link_masks, {"cube": LINKS}),
    "fault_free_trees": (lambda cube: list(fc.fault_free_trees(cube)), {"cube": fc.Hypercube(2)}),
    "find_tree": (fc.find_tree, {"cube": LINKS, "algorithm": "TOP_DOWN"}, {"algorithm": {"None"}}),
    "gather": (fc.gather, {"cube": LINKS, "tree": TREE, "algorithm": "FTTC", "variant": "as_commented", "data": None,
                           "split": None, "merge": None},
               {"algorithm": {"None"}, "variant": {"None"}, "split": CALLABLE, "merge": CALLABLE}),
    "optimal_tree": (fc.optimal_tree, {"cube": LINKS, "any_sink": True}),
    "multicast": (fc.multicast, {"cube": CUBE, "s": 2, "destinations": [7, 12], "partition": (0, 2), "path": "shortcut"},
                  {"partition": {"None"}}),
    "dependency_cycle": (fc.dependency_cycle,
                         {"cube": CUBE, "partition": (0, 2), "virtual_channels": 1, "unicast": False}, {"partition": {"None"}}),
    "simulate_wormhole": (fc.simulate_wormhole, {"cube": CUBE, "messages": [(2, [7, 12])], "partition": (0, 2),
                                                 "virtual_channels": 1, "flits": 2, "path": "shortcut"},
                          {"partition": {"None"}, "flits": {"None"}}),
    "two_partition": (fc.two_partition, {"cube": CUBE, "exhaustive": True}),
    "fault_free_subcube": (fc.fault_free_subcube, {"cube": CUBE, "aligned": True}),
    "Axis": (fc.Axis, {"name": "a", "description": "an axis", "kind": int, "low": 0, "high": 5, "open_above": False},
             {"name": TEXTS, "description": TEXTS, "kind": {"type"}, "low": {"half", "float", "numpy float"},
              "high": {"half", "float", "numpy float"}}),
    "Output": (fc.Output, {"name": "o", "description": "an output", "bound": 3, "condition": None, "denominator": None},
               {"name": TEXTS, "description": TEXTS, "bound": {"type", "function", "10^400", "-10^400"}, "condition": TEXTS,
                "denominator": TEXTS}),
    "Counter": (fc.Counter, {"name": "c", "description": "a counter", "digits": 2, "bins": 0},
                {"name": TEXTS, "description": TEXTS, "digits": {"10^400"}}),
    "Moments": (fc.Moments, {"name": "c", "description": "a quantity", "digits": 2, "square_digits": 3, "squared": "",
                             "nonzero": ""},
                {"name": TEXTS, "description": TEXTS, "digits": {"10^400"}, "square_digits": {"10^400"}, "squared": TEXTS,
                 "nonzero": TEXTS}),
    "Maximum": (fc.Maximum, {"name": "e", "description": "a maximum"}, {"name": TEXTS, "description": TEXTS}),
    "Layout": (lambda entry: fc.Layout(entry, AN_EXTREME), {"entry": fc.Counter("c", "a counter")}),
    "Grid": (fc.Grid, {"name": "g", "points": [POINT], "trials": 10, "figure": None, "notes": None},
             {"name": TEXTS, "trials": WHOLE | CALLABLE, "figure": CALLABLE, "notes": CALLABLE}),
    "Explanation": (fc.Explanation, {"text": "w", "data": {}},
                    {"text": {"text", "NUL", "half a surrogate pair"} | TEXTS, "data": {"dict"}}),
    "Study": (study, {"name": "s", "title": "a title", "source": "a source", "revision": 2, "axes": (AXIS,), "tally": TOY.tally,
                      "statistics": TOY.statistics, "grids": TOY.grids, "kernel": flat, "explain": flat, "check": flat,
                      "verify": flat},
              {"name": {"digit"}, "title": TEXTS, "source": TEXTS, "kernel": CALLABLE, "explain": CALLABLE, "check": CALLABLE,
               "verify": CALLABLE}),
    "trial": (fc.trial, {"function": flat}, {"function": {"function"}}),
    "trial_study": (fc.trial_study, {"name": "t", "title": "a title", "axes": [AXIS], "outputs": [fc.Output("o", "an output")],
                                     "trial": bits, "points": [{"a": 1}], "set_up": None, "trials": 10, "source": "none",
                                     "revision": 1, "check": flat, "explain": None},
                    {"name": {"digit"}, "title": TEXTS, "source": TEXTS, "check": {"None"} | CALLABLE, "trials": WHOLE | CALLABLE,
                     "explain": CALLABLE}),
    "Proportion": (fc.Proportion, {**ABOUT, "events": "bit_nonzero"}, OF_STATISTICS),
    "ComplementProportion": (fc.ComplementProportion, {**ABOUT, "events": "bit_nonzero"}, OF_STATISTICS),
    "Mean": (fc.Mean, OF_MEAN, OF_STATISTICS),
    "Difference": (fc.Difference, OF_MEAN, OF_STATISTICS),
    "PairedDifference": (fc.PairedDifference, OF_MEAN, OF_STATISTICS),
    "NormalMean": (fc.NormalMean, {**ABOUT, "total": "a", "squares": "b", "nonzero": None, "unit": flat}, OF_STATISTICS),
    "NormalDifference": (fc.NormalDifference, OF_MEAN, OF_STATISTICS),
    "Ratio": (fc.Ratio, {**ABOUT, "numerator": "a", "denominator": "b", "squares": ("c", "d", "e"), "nonzero": "f"},
              OF_STATISTICS),
    "Distribution": (fc.Distribution, {**ABOUT, "counter": "c", "label": "value"}, OF_STATISTICS),
    "TailProportion": (fc.TailProportion, {**ABOUT, "counter": "c", "least": 2}, OF_STATISTICS),
    "Quantile": (fc.Quantile, {**ABOUT, "counter": "c", "percent": 50, "unit": flat, "bound": flat}, OF_STATISTICS),
    "Results": (fc.Results, {"study": TOY, "seed": 0}),
    "Sample": (fc.Sample, {"network": CUBE, "others": {}}, {"others": {"dict"}}),
    "fault_sets": (sets,
                   {"study": "unsafe-fraction", "trials": 3, "what": "faulty_nodes", "seed": 1, "first": 1, "n": 4, "f": 2},
                   {"trials": WHOLE, "seed": WHOLE, "first": WHOLE, "n": {"float", "numpy float", "digit"} | LISTS,
                    "f": {"float", "numpy float", "digit"} | LISTS}),
    "merge": (fc.merge, {"paths": ["r.h5"]}),
    "merge one": (lambda path: fc.merge([path]), {"path": "r.h5"}),
    "open_results": (fc.open_results, {"path": "r.h5", "unchecked": False}),
}  # a table, row by row # fmt: skip
OF_NETWORKS = {"label": 1, "check_node": 2, "source": 1}

#: Methods of the objects that public functions return.
METHODS = {
    "Hypercube": (CUBE, {"neighbours": 1, "step": 2, "is_link": 2, "intact_distance": 2, "is_faulty": 1, "is_faulty_link": 2,
                         **OF_NETWORKS}),
    "lazy Hypercube": (fc.Hypercube(4, LAZY), {"is_faulty": 1}),
    "DualCube": (DUAL, {"class_of": 1, "cluster_dims": 1, "cluster": 1, "position": 1, "same_cluster": 2, "cross": 1,
                        "neighbours": 1, "is_link": 2, "intact_distance": 2, "dimension": 2, "is_safe": 1, "binomial_tree": 2,
                        "virtual_edges": 2, "cluster_boundary": 1, "is_faulty": 1,
                        "is_faulty_link": 2, **OF_NETWORKS}),
    "RandomFaults": (LAZY, {"status": 1, "__contains__": 1, "among": 1}),
    "Subcube": (UNSAFE.subcubes[0], {"__contains__": 1, "distance": 1}),
    "CommunicationTree": (TREE, {"role": 2}),
    "Axis": (AXIS, {"check": 1}),
    "Study": (TOY, {"axis": 1, "grid": 1, "grid_of": 1, "statistic": 1, "target": 1, "point": 1, "count": 4, "key": 2}),
    "Results": (RESULTS, {"estimates": 1, "distribution of": 3, "estimate of": 3, "sel": 1, "point": 1, "read": 2,
                          "labelled_estimates": 2, "check_same_study": 3, "to_xarray": 1, "save": 1, "plot": 1, "plot on": 1,
                          "table": 1, "select_statistics": 1}),
    "Layout": (fc.Layout(fc.Moments("bit_total", "a quantity"), fc.Maximum("bit", "a bit")),
               {"counter": 1, "family": 2, "moments": 1, "maximum": 1, "read": 1}),
}  # a table, row by row # fmt: skip

#: Methods that are the user's own functions, or read what an engine counted: no other code calls them.
OWN = {
    "Study": {"check", "verify", "exact", "order", "parameters", "curve_key", "alternatives"},
    "Axis": {"sort_key", "parameter"},
    "Layout": {"add_rows", "new_tally"},
}

#: Their usual arguments, where 2 and 6 are none.
USUAL = {
    "same_cluster": (2, 3),
    "is_safe": (2,),
    "binomial_tree": (2, 2),
    "virtual_edges": (2, 6),
    "role": (2, 2),
    "grid": ("default",),
    "statistic": ("bit",),
    "target": ("bit",),
    "point": (POINT,),
    "key": (3, POINT),
    "table": (["bit"],),
    "select_statistics": (["bit"],),
    "count": (POINT, 5, 3, 2),
    "estimates": (POINT,),
    "estimate of": ("bit", 1, 0.0),
    "distribution of": ("bit", 1, 0.0),
    "sel": (1,),
    "check_node": ("label", 2),
    "source": (2,),
    "cluster_boundary": ([2, 3],),
    "among": (np.arange(4, dtype=np.uint64),),
    "distance": (UNSAFE.subcubes[0],),
    "axis": ("a",),
    "grid_of": (RESULTS,),
    "Results point": ((1, 0.0),),
    "read": (TOY.statistics[0], POINT),
    "labelled_estimates": (TOY.statistics[0], POINT),
    "check_same_study": (RESULTS, "mine", "theirs"),
    "to_xarray": (False,),
    "save": ("r.h5",),
    "plot": ("r.svg",),
    "plot on": (None,),
    "counter": ("bit_total",),
    "family": ("bit_{}", ("total",)),
    "moments": ("bit_total",),
    "maximum": ("bit",),
    "Layout read": (SLOTS,),
}

#: Further arguments of these methods.
MORE = {
    "check 0": {"float", "numpy float", "digit"},
    "key 0": WHOLE,
    "count 1": WHOLE,
    "count 2": WHOLE,
    "count 3": WHOLE,
    "grid 0": {"None"},
    "target 0": {"None"},
    "estimate of 1": {"float", "numpy float", "digit"},
    "shares of 1": {"float", "numpy float", "digit"},
    "sel 0": {"digit"} | LISTS,
    "save 0": {"text", "digit"},
    "plot 0": {"None"},
    "table 0": {"None"},
    "select_statistics 0": {"None"},
    "check_node 0": {*ODD},
    "check_same_study 1": {*ODD},
    "check_same_study 2": {*ODD},
    "source 0": {"None"},
    "cluster_boundary 0": LISTS,
}


def allowed(base, name, more):
    usual = base[name]
    return TAKES.get(type(usual), set()) | more.get(name, set())


def outcome(function, arguments):
    """What a call gives, or the one line that refuses it."""
    faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)  # a hang ends here
    try:
        return function(**arguments), None
    except fc.FastcubeError as error:
        refused = str(error)
    except (ValueError, KeyError) as error:  # the ground floor has no errors of its own
        if inspect.getinnerframes(error.__traceback__)[-1].filename != layout.__file__:
            raise
        refused = str(error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert refused.isprintable(), refused
    assert len(refused) < 1000, refused
    return None, refused


def is_slow(call):
    """What compiles: exact values count all fault sets; and runs, of TOY or of a step and a trial made anew, take seconds."""
    return (call.startswith("exact_") and call != "exact_unsafe") or call.startswith(
        ("run", "family", "tolerance", "trial_study", "isolated", "eccentricity", "diameter")
    )


def text_of(result):
    """Return a result in a form that can be compared; for a run its counts."""
    if isinstance(result, fc.Results):
        return repr(sorted(result.tallies.items()))
    if type(result).__module__.startswith(("matplotlib.", "xarray.")):
        return type(result).__name__
    if isinstance(result, fc.Study):
        return repr((describe_measure(result), result.revision, [(grid.name, grid.trials) for grid in result.grids]))
    return repr(result)


def wrong(function, base, name, odd, takes):
    """What is wrong with a call where the argument ``name`` is an odd value; None when nothing is."""
    value = {**ODD, **TWO}[odd]
    try:
        got, refused = outcome(function, {**base, name: value})
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    if odd in TWO:
        meant, why = outcome(function, {**base, name: 2})
        same = (refused is None) == (why is None) and (refused is not None or text_of(got) == text_of(meant))
        return None if same else f"gave {got!r} where 2 gives {meant!r}, {refused}, {why}"
    if refused is not None:
        return None
    if odd not in takes:
        return f"taken: {text_of(got)[:200]}"
    if odd in NUMBERS and not isinstance(got, fc.Axis):
        meant, _ = outcome(function, {**base, name: float(value)})
        return None if text_of(got) == text_of(meant) else f"gave {got!r} where {float(value)} gives {meant!r}"
    return None


#: Every argument meets each odd value in one of so many parts; the first is the default tests', in which each value
#: meets every third argument.
PARTS = 3
in_parts = pytest.mark.parametrize("part", mark_others_slow(range(PARTS)))


def failures(function, base, more, part):
    found = {
        f"{name}={odd}": wrong(function, base, name, odd, allowed(base, name, more))
        for at, name in enumerate(base)
        for odd in [*ODD, *TWO][(at + part) % PARTS :: PARTS]
    }
    return {what: why for what, why in found.items() if why}


@in_parts
@pytest.mark.parametrize("call", [pytest.param(c, marks=pytest.mark.slow) if is_slow(c) else c for c in CALLS])
def test_odd_values_are_refused_or_mean_what_they_say(call, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RESULTS.save("r.h5")
    function, base, *more = CALLS[call]
    assert failures(function, base, more[0] if more else {}, part) == {}


@in_parts
@pytest.mark.parametrize("kind", METHODS)
def test_methods_refuse_odd_values(kind, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    of, methods = METHODS[kind]
    found = {}
    for name, count in methods.items():
        usual = USUAL.get(f"{kind} {name}") or USUAL.get(name, (2, 6)[:count])
        base = {str(i): value for i, value in enumerate(usual)}
        method = HOW.get(name) or getattr(of, name)
        more = {what.split()[-1]: takes for what, takes in MORE.items() if what.rsplit(" ", 1)[0] == name}
        found |= {f"{name} {what}": why for what, why in failures(positional(method), base, more, part).items()}
    assert found == {}


HOW = {
    "estimate of": lambda name, a, work: RESULTS.estimate(name, a=a, work=work),
    "distribution of": lambda name, a, work: RESULTS.distribution(name, a=a, work=work),
    "sel": lambda a: RESULTS.sel(a=a),
    "plot on": lambda axes: RESULTS.plot(axes=axes),
}


def positional(method):
    return lambda **given: method(*given.values())


#: Public names that are not called with values to be checked: a module, declarations, functions of anything; and those
#: that need a study's results, in ``test_reliability`` and ``test_lifetime``.
NOT_HERE = {"blocks", "FaultSet", "Paper", "RandomFaults", "product_grid", "reliability", "lifetime"}


def test_every_public_name_is_tried():
    missing = {name for name in fc.__all__ if not any(call.split()[0] == name for call in CALLS)}
    assert missing == {
        name for name in fc.__all__ if name == "__version__" or name.endswith("Error") or name in NOT_HERE
    }


def arguments_of(method):
    """The names of what a method takes; none of what is no function of Python's."""
    return (
        [name for name in inspect.signature(method).parameters if name != "self"] if inspect.isfunction(method) else []
    )


@pytest.mark.parametrize("kind", METHODS)
def test_every_public_method_with_arguments_is_tried(kind):
    of, methods = METHODS[kind]
    tried = {name.split()[0] for name in methods} | OWN.get(kind, set())
    takes = {name for name, method in inspect.getmembers(type(of)) if not name.startswith("_") and arguments_of(method)}
    if kind != "lazy Hypercube":
        assert takes - tried == set()
