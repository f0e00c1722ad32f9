"""fc.multicast: the paper's examples, the plain twin use by use, invariants of every multicast, and refusals."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from reference import multicasting as twin
from reference import partition as plain

import fastcube as fc

EXAMPLE = fc.Hypercube(5, [0b00100, 0b01001, 0b11110, 0b10011])
SOURCE = 0b01100
WANTED = [0b00010, 0b00101, 0b00111, 0b01000, 0b01010, 0b11000, 0b11101, 0b10100, 0b10001]


def check(n, faults, s, destinations, pair, path, net=None):
    m = fc.multicast(fc.Hypercube(n, faults), s, destinations, pair, path)
    wanted = twin.multicast(n, faults, s, destinations, *pair, path, net)
    assert m.channels == wanted.channels, (faults, s, destinations, pair)
    assert m.N == len(m.channels) <= 2**n - 1
    assert m.delivered == set(destinations) - {s}
    assert Counter(wanted.delivered) == Counter(m.delivered)  # each exactly once
    assert (m.depth, m.detours, m.partition) == (wanted.depth, wanted.detours, pair)
    assert not {end for channel in m.channels for end in channel} & set(faults)
    return m


def random_case(rng, n, f):
    """Faults with a 2-partition, the pair, a source and destinations."""
    while True:
        faults = rng.sample(range(2**n), f)
        pair = plain.exhaustive(n, faults)
        if pair is not None:
            nonfaulty = [v for v in range(2**n) if v not in faults]
            s, *destinations = rng.sample(nonfaulty, rng.randrange(1, len(nonfaulty) + 1))
            return faults, pair, s, destinations


# ---------------------------------------------------------------- the paper's examples


def test_section_4_3():
    m = fc.multicast(EXAMPLE, SOURCE, WANTED)
    assert (m.N, m.partition, m.delivered) == (14, (0, 1), set(WANTED))
    net = twin.Supercube(5, EXAMPLE.faulty_nodes, 0, 1)
    assert [net.label(v) for v in (0b01100, 0b01000, 0b11000, 0b11101, 0b10100, 0b10001)] == [2, 3, 4, 5, 6, 7]
    assert [net.label(v) for v in (0b00101, 0b00010)] == [1, 0]


def test_section_5_3():
    faults = [0b00011, 0b00100, 0b01110, 0b01001, 0b11010, 0b11110, 0b10101, 0b10011]
    check(5, faults, 0b01100, [v for v in range(32) if v not in faults], (0, 1), "shortcut")


def test_best_case():
    assert fc.multicast(fc.Hypercube(4), 5, [4]).channels == [(5, 4)]


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("path", ["shortcut", "hamilton"])
def test_worst_case_without_faults(n, path):
    for s in (0, 2**n - 1, 2**n // 3):
        assert 2**n - 1 == fc.multicast(fc.Hypercube(n), s, range(2**n), path=path).N


def test_the_order_of_the_pair_and_repeated_destinations_do_not_matter():
    once = fc.multicast(EXAMPLE, SOURCE, WANTED, (0, 1))
    assert once == fc.multicast(EXAMPLE, SOURCE, [*WANTED, SOURCE, *WANTED], (1, 0))
    nothing = fc.multicast(EXAMPLE, SOURCE, [SOURCE])
    assert (nothing.N, nothing.delivered, nothing.depth, nothing.detours) == (0, set(), 0, 0)


def test_a_detour_joins_a_message_that_goes_there_anyway():
    """At an intermediate node a detour to a buddy that is a destination is one message (A8); at the source it is not."""
    source = fc.multicast(fc.Hypercube(4, [0b0100]), 0b0000, [0b0001, 0b0101], (0, 1))
    assert source.channels == [(0, 1), (0, 1), (1, 0b0101)]
    assert source.detours == 1
    # 0110 is left for 1110, which is faulty, across dimension 0, where 0111 wants the message too
    between = fc.multicast(fc.Hypercube(4, [0b1110]), 0b0010, [0b0111, 0b1111], (0, 1))
    assert between.channels == [(0b0010, 0b0110), (0b0110, 0b0111), (0b0111, 0b1111)]
    assert between.detours == 1


# ---------------------------------------------------------------- against the twin


def check_every_multicast_of_q3(fault_sets, path):
    for faults in fault_sets:
        nonfaulty = [v for v in range(8) if v not in faults]
        for pair in itertools.combinations(range(3), 2):
            if plain.is_fault_tolerant(3, faults, *pair):
                net = twin.Supercube(3, faults, *pair)
                for s in nonfaulty:
                    others = [v for v in nonfaulty if v != s]
                    for size in range(1, len(others) + 1):
                        for destinations in itertools.combinations(others, size):
                            check(3, faults, s, destinations, pair, path, net)


@pytest.mark.parametrize("path", ["shortcut", "hamilton"])
def test_every_multicast_of_some_faulty_q3(path):
    check_every_multicast_of_q3([(5,), (1, 6)], path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", ["shortcut", "hamilton"])
@pytest.mark.parametrize("f", [0, 1, 2])
def test_every_multicast_of_q3(f, path):
    check_every_multicast_of_q3(itertools.combinations(range(8), f), path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "cases"), [(4, 40_000), (5, 40_000), (6, 20_000), (7, 1_000), (8, 500), (10, 1_000)])
def test_a_hundred_thousand_random_multicasts(n, cases):
    rng = random.Random(100 + n)
    for _ in range(cases):
        faults, pair, s, destinations = random_case(rng, n, rng.randrange(n + 1))
        check(n, faults, s, destinations, pair, rng.choice(["shortcut", "hamilton"]))


@pytest.mark.parametrize("n", [4, 5, 6, 8])
def test_random_multicasts(n):
    rng = random.Random(n)
    for _ in range(40 if n < 8 else 12):
        faults, pair, s, destinations = random_case(rng, n, rng.randrange(n + 1))
        for path in ("shortcut", "hamilton"):
            check(n, faults, s, destinations, pair, path)
        pairs = [p for p in itertools.combinations(range(n), 2) if plain.is_fault_tolerant(n, faults, *p)]
        check(n, faults, s, destinations, rng.choice(pairs), "shortcut")


def test_large_cubes_touch_only_what_they_visit():
    rng = random.Random(62)
    faults = rng.sample(range(2**62), 100)
    faults += [faults[0] ^ 1 << 61, faults[1] ^ 1 << 30]
    s, *destinations = (rng.randrange(2**62) for _ in range(50))
    m = fc.multicast(fc.Hypercube(62, faults), s, destinations)
    assert m.delivered == set(destinations)
    assert all((u ^ v).bit_count() == 1 for u, v in m.channels)


def test_faulty_links_are_faults_at_both_ends():
    cube = fc.Hypercube(4, (), [(0b0101, 0b0111)])
    m = fc.multicast(cube, 0, [v for v in range(16) if v not in (0b0101, 0b0111)])
    assert m == fc.multicast(fc.Hypercube(4, [0b0101, 0b0111]), 0, m.delivered)
    assert not {end for channel in m.channels for end in channel} & {0b0101, 0b0111}


# ---------------------------------------------------------------- bad input

FAULTY = fc.Hypercube(4, [0b0011])
BAD = [
    (lambda: fc.multicast(FAULTY, 3, [0]), "s must be nonfaulty, got 3 (0011), which is faulty"),
    (lambda: fc.multicast(FAULTY, 0, [1, 3]), "destinations must be nonfaulty, got 3 (0011), which is faulty"),
    (
        lambda: fc.multicast(fc.Hypercube(4, (), [(0, 1)]), 5, [1]),
        "destinations must be nonfaulty, got 1 (0001), which is an end of a faulty link",
    ),
    (lambda: fc.multicast(FAULTY, 16, [0]), "s must be in [0, 15] for n=4, got 16"),
    (lambda: fc.multicast(FAULTY, 0, [-1]), "destinations must be in [0, 15] for n=4, got -1"),
    (lambda: fc.multicast(FAULTY, 0, 5), "destinations must be labels of nonfaulty nodes for n=4, got 5"),
    (lambda: fc.multicast(FAULTY, 0, "12"), "destinations must be labels of nonfaulty nodes for n=4, got '12'"),
    (
        lambda: fc.multicast(fc.Hypercube(4, [0, 1, 2, 4, 8]), 3, [5]),
        "cube has no fault-tolerant 2-partition by exhaustive search: 5 faults for n=4",
    ),
    (lambda: fc.multicast(FAULTY, 0, [1], (1, 1)), "partition must be two different dimensions in [0, 3] for n=4, got (1, 1)"),
    (lambda: fc.multicast(FAULTY, 0, [1], (0, 4)), "partition must be two different dimensions in [0, 3] for n=4, got (0, 4)"),
    (lambda: fc.multicast(FAULTY, 0, [1], (0, 1, 2)), "partition must be two different dimensions in [0, 3] for n=4"),
    (lambda: fc.multicast(FAULTY, 0, [1], 3), "partition must be two different dimensions in [0, 3] for n=4, got 3"),
    (
        lambda: fc.multicast(fc.Hypercube(4, [0b0100, 0b0111]), 0, [1], (0, 1)),
        "partition must leave at most one fault in every 2-cube: (0, 1) has 0100 and 0111 in 01**",
    ),
    (lambda: fc.multicast(FAULTY, 0, [1], path="long"), "path must be shortcut or hamilton, got 'long'"),
    (lambda: fc.multicast(fc.Hypercube(25), 0, [1], path="hamilton"), "n must be in [1, 24] for path='hamilton', got 25"),
    (lambda: fc.multicast(fc.Hypercube(4, fc.random_faults(0.1)), 0, [1]), "faulty_nodes must be listed for a 2-partition"),
]  # a table, row by row # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    with pytest.raises(fc.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
