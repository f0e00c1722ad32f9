"""A user's own trial: set-ups, conditions and ratios, what is refused before the first trial, and the cached machine code."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import fastcube as fc
from fastcube.engine.study import point_key
from fastcube.kernels import philox
from fastcube.kernels.jit import block, scratch
from fastcube.kernels.layout import Counter, Extreme, Layout
from fastcube.kernels.tally import add_square, add_wide, offer
from fastcube.kernels.trials import trials_kernel

AXES = [fc.Axis("sides", "sides of a die", int, 1, 1000)]


@fc.trial
def weights(params):
    return np.arange(int(params[0])) + 1


@fc.trial
def die(key, t, params, scratch, out):
    face = np.int64(philox.word(key, np.uint64(t), np.uint64(0), philox.LABELS) % np.uint64(scratch.size))
    out[0] = scratch[face]
    out[1] = scratch[face] % 2 == 0
    out[2] = scratch[face] // 2
    out[3] = scratch[face] > 3


OUTPUTS = [
    fc.Output("face", "what the die shows", lambda point: point["sides"]),
    fc.Output("even", "the die shows an even number"),
    fc.Output("half", "half of what it shows, over what it shows", lambda point: point["sides"], over="face"),
    fc.Output("high_even", "it shows more than three, among even faces", among="even"),
]
DIE = fc.trial_study("die", "A die", AXES, OUTPUTS, die, [{"sides": 6}], set_up=weights, trials=1000)


def faces(sides, trials, seed):
    key = np.uint64(point_key("die", seed, {"sides": sides}))
    with np.errstate(over="ignore"):
        return [
            int(philox.word(key, np.uint64(t), np.uint64(0), philox.LABELS) % np.uint64(sides)) + 1
            for t in range(trials)
        ]


def test_a_trial_with_a_set_up_and_its_statistics():
    rolled = faces(6, 500, 9)
    tally = DIE.count({"sides": 6}, 500, seed=9)
    estimates = {s.name: s.estimate(tally.counts, 500, {"sides": 6}) for s in DIE.statistics}
    assert estimates["face"].value == pytest.approx(sum(rolled) / 500)
    assert estimates["even"].value == sum(f % 2 == 0 for f in rolled) / 500
    assert estimates["half"].value == pytest.approx(sum(f // 2 for f in rolled) / sum(rolled))
    even = [f for f in rolled if f % 2 == 0]
    assert estimates["high_even"].value == sum(f > 3 for f in even) / len(even)
    assert [s.interval for s in DIE.statistics] == ["bounded", "exact", "asymptotic", "exact"]
    assert tally.extremes["face"] == (max(rolled), rolled.index(max(rolled)))
    told = DIE.explain({"sides": 6}, point_key("die", 9, {"sides": 6}), 3)
    assert told.data["face"] == rolled[3]


@fc.trial
def wrong(key, t, out):
    out[0] = 1


@pytest.mark.parametrize(("changes", "message"), [
    ({"trial": wrong}, "trial of die must take (key, t, params, scratch, out), got (key, t, out)"),
    ({"trial": 7}, "trial of die must be a function, got 7"),
    ({"set_up": None}, "trial of die must take (key, t, params, out), got (key, t, params, scratch, out)"),
    ({"set_up": die}, "set_up of die must take (params), got (key, t, params, scratch, out)"),
    ({"outputs": []}, "outputs of die must be one or more of different names, got none"),
    ({"outputs": [fc.Output("a", "", among="b")]}, "among of output a must be another output of die, got b"),
    ({"outputs": [*OUTPUTS, fc.Output("more", "", over="faces")]},
     "over of output more must be another output of die, got faces; did you mean face?"),
    ({"outputs": [*OUTPUTS, fc.Output("more", "", over="face", among="even")]},
     "output more and output face, which it is over, must be among the same"),
    ({"outputs": [fc.Output("a", "", 2**31)]}, "bound must be in [1, 2147483647] for output a, got 2147483648"),
])  # fmt: skip
def test_what_a_study_cannot_be_made_of_is_refused_in_one_line(changes, message):
    given = {"outputs": OUTPUTS, "trial": die, "set_up": weights, **changes}
    with pytest.raises(fc.ParameterError) as error:
        fc.trial_study("die", "A die", AXES, given["outputs"], given["trial"], [], set_up=given["set_up"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- trials that break their promises

BROKEN = """
import fastcube as fc

@fc.trial
def trial(key, t, params, out):
    {}

STUDY = fc.trial_study("broken", "", [fc.Axis("a", "", int, 0, 9)], [fc.Output("x", "", 5)], trial, [{{"a": 1}}], trials=50)
"""


@pytest.mark.parametrize(("body", "words"), [
    ("out[int(params[0]) + t // 7] = 1", "IndexError: index is out of bounds"),
    ("out[0] = 6 * (t == 31)", "output x of broken must be in [0, 5], got 6 in trial 31 at a=1"),
    ("out[0] = len(t)", "broken.py, line 6)"),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("out[0] = -(t == 3)", "an output is negative"),
        ("out[0] = undefined_name", "name 'undefined_name' is not defined"),
        ("raise ValueError('mine')", "ValueError: mine"),
    )),
])  # fmt: skip
def test_a_trial_that_breaks_a_promise_stops_the_run_in_one_line(body, words, tmp_path):
    file = tmp_path / "broken.py"
    file.write_text(BROKEN.format(body))
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}
    done = subprocess.run([sys.executable, "-m", "fastcube", "run", str(file), "--progress", "none"], cwd=tmp_path,
                          env=environment, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert words in done.stderr
    assert "trial" in done.stderr
    assert "functools" not in done.stderr  # through which a kernel is compiled


def test_a_trial_without_its_decorator_is_one_line(tmp_path):
    file = tmp_path / "bare.py"
    file.write_text(BROKEN.format("out[0] = 1").replace("@fc.trial\n", ""))
    done = subprocess.run([sys.executable, "-m", "fastcube", "run", str(file)], cwd=tmp_path, capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k != "NUMBA_DISABLE_JIT"}, check=False)  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "trial of broken must be jitted: write @fc.trial above it" in done.stderr
    assert "bare.py, line 4" in done.stderr


def test_other_code_is_refused_and_named(tmp_path):
    """Edit the study's file, or one that it imports: old results are neither shown as its own, nor added to, nor merged."""
    file = tmp_path / "mine.py"
    (tmp_path / "helper.py").write_text("BONUS = 1\n")
    file.write_text(
        BROKEN.format("out[0] = helper.BONUS").replace("import fastcube as fc", "import fastcube as fc\nimport helper")
    )

    def run(*arguments):
        command = [sys.executable, "-m", "fastcube", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(tmp_path)})  # fmt: skip

    assert run("run", "mine.py", "-o", "r.h5", "--shard", "0/2").returncode == 0
    file.write_text(file.read_text() + "# a comment\n")
    again = run("run", "mine.py", "-o", "r.h5", "--shard", "0/2")
    assert again.returncode == 0, again.stderr
    (tmp_path / "helper.py").write_text("BONUS = 2\n")
    refused = run("run", "mine.py", "-o", "r.h5", "--shard", "0/2")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "has other code of broken than this run: helper.py changed; use another output, or --force" in refused.stderr
    assert run("run", "mine.py", "-o", "s.h5", "--shard", "1/2").returncode == 0
    merged = run("merge", "r.h5", "s.h5", "-o", "m.h5")
    assert (merged.returncode, merged.stderr.count("\n")) == (2, 1)
    assert "helper.py changed" in merged.stderr
    assert run("show", "r.h5").returncode == 0


# ---------------------------------------------------------------- trials_kernel

LAYOUT = Layout(
    Counter("sum", "a sum", 2), Counter("squares", "its squares", 4), Extreme("largest", "largest word")
)  # fmt: skip
_SUM, _SQUARES, _LARGEST = LAYOUT.counter("sum"), LAYOUT.counter("squares"), LAYOUT.extreme("largest")


@scratch
def _room(params):
    return np.full(1, int(params[0]))


@block
def _trial(key, t, params, scratch, tally):
    value = philox.word(key, np.uint64(t), np.uint64(0), philox.LABELS) >> np.uint64(scratch[0])
    add_wide(tally, _SUM, value)
    add_square(tally, _SQUARES, value)
    offer(tally, _LARGEST, np.int64(value), np.int64(t))


def test_a_kernel_of_one_trial_at_a_time():
    tally = LAYOUT.fresh()
    trials_kernel(_room, _trial)(np.uint64(5), 10, 60, np.array([2.0]), tally)
    values = [int(philox.word(np.uint64(5), np.uint64(t), np.uint64(0), philox.LABELS)) >> 2 for t in range(10, 60)]
    counts, extremes = LAYOUT.read(tally)
    assert counts == {"sum": sum(values), "squares": sum(v * v for v in values)}
    assert extremes["largest"] == (max(values), 10 + values.index(max(values)))


def test_blocks_that_take_something_else_are_named_when_the_kernel_is_declared():
    def swapped(key, t, params, tally, scratch):
        pass

    with pytest.raises(
        TypeError, match=r"swapped of [\w.]+ must take \(key, t, params, scratch, tally\), got \(key, t, params, t"
    ):
        trials_kernel(_room, swapped)
    with pytest.raises(TypeError, match=r"_trial of [\w.]+ must take \(params\), got \(key"):
        trials_kernel(_trial, _trial)


# ---------------------------------------------------------------- machine code on disk

FILE = """
import fastcube as fc
from helper import BONUS

def made(k):
    @fc.trial
    def trial(key, t, params, out):
        out[0] = k + BONUS
    return trial

def study(name, k):
    return fc.trial_study(name, "", [fc.Axis("a", "", int, 0, 9)], [fc.Output("x", "", 99)], made(k), [{"a": 1}], trials=10)

ONE, TWO = study("one", 1), study("two", 2)
for s in (ONE, TWO):
    kernel = s.kernel({"a": 1})
    print(s.count({"a": 1}, 10).counts["x_total"], len(kernel.compiled.stats.cache_hits))
"""


def test_machine_code_of_user_trials_is_cached_by_sources_and_constants(tmp_path):
    """Two trials of one function's name differ in what they close over; a file beside it that changes is a new source."""
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "helper.py").write_text("BONUS = 10\n")
    environment = {**os.environ, "FASTCUBE_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        done = subprocess.run(
            [sys.executable, "mine.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run() == ["110", "0", "120", "0"]
    assert run() == ["110", "1", "120", "1"]
    (tmp_path / "helper.py").write_text("BONUS = 20\n")
    assert run() == ["210", "0", "220", "0"]
