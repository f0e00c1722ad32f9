"""The kernels of broadcast: against the plain twin, replayed trials, each other, and exact values."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numba
import numpy as np
import pytest
from helpers.compiled import mark_unless_default
from helpers.descents import count_regions, iter_broadcasts, list_entered
from helpers.tallies import check_counts, check_tally, count_trials, new_counts
from reference.broadcasting import broadcast as simulate
from reference.routing import Cube
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.kernels.broadcasting import dispatch, layout, replay
from fastcube.kernels.broadcasting.descent import NO_SILENT_NODE, descent_for
from fastcube.kernels.broadcasting.lanes import BROADCAST_LANES_16, BROADCAST_LANES_32
from fastcube.kernels.broadcasting.memoised import broadcast_counted
from fastcube.kernels.broadcasting.registers import descend_8, descend_16
from fastcube.kernels.broadcasting.scalar import BROADCAST_SINGLE
from fastcube.kernels.broadcasting.subcube_lists import descend_listed
from fastcube.kernels.draws.faults import draw, faults_for, is_closed, unsafe_subcubes
from fastcube.kernels.machine.bits import ONE
from fastcube.kernels.machine.jit import kernel
from fastcube.measure import registry
from fastcube.measure.binned import Quantile
from fastcube.measure.estimate import quantile_bins
from fastcube.measure.statistics import Mean, Proportion

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="many trials need compiled code")

BROADCAST = registry.study("broadcast")
LEVEL = 1e-6


def expected(cases):
    """Counters and the maximum of (trial, cube, number of faulty nodes, s) by the twin."""
    counts, most = Counter(), (-1, -1)
    for trial, cube, f, s in cases:
        names = {"broadcast": "BROADCAST"}
        if not cube.is_unsafe():
            unsafe = cube.unsafe(s)
            counts["some_active"] += 1
            counts["unsafe_source"] += unsafe
            names |= {"broadcast1_unsafe" if unsafe else "broadcast1": "BROADCAST1", "broadcast2": "BROADCAST2"}
        for name, algorithm in names.items():
            found = simulate(cube, algorithm, s)
            counts[f"{name}_trials"] += 1
            counts[f"{name}_complete"] += found.reached == 2**cube.n - f
            counts[f"{name}_reached"] += found.reached
            counts[f"{name}_reached_squared"] += found.reached**2
            counts[f"{name}_steps"] += found.steps
            counts[f"{name}_steps_squared"] += found.steps**2
            counts[f"{name}_steps_bins", found.steps] += 1
            if name == "broadcast2" and found.steps > most[0]:
                most = found.steps, trial
    return counts, most


def check(tally, counts, most):
    wanted = new_counts(layout.BROADCAST)
    for name, value in counts.items():
        if isinstance(name, tuple):
            wanted[name[0]][name[1]] = value
        else:
            wanted[name] = value
    check_counts(tally.counts, wanted)
    assert tally.maxima == {"broadcast2_steps": most}


def at(n, f, links=0):
    return {"n": n, "f": f, "links": links}


def drawn(point, first, stop):
    """The trials of a point, for the twin."""
    key = fc.study("broadcast").key(0, point)
    n, f, links = point.values()
    for trial in range(first, stop):
        nodes, pairs, (s,) = replay.broadcast(key, trial, n, f, links)
        yield trial, Cube(n, nodes.tolist(), [tuple(pair) for pair in pairs.tolist()]), f, int(s)


POINTS = [at(1, 0), at(1, 1), at(2, 1), at(3, 6), at(4, 3, 2), at(5, 4), at(5, 20), at(6, 0, 4), at(6, 6), at(7, 9, 1)]


@compiled
@pytest.mark.parametrize("point", mark_unless_default("broadcast", POINTS), ids=str)
def test_kernel_is_the_twin(point):
    check(BROADCAST.count(point, 60, first=37), *expected(drawn(point, 37, 97)))


@compiled
@pytest.mark.exhaustive
@pytest.mark.parametrize("n", range(3, 11))
def test_kernel_is_the_twin_on_many_trials(n):
    for f, links in itertools.product((1, 2, n // 2, n, 2 * n), (0, 2)):
        if f < 2**n:
            trials = max(40, 2**13 >> n)
            check(BROADCAST.count(at(n, f, links), trials), *expected(drawn(at(n, f, links), 0, trials)))


@pytest.mark.kernels
@compiled
def test_replayed_trials_add_up():
    for point in (at(5, 6), at(8, 6, 2), at(20, 40)):
        tally = BROADCAST.count(point, 60)
        counts, key = Counter(), fc.study("broadcast").key(0, point)
        for trial in range(60):
            data = BROADCAST.explain(point, key, trial).data
            counts["some_active"] += data["some_active"]
            for name in ("BROADCAST", "BROADCAST2") if data["some_active"] else ("BROADCAST",):
                counts[f"{name.lower()}_reached"] += data[name]["reached"]
                counts[f"{name.lower()}_steps"] += data[name]["steps"]
        assert {name: tally.counts[name] for name in counts} == counts


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(
    ("lanes", "points"),
    [
        (broadcast_counted, [at(3, 2), at(4, 2), at(4, 7), at(5, 4), at(6, 3), at(8, 2)]),
        (BROADCAST_LANES_16, [at(2, 1), at(4, 2), at(4, 5), at(6, 3), at(8, 4), at(8, 6), at(12, 6), at(16, 40)]),
        (BROADCAST_LANES_32, [at(17, 30), at(20, 10), at(32, 9), at(33, 9), at(60, 30), at(62, 31)]),
    ],
)
def test_lanes_equal_one_trial_at_a_time(lanes, points):
    for point in points:
        for first, stop in ((0, 2000), (777, 2777)):
            found, wanted = (
                count_trials(form, layout.BROADCAST, list(point.values()), first, stop, 11)
                for form in (lanes, BROADCAST_SINGLE)
            )
            check_tally(found, wanted, point)


@kernel("int64(uint64, int64, int64, int64)")
def differing_descents(key, n, f, trials):
    """In how many trials the three descents differ; -1 when no trial had an unsafe source."""
    faults, d = faults_for(n, f, np.int64(0), np.int64(1)), descent_for(n, f)
    found = np.zeros((3, 5), np.int64)
    whole = (ONE << np.uint64(n)) - ONE
    differ, unsafe = np.int64(0), np.int64(0)
    for t in range(trials):
        draw(key, t, n, faults)
        unsafe_subcubes(faults)
        s = faults.ends[0]
        silent = s ^ ONE if t & 1 else NO_SILENT_NODE
        unsafe += is_closed(faults, s)
        d.found[:] = 0
        descend_listed(faults, s, whole, t & 3, silent, d)
        found[0] = d.found
        d.found[:] = 0
        descend_16(faults, s, whole, t & 3, silent, d)
        found[1] = d.found
        d.found[:] = 0
        if f <= 8:
            descend_8(faults, s, whole, t & 3, silent, d)
            found[2] = d.found
        else:
            found[2] = found[1]
        differ += np.any(found[0] != found[1]) or np.any(found[0] != found[2])
    return differ if unsafe else -1


@compiled
@pytest.mark.slow
@pytest.mark.parametrize(("n", "f"), [(3, 2), (6, 5), (8, 8), (9, 16), (10, 13)])
def test_descents_agree(n, f):
    assert differing_descents(np.uint64(5), n, f, 2000) == 0


@pytest.mark.kernels
def test_regions_are_entered_that_hold_unsafe_subcubes():
    """By the CONTROL that each node receives in the reference implementation; their number is limited."""
    wanted = [count_regions(*one) for one in iter_broadcasts()]
    assert list_entered() == wanted and 0 in wanted and max(wanted) > 8


def test_which_kernel_serves():
    kernel_at = dispatch.BROADCAST.kernel
    assert kernel_at(4, 2, 0) is kernel_at(6, 3, 0) is broadcast_counted
    assert kernel_at(2, 1, 0) is kernel_at(16, 8, 0) is BROADCAST_LANES_16
    assert kernel_at(17, 4, 0) is kernel_at(62, 60, 0) is BROADCAST_LANES_32
    for n, f, links in ((1, 0, 0), (8, 0, 0), (8, 4, 1), (8, 128, 0), (20, 121, 0)):
        assert kernel_at(n, f, links) is BROADCAST_SINGLE


@pytest.mark.kernels
@compiled
def test_trials_split_anywhere():
    whole = BROADCAST.count(at(9, 6), 3000)
    parts = [BROADCAST.count(at(9, 6), stop - first, first=first) for first, stop in ((0, 7), (7, 1500), (1500, 3000))]
    total = parts[0] + parts[1] + parts[2]
    assert (total.counts, total.maxima) == (whole.counts, whole.maxima)


# ---------------------------------------------------------------- every broadcast of small cubes


def exactly(n, f):
    """The statistics over all fault sets without node 0, the source, by the twin."""
    cases = [(0, Cube(n, faults), f, 0) for faults in itertools.combinations(range(1, 2**n), f)]
    counts, _ = expected(cases)

    def fraction(events, among):
        return Fraction(counts[events], among) if among else None

    out = {}
    for name in ("broadcast2", "broadcast1", "broadcast1_unsafe", "broadcast"):
        among = counts[f"{name}_trials"]
        out[f"{name}_complete"] = fraction(f"{name}_complete", among)
        out[f"{name}_coverage"] = fraction(f"{name}_reached", among * (2**n - f))
        out[f"{name}_steps"] = fraction(f"{name}_steps", among)
    del out["broadcast1_unsafe_steps"]
    return out | {
        "some_active": fraction("some_active", len(cases)),
        "unsafe_source": fraction("unsafe_source", counts["some_active"]),
    }


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(
    ("n", "sizes"),
    [
        (1, range(2)),
        (2, range(4)),
        (3, range(8)),
        (4, range(3)),
        pytest.param(4, range(16), marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
def test_all_broadcasts_are_the_twins(n, sizes):
    for f in sizes:
        found = fc.exact_broadcast(n, f)  # with the quantiles, which read the same bins
        wanted = exactly(n, f)
        assert {name: found[name] for name in wanted} == wanted, (n, f)


@pytest.mark.kernels
@compiled
def test_exact_values_name_the_studys_statistics():
    assert list(fc.exact_broadcast(2, 1)) == [s.name for s in BROADCAST.statistics]


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f"), [(3, 2), (4, 2), (4, 5), (4, 9), (5, 2), (5, 4)])
def test_monte_carlo_agrees_with_exact_values(n, f):
    point, values = at(n, f), fc.exact_broadcast(n, f)
    tally = BROADCAST.count(point, 100_000)
    for statistic in BROADCAST.statistics:
        wanted = values[statistic.name]
        if wanted is None:
            continue
        among = statistic.trials(tally.counts, tally.trials)
        if isinstance(statistic, Proportion):
            events = tally.counts[statistic.events]
            assert bdtr(events, among, float(wanted)) > LEVEL / 2, statistic.name
            assert events == 0 or bdtrc(events - 1, among, float(wanted)) > LEVEL / 2, statistic.name
        elif isinstance(statistic, Mean) and among:
            # Hoeffding: P(|mean - wanted| >= e) <= 2 exp(-2 T e^2 / bound^2)
            error = statistic.bound(point) * math.sqrt(math.log(2 / LEVEL) / (2 * among))
            mean = tally.counts[statistic.total] / among / statistic.unit(point)
            assert abs(mean - float(wanted)) <= error, statistic.name
        elif isinstance(statistic, Quantile) and among:
            _, low, high = quantile_bins(tally.counts[statistic.counter], statistic.percent, LEVEL)
            assert low <= wanted <= high, statistic.name


# ---------------------------------------------------------------- what is refused

BAD = [
    (at(3, 8), "f must be in [0, 7] for n=3, which leaves a nonfaulty node, got 8"),
    (at(3, 0, 13), "links must be in [0, 12] for n=3, got 13"),
    (at(0, 0), "n must be in [1, 62], got 0"),
]


@pytest.mark.parametrize(("point", "message"), BAD)
def test_impossible_points(point, message):
    with pytest.raises(fc.ParameterError) as error:
        BROADCAST.point(point)
    assert str(error.value) == message


def test_exact_values_that_cannot_be_had():
    with pytest.raises(fc.ParameterError, match="at most 10,000,000 cases for exact values, got 3,872,894,697"):
        fc.exact_broadcast(6, 5 + 3)
