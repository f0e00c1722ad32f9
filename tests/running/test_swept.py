"""A swept axis: points of a curve share their trials, and are still points of their own in every other respect."""

from __future__ import annotations

import io

import pytest

import fastcube as fc
from fastcube.measure.goal import Goal
from fastcube.measure.survival_curve import make_curve
from fastcube.results.combining import merge
from fastcube.running.driver import run_study
from fastcube.running.planning import measured_seconds
from fastcube.running.progress import Progress
from fastcube.running.signals import FINISHED, WORK_REMAINS

STUDY = fc.study("survival-curve")
POINTS = make_curve(["crossed", "moebius1"], "nodes", 4, range(17))


def count_alone(points, trials, seed=0):
    """Results of one kernel call per point."""
    return fc.Results(STUDY, seed, {tuple(p.values()): STUDY.count(p, trials, seed) for p in points})


def run(points=POINTS, **given):
    results, code = run_study(STUDY, points, Goal(**{"trials": 3001, **given.pop("goal", {})}), **given)
    assert code == FINISHED
    return results


def test_points_of_a_curve_have_the_trials_of_each_alone():
    assert run().digest() == count_alone(POINTS, 3001).digest()
    assert len({STUDY.key(5, point) for point in POINTS}) == 1  # of every network and every number of failures


def test_the_log_of_a_job_counts_the_trials_of_all_points(tmp_path, monkeypatch):
    path, log = str(tmp_path / "c.h5"), io.StringIO()
    run(output=path, goal={"trials": 1000})
    run(POINTS[:17], output=path, goal={"trials": 2000})
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    run(output=path, goal={"trials": 2000}, progress=Progress("lines", log))
    assert f"{path} holds 75.0%" in log.getvalue()


def test_the_order_of_values_changes_nothing():
    assert run(POINTS[::-1]).digest() == run().digest()
    some = [POINTS[i] for i in (9, 2, 30, 12, 17)]
    assert run(some).digest() == count_alone(some, 3001).digest()


def test_points_added_later_run_their_own_trials(tmp_path):
    path = str(tmp_path / "c.h5")
    run(POINTS[::3], output=path)
    run(POINTS[::2], output=path, goal={"trials": 1000})
    run(POINTS, output=path)
    assert fc.open_results(path).digest() == run().digest()


def test_shards_merge_to_the_whole(tmp_path):
    paths = [str(tmp_path / f"{i}.h5") for i in range(3)]
    for i, path in enumerate(paths):
        run(output=path, goal={"shard": (i, 3)})
    assert merge(paths).digest() == run().digest()


def test_a_run_that_was_stopped_goes_on(tmp_path):
    path, goal = str(tmp_path / "c.h5"), Goal(trials=3001)
    _, code = run_study(STUDY, POINTS, goal, output=path, max_seconds=1e-9)
    assert code == WORK_REMAINS
    run(output=path)
    assert fc.open_results(path).digest() == run().digest()


def test_each_point_of_a_curve_stops_at_its_own_precision(tmp_path):
    """As if every point had a run of its own, also when it goes on to a finer precision."""
    path = str(tmp_path / "c.h5")
    for precision in (0.012, 0.008):
        goal = {"trials": None, "precision": precision}
        together = run(POINTS[:17], output=path, goal=goal)
        alone = fc.Results(STUDY, 0)
        for point in POINTS[:17]:
            alone.tallies.update(run([point], goal=goal).tallies)
        assert together.digest() == alone.digest()
        assert len({tally.trials for _, tally in together}) > 1


def test_the_time_of_a_curve_is_divided_among_its_points():
    points = [p for n in (3, 4) for p in make_curve(["crossed"], "nodes", n, range(9))]
    seconds = measured_seconds(STUDY, points, 0.02)
    assert len(seconds) == 18 and len(set(seconds[:9])) == len(set(seconds[9:])) == 1


def test_only_the_last_axis_of_a_study_of_kernels_is_swept():
    swept, plain = fc.Axis("a", "a label", int, 0, 9, swept=True), fc.Axis("b", "a label", int, 0, 9)

    @fc.trial
    def trial(key, t, params, out):
        out[0] = 1

    with pytest.raises(fc.ParameterError, match="axes of s must not be swept: its trial counts one value"):
        fc.trial_study("s", "S", [plain, swept], [fc.Output("o", "an output")], trial, [{"b": 1, "a": 2}])
    with pytest.raises(fc.ParameterError, match="axes of survival-curve must not be swept, but for the last one"):
        type(STUDY)(**{**vars(STUDY), "axes": (STUDY.axes[-1], *STUDY.axes[:-1])})
    with pytest.raises(fc.ParameterError, match="swept must be"):
        fc.Axis("a", "a label", int, 0, 9, swept=2)
