"""The studies of Wang, Lin & Kuo: grids, refusals, replays and notes."""

from __future__ import annotations

import pytest

import fastcube as fc
from fastcube.cli import main
from fastcube.measure import registry
from fastcube.studies.wang_lin_kuo import deadlock, deadlock_search
from fastcube.studies.wang_lin_kuo.channels import table_3

STUDIES = {
    name: registry.study(name) for name in ("two-partition", "multicast", "multicast-deadlock", "multicast-wormhole")
}


def replay(name, trial, **values):
    study = STUDIES[name]
    point = study.point(values)
    return study.explain(point, fc.study(name).key(0, point), trial)


# ---------------------------------------------------------------- grids


def test_default_grids():
    points = STUDIES["two-partition"].grid().points
    assert {p["n"] for p in points} == set(range(4, 15))
    assert [p["f"] for p in points if p["n"] == 10] == [8, 9, 10, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96]
    rows = [(10, row["f"], row["destinations"]) for row in table_3()]
    assert [tuple(p.values()) for p in STUDIES["multicast"].grid().points] == rows
    assert [(p["n"], p["f"]) for p in STUDIES["multicast-deadlock"].grid().points if p["n"] < 5] == [
        *((3, f) for f in range(3)),
        *((4, f) for f in range(5)),
    ]
    points = STUDIES["multicast-wormhole"].grid().points
    assert {"n": 3, "f": 2, "senders": 4, "destinations": 4} in points
    assert {"n": 3, "f": 2, "senders": 8, "destinations": 4} not in points
    for study in STUDIES.values():
        for point in study.grid().points:
            study.point(point)


BAD = [
    ("two-partition", {"n": 6, "f": 17}, "f must be in [0, 16] for n=6, got 17"),
    ("two-partition", {"n": 20, "f": 65537}, "f must be in [0, 65536], got 65537"),
    ("two-partition", {"n": 1, "f": 0}, "n must be in [2, 62], got 1"),
    ("multicast", {"n": 4, "f": 5, "destinations": 1}, "f must be in [0, 4] for n=4, got 5"),
    ("multicast", {"n": 4, "f": 4, "destinations": 12}, "destinations must be in [1, 11] for n=4, f=4, got 12"),
    ("multicast-deadlock", {"n": 3, "f": 3}, "f must be in [0, 2] for n=3, got 3"),
    ("multicast-deadlock", {"n": 9, "f": 3}, "n must be in [3, 8], got 9"),
    (
        "multicast-wormhole",
        {"n": 3, "f": 1, "senders": 8, "destinations": 1},
        "senders must be in [2, 7] for n=3, f=1, got 8",
    ),
    (
        "multicast-wormhole",
        {"n": 3, "f": 1, "senders": 2, "destinations": 7},
        "destinations must be in [1, 6] for n=3, f=1, got 7",
    ),
    ("multicast-wormhole", {"n": 3, "f": 3, "senders": 2, "destinations": 1}, "f must be in [0, 2] for n=3, got 3"),
]


@pytest.mark.parametrize(("name", "values", "message"), BAD)
def test_impossible_points_are_refused(name, values, message):
    with pytest.raises(fc.ParameterError) as caught:
        STUDIES[name].point(values)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "line",
    [
        "run two-partition --set n=6 --set f=17",
        "run multicast --set n=4 --set f=4 --set destinations=12",
        "run multicast --set n=21",
        "run multicast-deadlock --set n=3 --set f=3",
        "run multicast-wormhole --set n=3 --set f=1 --set senders=8 --set destinations=1",
    ],
)
def test_impossible_points_on_the_command_line_are_one_line(line, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        main(line.split())
    reported = capsys.readouterr()
    assert exit_.value.code == 2
    assert reported.out == ""
    assert len(reported.err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- replays


def test_a_search_is_told_conflict_by_conflict():
    for trial in range(30):
        reported = replay("two-partition", trial, n=5, f=7)
        data = reported.data
        cube = fc.Hypercube(5, data["faulty_nodes"])
        pair = fc.two_partition(cube, exhaustive=True)
        assert data["exhaustive"] == (None if pair is None else list(pair))
        assert len(data["pairs"]) == 10
        free = [row["dimensions"] for row in data["pairs"] if row["conflict"] is None]
        assert (free[0] if free else None) == data["exhaustive"]
        for row in (*data["dimensions"], *data["pairs"]):
            if row["conflict"] is not None:
                u, v = row["conflict"]
                assert {u, v} <= set(data["faulty_nodes"])
                assert (u ^ v) & ~sum(1 << i for i in row["dimensions"]) == 0
        assert f"exhaustive search: {'none' if pair is None else f'P = {{{pair[0]}, {pair[1]}}}'}" in reported.text


@pytest.mark.kernels
def test_a_multicast_is_told_use_by_use():
    reported = replay("multicast", 4, n=6, f=5, destinations=9)
    data = reported.data
    m = fc.multicast(fc.Hypercube(6, data["faulty_nodes"]), data["source"], data["destinations"])
    assert [(use["u"], use["v"]) for use in data["uses"]] == m.channels
    assert (data["N"], data["depth"], data["detours"]) == (m.N, m.depth, m.detours)
    assert sum(use["detour"] for use in data["uses"]) == m.detours
    assert sorted(data["D_E"] + data["D_H"] + data["D_L"]) == data["destinations"]
    assert f"N = {m.N}" in reported.text
    without = [replay("multicast", t, n=4, f=4, destinations=2) for t in range(8)]
    assert any(e.data["partition"] is None and "no fault-tolerant 2-partition" in e.text for e in without)


def test_a_cycle_comes_with_messages_that_deadlock():
    found = 0
    for trial in range(12):
        data = replay("multicast-deadlock", trial, n=4, f=3).data
        cube = fc.Hypercube(4, data["faulty_nodes"])
        if data["cyclic"] is not None:
            found += 1
            messages = data["cyclic_messages"]
            assert fc.simulate_wormhole(cube, messages).deadlocked
            assert len(messages) <= len(data["cyclic"])
            if data["cyclic_unicast"] is not None:
                assert all(len(d) == 1 for _, d in data["cyclic_unicast_messages"])
                assert fc.simulate_wormhole(cube, data["cyclic_unicast_messages"]).deadlocked
        assert data["cyclic_two_channels"] is None
    assert found


def test_a_hunt_tells_among_which_it_found_nothing(monkeypatch):
    cycle = [
        (0, 1),
        (1, 3),
        (3, 2),
        (2, 0),
    ]  # of no dependency graph: messages that begin with its stretches do not wait
    hunt = deadlock_search.deadlocking_messages(fc.Hypercube(3), (0, 1), cycle)
    assert hunt.messages is None
    assert not hunt.cut
    (reported,) = deadlock._search_text(fc.Hypercube(3), hunt)
    assert reported.strip() == (
        f"no deadlock found in {hunt.tried} sets of messages that begin with sections of this cycle, at most 6 per section: "
        "all cuts into sections were tried"
    )
    data = next(d for t in range(20) if (d := replay("multicast-deadlock", t, n=3, f=2).data).get("cyclic_unicast"))
    cube = fc.Hypercube(3, data["faulty_nodes"])
    pair = tuple(data["partition"])
    cycle = [tuple(channel) for channel in data["cyclic_unicast"]]
    found = deadlock_search.deadlocking_messages(cube, pair, cycle, unicast=True)
    assert found.messages == data["cyclic_unicast_messages"]
    monkeypatch.setattr(deadlock_search, "MOST_SETS", found.tried - 1)
    stopped = deadlock_search.deadlocking_messages(cube, pair, cycle, unicast=True)
    assert (stopped.messages, stopped.tried, stopped.cut) == (None, found.tried - 1, True)
    assert "the limit of the search was reached" in deadlock._search_text(cube, stopped)[0]


@pytest.mark.kernels
def test_a_set_of_multicasts_is_told_with_what_is_stuck():
    reported = [replay("multicast-wormhole", t, n=4, f=3, senders=8, destinations=4) for t in range(12)]
    stopped = [e for e in reported if e.data["deadlock"]["deadlocked"]]
    assert stopped
    for e in stopped:
        w = fc.simulate_wormhole(fc.Hypercube(4, e.data["faulty_nodes"]), e.data["messages"])
        assert [list(key) for key in w.held] == e.data["deadlock"]["stuck"]
        assert "held by" in e.text
    assert not any(e.data["deadlock_separate"]["deadlocked"] for e in reported)


# ---------------------------------------------------------------- a run


@pytest.mark.parametrize(
    ("name", "axes", "note"),
    [
        pytest.param(
            "two-partition",
            {"n": "7", "f": "6,15,31"},
            "exists crosses 1/2 at f = ",
            marks=pytest.mark.kernels,
        ),
        (
            "multicast",
            {"n": "10", "f": "8", "destinations": "16"},
            "row 9 (f=8, 16 destinations): paper N = 146, 1.43%",
        ),
        ("multicast-deadlock", {"n": "4", "f": "0:4"}, None),
        pytest.param(
            "multicast-wormhole",
            {"n": "4", "f": "3", "senders": "4", "destinations": "1,4"},
            "messages that split (more)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_runs_draw_and_note(tmp_path, name, axes, note):
    pytest.importorskip("matplotlib")
    results = fc.run(name, trials=300, output=tmp_path / "out.h5", **axes)
    study = STUDIES[name]
    if note is not None:
        assert any(note in line for line in study.notes(results))
    results.plot()
