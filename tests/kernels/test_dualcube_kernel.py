"""The dual-cube kernels: path for path against the plain twin, draws, tallies, and their invariances."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from helpers.documented import load_documented_sampler
from helpers.dualcube_trials import KEY, TALLIES, reference_pair, reference_tally, run_trials
from reference import dualcube as twin
from scipy.special import chdtrc

from fastcube.kernels.draws.pairs import BATCH, draw_pairs, pair_arrays
from fastcube.kernels.draws.statuses import threshold
from fastcube.kernels.dualcube import layout, replay
from fastcube.kernels.dualcube import scalar as kernels
from fastcube.kernels.dualcube.lanes import DualCube, route_batch_for, route_lengths
from fastcube.kernels.dualcube.lookups import (
    RecordedDualCube,
    clear_record,
    lookup_record_for,
    route_one,
    route_recorded,
)
from fastcube.kernels.dualcube.practical import DualCubeStatus, route
from fastcube.kernels.dualcube.routing import PATH_NODES, TREE_COUNT
from fastcube.kernels.dualcube.trees import route_workspace_for
from fastcube.kernels.machine.jit import kernel
from fastcube.measure.estimate import proportion
from fastcube.measure.tally import Tally
from fastcube.studies.li_peng_chu.routing import DUALCUBE_ROUTING, _approximate_connected

NO_FAULTS = np.empty(0, np.uint64)


@kernel("int64(uint64, int64, int64, int64, float64, uint64[:,::1], int64[::1], uint64[:,::1])", cache=False)
def routes(key, first, stop, m, rate, drawn, nodes, paths):
    """Draw trials and route each in all three forms; returns the first index at which they differ, or the number drawn.

    Rows of ``drawn`` receive status key, s, t, trial; ``nodes`` and ``paths`` what the fast form found, as far as they reach.
    """
    workspace, other = route_workspace_for(PATH_NODES, TREE_COUNT), route_workspace_for(PATH_NODES, TREE_COUNT)
    path = workspace.path
    pairs, lengths, batch = pair_arrays(), np.zeros(BATCH, np.int64), route_batch_for(BATCH)
    limit = threshold(rate)
    cube = DualCube(np.uint64(m), limit)
    record, none = lookup_record_for(1 << 19, 0), np.zeros(0, np.uint64)
    lazy = kernels.dualcube_pairs(key, m, limit)
    done = 0
    for begin in range(first, stop, BATCH):
        n = draw_pairs(begin, min(begin + BATCH, stop), lazy, pairs)
        route_lengths(True, n, cube, pairs, lengths, batch, workspace)
        for i in range(n):
            world = DualCubeStatus(pairs.keys[i], limit, cube.m)
            a = route(world, pairs.sources[i], pairs.targets[i], workspace)
            b = route_recorded(
                RecordedDualCube(world.key, limit, cube.m, none, record), pairs.sources[i], pairs.targets[i], other
            )
            full = record.asked.counts[1]
            clear_record(record)
            if lengths[i] != (a - 1 if a > 0 else a):
                return done
            if a != b or full or (a > 0 and (path[:a] != other.path[:a]).any()):
                return done
            if done < drawn.shape[0]:
                drawn[done, 0], drawn[done, 1] = pairs.keys[i], pairs.sources[i]
                drawn[done, 2], drawn[done, 3] = pairs.targets[i], pairs.trials[i]
            if done < paths.shape[0]:
                nodes[done] = a
                paths[done, : max(a, 0)] = path[: max(a, 0)]
            done += 1
    return done


def run_routes(m, rate, count, keep=0, key=KEY):
    drawn, nodes = np.zeros((count, 4), np.uint64), np.zeros(keep, np.int64)
    paths = np.zeros((keep, PATH_NODES), np.uint64)
    done = routes(key, 0, count, m, rate, drawn, nodes, paths)
    return done, drawn[:done], nodes, paths


def agree_with_twin(m, rate, count):
    """The fast form against the twin, path for path."""
    done, drawn, nodes, paths = run_routes(m, rate, count, count)
    for (key, s, t, _), n, path in zip(drawn.tolist(), nodes.tolist(), paths, strict=False):
        expected, reason = twin.Practical(m, twin.lazy_faults(key, rate)).route(s, t)
        if expected is None:
            assert n == {"exhausted": -1, "limit": -2}[reason]
        else:
            assert path[:n].tolist() == expected
    assert done <= count
    return done


@pytest.mark.kernels
@pytest.mark.parametrize("m", range(3, 10))
def test_random_routes_are_the_twins(m):
    assert all(agree_with_twin(m, rate, 120) == 120 for rate in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))


@pytest.mark.kernels
def test_routes_at_m_20_are_the_twins():
    assert sum(agree_with_twin(20, rate, 143) for rate in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)) == 1001


@pytest.mark.slow
@pytest.mark.parametrize("m", range(3, 10))
def test_many_random_routes_are_the_twins(m):
    assert sum(agree_with_twin(m, rate, 2100) for rate in np.linspace(0, 0.6, 7)) == 14700


@pytest.mark.kernels
@pytest.mark.parametrize("m", [1, 2, 3, 5, 7, 9, 12, 20, 30])
def test_fast_form_takes_the_paths_of_the_readings_order(m):
    for rate in (0.02, 0.25, 0.5, 0.6, 0.7):
        if m * rate > 9:  # rare trials with an isolated end take seconds in the reading's order
            continue
        count = 4000
        done, *_ = run_routes(m, rate, count)
        void = count - done
        assert void == 0 or m <= 2


def behaviours(m, s, t):
    """Every way in which PRACTICAL can go between s and t: (faults, path, reason, asked), no two alike.

    A route depends only on the statuses that it looks up.  So fix them in the order asked, nonfaulty first,
    and go through all answers: each fault set of DC(m) agrees with exactly one of the cases.
    """
    fixed: list[tuple[int, bool]] = []
    while True:
        known = {s: False, t: False, **dict(fixed)}

        def faulty(u, known=known):
            if u not in known:
                known[u] = False
                fixed.append((u, False))
            return known[u]

        plain = twin.Practical(m, faulty)
        path, reason = plain.route(s, t)
        yield sorted(u for u, bad in known.items() if bad), path, reason, plain.asked
        while fixed and fixed[-1][1]:
            fixed.pop()
        if not fixed:
            return
        fixed[-1] = (fixed[-1][0], True)


def agree_on_all_fault_sets(m, s, t):
    cases, weight = 0, 0.0
    for faults, path, reason, asked in behaviours(m, s, t):
        n, found, labels, _ = route_one(m, 0, 0, np.array(faults, np.uint64), s, t)
        assert labels.tolist() == sorted(asked)
        assert found.tolist() == (path or [])
        assert n == (len(path) if path else {"exhausted": -1, "limit": -2}[reason])
        cases += 1
        weight += 0.5 ** len(asked - {s, t})
    assert weight == 1.0  # the cases share out all fault sets
    return cases


@pytest.mark.kernels
def test_all_fault_sets_of_dc_1():
    assert sum(agree_on_all_fault_sets(1, s, t) for s, t in itertools.permutations(range(8), 2)) == 8 * 53


@pytest.mark.kernels
def test_all_fault_sets_of_dc_2_within_a_class():
    # any node can be moved to 0 by a symmetry that keeps classes' dimension order (see the next test)
    assert sum(agree_on_all_fault_sets(2, 0, t) for t in range(1, 16)) == 14_219


@pytest.mark.slow
@pytest.mark.parametrize("t", [22, 27])
def test_all_fault_sets_of_dc_2_between_classes(t):
    assert agree_on_all_fault_sets(2, 0, t) > 10_000


@pytest.mark.exhaustive
def test_all_fault_sets_of_dc_2():
    assert sum(agree_on_all_fault_sets(2, 0, t) for t in range(1, 32)) == 825_267


@pytest.mark.kernels
def test_moving_a_node_to_0_moves_the_route():
    m = 2
    for s in range(32):
        swap = s >> 4

        def move(u, s=s, swap=swap):
            u ^= s & 15
            return (1 - (u >> 4)) << 4 | (u & 3) << 2 | (u >> 2) & 3 if swap else u

        assert sorted(map(move, range(32))) == list(range(32))
        assert move(s) == 0
        for faults in itertools.combinations([u for u in range(32) if u != s], 2):
            t = next(u for u in range(31, 0, -1) if u != s and u not in faults)
            _, path, *_ = route_one(m, 0, 0, np.array(faults, np.uint64), s, t)
            _, moved, *_ = route_one(m, 0, 0, np.array(sorted(map(move, faults)), np.uint64), 0, move(t))
            assert [move(u) for u in path.tolist()] == moved.tolist()


# ---------------------------------------------------------------- draws


@pytest.mark.kernels
@pytest.mark.parametrize(("m", "rate"), [(1, 0.5), (1, 0.9), (2, 0.8), (5, 0.5), (9, 0.1), (30, 0.7)])
def test_draws_are_those_of_the_recipe(m, rate):
    count = 300
    _, drawn, *_ = run_routes(m, rate if m < 30 else 0.5, count)
    if m == 30:
        rate = 0.5
    expected = [p for p in (reference_pair(KEY, t, m, rate) for t in range(count)) if p is not None]
    assert sorted(drawn.tolist(), key=lambda row: row[3]) == expected
    assert (len(expected) < count) == (m == 1 or (m, rate) == (2, 0.8))


@pytest.mark.kernels
def test_documented_pairs_are_the_kernels():
    recipe = load_documented_sampler()
    seen: Counter[bool] = Counter()
    for m, rate in ((1, 0.8), (2, 0.7), (5, 0.5), (9, 0.1), (20, 0.3), (30, 0.9)):
        for t in (0, 1, 2, 3, 5, 77, 1002, 2**33 + 1):
            valid, key, s, t_node = replay.sample_dualcube_routing(np.uint64(KEY), t, m, rate)
            assert recipe["dualcube_pair"](KEY, t, m, rate) == ((s, t_node) if valid else None)
            assert key == recipe["words"](KEY, t, 1, 2)[0]
            if valid:
                assert not recipe["is_faulty"](KEY, t, int(s), rate)
            seen[bool(valid)] += 1
    assert seen[True] > 20
    assert seen[False] > 0


@pytest.mark.kernels
def test_pairs_are_uniform_among_nonfaulty_nodes():
    # DC(1), one fault set: condition on it, and all ordered pairs of its nonfaulty nodes are alike
    count = 200_000
    _, drawn, *_ = run_routes(1, 0.5, count)
    tables: dict[int, np.ndarray] = {}
    for key, s, t, _ in drawn.tolist():
        faults = sum(1 << u for u in range(8) if twin.lazy_faults(key, 0.5)(u))
        tables.setdefault(faults, np.zeros((8, 8)))[s, t] += 1
    # all fault sets with two nonfaulty nodes occur, evenly
    totals = np.array([table.sum() for table in tables.values()])
    assert len(totals) == 256 - 9
    level = 1e-6 / (1 + len(totals))
    assert chdtrc(len(totals) - 1, ((totals - totals.mean()) ** 2 / totals.mean()).sum()) > level
    for faults, table in tables.items():
        nonfaulty = [u for u in range(8) if not faults >> u & 1]
        cells = np.array([table[s, t] for s, t in itertools.permutations(nonfaulty, 2)])
        assert table.sum() == cells.sum()
        if len(cells) > 2 and cells.mean() >= 5:
            assert chdtrc(len(cells) - 1, ((cells - cells.mean()) ** 2 / cells.mean()).sum()) > level


# ---------------------------------------------------------------- tallies


TALLIES += [(6, 0.5, 3, 40), (4, 0.5, 2590, 147)]


@pytest.mark.parametrize(
    ("m", "rate", "first", "trials"),
    [pytest.param(*t, marks=pytest.mark.slow) if t[:2] == (5, 0.3) else t for t in TALLIES],  # the twin takes a second
)
def test_tally_is_the_twins(m, rate, first, trials):
    study, stop = DUALCUBE_ROUTING, first + trials
    tally = Tally.from_slots(study.tally, first, stop, run_trials(study, m, rate, first, stop))
    counts, maxima = reference_tally(study, m, rate, first, stop)
    assert dict(tally.counts) == counts
    assert dict(tally.maxima) == maxima


@pytest.mark.parametrize(("m", "rate"), [(2, 0.5), (7, 0.45), (14, 0.5)])
def test_splitting_changes_nothing(m, rate):
    study = DUALCUBE_ROUTING
    whole = Tally.from_slots(study.tally, 0, 2000, run_trials(study, m, rate, 0, 2000))
    cuts = [0, 1, 7, 8, 515, 1029, 1999, 2000]
    parts = [Tally.from_slots(study.tally, a, b, run_trials(study, m, rate, a, b)) for a, b in itertools.pairwise(cuts)]
    for name in whole.counts:
        assert sum(part.counts[name] for part in parts) == whole.counts[name]
    for name, (value, trial) in whole.maxima.items():
        best = max(part.maxima[name][0] for part in parts)
        assert (value, trial) == (best, min(p.maxima[name][1] for p in parts if p.maxima[name][0] == best))


def test_a_call_adds_to_the_tally():
    study = DUALCUBE_ROUTING
    slots = run_trials(study, 8, 0.4, 0, 600)
    kernels.TRIALS(KEY, 600, 1000, np.array([8, 0.4]), slots)
    assert study.tally.read(slots) == study.tally.read(run_trials(study, 8, 0.4, 0, 1000))


def test_words_past_2_to_the_32_trials():
    study = DUALCUBE_ROUTING
    first = 2**32 + 5
    tally = Tally.from_slots(study.tally, first, first + 40, run_trials(study, 4, 0.4, first, first + 40))
    counts, maxima = reference_tally(study, 4, 0.4, first, first + 40)
    assert (dict(tally.counts), dict(tally.maxima)) == (counts, maxima)


def test_hopeless_rates_end():
    tally = run_trials(DUALCUBE_ROUTING, 2, 0.999, 0, 20)
    void = tally[layout.DUALCUBE_ROUTING.counter("discarded")]
    assert void + tally[layout.DUALCUBE_ROUTING.counter("valid")] == 20
    assert void > 15


@pytest.mark.kernels
@pytest.mark.parametrize("m", [5, 7, 9])
def test_connectivity_is_near_its_approximation(m):
    """P(a nonfaulty path joins the pair) ~ 1 - 2 p^(m+1): never far above it, and close where it is not small."""
    study = DUALCUBE_ROUTING
    for rate in (0.2, 0.3, 0.4):
        point = study.point({"m": m, "rate": rate})
        counts = Tally.from_slots(study.tally, 0, 3000, run_trials(study, m, rate, 0, 3000, study.key(1, point))).counts
        measured = proportion(counts["connected"], counts["valid"], 1e-6)
        about = _approximate_connected(point)
        assert measured.low - 0.01 <= about <= measured.high + 0.01


def test_greedy_success_without_faults_and_rates():
    study = DUALCUBE_ROUTING
    counts = Tally.from_slots(study.tally, 0, 2000, run_trials(study, 6, 0.0, 0, 2000)).counts
    assert counts["delivered"] == counts["valid"] == counts["connected"] == counts["shortest_routes"] == 2000
    assert counts["length"] == counts["distance"] == counts["shortest"]
