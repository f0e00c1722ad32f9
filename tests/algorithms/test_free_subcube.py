"""fc.fault_free_subcube and the study of fault-free subcubes: the plain twin, closed forms, replays, and bad input."""

import itertools
import random
from fractions import Fraction

import pytest
from reference import free_subcube as twin

import fastcube as fc
from fastcube.exact.closed_forms import fault_free_block, fault_free_half
from fastcube.kernels.free_subcube.layout import PARTS
from fastcube.studies.networks.free_subcube import exact_value, iter_subcubes

STUDY = fc.study("free-subcube")


def check_cube(n, nodes, links=()):
    cube = fc.Hypercube(n, nodes, links)
    for aligned in (False, True):
        found, wanted = fc.fault_free_subcube(cube, aligned), twin.largest(n, nodes, links, aligned)
        assert (None if found is None else str(found)) == wanted, (n, nodes, links, aligned)


def links_of(n):
    return [(u, u | 1 << i) for u in range(2**n) for i in range(n) if not u >> i & 1]


# ---------------------------------------------------------------- one cube


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_fault_sets_of_small_cubes(n):
    for f in range(2**n + 1):
        for nodes in itertools.combinations(range(2**n), f):
            check_cube(n, nodes)


def test_all_sets_of_links_of_q3():
    for count in range(13):
        for links in itertools.combinations(links_of(3), count):
            check_cube(3, (), links)


def test_random_nodes_and_links():
    rng = random.Random(1)
    for n in (4, 5, 6, 7):
        for _ in range(40):
            check_cube(n, rng.sample(range(2**n), rng.randrange(2**n)), rng.sample(links_of(n), rng.choice((0, 3, 20))))


def test_q62():
    """A fault in each quarter of Q_62 but two, and no other faults: the first of the two is the largest."""
    nodes = [v << 60 for v in (1, 3)]
    assert str(fc.fault_free_subcube(fc.Hypercube(62, nodes))) == "*0" + "*" * 60
    assert str(fc.fault_free_subcube(fc.Hypercube(62, nodes), aligned=True)) == "00" + "*" * 60


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fc.fault_free_subcube(fc.Hypercube(4, fc.random_faults(0.1))),
            "faulty_nodes must be listed for a fault-free subcube",
        ),
        (lambda: fc.fault_free_subcube(fc.DualCube(2)), "cube must be a Hypercube, got DualCube(2)"),
        (lambda: fc.fault_free_subcube(fc.Hypercube(2), aligned=2), "aligned must be"),
        (
            lambda: fc.fault_free_subcube(fc.Hypercube(36, random.Random(2).sample(range(2**36), 500))),
            "cube has a fault in every subcube of dimension 32, and more than 10,000,000 subcubes of dimension 31",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(fc.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


# ---------------------------------------------------------------- the study


def test_subcubes_are_listed_in_order():
    for n, fixed in itertools.product((2, 4), (0, 1, 2)):
        for aligned in (False, True):
            found = [str(one) for one in iter_subcubes(n, fixed, n - fixed if aligned else 0)]
            assert found == twin.subcubes(n, fixed, aligned)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_closed_forms_are_the_enumeration(n):
    for f in range(2**n + 1):
        values = STUDY.exact({"n": n, "f": f, "links": 0})
        assert values["fault_free_half"] == fault_free_half(n, f)
        for m, part in enumerate(PARTS[: min(n, 3)], 1):
            assert values[f"aligned_{part}"] == fault_free_block(n, m, f)
            assert exact_value(f"aligned_{part}", {"n": n, "f": f, "links": 0}) == float(values[f"aligned_{part}"])


def test_enumeration_counts_links_too():
    cubes = [
        (nodes, links)
        for nodes in itertools.combinations(range(4), 1)
        for links in itertools.combinations(links_of(2), 2)
    ]
    values = STUDY.exact({"n": 2, "f": 1, "links": 2})
    for m, part in enumerate(PARTS[:2], 1):
        for kind, aligned in (("fault_free", False), ("aligned", True)):
            found = sum(twin.least_fixed(2, *cube, aligned) <= m for cube in cubes)
            assert values[f"{kind}_{part}"] == Fraction(found, len(cubes))


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (
            {"n": 6, "f": 8, "links": 0},
            "n must be small for exact values: at most 64 nodes and links, 1,000,000 fault sets",
        ),
        ({"n": 62, "f": 8, "links": 1}, "n must be small for exact values"),
    ],
)
def test_large_points_have_no_enumeration(point, message):
    with pytest.raises(fc.ParameterError, match=message):
        STUDY.exact(point)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"n": 4, "f": 17, "links": 0}, "f must be in [0, 16] for n=4, got 17"),
        ({"n": 3, "f": 0, "links": 13}, "links must be in [0, 12] for n=3, got 13"),
    ],
)
def test_impossible_points(point, message):
    with pytest.raises(fc.ParameterError) as caught:
        STUDY.check(STUDY.point(point))
    assert str(caught.value) == message


@pytest.mark.parametrize("point", [(2, 4, 0), (4, 0, 0), (5, 6, 3), (6, 30, 0), (5, 0, 40)])
def test_replays_name_the_largest_and_what_blocks_larger_ones(point):
    n = point[0]
    values = dict(zip(("n", "f", "links"), point, strict=True))
    for trial in range(6):
        found = STUDY.explain(values, STUDY.key(0, values), trial)
        nodes, links = found.data["faulty_nodes"], [tuple(link) for link in found.data["faulty_links"]]
        for kind, aligned in (("fault_free", False), ("aligned", True)):
            wanted = twin.largest(n, nodes, links, aligned, 3)
            assert found.data[kind] == wanted
            fixed = min(n, 3) if wanted is None else n - wanted.count("*") - 1
            larger = twin.subcubes(n, fixed, aligned) if fixed >= 0 else []
            assert [one for one, _ in found.data[f"{kind}_blocked"]] == larger
            for one, fault in found.data[f"{kind}_blocked"]:
                assert all(twin.contains(one, v) for v in fault)
                assert fault[0] in nodes if len(fault) == 1 else tuple(fault) in links
        assert "largest fault-free subcube: " in found.text


def test_long_replays_say_how_many_are_left_out():
    values = {"n": 62, "f": 200, "links": 0}
    text = STUDY.explain(values, STUDY.key(0, values), 0).text
    assert "largest fault-free subcube: none of dimension 59 or more" in text
    assert "and 302,540 more of dimension 59, each with a fault" in text
    assert max(map(len, text.splitlines()[1:])) < 200 and len(text.splitlines()) < 40


@pytest.mark.kernels
def test_notes_name_the_largest_numbers_of_faults():
    results = fc.run("free-subcube", n=6, f=[1, 16, 32], links=0, trials=2000)
    assert STUDY.notes(results) == [
        "n=6: of these f, up to 16 leave a fault-free eighth in 99% of the sets, up to 1 an aligned one"
    ]
