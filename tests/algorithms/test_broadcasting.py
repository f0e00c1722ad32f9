"""Broadcasting in a hypercube: the paper's examples, the plain twin with its clock, and what is refused."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from reference.broadcasting import broadcast as simulate
from reference.routing import Cube

import fastcube as fc
from fastcube.exact.closed_forms import mean_reached
from fastcube.results.table import as_table

ALGORITHMS = ("BROADCAST", "BROADCAST1", "BROADCAST2")
FIGURE_10 = fc.Hypercube(4, [0b1100, 0b0101])


def check(n, faults, links, s, listed=True):
    """Compare all algorithms from one source with the reference implementation. No node receives twice."""
    cube, twin = fc.Hypercube(n, faults, links), Cube(n, faults, links)
    for algorithm in ALGORITHMS:
        found, plain = fc.broadcast(cube, s, algorithm=algorithm), simulate(twin, algorithm, s)
        case = (n, faults, links, s, algorithm)
        counts = (found.reached, found.steps, found.copies, found.lost)
        assert counts == (plain.reached, plain.steps, plain.copies, plain.lost), case
        assert all(len(times) == 1 for times in plain.received.values()), case
        if listed:
            assert {x: t for x, t in enumerate(found.received.tolist()) if t >= 0} == {
                x: times[0] for x, times in plain.received.items()
            }, case
            assert found.sends == sorted(plain.sends), case


def fault_sets(n, most):
    """All fault sets of Q_n without node 0, up to a size."""
    return (chosen for f in range(most + 1) for chosen in itertools.combinations(range(1, 2**n), f))


# ---------------------------------------------------------------- the paper's examples


def test_figure_2():
    found = fc.broadcast(fc.Hypercube(4), 0, algorithm="BROADCAST")
    assert (found.reached, found.steps, found.copies, found.lost) == (16, 4, 15, 0)
    assert found.sends[:3] == [(1, 0b0000, 0b1000), (2, 0b0000, 0b0100), (2, 0b1000, 0b1100)]
    assert [found.received[x] for x in (0b1000, 0b0100, 0b0010, 0b0001, 0b1111)] == [1, 2, 3, 4, 4]
    controls = simulate(Cube(4), "BROADCAST", 0).controls
    assert controls[0b1000] == [0, 1, 1, 1]
    assert controls[0b0100] == [0, 0, 1, 1]
    assert controls[0b1010] == [0, 0, 0, 1]
    assert controls[0b0001] == [0, 0, 0, 0]


def test_figure_10():
    assert fc.find_unsafe(FIGURE_10).nodes.tolist() == [0b0100, 0b1101]
    found = fc.broadcast(FIGURE_10, 0b0000, algorithm="BROADCAST1")
    assert (found.reached, found.steps, found.lost) == (14, 4, 0)
    assert found.sends[0] == (1, 0b0000, 0b1000)
    assert found.sends[-1][0] == 4
    assert (
        4,
        0b0000,
        0b0100,
    ) in found.sends  # the unsafe neighbour of 0000 is served last
    controls = simulate(Cube(4, [0b1100, 0b0101]), "BROADCAST1", 0).controls
    assert controls[0b1000] == [0, 1, 1, 1]
    assert controls[0b1010] == [0, 1, 0, 1]  # "1010 then broadcasts to 1*1*"
    assert controls[0b1001] == [0, 1, 0, 0]  # "1001 broadcasts to 1*01"
    assert fc.broadcast(FIGURE_10, 0b0000).sends == found.sends  # an active source: BROADCAST2 is BROADCAST1


def test_figure_11():
    found = fc.broadcast(FIGURE_10, 0b0100, algorithm="BROADCAST2")
    assert (found.reached, found.steps) == (14, 5)
    assert [send for send in found.sends if send[1] == 0b0100] == [(1, 0b0100, 0b0000)]
    assert not [send for send in found.sends if send[2] == 0b0100]


# ---------------------------------------------------------------- the twin


def test_all_fault_sets_of_small_cubes():
    for n in (1, 2, 3):
        for faults in fault_sets(n, 2**n):
            check(n, faults, (), 0)


@pytest.mark.parametrize("most", [3, pytest.param(15, marks=pytest.mark.exhaustive)])
def test_all_fault_sets_of_q4(most):
    for faults in fault_sets(4, most):
        check(4, faults, (), 0, listed=False)


@pytest.mark.parametrize("most", [1, pytest.param(7, marks=pytest.mark.exhaustive)])
def test_all_of_q3_with_faulty_links(most):
    links = [(x, x ^ 1 << i) for x in range(8) for i in range(3) if not x >> i & 1]
    for chosen in (c for k in (1, 2) for c in itertools.combinations(links, k)):
        for faults in fault_sets(3, most):
            check(3, faults, chosen, 0)


@pytest.mark.parametrize(("n", "count"), mark_others_slow([(5, 150), (8, 20), (7, 60)], default=2))
def test_random_faults(n, count):
    rng = random.Random(n)
    for _ in range(count):
        s = rng.randrange(2**n)
        center = rng.randrange(2**n)
        faults = {rng.randrange(2**n) for _ in range(rng.randrange(2 * n))}
        faults |= {center ^ 1 << rng.randrange(n) ^ rng.randrange(4) for _ in range(rng.randrange(n))}
        links = [(x, x ^ 1 << rng.randrange(n)) for x in (rng.randrange(2**n) for _ in range(rng.randrange(3)))]
        check(n, sorted(faults - {s}), links, s)


def test_large_cubes():
    rng = random.Random(1)
    for _ in range(20):
        center = rng.getrandbits(60)
        faults = {center ^ 1 << rng.randrange(60) ^ 1 << rng.randrange(60) for _ in range(4)}
        cube = fc.Hypercube(60, faults)
        s = center ^ 1 << rng.randrange(60)
        if s in faults or fc.find_unsafe(cube).all_unsafe:
            continue
        found = fc.broadcast(cube, s)
        assert found.reached + len(faults) <= 2**60
        assert found.copies == found.reached - 1
        assert 60 <= found.steps <= 61


def test_lazy_faults_are_the_listed_ones():
    lazy = fc.random_faults(0.03, seed=4)
    listed = fc.Hypercube(8, [x for x in range(256) if x in lazy])
    s = next(x for x in range(256) if x not in lazy)
    for algorithm in ALGORITHMS:
        found, same = (fc.broadcast(cube, s, algorithm) for cube in (fc.Hypercube(8, lazy), listed))
        assert (found.reached, found.steps, found.copies, found.lost) == (
            same.reached,
            same.steps,
            same.copies,
            same.lost,
        )
        assert np.array_equal(found.received, same.received)


BAD = [
    ({"s": 3}, "s must be a nonfaulty node, got 3 (00011), which is faulty"),
    ({"s": 32}, "s must be in [0, 31] for n=5, got 32"),
    ({"s": 0, "k": 1}, "k is not an option of BROADCAST2, which takes no options"),
    (
        {"s": 0, "algorithm": "BROADCAST3"},
        "algorithm must be BROADCAST2, BROADCAST or BROADCAST1 for Hypercube, got 'BROADCAST3'; did you mean",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(arguments, message):
    with pytest.raises(fc.ParameterError) as error:
        fc.broadcast(fc.Hypercube(5, [3]), **arguments)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_only_hypercubes():
    with pytest.raises(fc.ParameterError, match="cube must be a Hypercube, got"):
        fc.broadcast(fc.DualCube(2), 0)


@pytest.mark.parametrize("what", ["received", "sends"])
def test_lists_end_at_20_dimensions(what):
    with pytest.raises(fc.ParameterError, match=r"n must be in \[1, 20\], got 21"):
        getattr(fc.broadcast(fc.Hypercube(21), 0), what)


def test_lazy_faults_end_at_26_dimensions():
    with pytest.raises(fc.ParameterError, match=r"n must be in \[1, 26\] for unsafe nodes under random_faults, got 27"):
        fc.broadcast(fc.Hypercube(27, fc.random_faults(1e-9)), 0)


# ---------------------------------------------------------------- BROADCAST's mean, in closed form


@pytest.mark.kernels
def test_the_mean_of_broadcast_is_its_closed_form():
    """All sets of faulty nodes of small cubes, by the kernels' enumeration."""
    for n in range(1, 5):
        for f in range(2**n):
            assert fc.exact_broadcast(n, f)["broadcast_coverage"] == mean_reached(n, f) / (2**n - f)


@pytest.mark.parametrize(("n", "f", "links"), [(1, 0, 1), (2, 1, 1), (2, 0, 3), (3, 1, 0), (3, 1, 2), (3, 0, 3)])
def test_the_closed_form_is_the_mean_over_all_cubes(n, f, links):
    """All sets of faulty nodes and links of a small cube, one cube at a time."""
    every = [(u, u ^ 1 << k) for u in range(2**n) for k in range(n) if not u >> k & 1]
    reached = [
        fc.broadcast(fc.Hypercube(n, nodes, pairs), 0, "BROADCAST").reached
        for nodes in itertools.combinations(range(1, 2**n), f)
        for pairs in itertools.combinations(every, links)
    ]
    assert mean_reached(n, f, links) == Fraction(sum(reached), len(reached))


@pytest.mark.kernels
def test_means_that_no_trials_carry_are_told_beside_the_closed_form():
    """At (60, 30) half of the lost nodes are lost in trials too rare to occur here. At n = 5 every kind of trial occurs."""
    results = fc.run("broadcast", n=[5, 60], f=[3, 30], links=[0], trials=2000)
    text = as_table(results.sel(n=5, f=3))
    assert (
        "BROADCAST's lost nodes, closed form: the estimate agrees at 1 of 1 points" in text
        and "losses too rare" not in text
    )
    text = as_table(results.sel(n=60, f=30))
    assert "n=60,f=30,links=0" in text and "closed form 870; losses of more than 2^16 nodes are too rare" in text
