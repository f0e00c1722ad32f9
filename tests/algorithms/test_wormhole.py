"""fc.dependency_cycle and fc.simulate_wormhole: the walk of each message, a second statement of A15, and refusals."""

from __future__ import annotations

import itertools
import random

import pytest
from helpers.compiled import mark_others_slow
from reference import multicasting, wormhole
from reference import partition as plain

import fastcube as fc
from fastcube.algorithms.channel_dependencies import dependency_arcs, shortest_cycle
from fastcube.algorithms.partition import Supercube

VARIANTS = list(itertools.product((1, 2), (False, True)))


def arcs_of(n, faults, pair, copies, unicast):
    arcs = dependency_arcs(Supercube(n, frozenset(faults), pair), copies, unicast)
    return {(c, d) for c, after in arcs.items() for d in after}


def cut_cubes(n, f):
    for faults in itertools.combinations(range(2**n), f):
        for pair in itertools.combinations(range(n), 2):
            if plain.is_fault_tolerant(n, faults, *pair):
                yield faults, pair


# ---------------------------------------------------------------- dependencies


@pytest.mark.parametrize("f", [*mark_others_slow([0, 1]), pytest.param(2, marks=pytest.mark.exhaustive)])
def test_arcs_are_those_of_all_messages_of_q3(f):
    for faults, pair in cut_cubes(3, f):
        net = multicasting.Supercube(3, faults, *pair)
        for copies in (1, 2):
            assert arcs_of(3, faults, pair, copies, False) == wormhole.all_arcs(net, copies)
            assert arcs_of(3, faults, pair, copies, True) == wormhole.all_arcs(net, copies, 1)


@pytest.mark.slow
@pytest.mark.parametrize("f", [1, 0, 2])
def test_arcs_of_q3_are_those_of_two_destinations(f):
    for faults, pair in cut_cubes(3, f):
        net = multicasting.Supercube(3, faults, *pair)
        for copies, unicast in VARIANTS:
            assert arcs_of(3, faults, pair, copies, unicast) == wormhole.dependency_arcs(net, copies, unicast)


@pytest.mark.parametrize("n", mark_others_slow([4, 5]))
def test_arcs_hold_those_of_random_messages(n):
    rng = random.Random(n)
    for _ in range(2):
        faults = rng.sample(range(2**n), rng.randrange(n))
        pair = plain.exhaustive(n, faults)
        net = multicasting.Supercube(n, faults, *pair)
        nonfaulty = [v for v in range(2**n) if v not in faults]
        for copies in (1, 2):
            arcs = arcs_of(n, faults, pair, copies, False)
            for _ in range(20):
                s, *destinations = rng.sample(nonfaulty, rng.randrange(2, len(nonfaulty)))
                assert set(wormhole.arcs_of_multicast(net, s, destinations, copies)) <= arcs
            if n == 4:
                assert arcs == wormhole.dependency_arcs(net, copies)


@pytest.mark.slow
def test_a_cycle_is_found_where_there_is_one_and_is_a_cycle():
    rng = random.Random(7)
    found = 0
    for _ in range(15):
        n = rng.choice((4, 5, 6))
        faults = rng.sample(range(2**n), rng.randrange(n))
        cube = fc.Hypercube(n, faults)
        for copies, unicast in VARIANTS:
            arcs = arcs_of(n, faults, fc.two_partition(cube), copies, unicast)
            cycle = fc.dependency_cycle(cube, virtual_channels=copies, unicast=unicast)
            assert (cycle is not None) == wormhole.has_cycle(arcs)
            if cycle is not None:
                found += 1
                assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= arcs
                assert len(set(cycle)) == len(cycle)
    assert found > 5


def test_the_shortest_cycle_is_the_shortest():
    networkx = pytest.importorskip("networkx")
    rng = random.Random(3)
    for _ in range(300):
        size = rng.randrange(2, 12)
        arcs = {(v,): {(rng.randrange(size),) for _ in range(rng.randrange(3))} - {(v,)} for v in range(size)}
        graph = networkx.DiGraph([(c, d) for c, after in arcs.items() for d in after])
        lengths = [len(cycle) for cycle in networkx.simple_cycles(graph)]
        found = shortest_cycle(arcs)
        assert (found is None) == (not lengths)
        assert found is None or len(found) == min(lengths)


# ---------------------------------------------------------------- simulation


def check(n, faults, messages, pair, copies=1, flits=None, path="shortcut"):
    w = fc.simulate_wormhole(fc.Hypercube(n, faults), messages, pair, copies, flits, path)
    wanted = wormhole.simulate(multicasting.Supercube(n, faults, *pair), messages, copies, flits, path)
    assert (w.deadlocked, w.steps, w.arrival, w.held) == (
        wanted.deadlocked,
        wanted.steps,
        wanted.arrival,
        wanted.held,
    )
    assert {key: set(asked) for key, asked in w.waiting.items()} == {
        key: set(asked) for key, asked in wanted.waiting.items()
    }
    assert w.deadlocked == bool(w.held)
    return w


@pytest.mark.parametrize("flits", [1, 2, 7])
def test_one_message_over_h_channels_takes_h_plus_l_steps(flits):
    cube = fc.Hypercube(6)
    for destination in (1, 3, 5, 63, 62, 33):
        h = fc.multicast(cube, 0, [destination]).N
        w = fc.simulate_wormhole(cube, [(0, [destination])], flits=flits)
        assert (w.steps, w.arrival, w.deadlocked) == (h + flits, {(0, destination): h}, False)
        assert fc.simulate_wormhole(cube, [(0, [destination])]).steps == h


def test_nothing_to_send():
    for messages in ([], [(0, [])], [(3, [3])]):
        w = fc.simulate_wormhole(fc.Hypercube(4), messages, flits=5)
        assert (w.deadlocked, w.steps, w.arrival, w.held, w.waiting) == (False, 0, {}, {}, {})


@pytest.mark.parametrize("n", [3, 4, 5])
def test_against_the_twin(n):
    rng = random.Random(n)
    stuck = 0
    for _ in range(30 if n < 5 else 10):
        faults = rng.sample(range(2**n), rng.randrange(n))
        pair = plain.exhaustive(n, faults)
        nonfaulty = [v for v in range(2**n) if v not in faults]
        senders = rng.sample(nonfaulty, rng.randrange(1, min(9, len(nonfaulty))))
        messages = [(s, rng.sample(nonfaulty, rng.randrange(1, len(nonfaulty) // 2))) for s in senders]
        for copies in (1, 2):
            for flits in (None, 1, 3):
                stuck += check(n, faults, messages, pair, copies, flits).deadlocked
        check(n, faults, messages, pair, 2, 2, "hamilton")
    assert stuck > 0 or n == 3


def two_worms(net, messages, copies):
    """A15 for long messages, stated again: message after message, each a list of groups of channels to be had together.

    A message may request a group of channels in the step after it got the group's parent.  Once it has had all groups, it
    releases all channels in one step.
    """
    trees = []
    for i, (s, destinations) in enumerate(messages):
        for first in multicasting.sources_messages(net, s, destinations, "shortcut"):
            groups = [(None, s, [first])]  # (group whose channel leads here, node, what is sent on)
            for at, (_, _, sent) in enumerate(groups):
                for m in sent:
                    later = multicasting.passed_on(net, m, "shortcut")
                    if later:
                        groups.append((at, m.at, later))
            trees.append((i, first.kind, groups))
    had = [{} for _ in trees]  # group -> step
    step, last, over = 0, 0, set()
    while len(over) < len(trees):
        step += 1
        held = {}
        for owner, (_, kind, groups) in enumerate(trees):
            if owner not in over:
                for at in had[owner]:
                    for m in groups[at][2]:
                        held[wormhole.channel_of(net, kind, groups[at][1], m.at, copies)] = owner
        before = last
        for owner, (_, kind, groups) in enumerate(trees):
            if owner in over:
                continue
            for at, (parent, u, sent) in enumerate(groups):
                ready = parent is None or had[owner].get(parent, step) < step
                wanted = {wormhole.channel_of(net, kind, u, m.at, copies) for m in sent}
                if at not in had[owner] and ready and not wanted & held.keys():
                    had[owner][at] = last = step
                    held.update(dict.fromkeys(wanted, owner))
            if len(had[owner]) == len(groups):
                over.add(owner)
                held = {channel: o for channel, o in held.items() if o != owner}
        if last == before:
            break
    return len(over) < len(trees), last


@pytest.mark.slow
@pytest.mark.parametrize("f", [1, 0, 2])
def test_a_second_statement_agrees_on_every_pair_of_unicasts_of_q3(f):
    for faults in itertools.combinations(range(8), f):
        pair = plain.exhaustive(3, faults)
        net = multicasting.Supercube(3, faults, *pair)
        nonfaulty = [v for v in range(8) if v not in faults]
        unicasts = [(s, [d]) for s, d in itertools.permutations(nonfaulty, 2)]
        for messages in itertools.islice(itertools.combinations(unicasts, 2), 0, None, 1 if f == 2 else 3):
            w = fc.simulate_wormhole(fc.Hypercube(3, faults), messages, pair)
            assert (w.deadlocked, w.steps) == two_worms(net, messages, 1)


@pytest.mark.slow
def test_a_second_statement_agrees_on_multicasts_that_deadlock():
    rng = random.Random(11)
    stuck = 0
    for _ in range(80):
        faults = rng.sample(range(16), 3)
        pair = plain.exhaustive(4, faults)
        net = multicasting.Supercube(4, faults, *pair)
        nonfaulty = [v for v in range(16) if v not in faults]
        messages = [(s, rng.sample(nonfaulty, 6)) for s in rng.sample(nonfaulty, 6)]
        for copies in (1, 2):
            w = fc.simulate_wormhole(fc.Hypercube(4, faults), messages, pair, copies)
            assert (w.deadlocked, w.steps) == two_worms(net, messages, copies)
            stuck += w.deadlocked
    assert stuck > 1


# ---------------------------------------------------------------- bad input

CUBE = fc.Hypercube(4, [0b0011])
BAD = [
    (lambda: fc.dependency_cycle(CUBE, virtual_channels=3), "virtual_channels must be in [1, 2], got 3"),
    (lambda: fc.dependency_cycle(CUBE, virtual_channels="2"), "virtual_channels must be an integer in [1, 2], got '2'"),
    (lambda: fc.dependency_cycle(fc.Hypercube(13)), "n must be in [1, 12] for the dependency graph, got 13"),
    (lambda: fc.dependency_cycle(CUBE, (2, 2)), "partition must be two different dimensions in [0, 3] for n=4, got (2, 2)"),
    (lambda: fc.dependency_cycle(fc.Hypercube(4, [3, 0]), (0, 1)), "partition must leave at most one fault in every 2-cube"),
    (lambda: fc.dependency_cycle(fc.Hypercube(3, [0, 1, 2])), "cube has no fault-tolerant 2-partition by exhaustive search"),
    (lambda: fc.dependency_cycle(fc.Hypercube(4, fc.random_faults(0.1))), "faulty_nodes must be listed"),
    (lambda: fc.dependency_cycle(4), "cube must be a Hypercube, got 4"),
    (lambda: fc.simulate_wormhole(CUBE, [(3, [0])]), "s must be nonfaulty, got 3 (0011), which is faulty"),
    (lambda: fc.simulate_wormhole(CUBE, [(0, [3])]), "destinations must be nonfaulty, got 3 (0011), which is faulty"),
    (lambda: fc.simulate_wormhole(CUBE, [(0, [16])]), "destinations must be in [0, 15] for n=4, got 16"),
    (lambda: fc.simulate_wormhole(CUBE, [0]), "messages must be pairs (s, destinations), got 0"),
    (lambda: fc.simulate_wormhole(CUBE, 0), "messages must be pairs (s, destinations), got 0"),
    (lambda: fc.simulate_wormhole(CUBE, [], virtual_channels=0), "virtual_channels must be in [1, 2], got 0"),
    (lambda: fc.simulate_wormhole(CUBE, [], flits=0), "flits must be in [1, 2147483648], got 0"),
    (lambda: fc.simulate_wormhole(CUBE, [], flits="long"), "flits must be an integer in [1, 2147483648], got 'long'"),
    (lambda: fc.simulate_wormhole(CUBE, [], path="x"), "path must be shortcut or hamilton, got 'x'"),
    (lambda: fc.simulate_wormhole(fc.Hypercube(25), [], path="hamilton"), "n must be in [1, 24] for path='hamilton', got 25"),
]  # a table, row by row # fmt: skip


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    with pytest.raises(fc.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
