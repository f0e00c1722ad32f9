"""Small things that went wrong once: each is one line, at once, or nothing at all."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE, run_fastcube, run_in_process
from toy import TOY

import fastcube as fc
from fastcube.kernels.machine.cache import CacheEntry


@pytest.mark.parametrize(
    "make",
    [
        lambda: fc.Counter("a", "", digits="1"),
        lambda: fc.Counter("a", "", digits=0),
        lambda: fc.Counter("a\n", ""),
        lambda: fc.Maximum("a", 5),
        lambda: fc.Layout(5),
        lambda: fc.Layout(fc.Counter("a", ""), fc.Counter("a", "")),
        lambda: fc.Layout().counter("a"),
        lambda: fc.Layout().maximum(5),
        lambda: fc.Layout().read([1]),
    ],
)
def test_parts_of_a_layout_are_refused_as_all_else_is(make):
    with pytest.raises(fc.ParameterError) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("values", [range(10**12), range(10**30), itertools.count(), (i for i in itertools.count())])
def test_values_are_counted_before_they_are_listed(values):
    with pytest.raises(fc.ParameterError, match="a takes at most 65537 values, got more"):
        fc.run(TOY, a=values, work=0.0, trials=10)


LONG = "a" * 300


@pytest.mark.parametrize(
    "command",
    [
        f"show {LONG}",
        f"merge {LONG} -o all.h5",
        f"diff {LONG} {LONG}",
        f"run {LONG}.toml",
        f"run {LONG}.py",
        f"run {TOY_FILE} --trials 10 --engine dask:{LONG}",
        f"warmup {TOY_FILE} --into {LONG}",
        f"evaluate {LONG} --study survival",
    ],
    ids=lambda command: " ".join(word for word in command.split() if len(word) < 10),
)
def test_a_file_that_the_system_refuses_is_named(capsys, command):
    """Such a name is an error of the system for every user, as a folder closed to this user is; neither is a full disk."""
    code, out, said = run_in_process(capsys, *command.split())
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert LONG[:20] in said
    assert "Errno" not in said


DIVIDING = """
import fastcube as fc

@fc.trial
def trial(key, t, params, out):
    out[0] = {}

STUDY = fc.trial_study("divides", "", [fc.Axis("a", "", int, 0, 9)], [fc.Output("x", "", 9)], trial, [{{"a": 0}}], trials=9)
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="Python divides so by itself")
@pytest.mark.parametrize("what", ["1 // int(params[0])", "1 / params[0] > 5", "7 % (t - t)"])
def test_a_division_by_zero_stops_the_run_with_its_trials(what, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("divides.py").write_text(DIVIDING.format(what))
    code, _, said = run_in_process(capsys, "run", "divides.py", "--progress", "none", "--workers", "1")
    assert (code, said.count("\n")) == (2, 1)
    assert re.search(r"trial \d of divides at a=0 with seed 0 failed: ZeroDivisionError", said)


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without jit a kernel holds Python's lock")
def test_a_run_without_progress_is_not_asked_for_again_and_again(tmp_path):
    out = tmp_path / "r.h5"
    run = ("run", TOY_FILE, "--set", "a=1", "--set", "work=1e12", "--trials", "5", "--max-seconds", "0.5", "-o", out)
    first = run_fastcube(*run, "--progress", "none")
    assert first.returncode == 75
    assert "no trial is done" in first.stderr
    second = run_fastcube(*run, "--progress", "none")
    message = (
        "fastcube: no trial was finished, this time and the time before: one takes longer than the run may; give it "
        "more time"
    )
    assert (second.returncode, second.stderr.startswith(message), second.stderr.count("\n")) == (2, True, 1)
    assert run_fastcube(*run, "--progress", "none").returncode == 75
    assert run_fastcube("run", TOY_FILE, "--set", "a=1", "--trials", "5", "-o", out).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["r.h5"]


@pytest.mark.parametrize("which", mark_others_slow(["sums", "index", "code"]))
def test_a_fifo_in_the_cache_keeps_nobody_waiting(which, tmp_path):
    entry = CacheEntry(tmp_path, "kernel.nbi")
    code = tmp_path / "kernel.1.nbc"
    entry.index.write_bytes(b"index")
    code.write_bytes(b"code")
    entry.write_checksums()
    assert entry.verify_checksums()
    path = {"index": entry.index, "sums": entry.sums, "code": code}[which]
    path.unlink()
    os.mkfifo(path)
    assert not entry.verify_checksums()
    with entry.alone() as stored:
        assert (stored, list(tmp_path.iterdir())) == (False, [tmp_path / "kernel.lock"])
    assert list(tmp_path.iterdir()) == []


SLOW = """
import os, sys, time
sys.modules.pop("click", None)
class Waiting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            print("importing", flush=True)
            time.sleep(600)
sys.meta_path.insert(0, Waiting())
import runpy
sys.argv = ["fastcube", "list"]
runpy.run_module("fastcube", run_name="__main__")
"""


@pytest.mark.parametrize(("number", "code"), mark_others_slow([(signal.SIGUSR1, 75), (signal.SIGTERM, 143)]))
def test_signals_are_served_before_anything_is_imported(number, code):
    """The first thing that the command line imports waits, and the signal comes."""
    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, env=CLEAN_ENVIRONMENT) as run:
        assert run.stdout.readline() == b"importing\n"
        run.send_signal(number)
        assert run.wait(60) == code


def test_the_command_is_the_module_that_serves_them():
    import importlib.metadata

    (entry,) = (e for e in importlib.metadata.entry_points(group="console_scripts") if e.name == "fastcube")
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert 'fastcube = "fastcube.__main__:main"' in project
    assert callable(entry.load())
