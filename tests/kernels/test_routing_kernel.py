"""The kernels of routing and routing-rate: against the plain twin, replayed trials, each other, exact values, closed forms."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction

import numba
import numpy as np
import pytest
from helpers.compiled import mark_unless_default
from helpers.documented import load_documented_sampler
from helpers.routing_trials import RATE, check_rate, check_routing, record_route
from reference.routing import Cube
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.exact import closed_forms
from fastcube.kernels.broadcasting.replay import broadcast
from fastcube.kernels.draws import faults as listed
from fastcube.kernels.machine.bits import ONE
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.routing import dispatch, layout, replay, rules
from fastcube.kernels.routing.bytes_per_node import ROUTING_BYTES
from fastcube.kernels.routing.lanes import ROUTING_LANES_8, ROUTING_LANES_16, ROUTING_LANES_32
from fastcube.kernels.routing.scalar import ROUTING_SETS, ROUTING_SINGLE
from fastcube.measure import registry
from fastcube.measure.statistics import Proportion

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="many trials need compiled code")

ROUTING = registry.study("routing")
LEVEL = 1e-6


def expected(cases):
    """Counters and maxima of (trial, cube, s, t, k) by the twin."""
    counts, maxima = Counter(), {}
    for trial, cube, s, t, k in cases:
        safe, h = not cube.is_unsafe(), (s ^ t).bit_count()
        counts["some_active"] += safe
        counts["route_delivered"] += cube.route("ROUTE", s, t)[0] == "delivered"
        found = {}
        for name in ("route1", "route2", "route3"):
            if name != "route3" or safe:
                outcome, path = cube.route(name.upper(), s, t, k)
                found[name] = len(path) - 1 if outcome == "delivered" else None
                record_route(counts, maxima, name, outcome, found[name], h, trial)
        if safe:
            counts["route_delivered_active"] += cube.route("ROUTE", s, t)[0] == "delivered"
            for name in ("route1", "route2"):
                counts[f"{name}_delivered_active"] += found[name] is not None
            counts["ends_in_one_unsafe_subcube"] += cube.same_subcube(s, t)
            one, three = (found[name] if found[name] is not None else np.inf for name in ("route1", "route3"))
            counts["route3_beats_route1"] += three < one
            counts["route1_beats_route3"] += one < three
        if cube.n <= 12:
            shortest = cube.shortest(s, t)
            counts["reachable"] += shortest is not None
            for name, links in found.items():
                counts[f"{name}_above_shortest"] += links is not None and links > shortest
    return counts, maxima


def drawn(point, first, stop):
    """The trials of a point, for the twin."""
    key = fc.study("routing").key(0, point)
    n, f, links, k = point.values()
    for trial in range(first, stop):
        nodes, pairs, (s, t) = replay.routing(key, trial, n, f, links)
        yield trial, Cube(n, nodes.tolist(), [tuple(pair) for pair in pairs.tolist()]), int(s), int(t), k


def at(n, f, links=0, k=1):
    return {"n": n, "f": f, "links": links, "k": k}


POINTS = [at(1, 0), at(2, 2, k=2), at(3, 6), at(4, 3, 2, 3), at(5, 8), at(5, 8, k=3), at(5, 20), at(6, 0, 4, 2),
          at(7, 5, k=2), at(8, 6), at(8, 4, k=5), at(9, 9, 3)]  # a table, row by row # fmt: skip
#: Lanes of 16 bits; lanes of 8 and of 32 are compiled from the same source.
OTHERS = [pytest.param(at(10, 12, k=2), marks=pytest.mark.slow)]


@compiled
@pytest.mark.parametrize("point", mark_unless_default("routing", POINTS) + OTHERS, ids=str)
def test_kernel_is_the_twin(point):
    tally = ROUTING.count(point, 120, first=37)
    check_routing(tally, *expected(drawn(point, 37, 157)))


@compiled
@pytest.mark.exhaustive
@pytest.mark.parametrize("n", range(4, 11))
def test_kernel_is_the_twin_on_many_trials(n):
    for f, links, k in itertools.product((1, 2, n // 2, n, 2 * n), (0, 2), (1, 2, n)):
        if f <= 2**n - 2:
            tally = ROUTING.count(at(n, f, links, k), 500)
            check_routing(tally, *expected(drawn(at(n, f, links, k), 0, 500)))


@pytest.mark.kernels
@compiled
def test_replayed_trials_add_up():
    for point in (at(5, 8, k=2), at(8, 6, 2), at(20, 60)):
        tally = ROUTING.count(point, 60)
        counts, key = Counter(), fc.study("routing").key(0, point)
        for trial in range(60):
            data = ROUTING.explain(point, key, trial).data
            assert (data["k"], len(data["faulty_nodes"]), len(data["faulty_links"])) == (
                point["k"],
                point["f"],
                point["links"],
            )
            counts["some_active"] += data["some_active"]
            for name in ("ROUTE", "ROUTE1", "ROUTE2", "ROUTE3"):
                if name != "ROUTE3" or data["some_active"]:
                    counts[f"{name.lower()}_{data[name]['outcome']}"] += 1
                    if name != "ROUTE3" and data["some_active"]:
                        counts[f"{name.lower()}_delivered_active"] += data[name]["outcome"] == "delivered"
                    counts[f"{name.lower()}_links"] += (
                        len(data[name]["path"]) - 1 if data[name]["outcome"] == "delivered" else 0
                    )
        for name, count in counts.items():
            if name not in ("route_lost", "route_links"):
                assert tally.counts[name] == count, (point, name)


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(
    ("other_kernel", "points"),
    [
        (
            ROUTING_BYTES,
            [
                at(2, 2),
                at(3, 6),
                at(4, 9),
                at(5, 8, k=5),
                at(6, 30),
                at(8, 8, k=2),
                at(8, 130),
                at(10, 9),
                at(12, 24, k=3),
            ],
        ),
        (ROUTING_LANES_8, [at(7, 5), at(8, 2), at(8, 4), at(8, 6, k=2), at(8, 4, k=5), at(5, 8), at(8, 20)]),
        pytest.param(ROUTING_LANES_16, [at(9, 8, k=3), at(10, 5, k=5), at(12, 6), at(16, 40)], marks=pytest.mark.slow),
        (ROUTING_LANES_32, [at(17, 40, k=2), at(20, 10), at(30, 15), at(33, 9), at(60, 31), at(62, 2)]),
    ],
)
def test_kernels_equal_one_trial_at_a_time(other_kernel, points):
    for point in points:
        for first, stop in ((0, 3000), (777, 3333)):
            tallies = []
            for form in (other_kernel, ROUTING_SINGLE):
                slots = layout.ROUTING.new_tally()
                form(np.uint64(11), first, stop, np.array(list(point.values()), np.float64), slots)
                tallies.append(layout.ROUTING.read(slots))
            assert tallies[0] == tallies[1], point


def test_which_kernel_serves():
    kernel = dispatch.ROUTING.kernel
    assert kernel(5, 3, 0, 1) is kernel(7, 2, 0, 1) is kernel(8, 12, 0, 1) is ROUTING_LANES_8
    assert kernel(9, 4, 0, 1) is kernel(16, 8, 0, 1) is ROUTING_LANES_16
    assert kernel(17, 4, 0, 1) is kernel(62, 60, 0, 1) is ROUTING_LANES_32
    for n, f, links in ((2, 0, 0), (8, 4, 1), (8, 60, 0), (20, 1, 0)):
        assert kernel(n, f, links, 1) is ROUTING_SINGLE


@pytest.mark.kernels
@compiled
def test_trials_split_anywhere():
    for study, point in ((ROUTING, at(8, 4, k=2)), (RATE, {"n": 20, "rate": 0.3, "k": 1})):
        whole = study.count(point, 3000)
        parts = [study.count(point, stop - first, first=first) for first, stop in ((0, 7), (7, 1500), (1500, 3000))]
        total = parts[0] + parts[1] + parts[2]
        assert (total.counts, total.maxima) == (whole.counts, whole.maxima)


# ---------------------------------------------------------------- every message of small cubes


def exactly(n, f, k):
    """The statistics over all fault sets without node 0 and all destinations, by the twin."""
    cases = [
        (0, Cube(n, faults), 0, t, k)
        for faults in itertools.combinations(range(1, 2**n), f)
        for t in range(1, 2**n)
        if t not in faults
    ]
    counts, _ = expected(cases)
    return {s.name: s.exact(counts, len(cases), at(n, f, k=k)) for s in ROUTING.statistics}


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(
    ("n", "most"), [(1, 0), (2, 2), (3, 6), pytest.param(4, 5, marks=pytest.mark.exhaustive)], ids=str
)
def test_all_messages_are_the_twins(n, most):
    for f, k in itertools.product(range(most + 1), range(1, n + 1)):
        assert fc.exact_routing(n, f, k) == exactly(n, f, k), (n, f, k)


def met(n, faults, k, radius, least):
    """Destinations from node 0 over at least so many links; none where a nonfaulty node has too many faults around it."""
    nonfaulty = [x for x in range(2**n) if x not in faults]
    if any(sum((x ^ y).bit_count() <= radius for y in faults) > k for x in nonfaulty):
        return 0
    return sum(x.bit_count() >= least for x in nonfaulty if x)


@pytest.mark.kernels
@compiled
def test_messages_where_no_node_is_crowded():
    """The hypotheses of Theorems 1 and 2: faults counted around nonfaulty nodes alone, and around each of them."""
    for n, most in ((2, 2), (3, 6), (4, 4)):
        for f, k in itertools.product(range(1, most + 1), range(1, n)):
            for radius, least in ((k, 1), (k, k + 1), (1, 1)):
                sets = list(itertools.combinations(range(1, 2**n), f))
                params, slots = [n, f, 0, k, radius, least, *range(f)], layout.ROUTING.new_tally()
                ROUTING_SETS(np.uint64(0), 0, len(sets), np.array(params, np.float64), slots)
                counts, _ = layout.ROUTING.read(slots)
                messages = sum(counts[f"route1_{end}"] for end in ("delivered", "stuck", "livelock"))
                assert messages == sum(met(n, faults, k, radius, least) for faults in sets), (n, f, k, radius, least)


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f", "k"), [(3, 3, 1), (4, 2, 2), (4, 6, 1), (4, 9, 4), (5, 2, 1), (5, 4, 2)])
def test_monte_carlo_agrees_with_exact_values(n, f, k):
    tally, values = ROUTING.count(at(n, f, k=k), 100_000), fc.exact_routing(n, f, k)
    for statistic in ROUTING.statistics:
        if isinstance(statistic, Proportion) and values[statistic.name] is not None:
            among = statistic.trials(tally.counts, tally.trials)
            agrees(tally.counts[statistic.events], among, float(values[statistic.name]), (n, f, k, statistic.name))


def agrees(events, trials, p, what):
    assert bdtr(events, trials, p) > LEVEL / 2, what
    assert events == 0 or bdtrc(events - 1, trials, p) > LEVEL / 2, what


# ---------------------------------------------------------------- faults with a rate


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize("n", [3, 10, 30, 60])
def test_closed_forms(n):
    for rate in (0.0, 0.1, 0.4):
        tally = RATE.count({"n": n, "rate": rate, "k": 1}, 200_000)
        assert tally.counts["valid"] == tally.trials
        agrees(
            tally.counts["route1_at_hamming"], tally.trials, float(closed_forms.minimal_fraction(n, rate)), (n, rate)
        )
        agrees(tally.counts["route_delivered"], tally.trials, float(closed_forms.basic_fraction(n, rate)), (n, rate))


def test_closed_forms_at_the_ends():
    assert closed_forms.minimal_fraction(2, 0.5) == (2 + 1 - Fraction(1, 4)) / 3
    assert closed_forms.basic_fraction(2, 0.5) == Fraction(2 + Fraction(1, 2)) / 3
    assert closed_forms.minimal_fraction(60, 0.0) == closed_forms.basic_fraction(60, 0.0) == 1


@compiled
@pytest.mark.parametrize(("n", "rate", "k"), [(2, 0.6, 1), (6, 0.3, 2), (10, 0.5, 1), (20, 0.2, 3), (60, 0.3, 1)])
def test_rate_kernel_is_the_twin(n, rate, k):
    check_rate(n, rate, k, 300)


@compiled
def test_replayed_rate_trial():
    point = {"n": 30, "rate": 0.3, "k": 2}
    found = RATE.explain(point, fc.study("routing-rate").key(0, point), 5)
    assert set(found.data) == {"status_key", "rate", "s", "t", "k", "ROUTE", "ROUTE1", "ROUTE2"}
    assert "ROUTE1(2): delivered over" in found.text or "ROUTE1(2): " in found.text


# ---------------------------------------------------------------- one message on any faults


@kernel("void(int64, uint64[::1], uint64[:, ::1], uint64, uint64, int64, int64[::1])", cache=False)
def route_all(n, nodes, links, s, t, k, out):
    """The rules of kernels/routing/rules.py on given faults."""
    faults = listed.faults_for(n, nodes.size, links.shape[0], 2)
    faults.labels[: nodes.size] = nodes
    for i in range(links.shape[0]):
        faults.lower[i], faults.dims[i] = links[i, 0], links[i, 1]
    listed.index_faults(faults)
    listed.unsafe_subcubes(faults)
    search = rules.search_scratch_for(k)
    whole = (ONE << np.uint64(n)) - ONE
    out[0] = rules.route_passes(faults, s, t)
    out[1] = rules.simulate_route1(faults, s, t, whole, k, search)
    out[2] = rules.simulate_route2(faults, s, t, whole, k, search)
    out[3] = rules.simulate_route3(faults, s, t, whole, k, search)


CODES = {"stuck": -1, "livelock": -2, "limit": -3, "lost": -4}


@compiled
@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [4, 7, 10, 60])
def test_rules_on_faults_around_the_ends(n):
    rng = random.Random(n)
    for _ in range(3000):
        s, t = rng.getrandbits(n), rng.getrandbits(n)
        nodes, links = set(), set()
        for _ in range(rng.randrange(3 * n)):
            x = rng.choice([s, t, s ^ (s ^ t) & rng.getrandbits(n)])
            for _ in range(rng.randrange(1, 4)):
                x ^= 1 << rng.randrange(n)
            i = rng.randrange(n)
            if rng.random() < 0.1:
                links.add((x & ~(1 << i), i))
            else:
                nodes.add(x)
        nodes -= {s, t}
        k = rng.randrange(1, min(n, 5) + 1)
        out = np.zeros(4, np.int64)
        rows = np.array(sorted(links), np.uint64).reshape(-1, 2)
        route_all(n, np.array(sorted(nodes), np.uint64), rows, np.uint64(s), np.uint64(t), k, out)
        cube = Cube(n, nodes, [(x, x | 1 << i) for x, i in links])
        wanted = [int(cube.route("ROUTE", s, t)[0] == "delivered")]
        for name in ("ROUTE1", "ROUTE2", "ROUTE3"):
            outcome, path = cube.route(name, s, t, k)
            wanted.append(len(path) - 1 if outcome == "delivered" else CODES[outcome])
        assert out.tolist() == wanted, (n, nodes, links, s, t, k)


@compiled
@pytest.mark.slow
def test_a_livelock_of_four_nodes():
    """Found at random: no walk without a mark ends here (going back to the node before is not met)."""
    nodes = [1, 2, 12, 17, 18, 19, 20, 22, 29, 30, 35, 43, 46, 48, 50, 52, 54, 56, 57, 59, 60, 61]
    assert Cube(6, nodes).route("ROUTE1", 31, 32, 3) == ("livelock", [31, 63, 55, 23, 31])
    out = np.zeros(4, np.int64)
    route_all(6, np.array(nodes, np.uint64), np.empty((0, 2), np.uint64), np.uint64(31), np.uint64(32), 3, out)
    assert out[1] == CODES["livelock"]


# ---------------------------------------------------------------- what is refused

BAD = [
    ("routing", at(3, 7), "f must be in [0, 6] for n=3, which leaves two nonfaulty nodes, got 7"),
    ("routing", at(3, 0, 13), "links must be in [0, 12] for n=3, got 13"),
    ("routing", at(3, 0, 0, 4), "k must be in [1, 3] for n=3, got 4"),
    ("routing", at(3, 0, 0, 0), "k must be in [1, 62], got 0"),
    ("routing", at(63, 0), "n must be in [1, 62], got 63"),
    ("routing", at(30, 65537), "f must be in [0, 65536], got 65537"),
    ("routing-rate", {"n": 5, "rate": 1.0, "k": 1}, "rate must be in [0, 1), got 1.0"),
    ("routing-rate", {"n": 5, "rate": -0.1, "k": 1}, "rate must be in [0, 1), got -0.1"),
    ("routing-rate", {"n": 5, "rate": 0.5, "k": 6}, "k must be in [1, 5] for n=5, got 6"),
    ("routing-rate", {"n": 1, "rate": 0.5, "k": 1}, "n must be in [2, 62], got 1"),
]


@pytest.mark.parametrize(("study", "point", "message"), BAD)
def test_impossible_points(study, point, message):
    with pytest.raises(fc.ParameterError) as error:
        registry.study(study).point(point)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 7), "f must be in [0, 6] for n=3, which leaves two nonfaulty nodes, got 7"),
        ((3, 2, 4), "k must be in [1, 3] for n=3, got 4"),
        ((6, 5), "point must have at most 10,000,000 cases for exact values, got 407,673,126 at n=6,f=5,links=0,k=1"),
    ],
)
def test_exact_values_that_cannot_be_had(arguments, message):
    with pytest.raises(fc.ParameterError) as error:
        fc.exact_routing(*arguments)
    assert str(error.value) == message


# ---------------------------------------------------------------- the recipe of docs/random.md


@compiled
@pytest.mark.parametrize("n", [2, 5, 9, 20, 40])
def test_trials_are_those_of_the_recipe(n):
    names, key = load_documented_sampler(), 0x5EED
    for trial in range(8):
        for f in {0, 1, min(2**n - 2, 9)}:
            nodes, _, ends = replay.routing(key, trial, n, f, 0)
            assert (nodes.tolist(), ends.tolist()) == names["fault_set_and_ends"](key, trial, n, f, 2)
            nodes, links, ends = broadcast(key, trial, n, f, 1)
            assert (nodes.tolist(), ends.tolist()) == names["fault_set_and_ends"](key, trial, n, f, 1)
            [(lower, dim)] = names["link_set"](key, trial, n, 1)
            assert links.tolist() == [[lower, lower | 1 << dim]]
        for rate in (0.0, 0.3, 0.8):
            valid, *drawn = replay.routing_rate(key, trial, n, rate)
            assert valid
            assert tuple(map(int, drawn)) == names["rate_trial"](key, trial, n, rate)
