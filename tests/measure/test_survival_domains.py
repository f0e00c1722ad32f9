"""The study survival-domains and users' own domains: replay, messages, notes, figure, and bad values."""

from __future__ import annotations

import pytest
from helpers.domains_trials import check_domains

import fastcube as fc
from fastcube.measure.failure_domains import count_domains, list_members
from fastcube.studies.networks.domains import SURVIVAL_DOMAINS as STUDY

BOARDS = {"network": "crossed", "n": 5, "f": 6, "domain": "board-4", "domains": 3}
SWITCHES = {"network": "hyperx-4", "n": 4, "f": 5, "domain": "switch", "domains": 4}


def rack(v, n):
    return v % 5 * 3


def odd_even(v, n):
    return v & 1


def step(v, d, n):
    return v ^ (1 << d)


MINE = fc.custom_network("mine", "Q_n again", step=step, slots=lambda n: n)


def test_points_share_single_failures():
    """The key leaves network, domain and number of domains out, and equals the key of ``survival``."""
    there = {"network": "hypercube", "n": 5, "f": 6, "links": 0}
    keys = {STUDY.key(4, {**BOARDS, "domains": k, "domain": d}) for k in (0, 3) for d in ("board-2", "board-8")}
    assert keys == {fc.study("survival").key(4, there)}


@pytest.mark.kernels
@pytest.mark.parametrize("point", [BOARDS, SWITCHES, {**BOARDS, "f": 20}, {**BOARDS, "f": 32, "domains": 8}])
def test_replay_is_what_was_counted(point):
    key, trials = STUDY.key(0, point), 40
    data = [STUDY.explain(point, key, t).data for t in range(trials)]
    counts = STUDY.count(point, trials).counts
    for prefix, sides in (("", data), ("single_", [d["single"] for d in data])):
        assert counts[f"{prefix}connected"] == sum(d["connected"] for d in sides)
        assert counts[f"{prefix}no_isolated_node"] == sum(not d["isolated"] for d in sides)
        assert counts[f"{prefix}extra_1"] == sum(len(d["components"]) > 1 and not d["isolated"] for d in sides)
        assert counts[f"{prefix}st_connected"] == sum(bool(d["st_connected"]) for d in sides)
        assert counts["pairs"] == sum(d["s"] >= 0 for d in sides)
    assert all(len(d["faulty_nodes"]) == len(d["single"]["faulty_nodes"]) for d in data)
    assert all(len(d["failed_domains"]) == point["domains"] for d in data)


@pytest.mark.kernels
def test_replay_names_the_failed_domains():
    board = STUDY.explain(BOARDS, STUDY.key(0, BOARDS), 3)
    first = board.data["failed_domains"][0]
    assert f"  failed board-4 {first:03b}**\n" in board.text and "3 failed of 8 domains" in board.text
    assert set(list_members(BOARDS, first)) == set(range(4 * first, 4 * first + 4)) <= set(board.data["faulty_nodes"])
    switch = STUDY.explain(SWITCHES, STUDY.key(0, SWITCHES), 3)
    named = [line.split()[-1] for line in switch.text.splitlines() if line.startswith("  failed switch")]
    assert len(named) == 4 and all(name.count("*") == 2 and "**" in (name[:2], name[2:]) for name in named)
    assert len(switch.data["faulty_links"]) == 4 * 6 and len(switch.data["faulty_nodes"]) == 5
    drawn = STUDY.sample(SWITCHES, STUDY.key(0, SWITCHES), 3)
    assert dict(drawn.others)["failed_domains"] == switch.data["failed_domains"]


@pytest.mark.parametrize(("name", "n", "bits"), [("hyperx-4", 6, 2), ("hyperx-8", 9, 3)])
def test_switches_join_the_rows_of_the_network(name, n, bits):
    """Every link is inside exactly one row."""
    point = {"network": name, "n": n, "f": 0, "domain": "switch", "domains": 0}
    rows = [list_members(point, g) for g in range(count_domains(point))]
    assert len(rows) == n // bits * 2 ** (n - bits)
    joined = [frozenset((v, w)) for row in rows for v in row for w in row if v < w]
    table = fc.network_families()[name].table(n).tolist()
    assert sorted(map(sorted, joined)) == sorted([v, w] for v, row in enumerate(table) for w in row if v < w)


@pytest.mark.kernels
def test_notes_and_figure():
    results = fc.run(STUDY, network="hypercube", n=6, f=0, domain=["board-2", "board-8"], domains=[3, 5], trials=3000)
    heading, *lines = STUDY.notes(results)
    assert heading.startswith("P(connected) with failed domains minus as many failed nodes one by one")
    assert [line.split(":")[0].strip() for line in lines] == ["board-2 of hypercube", "board-8 of hypercube"]
    assert len(results.plot().axes) == 2
    none = fc.run(STUDY, network="hypercube", n=6, f=9, domain="board-2", domains=0, trials=100)
    assert STUDY.notes(none) == [] and none.estimate("connected_diff", domains=0).high == 0


def test_grids_are_what_is_stated():
    boards = STUDY.grid("boards").points
    for domain in ("board-2", "board-4", "board-8"):
        failed = [p["domains"] * int(domain[-1]) for p in boards if (p["domain"], p["network"]) == (domain, "folded")]
        assert failed == [32, 64, 96, 128, 160]
    for point in boards:
        STUDY.check(point)
    for point in STUDY.grid("switches").points:
        assert count_domains(point) == 192
        STUDY.check(point)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"domain": "switch"}, "network must be one of hyperx-4, hyperx-8 for domain=switch, got crossed"),
        ({"domain": "rack"}, "domain must be one of board-2, board-4, board-8, switch, got rack"),
        ({"domains": 9}, r"domains must be in \[0, 8\] for board-4 of crossed at n=5, got 9"),
        ({"f": 33}, r"f must be in \[0, 32\] for n=5, got 33"),
        ({"n": 1, "f": 0}, r"n must be in \[2, 16\] for domain=board-4, got 1"),
        ({"network": "twisted", "n": 6}, "n must be one of 1, 3, 5, 7, ... for twisted, got 6"),
    ],
)
def test_bad_points_are_one_line(changes, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        STUDY.point({**BOARDS, **changes})
    assert "\n" not in str(caught.value)
    with pytest.raises(fc.ParameterError, match=r"n must be in \[1, 4\] for exact values, got 5"):
        STUDY.exact(BOARDS)


# ---------------------------------------------------------------- users' own


@pytest.mark.kernels
def test_domains_of_ones_own_count_as_networkx_does():
    """Domains of different sizes with gaps between their values, and equal domains that are boards in another order."""
    study = fc.survival_study("crossed", domain=rack)
    assert study.name == "survival-crossed-rack" and study.axis("domain").names[-1] == "rack"
    listed = [{v for v in range(32) if v % 5 == g} for g in range(5)]
    for f, k in ((0, 1), (3, 2), (9, 3), (20, 1), (2, 5)):
        point = {"network": "crossed", "n": 5, "f": f, "domain": "rack", "domains": k}
        check_domains(point, 505, 20, study, listed)
    assert study.count(BOARDS, 500).counts == STUDY.count(BOARDS, 500).counts
    point = {"network": "crossed", "n": 5, "f": 0, "domain": "rack", "domains": 1}
    assert "\n  failed rack 00" in study.explain(point, study.key(0, point), 0).text


@pytest.mark.kernels
def test_networks_of_ones_own_take_boards_and_own_domains():
    boards, halves = fc.survival_study(MINE, domain="board-4"), fc.survival_study(MINE, domain=odd_even)
    for study in (boards, halves):
        own, built_in = {**BOARDS, "network": "mine"}, {**BOARDS, "network": "hypercube"}
        assert study.count(own, 700).counts == STUDY.count(built_in, 700).counts
    point = {"network": "mine", "n": 5, "f": 0, "domain": "odd-even", "domains": 1}
    counts = halves.count(point, 300).counts
    assert counts["connected"] == 300 and counts["no_isolated_node"] == 300  # half of the cube is a cube
    results = fc.run(halves, trials=500)
    assert results.study.notes(results) and {p["domains"] for p, _ in results} == {1}


def test_compiled_domains_are_those_of_python():
    def shifted(v, n):
        return ((v << 62) >> 62) - v + v % 2  # compiled, the sign bit is lost

    with pytest.raises(fc.ParameterError, match=r"domain shifted must be the same when it is compiled.* at n=8 node"):
        fc.survival_study("hypercube", domain=shifted)


def too_large(v, n):
    return 2**n if v == 3 else 0


def half(v, n):
    return v / 2


def fails(v, n):
    return [0][v]


def late(v, n):
    return -1 if n > 10 and v == 7 else 0


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (too_large, r"domain too-large must be in \[0, 255\] at n=8, node 00000011, got 256"),
        (half, r"domain half must be an integer in \[0, 255\] at n=8, node 00000000, got 0.0"),
        (fails, "domain fails"),
        (5, "domain must be a function of .* or one of board-2, board-4, board-8, got 5"),
        ("switch", "domain must be a function"),
        ("board-16", "domain must be a function"),
        (lambda v, n: v, "domain must be a function .* with a name of its own"),
    ],
)
def test_bad_domains_are_one_line(domain, message):
    with pytest.raises((fc.ParameterError, fc.StudyError), match=message) as caught:
        fc.survival_study("hypercube", domain=domain)
    assert "\n" not in str(caught.value)


def test_domains_are_checked_at_every_size():
    study = fc.survival_study("hypercube", domain=late)
    point = {"network": "hypercube", "n": 11, "f": 0, "domain": "late", "domains": 0}
    with pytest.raises(
        fc.ParameterError, match=r"domain late must be in \[0, 2047\] at n=11, node 00000000111, got -1"
    ):
        study.point(point)


@pytest.mark.parametrize("family", ["cross", 5, None])
def test_a_study_of_domains_is_of_a_network(family):
    with pytest.raises(fc.ParameterError, match="family must be one of"):
        fc.survival_study(family, domain=rack)
