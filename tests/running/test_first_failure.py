"""A trial or a set-up that fails: which one is named, and when."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.executors import ReversedExecutor, use_executor
from toy import TOY

import fastcube as fc
from fastcube.errors import ParameterError, StudyError
from fastcube.results.reading import open_results


def failing_from(*firsts):
    """The toy study, whose trials fail from these on, by point."""

    def verify(point, tally):
        first = firsts[int(point["a"]) - 1]
        if tally.ranges[-1][1] > first:
            raise StudyError(f"broken at a={point['a']} in trial {max(first, tally.ranges[0][0])}")

    return replace(TOY, verify=verify)


@pytest.mark.parametrize("first", range(4))
def test_the_smallest_trial_that_fails_is_named_whichever_finishes_first(monkeypatch, tmp_path, first):
    use_executor(monkeypatch, ReversedExecutor(), 2, 1e-3)
    with pytest.raises(StudyError, match=rf"^broken at a=1 in trial {first}$"):
        fc.run(failing_from(first, 0), output=tmp_path / "r.h5")
    assert not [*tmp_path.iterdir()]


def test_of_two_points_under_way_the_first_is_named(monkeypatch):
    use_executor(monkeypatch, ReversedExecutor(), 2, 1e-3)
    with pytest.raises(StudyError, match=r"^broken at a=1 in trial 1$"):
        fc.run(failing_from(1, 0), trials=2)
    with pytest.raises(StudyError, match=r"^broken at a=2 in trial 1$"):
        fc.run(failing_from(9, 1), trials=2)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_trial_is_named_by_any_number_of_workers(workers):
    with pytest.raises(StudyError, match=r"^broken at a=1 in trial 777$"):
        fc.run(failing_from(777, 0), workers=workers)


@fc.trial
def workspace(params):
    if params[0] > 8:
        raise ParameterError("f must be at most 8, got {}", np.int64(params[0]))
    return np.zeros(1)


@fc.trial
def odd(key, t, params, workspace, out):
    out[0] = t & 1


def test_a_set_up_that_refuses_the_last_point_ends_the_run_before_the_first_trial(monkeypatch, tmp_path):
    """Where ``check`` let the point pass: hours of the other points' trials must not come before."""
    axes, outputs = [fc.Axis("f", "faulty nodes", int, 1, 100)], [fc.Output("odd", "odd")]
    points = fc.product_grid(f=[1, 2, 9])
    study = fc.trial_study("mine", "", axes, outputs, odd, points, set_up=workspace, trials=10**12)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=r"^set-up of mine at f=9: f must be at most 8, got 9$"):
        fc.run(study, output="r.h5")
    assert not [*tmp_path.iterdir()]
    fc.run(study, f=[1, 2], trials=50, output="r.h5")
    with pytest.raises(ParameterError, match=r"^set-up of mine at f=9"):
        fc.run(study, trials=100, output="r.h5")
    assert open_results("r.h5").trials >= 100  # the old file stays
