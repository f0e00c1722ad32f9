"""The smallest fault set at which a rule loses a message, compared with single messages in plain Python."""

from __future__ import annotations

import itertools
import math

import pytest

import fastcube as fc
from fastcube.blocks import LOST, block, first_path

RULES = ("ROUTE", "ROUTE1", "ROUTE3", "LEVELS", "VECTORS", "A1", "DFS")


def find_first_loss(rule, n, most):
    """The first fault set without node 0, by size and then in order, and the first destination that the rule does not reach."""
    for f in range(most + 1):
        for faulty in itertools.combinations(range(1, 2**n), f):
            cube = fc.Hypercube(n, faulty)
            for t in range(1, 2**n):
                if (
                    t not in faulty
                    and fc.route(cube, 0, t, rule).outcome != "delivered"
                    and fc.distance(cube, 0, t) is not None
                ):
                    return faulty, t
    return None


@pytest.mark.kernels
@pytest.mark.parametrize("rule", RULES)
def test_the_first_loss_is_the_one_of_single_messages(rule):
    for n in (1, 2, 3, 4):
        found = fc.tolerance(rule, n)
        most = 2**n - 2 if n < 4 else min(found.faults + 1, 4)
        first = find_first_loss(rule, n, most)
        if found.cube is None:
            assert first is None and found.faults == 2**n - 2
            assert found.sets == sum(math.comb(2**n - 1, f) for f in range(2**n - 1))
        else:
            assert (tuple(sorted(found.faulty_nodes)), found.t) == first
            assert (found.s, found.faults) == (0, len(first[0]) - 1)


@pytest.mark.kernels
def test_a_translated_counterexample_is_one_too():
    found = fc.tolerance("A1", 5)
    assert found.faults == 4
    for a in range(32):
        cube = fc.Hypercube(5, [v ^ a for v in found.faulty_nodes])
        assert fc.route(cube, found.s ^ a, found.t ^ a, "A1").outcome != "delivered"
        assert fc.distance(cube, found.s ^ a, found.t ^ a) is not None


@pytest.mark.kernels
def test_a_rule_of_ones_own():
    @first_path
    @block
    def straight(world, status, s, t):
        return LOST

    @block
    def nothing(world, status, s, t):
        return LOST

    own, route = fc.tolerance(straight, 4), fc.tolerance("ROUTE", 4)
    assert (own.rule, own.faults, own.cube, own.t) == ("straight", 0, route.cube, route.t)
    never = fc.tolerance(nothing, 3)
    assert (never.faults, never.faulty_nodes, never.t) == (-1, frozenset(), 1)
    assert str(never).startswith(
        "nothing delivers every message of Q_3 between connected nodes with no number of faulty nodes; "
    )


@pytest.mark.kernels
def test_the_text_states_the_range():
    assert str(fc.tolerance("DFS", 5, most=3)) == (
        "DFS delivers every message of Q_5 between connected nodes with at most 3 faulty nodes "
        "(4,992 fault sets up to translation)"
    )
    assert str(fc.tolerance("ROUTE", 2)) == (
        "ROUTE delivers every message of Q_2 between connected nodes with at most 0 faulty nodes; with faulty 10 it loses "
        "00 to 11 (3 fault sets up to translation)"
    )


@pytest.mark.parametrize(
    ("rule", "n", "most", "message"),
    [
        ("SIDETRACK", 3, None, "rule must not be SIDETRACK, which routes at random"),
        ("A2", 3, None, "rule must be a jitted function or a name among ROUTE, .* or SIDETRACK, got 'A2'"),
        ("A1", 6, None, r"n must be in \[1, 5\], got 6"),
        ("A1", 3, 7, r"most must be in \[0, 6\] for n=3, got 7"),
        (len, 3, None, "rule must be a jitted function or a name, got <built-in"),
    ],
)
def test_bad_input_is_one_line(rule, n, most, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        fc.tolerance(rule, n, most)
    assert "\n" not in str(caught.value)
