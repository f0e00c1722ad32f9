"""Writing a user's study: the message of each mistake, and that the corrected file runs afterwards."""

import pytest
from helpers.processes import run_fastcube

from fastcube.results.reading import open_results
from fastcube.running.signals import WORK_REMAINS

FILE = """
import numpy as np

import fastcube as fc


@fc.trial
def odd(key, t, params, out):
    out[0] = {value}


STUDY = fc.trial_study(
    "mine", "mine", [fc.Axis("a", "a", int, 0, 9)], [fc.Output("odd", "odd")], odd, [{{"a": 1}}], trials=100
)
"""


@pytest.fixture
def edit(tmp_path, monkeypatch):
    """Writes the study with this for the value of a trial."""
    monkeypatch.chdir(tmp_path)
    return lambda value: (tmp_path / "mine.py").write_text(FILE.format(value=value))


def run(*options):
    return run_fastcube("run", "mine.py", "--progress", "none", *options)


@pytest.mark.slow
def test_a_mistake_leaves_no_file_and_the_mended_one_runs(edit, tmp_path):
    edit("tt & 1")
    done = run()
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "mine.h5").exists()
    edit("t & 1")
    assert run().returncode == 0
    assert open_results(tmp_path / "mine.h5").trials == 100
    edit("t & 1 and True")
    assert "has other code of mine" in run().stderr


@pytest.mark.slow
def test_a_trial_that_fails_late_leaves_no_file_that_its_mended_one_must_replace(edit, tmp_path):
    edit("0.5 * (t == 99)")
    assert "got 0.5 in trial 99" in run().stderr
    assert not (tmp_path / "mine.h5").exists()
    edit("0 * t")
    assert run().returncode == 0
    edit("0.5 * (t == 150) + 0 * t")
    assert run("--force", "--trials", "99").returncode == 0
    assert "got 0.5 in trial 150" in run("--trials", "200").stderr
    assert open_results(tmp_path / "mine.h5").trials >= 99  # the old file stays


@pytest.mark.slow
def test_a_run_that_is_stopped_before_its_first_trial_leaves_no_file(edit, tmp_path):
    edit("t & 1 if t < 0 else waits(t)")
    text = (tmp_path / "mine.py").read_text()
    waits = (
        "@fc.blocks.block\ndef waits(t):\n    x = t\n    while x < 10**13:\n        x += x & 1 | 1\n    return x & 1\n"
    )
    (tmp_path / "mine.py").write_text(text.replace("@fc.trial", f"{waits}\n\n@fc.trial"))
    done = run("--max-seconds", "0.2")
    assert done.returncode == WORK_REMAINS
    assert "work remains; no trial is done, mine.h5 is not written; go on with: fastcube run mine.py" in done.stderr
    assert not (tmp_path / "mine.h5").exists()
