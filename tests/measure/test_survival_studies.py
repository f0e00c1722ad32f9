"""The studies survival, survival-rate and survival-components: the same faults everywhere, replay, a network of one's own."""

from __future__ import annotations

import hashlib
import json
import math

import networkx as nx
import numpy as np
import pytest
from helpers.survival_trials import agrees
from reference import survival as plain

import fastcube as fc
from fastcube.cli import main
from fastcube.measure.study import product_grid
from fastcube.measure.survival import networks_of_size
from fastcube.measure.tally import Tally
from fastcube.networks.family import CubeNetwork
from fastcube.results.results import Results
from fastcube.results.table import as_table
from fastcube.studies.networks.survival import asymptotic_survival
from fastcube.studies.networks.survival_notes import limit_notes, rank_notes

STUDY, RATE, PARTS, CURVE = (
    fc.study(name) for name in ("survival", "survival-rate", "survival-components", "survival-curve")
)
POINT = {"network": "hypercube", "n": 5, "f": 9, "links": 0}


@pytest.mark.kernels
def test_all_networks_have_the_same_key_and_the_same_faults():
    for point, study in ((POINT, STUDY), ({"network": "hypercube", "n": 7, "rate": 0.2, "link_rate": 0.0}, RATE)):
        names = networks_of_size(point["n"])
        assert len({study.key(3, {**point, "network": name}) for name in names}) == 1
        reported = [
            study.explain({**point, "network": name}, study.key(3, {**point, "network": name}), 77).data
            for name in names
        ]
        assert len({(tuple(data["faulty_nodes"]), data["s"], data["t"]) for data in reported}) == 1
        tallies = [study.count({**point, "network": name}, 2000, seed=3).counts for name in names]
        assert len({tuple(v for k, v in counts.items() if k.startswith("cube_")) for counts in tallies}) == 1


def test_matched_networks_have_the_same_names_of_faulty_links():
    point = {"n": 5, "f": 0, "links": 30}
    names = {}
    for name in networks_of_size(5, matched=True):
        where = {**point, "network": name}
        data = STUDY.explain(where, STUDY.key(0, where), 5).data
        family = fc.network_families()[name]
        known = {frozenset((v, family.step(v, d, 5))): (v, d) for v in range(32) for d in range(5) if not v >> d & 1}
        names[name] = sorted(known[frozenset(link)] for link in data["faulty_links"])
    assert len(set(map(tuple, names.values()))) == 1
    assert (
        len({tuple(map(tuple, STUDY.explain({**point, "network": n}, 1, 5).data["faulty_links"])) for n in names}) > 1
    )


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("study", "point"),
    [
        (STUDY, {"network": "crossed", "n": 5, "f": 12, "links": 0}),
        (STUDY, {"network": "twisted", "n": 5, "f": 4, "links": 25}),
        (STUDY, {"network": "folded", "n": 5, "f": 4, "links": 35}),
        (STUDY, {"network": "exchanged", "n": 5, "f": 2, "links": 12}),
        (RATE, {"network": "augmented", "n": 5, "rate": 0.1, "link_rate": 0.6}),
        (STUDY, {"network": "augmented", "n": 4, "f": 15, "links": 0}),
        (RATE, {"network": "moebius1", "n": 5, "rate": 0.3, "link_rate": 0.3}),
        (RATE, {"network": "exchanged", "n": 5, "rate": 0.01, "link_rate": 0.0}),
    ],
)
def test_replay_is_what_was_counted(study, point):
    key = study.key(0, point)
    reported = [study.explain(point, key, t) for t in range(40)]
    counts = study.count(point, 40).counts
    data = [one.data for one in reported]
    assert counts["connected"] == sum(d["connected"] for d in data)
    assert counts["no_isolated_node"] == sum(not d["isolated"] for d in data)
    assert counts["extra_1"] == sum(len(d["components"]) > 1 and not d["isolated"] for d in data)
    assert counts["pairs"] == sum(d["s"] >= 0 for d in data)
    assert counts["st_connected"] == sum(bool(d["st_connected"]) for d in data)
    compared = study.statistic("connected_diff").defined(point)
    assert all((d["hypercube"] is not None) == compared for d in data)
    assert counts["cube_connected"] == sum(compared and d["hypercube"]["connected"] for d in data)
    for t, one in enumerate(reported[:5]):
        net = study.sample(point, key, t).network
        assert isinstance(net, CubeNetwork) and sorted(net.faulty_nodes) == one.data["faulty_nodes"]
        assert fc.survival(net).components == one.data["components"]
        assert "this network" in one.text and ("the hypercube" in one.text) == compared


@pytest.mark.kernels
def test_parts_are_of_the_trials_of_survival():
    for point in product_grid(network=["crossed", "hypercube"], n=[6], f=[30, 40], links=[0]):
        assert PARTS.key(4, point) == STUDY.key(4, point)
        survived, parts = (study.count(point, 1000, seed=4).counts for study in (STUDY, PARTS))
        assert parts["reached"] == survived["st_connected"]
        key = STUDY.key(4, point)
        drawn = [STUDY.sample(point, key, t) for t in range(30)]
        twins = [
            plain.survival(point["network"], 6, d.network.faulty_nodes, pair=(d.others["s"], d.others["t"]))
            for d in drawn
        ]
        few = PARTS.count(point, 30, seed=4).counts
        assert few["components"] == sum(t.parts for t in twins)
        assert few["length"] == sum(t.distance or 0 for t in twins)
        assert few["intact"] == sum(t.intact for t in twins if t.distance is not None)


def test_the_grids_are_what_is_stated():
    grids = {grid.name: grid for grid in STUDY.grids}
    assert list(grids) == ["nodes", "nine", "sizes", "links", "few"]
    for name in ("nodes", "nine"):
        assert len({point["network"] for point in grids[name].points}) == 12
    assert {p["links"] for p in grids["links"].points if p["n"] == 8 and p["network"] == "crossed"} == {
        math.floor(1024 * i / 20) for i in range(1, 15)
    }
    assert [len({p["network"] for p in grids["links"].points if p["n"] == n}) for n in (7, 8, 9)] == [10, 12, 12]
    curves = {grid.name: grid for grid in CURVE.grids}
    assert {name: len(grid.points) for name, grid in curves.items()} == {
        "curve": 6 * 257,
        "large": 3 * 129,
        "links": 387,
        "percolation": 7 * 45,
    }
    for study in (STUDY, RATE, PARTS, CURVE):
        for grid in study.grids:
            for point in grid.points:
                study.check(point)


@pytest.mark.kernels
def test_pairing_and_limits_are_told():
    results = fc.run("survival", network="hypercube,locally-twisted", n=8, f=[96, 128], trials=4000)
    lines = STUDY.notes(results)
    assert any(line.startswith("standard error of the difference") and "locally-twisted" in line for line in lines)
    assert any("degree 8: not distinguished from the hypercube: locally-twisted " in line for line in lines)
    assert len(results.plot().axes) >= 2
    half = fc.run("survival-rate", grid="half", n=[3, 4], trials=500)
    assert len(half.plot().axes) == 2
    few = fc.run("survival", grid="few", n=[5, 6], network="hypercube,folded", trials=2000).plot()
    assert len(few.axes) == 2
    assert asymptotic_survival({"network": "hypercube"}, "link_rate") == math.exp(-1)
    assert asymptotic_survival({"network": "hypercube"}, "rate") == math.exp(-0.5)
    assert math.isnan(asymptotic_survival({"network": "folded"}, "rate"))  # a heuristic limit is not drawn


def _counted(trials=10**6, **changes):
    """Results of ``survival`` in which nothing is lost but what is said, by network: what differs, and by how much."""
    tallies = {}
    for name, (point, differs, gain) in changes.items():
        counts = dict.fromkeys((c.name for c in STUDY.tally.counters), 0)
        counts |= {
            "connected": trials,
            "no_isolated_node": trials,
            "connected_diff": gain,
            "connected_differs": differs,
        }
        tallies[name.replace("_", "-"), *point] = Tally(((0, trials),), counts, {})
    return fc.Results(STUDY, 0, tallies)


def test_networks_are_compared_by_paired_differences():
    at = (8, 128, 0)
    found = STUDY.notes(
        _counted(hypercube=(at, 0, 0), moebius0=(at, 900, -10), crossed=(at, 900, -300), balanced=(at, 800, 400))
    )
    (line,) = [line for line in found if "degree 8" in line]
    ahead, even, behind = line.split("; ")
    assert "ahead of the hypercube: balanced 0.0004" in ahead and "hypercube: moebius0 " in even
    assert even.startswith("not distinguished from the hypercube") and behind.startswith(
        "behind the hypercube: crossed -"
    )
    assert not any("[0, 1]" in line for line in found)  # a bracket that says nothing is left out


def test_brackets_say_where_trials_are_too_few():
    found = STUDY.notes(_counted(hypercube=((12, 40, 25), 0, 0)))
    assert "[2.28417e-21, 2.28417e-21]" in found[-1] and "narrower than an interval from 1,000,000 trials" in found[-1]
    for n, f, links in ((1, 0, 1), (2, 1, 0)):  # no pair of nodes is of every kind there
        assert STUDY.notes(_counted(hypercube=((n, f, links), 0, 0)))


def test_the_rare_side_is_the_target():
    assert STUDY.target(None).name == RATE.target(None).name == "disconnected"
    point = {"network": "hypercube", "n": 8, "f": 128, "links": 0}
    difference = STUDY.statistic("connected_diff")
    assert not difference.can_occur(point) and difference.can_occur({**point, "network": "crossed"})


@pytest.mark.kernels
def test_the_command_line_takes_names(tmp_path, monkeypatch, capsys):
    """Shards, merge, status, show, replay and plot by the names of networks."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        reported = capsys.readouterr()
        return ended.value.code, reported.out, reported.err

    asked = ("--set", "network=folded,crossed", "--set", "n=6", "--set", "f=20", "--set", "links=0")
    for i in (0, 1):
        assert (
            call(
                "run", "survival", *asked, "--trials", 9000, "--shard", f"{i}/2", "-o", f"{i}.h5", "--progress", "none"
            )[0]
            == 0
        )
    assert "resubmit: --array=1 (of 2 shards, one per task)" in call("status", "0.h5")[1]
    assert call("merge", "0.h5", "1.h5", "-o", "all.h5")[0] == 0
    whole = fc.run("survival", network=["crossed", "folded"], n=6, f=20, links=0, trials=9000)
    assert fc.open_results("all.h5").digest() == whole.digest()
    assert call("status", "all.h5")[1].endswith("complete\n")
    for line in call("show", "all.h5", "--where", "network=crossed", "--stat", "connected")[1].splitlines():
        assert "folded" not in line
    code, out, _ = call("replay", "all.h5", "--point", "network=crossed", "--trial", 7, "--json")
    assert (code, json.loads(out)["point"]) == (0, {"network": "crossed", "n": 6, "f": 20, "links": 0})
    code, _, said = call("replay", "all.h5", "--point", "network=crosed", "--trial", 7)
    assert code == 2 and said.endswith("got crosed; did you mean crossed?\n")
    assert call("plot", "all.h5", "-o", "all.svg")[0] == 0
    assert all(name in (tmp_path / "all.svg").read_text() for name in ("crossed", "folded"))


def test_differences_are_refused_where_the_hypercube_has_other_links():
    for study in (STUDY, PARTS):
        for statistic in study.statistics:
            for name in networks_of_size(8):
                point = {"network": name, "n": 8, "f": 3, "links": 40}
                paired = name not in ("exchanged", "balanced", "torus-16", "hyperx-4")
                assert statistic.defined(point) == (paired or not statistic.name.endswith("_diff"))
                assert statistic.defined({**point, "links": 0})


def test_a_difference_that_is_refused_is_no_target():
    for study in (STUDY, PARTS):
        name = next(s.name for s in study.statistics if s.name.endswith("_diff"))
        with pytest.raises(
            fc.ParameterError, match=f"target {name} is not defined at network=torus-16,.*links=9: leave"
        ):
            fc.run(study, network=["crossed", "torus-16"], n=8, f=3, links=9, precision=0.1, target=name)


@pytest.mark.kernels
def test_unpaired_networks_alone_have_notes_and_no_difference():
    results = fc.run(STUDY, network="exchanged", n=4, f=0, links=[1, 2], trials=300)
    lines = as_table(results, 120, ["connected", "connected_diff"]).splitlines()
    assert "connected_diff is not known at any of these points" in lines
    assert sum("P(connected) not paired with the hypercube: exchanged " in line for line in lines) == 2


@pytest.mark.kernels
def test_notes_say_how_many_points_they_leave_out():
    results = fc.run(STUDY, network="crossed", n=8, f=list(range(205)), links=0, trials=2)
    lines = rank_notes(results)
    assert lines[-1] == "and 5 more points" and sum("f=" in line for line in lines) == 200


def test_notes_have_no_more_lines_than_their_limit_and_leave_out_known_limits_only():
    """Three degrees have three lines of ranks per point; the limits of many faulty nodes are [0, 1] and no loss."""
    points = [(name, 8, f, 0) for f in range(256) for name in ("hypercube", "crossed", "folded", "augmented")]
    counted = Tally.from_slots(STUDY.tally, 0, 2, STUDY.tally.new_tally())
    results = Results(STUDY, 0, dict.fromkeys(points, counted))
    ranks = [line for line in rank_notes(results) if "f=" in line]
    assert len(ranks) == 198 and rank_notes(results)[-1] == f"and {3 * (256 - 198 // 3)} more points"
    informative = [
        point
        for point in points
        if (limits := fc.isolated_node_bounds(point[0], 8, f=point[2])) and (limits.low, limits.high) != (0.0, 1.0)
    ]
    assert 100 < len(informative) < len(points)
    assert f"the limits of {len(informative) - 100} more points" in limit_notes(results)[-1]


@pytest.mark.kernels
@pytest.mark.parametrize("name", networks_of_size(5))
def test_every_f_beside_all_sets_of_32_nodes(name):
    """At level 1e-6, seed 0: no f of the exact rows is left out."""
    exact, trials = fc.exact_survival(name, 5), 20_000
    for f, (connected, extra) in enumerate(zip(exact.nodes, exact.extra_1, strict=True)):
        counts = STUDY.count({"network": name, "n": 5, "f": f, "links": 0}, trials).counts
        for what, sets in (("connected", connected), ("extra_1", extra)):
            assert agrees(counts[what], trials, sets / math.comb(32, f)), (f, what)


#: Counters of 5,000 trials before links of all networks could fail: seed 7, of network, n, f, links.
RECORDED = {
    ("crossed", 6, 0, 60): "ea0e377ba7bc2200",
    ("moebius1", 6, 10, 30): "a8198ddcfad7c6b0",
    ("twisted", 5, 0, 25): "39d7d97319f866a4",
    ("hypercube", 6, 0, 60): "57aeef4691069c29",
}


@pytest.mark.kernels
def test_links_of_matched_networks_are_what_they_were():
    for (name, n, f, links), digest in RECORDED.items():
        counts = STUDY.count({"network": name, "n": n, "f": f, "links": links}, 5000, seed=7).counts
        assert hashlib.sha256(repr([*counts.values()]).encode()).hexdigest()[:16] == digest


@pytest.mark.kernels
def test_faulty_links_beside_networkx():
    """Components of random fault sets of every network, nodes and links, by NetworkX alone."""
    for name in fc.network_families():
        n = next(n for n in (6, 7, 8) if fc.network_families()[name].sizes(n))
        point = {"network": name, "n": n, "f": 2**n // 5, "links": fc.network_families()[name].links(n) // 3}
        counts = PARTS.count(point, 60, seed=2).counts
        key, table = PARTS.key(2, point), fc.network_families()[name].table(n)
        sizes = []
        for t in range(60):
            drawn = PARTS.sample(point, key, t).network
            graph = nx.Graph((v, w) for v, row in enumerate(table.tolist()) for w in row if v < w)
            graph.remove_nodes_from(drawn.faulty_nodes)
            assert len(drawn.faulty_links) == point["links"]
            graph.remove_edges_from(drawn.faulty_links)
            sizes.append(sorted(map(len, nx.connected_components(graph)), reverse=True))
        assert counts["components"] == sum(map(len, sizes)) and counts["largest"] == sum(s[0] for s in sizes)
        assert counts["second"] == sum(s[1] for s in sizes if len(s) > 1)
        for r in (3, 4):
            assert counts[f"at_least_{r}_components"] == sum(len(s) >= r for s in sizes)
        assert counts["connected_pairs"] == sum(size * (size - 1) // 2 for some in sizes for size in some)


# ---------------------------------------------------------------- a network of one's own


def step(v, d, n):
    return v ^ (1 << d) ^ ((v & 0x5555555555555555 & ((1 << (d & ~1)) - 1)) << 1)


@pytest.mark.kernels
def test_a_network_of_ones_own_counts_as_the_built_in_one(tmp_path):
    mine = fc.custom_network("cross", "crossed again", step=step, slots=lambda n: n)
    study = fc.survival_study(mine)
    for point in ({"n": 6, "f": 30, "links": 0}, {"n": 6, "f": 3, "links": 60}):
        own, built_in = {**point, "network": "cross"}, {**point, "network": "crossed"}
        assert study.key(9, own) == STUDY.key(9, built_in)
        assert study.count(own, 3000, seed=9).counts == STUDY.count(built_in, 3000, seed=9).counts
    key = study.key(0, {"network": "cross", "n": 6, "f": 30, "links": 0})
    assert study.explain({"network": "cross", "n": 6, "f": 30, "links": 0}, key, 3).data["components"]
    results = fc.run(study, trials=1000, output=tmp_path / "mine.h5")
    assert fc.open_results(tmp_path / "mine.h5").digest() == results.digest()


@pytest.mark.parametrize(
    ("study", "changes", "message"),
    [
        (STUDY, {"network": "crosed"}, "network must be one of .*, got crosed; did you mean crossed?"),
        (STUDY, {"network": "twisted", "n": 8}, "n must be one of 1, 3, 5, 7, ... for twisted, got 8"),
        (STUDY, {"network": "folded", "links": 97}, r"links must be in \[0, 96\] for folded at n=5, got 97"),
        (STUDY, {"network": "exchanged", "links": 49}, r"links must be in \[0, 48\] for exchanged at n=5, got 49"),
        (STUDY, {"f": 33}, r"f must be in \[0, 32\] for n=5, got 33"),
        (STUDY, {"links": 81}, r"links must be in \[0, 80\] for hypercube at n=5, got 81"),
        (STUDY, {"n": 17}, r"n must be in \[1, 16\], got 17"),
        (PARTS, {"n": 13}, r"n must be in \[1, 12\] to look at components and distances"),
    ],
)
def test_bad_points_are_one_line(study, changes, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        study.point({**POINT, **changes})
    assert "\n" not in str(caught.value)


def test_a_study_is_of_ones_own_network():
    for wrong in ("crossed", fc.network_families()["crossed"], None):
        with pytest.raises(fc.ParameterError, match="family must be a network of your own"):
            fc.survival_study(wrong)


@pytest.mark.kernels
def test_memory_of_the_largest_networks():
    """n = 16: rows of 64 bytes a node and a link."""
    point = {"network": "moebius1", "n": 16, "f": 30000, "links": 100}
    tally = STUDY.count(point, 512)
    assert tally.trials == 512 and np.isfinite(tally.counts["connected"])


@pytest.mark.kernels
def test_built_in_networks_stand_beside_ones_own():
    """Equal networks count equally under both names, with faulty links too; a grid and notes compare with the hypercube."""
    again = fc.custom_network("again", "crossed again", step=crossed_again, slots=lambda n: n)
    study, built_in = fc.survival_study(again), fc.study("survival")
    assert [grid.name for grid in study.grids] == ["nodes", "links"]
    results = fc.run(study, network=["again", "crossed", "hypercube"], n=5, f=[0, 8], links=[0, 12], trials=500)
    for f, links in ((0, 12), (8, 0), (8, 12)):
        there = {"network": "crossed", "n": 5, "f": f, "links": links}
        assert study.key(0, there) == built_in.key(0, there)
        wanted = built_in.count(there, 500).counts
        assert wanted == results.tallies["again", 5, f, links].counts == results.tallies["crossed", 5, f, links].counts
        reported = study.explain(there | {"network": "hypercube"}, study.key(0, there), 3)
        assert reported.data == built_in.explain(there | {"network": "hypercube"}, built_in.key(0, there), 3).data
    heading, *lines = study.notes(results)
    assert heading.startswith("P(connected) minus the hypercube's")
    assert {line.split(":")[0].strip() for line in lines} == {"again", "crossed"}


def crossed_again(v, d, n):
    return v ^ (1 << d) ^ ((v & 0x5555555555555555 & ((1 << (d & ~1)) - 1)) << 1)


def test_a_network_with_other_links_says_what_is_not_compared():
    ring = fc.custom_network(
        "ring",
        "a cycle",
        step=lambda v, d, n: (v + (1 if v % 2 == d else -1)) % 2**n,
        slots=lambda n: 2,
        sizes=lambda n: n > 1,
    )
    study = fc.survival_study(ring)
    assert [grid.name for grid in study.grids] == ["nodes"] and not ring.is_compared(4)
    counts = dict.fromkeys((c.name for c in study.tally.counters), 0)
    tallies = {("ring", 4, 2, links): Tally(((0, 100),), counts, {}) for links in (0, 3)}
    *_, behind, unlike = study.notes(Results(study, 0, tallies))
    assert behind.startswith("  ring: within 0.0") and behind.endswith("at n=4,f=2,links=0")
    assert (
        unlike
        == "  ring: its links have other names than the hypercube's at n = 4, so points with faulty links are not compared"
    )
