"""Signals and deadlines that end a waiting run, and the messages of this run."""

import io
import itertools
from dataclasses import replace

import pytest
from helpers.coin import COIN

import fastcube as fc
from fastcube.cli import main
from fastcube.measure.goal import FEW_EVENTS, Goal
from fastcube.running.driver import run_study
from fastcube.running.progress import Progress
from fastcube.studies.lee_hayes.unsafe import can_span


@pytest.mark.parametrize(
    ("study", "point", "target", "wanted"),
    [
        ("unsafe-fraction", {"n": 8, "f": 4}, "all_unsafe", {"events": 1}),
        ("unsafe-fraction", {"n": 8, "f": 4}, "all_unsafe", {"relative": 0.1}),
        ("unsafe-fraction", {"n": 8, "f": 1}, "unsafe_fraction", {"events": 1}),
        ("unsafe-fraction", {"n": 8, "f": 1}, "rounds", {"events": 1}),
        ("unsafe-fraction", {"n": 8, "f": 1}, "close_pair", {"events": 1}),
        ("unsafe-rare", {"n": 20, "f": 5}, "all_unsafe", {"events": 1}),
        ("unsafe-rare", {"n": 20, "f": 2}, "unsafe_subcube_3", {"events": 1}),
        ("routing", {"n": 6, "f": 0, "links": 0, "k": 1}, None, {"events": 1}),
    ],
)
def test_no_run_waits_for_what_is_proved_impossible(study, point, target, wanted):
    message = (
        r"(events|relative) of \w+ would never be reached at n=.*, where it is proved to be 0: leave the point out, or"
    )
    with pytest.raises(fc.ParameterError, match=message):
        fc.run(study, target=target, **wanted, **point)


@pytest.mark.parametrize("text", ["[]", "[1, 2]", "5", "null"])
def test_a_goal_is_an_object(text):
    with pytest.raises(ValueError, match="the goal is "):
        Goal.from_json(text)


@pytest.mark.kernels
def test_other_ends_are_waited_for():
    """A number of trials, or a precision, which Clopper-Pearson reaches without an event."""
    for more in ({"trials": 100}, {"precision": 0.01}):
        results = fc.run("unsafe-fraction", n=8, f=[4, 5], target="all_unsafe", events=1, **more)
        assert results.estimate("all_unsafe", n=8, f=4).value == 0
    goal = Goal(events=1, target="all_unsafe")
    goal.check_points(fc.study("unsafe-fraction"), [{"n": 8, "f": 5}])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_so_many_faults_span_a_cube(n):
    """All fault sets of so few faults."""
    for f in range(min(2**n, 4) + 1):
        found = any(
            fc.find_unsafe(fc.Hypercube(n, faulty_nodes=faults)).all_unsafe
            for faults in itertools.combinations(range(2**n), f)
        )
        assert found == can_span({"n": n, "f": f}), (n, f)


def test_a_run_says_which_target_it_reached():
    rows = [({"p": p}, COIN.count({"p": p}, 4096)) for p in (0.5, 0.0)]
    assert Goal(relative=0.05).describe_reached(COIN, rows) == [
        "relative 5% was reached on head at 1 of 2 points",
        "no target was reached on head at 1 of 2 points, 1 of them without an event",
    ]
    assert Goal(trials=5).describe_reached(COIN, rows) == []
    counters = {"total": "head_total", "squares": "head_squares", "nonzero": "head_nonzero"}
    statistic = fc.NormalMean(name="head", description="heads", **counters)
    (line,) = Goal(precision=0.1).describe_reached(replace(COIN, statistics=(statistic,)), rows[:1])
    assert line.startswith("precision 0.1 was reached on head; that interval is asymptotic")


def test_progress_says_how_many_trials_have_seen_none():
    said = io.StringIO()
    progress = Progress("lines", said)
    progress.every = 0.0
    run_study(COIN, [{"p": 0.0}], Goal(trials=2**15, events=1), progress=progress)
    assert "p=0.0 head: none in " in said.getvalue()


@pytest.mark.kernels
def test_a_run_that_stops_on_few_events_says_so(capsys, tmp_path):
    base = ["unsafe-fraction", "--progress", "none", "-o", str(tmp_path / "r.h5"), "--force"]

    def said(*more):
        with pytest.raises(SystemExit, match="0"):
            main(["run", *base, "--set", "f=2", *more])
        return capsys.readouterr().err

    text = said("--set", "n=18,20", "--target", "close_pair", "--events", "3")
    assert text.splitlines()[-1] == "events 3 was reached on close_pair"
    assert "few events: " in text and " of close_pair at n=18,f=2 and 1 more point; " in text
    assert f"where a run stops on fewer than {FEW_EVENTS} its estimate is biased" in text
    for enough in (["--target", "close_pair", "--events", "100"], ["--trials", "100"]):
        assert "few events" not in said("--set", "n=10", *enough)
