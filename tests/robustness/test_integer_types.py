"""Every public method and function takes integers of any type: NumPy's types and types that only have ``__index__``."""

import inspect

import numpy as np
import pytest

import fastcube as fc


class Index:
    """An integer by ``__index__`` alone."""

    def __init__(self, value):
        self.value = int(value)

    def __index__(self):
        return self.value


TYPES = [*(getattr(np, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)), Index]

CUBE, DUAL, CROSSED = fc.Hypercube(4, faulty_nodes=[7]), fc.DualCube(2, faulty_nodes=[3]), fc.network("crossed", 4)

#: An argument for each name that a parameter of a method has.
ARGUMENTS = {
    "label": 5,
    "u": 4,
    "v": 5,
    "s": 0,
    "t": 4,
    "root": 4,
    "k": 1,
    "d": 2,
    "n": 4,
    "name": "u",
    "nodes": [4, 5],
}

#: Methods that take no integer.
OTHERS = {"to_networkx"}


def convert(value, kind):
    return [kind(v) for v in value] if isinstance(value, list) else kind(value) if isinstance(value, int) else value


def plain(value):
    """A result as data that ``==`` compares, without caches of the object."""
    return (
        value.tolist()
        if isinstance(value, np.ndarray)
        else value
        if type(value).__eq__ is not object.__eq__
        else repr(value)
    )


def methods():
    for thing in (CUBE, DUAL, CROSSED, fc.network_families()["crossed"]):
        for name, method in inspect.getmembers(thing, inspect.ismethod):
            known = inspect.signature(method).parameters
            parameters = [name for name, about in known.items() if about.default is about.empty]
            if not name.startswith("_") and name not in OTHERS and parameters:
                yield pytest.param(method, parameters, id=f"{type(thing).__name__}.{name}")


@pytest.mark.parametrize(("method", "parameters"), [*methods()])
def test_methods(method, parameters):
    given = [ARGUMENTS[name] for name in parameters]  # a new parameter: give it an argument above
    wanted = plain(method(*given))
    for kind in TYPES:
        assert plain(method(*(convert(value, kind) for value in given))) == wanted, kind
    if (integers := [i for i, value in enumerate(given) if isinstance(value, int)]) and method.__name__ != "check_node":
        with pytest.raises(fc.ParameterError):
            method(*(2.5 if i == integers[0] else value for i, value in enumerate(given)))


TREE = fc.find_tree(CUBE)

CALLS = {
    "Hypercube": lambda i: fc.Hypercube(i(4), faulty_nodes=[i(3)], faulty_links=[(i(0), i(1))]),
    "DualCube": lambda i: fc.DualCube(i(2), faulty_nodes=[i(3)]),
    "network": lambda i: fc.network("crossed", i(4), [i(3)], [(i(0), i(1))]),
    "random_faults": lambda i: fc.random_faults(0.5, seed=i(3)),
    "distance": lambda i: fc.distance(CUBE, i(0), i(15)),
    "route": lambda i: fc.route(CUBE, i(0), i(15), "ROUTE3", k=i(1)),
    "sidetrack": lambda i: fc.route(CUBE, i(0), i(15), "SIDETRACK", seed=i(1)),
    "offline": lambda i: fc.route(DUAL, i(0), i(9), "OFFLINE", k=i(1)),
    "broadcast": lambda i: fc.broadcast(CUBE, i(0)),
    "eccentricity": lambda i: fc.eccentricity(CROSSED, i(0)),
    "tree": lambda i: fc.CommunicationTree(CUBE, i(TREE.sink), [i(d) for d in TREE.order]),
    "multicast": lambda i: fc.multicast(fc.Hypercube(4), i(0), [i(3), i(9)]),
    "wormhole": lambda i: fc.simulate_wormhole(fc.Hypercube(3), [(i(0), [i(3)])], virtual_channels=i(2), flits=i(4)),
    "exact_unsafe": lambda i: fc.exact_unsafe(i(4), i(2)),
    "isolated": lambda i: fc.isolated_node_bounds("hypercube", i(8), f=i(3)),
    "axis": lambda i: fc.Axis("a", "any", int, i(0), i(9)).check(i(5)),
    "key": lambda i: fc.study("unsafe-fraction").key(i(3), {"n": i(5), "f": i(2)}),
    "grid": lambda i: fc.Grid("g", [{"n": 5}], i(100)),
    "counter": lambda i: fc.Layout(fc.Counter("a", "any", bins=i(3))).counter("a"),
}


@pytest.mark.parametrize("call", CALLS)
def test_functions(call):
    def of(kind):
        value = CALLS[call](kind)
        return repr(value) if call != "multicast" else (value.channels, value.depth)

    wanted = of(int)
    for kind in TYPES:
        assert of(kind) == wanted, kind
