"""Algorithms by network and name: what is found, what is refused, and that registering stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fastcube as fc
from fastcube.algorithms.paths import ROUTING, Route
from fastcube.algorithms.registry import Algorithms
from fastcube.errors import check_integer


@pytest.fixture
def toys():
    """Three algorithms of hypercubes, one of dual-cubes."""
    toys: Algorithms[tuple] = Algorithms("toy", network="cube", choice="trees")

    @toys.register(fc.Hypercube, "PLAIN")
    def plain(cube, s):
        return "plain", s

    @toys.register(fc.Hypercube, "FULL", default=True, options={"variant": ("literal", "repaired"), "k": (1,)})
    def full(cube, s, variant="literal", k=1):
        return "full", s, variant, k

    @toys.register(fc.Hypercube, "DEEP", options={"k": lambda cube, k: check_integer("k", k, 1, cube.n), "seed": None})
    def deep(cube, s, k=1, seed=None):
        return "deep", s, k, seed

    @toys.register(fc.DualCube, "OTHER")
    def other(dual, s):
        return "other", s

    return toys


def test_default_options_and_networks(toys):
    cube = fc.Hypercube(4)
    assert toys.choose(cube)(cube, 3) == ("full", 3, "literal", 1)
    assert toys.choose(cube, "FULL", {"variant": "repaired"})(cube, 3) == ("full", 3, "repaired", 1)
    assert toys.choose(cube, "DEEP", {"k": 4, "seed": object})(cube, 3) == ("deep", 3, 4, object)
    assert toys.choose(fc.DualCube(2))(None, 3) == ("other", 3)
    assert list(toys.of(fc.Hypercube)) == ["FULL", "PLAIN", "DEEP"]
    assert list(toys.of(int)) == []


def test_a_subclass_has_its_parents_algorithms(toys):
    class Grid(fc.Hypercube):
        pass

    assert toys.choose(Grid(3), "PLAIN")(Grid(3), 1) == ("plain", 1)


BAD = [
    (("x", None, {}), "cube must be a Hypercube or DualCube, got 'x'"),
    (("cube", "PLANE", {}), "trees must be FULL, PLAIN or DEEP for Hypercube, got 'PLANE'; did you mean PLAIN?"),
    (("cube", "full", {}), "trees must be FULL, PLAIN or DEEP for Hypercube, got 'full'; did you mean FULL?"),
    (("cube", "zzz", {}), "trees must be FULL, PLAIN or DEEP for Hypercube, got 'zzz'"),
    (("cube", 3, {}), "trees must be FULL, PLAIN or DEEP for Hypercube, got 3"),
    (("cube", [], {}), "trees must be FULL, PLAIN or DEEP for Hypercube, got []"),
    (("dual", "FULL", {}), "trees must be OTHER for DualCube, got 'FULL'"),
    (("cube", "PLAIN", {"k": 1}), "k is not an option of PLAIN, which takes no options"),
    (("cube", "FULL", {"m": 1}), "m is not an option of FULL, which takes variant and k"),
    (("cube", "FULL", {"k": 2}), "k must be 1 for FULL, got 2"),
    (("cube", "FULL", {"k": 1.0}), "k must be 1 for FULL, got 1.0"),
    (
        ("cube", "FULL", {"variant": "repair"}),
        "variant must be literal or repaired for FULL, got 'repair'; did you mean repaired?",
    ),
    (("cube", "DEEP", {"k": 5}), "k must be in [1, 4], got 5"),
]


@pytest.mark.parametrize(("asked", "message"), BAD)
def test_bad_requests_are_one_clear_line(toys, asked, message):
    network = {"cube": fc.Hypercube(4), "dual": fc.DualCube(2)}.get(asked[0], asked[0])
    with pytest.raises(fc.ParameterError) as error:
        toys.choose(network, asked[1], asked[2])
    assert str(error.value) == message


def test_names_are_taken_once(toys):
    with pytest.raises(ValueError, match="toy of Hypercube has PLAIN"):
        toys.register(fc.Hypercube, "PLAIN")(print)
    with pytest.raises(ValueError, match="toy of Hypercube has a default"):
        toys.register(fc.Hypercube, "SECOND", default=True)(print)


def test_route_answers_an_unknown_name_with_this_networks_algorithms():
    with pytest.raises(fc.ParameterError, match=r"got 'practical'; did you mean PRACTICAL\?"):
        fc.route(fc.DualCube(2), 0, 1, algorithm="practical")
    assert list(ROUTING.of(fc.DualCube)) == ["PRACTICAL", "OFFLINE"]


def test_length_only_of_a_delivered_message():
    assert Route("delivered", [0, 1, 3]).length == 2
    assert Route("delivered", [0]).length == 0
    assert Route("lost", [0, 1]).length is None
    assert Route("failed", []).length is None


def test_registering_imports_no_numba():
    code = (
        "import sys, fastcube as fc; from fastcube.algorithms.paths import ROUTING; "
        "ROUTING.of(fc.DualCube); ROUTING.of(fc.Hypercube); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
