"""A user's own trial: set-ups, conditions and ratios, what is refused before the first trial, and the cached machine code."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numba
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, only_cache, run_in_process

import fastcube as fc
from fastcube.kernels.draws import philox
from fastcube.kernels.machine.jit import block, scratch
from fastcube.kernels.machine.trials import trials_kernel
from fastcube.kernels.tally.layout import Counter, Layout, Maximum
from fastcube.kernels.tally.maxima import offer
from fastcube.kernels.tally.sums import add_square, add_wide

AXES = [fc.Axis("sides", "sides of a die", int, 1, 1000)]


@fc.trial
def weights(params):
    return np.arange(int(params[0])) + 1


@fc.trial
def die(key, t, params, scratch, out):
    face = np.int64(philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS) % np.uint64(scratch.size))
    out[0] = scratch[face]
    out[1] = scratch[face] % 2 == 0
    out[2] = scratch[face] // 2
    out[3] = scratch[face] > 3


OUTPUTS = [
    fc.Output("face", "what the die shows", lambda point: point["sides"]),
    fc.Output("even", "the die shows an even number"),
    fc.Output("half", "half of what it shows, over what it shows", lambda point: point["sides"], denominator="face"),
    fc.Output("high_even", "it shows more than three, among even faces", condition="even"),
]
DIE = fc.trial_study("die", "A die", AXES, OUTPUTS, die, [{"sides": 6}], set_up=weights, trials=1000)


def faces(sides, trials, seed):
    key = np.uint64(DIE.key(seed, {"sides": sides}))
    with np.errstate(over="ignore"):
        return [
            int(philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS) % np.uint64(sides)) + 1
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
    assert tally.maxima["face"] == (max(rolled), rolled.index(max(rolled)))
    reported = DIE.explain({"sides": 6}, DIE.key(9, {"sides": 6}), 3)
    assert reported.data["face"] == rolled[3]


@fc.trial
def wrong(key, t, out):
    out[0] = 1


@fc.trial
def giving(key, t, params, scratch, out):
    if t > 5:
        return None
    return t % 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trial": giving}, "trial of die must return nothing: it writes its outputs into out[0], out[1], ..."),
        ({"trial": wrong}, "trial of die must take (key, t, params, scratch, out), got (key, t, out)"),
        ({"trial": 7}, "trial of die must be a function, got 7"),
        ({"set_up": None}, "trial of die must take (key, t, params, out), got (key, t, params, scratch, out)"),
        ({"set_up": die}, "set_up of die must take (params), got (key, t, params, scratch, out)"),
        ({"outputs": []}, "outputs of die must be one or more of different names, got none"),
        (
            {"outputs": [fc.Output("a", "", condition="b")]},
            "condition of output a must be another output of die, got b",
        ),
        (
            {"outputs": [*OUTPUTS, fc.Output("more", "", denominator="faces")]},
            "denominator of output more must be another output of die, got faces; did you mean face?",
        ),
        (
            {"outputs": [*OUTPUTS, fc.Output("more", "", denominator="face", condition="even")]},
            "output more and output face, its denominator, must have the same condition",
        ),
        ({"outputs": [fc.Output("a", "", 2**31)]}, "bound must be in [1, 2147483647] for output a, got 2147483648"),
    ],
)
def test_what_a_study_cannot_be_made_of_is_refused_in_one_line(changes, message):
    given = {"outputs": OUTPUTS, "trial": die, "set_up": weights, **changes}
    with pytest.raises(fc.ParameterError) as error:
        fc.trial_study("die", "A die", AXES, given["outputs"], given["trial"], [], set_up=given["set_up"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- trials that break their promises

BROKEN = """
import fastcube as fc

@fc.blocks.block
def share(whole, parts):
    return whole // parts

@fc.blocks.block
def entry(params, i):
    return params[i]

@fc.trial
def trial(key, t, params, out):
    {}

STUDY = fc.trial_study("broken", "", [fc.Axis("a", "", int, 0, 9)], [fc.Output("x", "", 5)], trial, [{{"a": 1}}], trials=50)
"""

#: One trial that breaks another promise at each point.
EACH = """if params[0] == 1:
        out[int(params[0]) + t // 7] = 1
    elif params[0] == 2:
        out[0] = 6 * (t == 31)
    elif params[0] == 3:
        out[0] = 1 // (49 - t)
    elif params[0] == 4:
        out[0] = share(1, 49 - t)
    elif params[0] == 5:
        out[0] = entry(params, t // 49)"""

MIXED = (
    "compiling the trial of broken failed: TypingError: there is no xor(float64, uint64): params are floats, write"
    " int(params[0]); and a variable that is an int64 in one place and a uint64 in another is a float64, start it as"
    " np.uint64(0) ("
)

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """The line that ends a run of a file's study."""
    monkeypatch.chdir(tmp_path)

    def call(text, *arguments):
        (tmp_path / "broken.py").write_text(text)
        code, _, said = run_in_process(capsys, "run", "broken.py", "--progress", "none", *arguments)
        assert (code, said.count("\n")) == (2, 1), said
        assert "trial" in said
        assert "cannot be used" not in said  # of the cache, which has no part in it
        assert "functools" not in said  # through which a kernel is compiled
        return said

    return call


@compiled
def test_a_trial_that_breaks_a_promise_stops_the_run_in_one_line(refused):
    reported = [
        "IndexError: index is out of bounds",
        "output x of broken must be in [0, 5], got 6 in trial 31 at a=2; if the value is right, give fc.Output a larger bound",
        "ZeroDivisionError: integer division by zero (NUMBA_DISABLE_JIT=1 in the environment names the line)\n",
        "trial 49 of broken at a=4 with seed 0 failed: ZeroDivisionError: ",
        "trial 49 of broken at a=5 with seed 0 failed: IndexError: ",
    ]
    for a, expected in enumerate(reported, 1):
        assert expected in refused(BROKEN.format(EACH), "--set", f"a={a}")


@compiled
@pytest.mark.parametrize(
    ("body", "expected"),
    mark_others_slow(
        [
            ("m = 0\n    if t > 3:\n        m = fc.blocks.ONE\n    out[0] = m ^ fc.blocks.ONE", MIXED),
            (
                "out[0] = fc.blocks.popcount(t)",
                "there is no popcount(int64): labels and bits are uint64, write np.uint64(...)",
            ),
            ("out[0] = len(t)", "broken.py, line 14)"),
            (
                "import random\n    out[0] = random.random() < 0.5",
                "the function contains an import: write it at the top",
            ),
            (
                "faults = fc.blocks.faults_for(3, 1, 0, 0)\n    out[0] = fc.blocks.is_faulty(faults, t)",
                "TypingError: a label or a bit is int64: labels and bits are uint64, write np.uint64(...)",
            ),
            (
                "faults = fc.blocks.faults_for(3, 1, 0, 0)\n    out[0] = fc.blocks.is_faulty(faults, 0)",
                "TypingError: a label or a bit is the integer 0: labels and bits are uint64, write np.uint64(...)",
            ),
            ("out[0] = undefined_name", "name 'undefined_name' is not defined in trial ("),
            ("a = 1\n    out[0] = undefined_name", "broken.py, line 15)"),
            ("a = 1\n    out[0] = fc.blocks.nothing(a)", "broken.py, line 15)"),
            ("raise ValueError('mine')", "ValueError: mine"),
        ]
    ),
)
def test_a_trial_that_does_not_compile_or_raises_stops_the_run_in_one_line(refused, body, expected):
    assert expected in refused(BROKEN.format(body))


@fc.trial
def table(key, t, params, out):
    out[0] = params[t]


@fc.trial
def scaled(key, t, params, out):
    out[0] = -1.5 + 0.25 * (t % 17) + params[0]
    out[1] = t


VALUED = fc.trial_study(
    "valued", "", [fc.Axis(f"v{i}", "", float, -1e10, 1e10) for i in range(3)], [fc.Output("x", "", 9)], table, []
)


@pytest.mark.slow
@pytest.mark.parametrize("value", [0.7, -1.0, 2.0**31, 1e10])
def test_an_integer_output_is_a_whole_number_in_range(value):
    point = {"v0": 1, "v1": 0, "v2": value}
    with pytest.raises(fc.StudyError) as error:
        fc.run(VALUED, trials=3, **point)
    reported = f"{value:.0f}" if value > 10 else str(value)
    assert (
        str(error.value)
        == f"output x of valued must be a whole number from 0 to its bound, got {float(reported)} in trial 2"
    )
    assert fc.run(VALUED, trials=3, v0=1, v1=0, v2=9).tallies[1.0, 0.0, 9.0].counts["x_total"] == 10


def test_a_float_output_is_counted_in_steps_of_its_range(tmp_path):
    outputs = [fc.Output("x", "from -1.5 to 2.5", low=-1.5, high=2.5), fc.Output("t", "", 2000)]
    study = fc.trial_study("scaled", "", [fc.Axis("a", "", int, 0, 1)], outputs, scaled, [{"a": 0}], trials=1700)
    results = fc.run(study, output=tmp_path / "r.h5")
    counts = results.tallies[(0,)].counts
    units = [round((0.25 * (t % 17)) / 4 * 2**30) for t in range(1700)]
    assert counts["x_total"] == sum(units)
    assert counts["x_squares"] == sum(u * u for u in units)
    for e in (results.estimate("x"), fc.open_results(tmp_path / "r.h5").estimate("x")):
        assert e.value == pytest.approx(-1.5 + 0.25 * 8)
        assert -1.5 <= e.low < e.value < e.high <= 2.5
    assert study.explain({"a": 0}, 1, 18).data == {"x": -1.25, "t": 18}
    with pytest.raises(fc.StudyError, match=r"^output x of scaled must be in \[-1.5, 2.5\], got 2.75 in trial 13$"):
        fc.run(study, a=1)


@pytest.mark.parametrize(
    "given",
    [
        {"low": 0.0},
        {"low": 1.0, "high": 1.0},
        {"low": float("nan"), "high": 1.0},
        {"low": 0, "high": float("inf")},
        {"low": 0, "high": 1, "bound": 3},
        {"low": 0, "high": 1, "denominator": "y"},
    ],
)
def test_a_range_that_is_none_is_refused(given):
    with pytest.raises(fc.ParameterError, match="output x"):
        fc.Output("x", "", **given)


@compiled
def test_a_trial_without_its_decorator_is_one_line(refused):
    said = refused(BROKEN.format("out[0] = 1").replace("@fc.trial\n", ""))
    assert "trial of broken must be jitted: write @fc.trial above it" in said
    assert "broken.py, line 12" in said


@pytest.mark.slow
def test_other_code_is_refused_and_named(tmp_path):
    """Edit the study's file, or one that it imports: old results are neither shown as its own, nor added to, nor merged."""
    file = tmp_path / "mine.py"
    (tmp_path / "helper.py").write_text("BONUS = 1\n")
    file.write_text(
        BROKEN.format("out[0] = helper.BONUS").replace("import fastcube as fc", "import fastcube as fc\nimport helper")
    )

    def run(*arguments):
        command = [sys.executable, "-m", "fastcube", *arguments]
        return subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )

    assert run("run", "mine.py", "-o", "r.h5", "--shard", "0/2").returncode == 0
    file.write_text(file.read_text() + "# a comment\n")
    again = run("run", "mine.py", "-o", "r.h5", "--shard", "0/2")
    assert again.returncode == 0, again.stderr
    (tmp_path / "helper.py").write_text("BONUS = 2\n")
    refused = run("run", "mine.py", "-o", "r.h5", "--shard", "0/2")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert (
        "has other code of broken than this run: helper.py, mine.py: helper.BONUS changed; use another output, or remove"
        in refused.stderr
    )
    assert run("run", "mine.py", "-o", "s.h5", "--shard", "1/2").returncode == 0
    merged = run("merge", "r.h5", "s.h5", "-o", "m.h5")
    assert (merged.returncode, merged.stderr.count("\n")) == (2, 1)
    assert "helper.py, mine.py: helper.BONUS changed" in merged.stderr
    assert run("show", "r.h5").returncode == 0


# ---------------------------------------------------------------- trials_kernel

LAYOUT = Layout(Counter("sum", "a sum", 2), Counter("squares", "its squares", 4), Maximum("largest", "largest word"))
_SUM, _SQUARES, _LARGEST = LAYOUT.counter("sum"), LAYOUT.counter("squares"), LAYOUT.maximum("largest")


@scratch
def _workspace(params):
    return np.full(1, int(params[0]))


@block
def _trial(key, t, params, scratch, tally):
    value = philox.random_word(key, np.uint64(t), np.uint64(0), philox.LABELS) >> np.uint64(scratch[0])
    add_wide(tally, _SUM, value)
    add_square(tally, _SQUARES, value)
    offer(tally, _LARGEST, np.int64(value), np.int64(t))


def test_a_kernel_of_one_trial_at_a_time():
    tally = LAYOUT.new_tally()
    trials_kernel(_workspace, _trial)(np.uint64(5), 10, 60, np.array([2.0]), tally)
    values = [
        int(philox.random_word(np.uint64(5), np.uint64(t), np.uint64(0), philox.LABELS)) >> 2 for t in range(10, 60)
    ]
    counts, maxima = LAYOUT.read(tally)
    assert counts == {"sum": sum(values), "squares": sum(v * v for v in values)}
    assert maxima["largest"] == (max(values), 10 + values.index(max(values)))


def test_blocks_that_take_something_else_are_named_when_the_kernel_is_declared():
    def swapped(key, t, params, tally, scratch):
        pass

    with pytest.raises(
        TypeError, match=r"swapped of [\w.]+ must take \(key, t, params, scratch, tally\), got \(key, t, params, t"
    ):
        trials_kernel(_workspace, swapped)
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


@pytest.mark.slow
def test_machine_code_of_user_trials_is_cached_by_sources_and_constants(tmp_path):
    """Two trials of one function's name differ in their closures; a file beside it that changes is a new source."""
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "helper.py").write_text("BONUS = 10\n")
    environment = {**CLEAN_ENVIRONMENT, **only_cache(tmp_path / "cache")}

    def run():
        done = subprocess.run(
            [sys.executable, "mine.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert run() == ["110", "0", "120", "0"]
    assert run() == ["110", "1", "120", "1"]
    (tmp_path / "helper.py").write_text("BONUS = 20\n")
    assert run() == ["210", "0", "220", "0"]


@fc.trial
def two_dice(key, t, params, out):
    out[0] = 1 + t % 6
    out[1] = 1 + (t // 6) % 3
    out[2] = 248


def test_an_output_may_ask_for_a_difference_a_distribution_and_a_plain_interval(tmp_path):
    outputs = [
        fc.Output("a", "first", 6, compared_with="b", distribution=True),
        fc.Output("b", "second", 3),
        fc.Output("same", "always the same", 256, asymptotic=True),
    ]
    study = fc.trial_study("two", "", [fc.Axis("x", "", int, 0, 1)], outputs, two_dice, [{"x": 0}], trials=1800)
    given = fc.run(study, output=tmp_path / "r.h5")
    for results in (given, fc.open_results(tmp_path / "r.h5")):
        gain = results.estimate("a_minus_b")
        assert gain.value == pytest.approx(3.5 - 2)
        assert gain.low < 1.5 < gain.high
        fractions = results["a_distribution"][(0,)]
        assert [e.value for e in fractions] == pytest.approx([0, *[1 / 6] * 6])
        assert results["same"][(0,)].value == 248
        assert results["a"][(0,)].value == pytest.approx(3.5)
        kinds = {s.name: (type(s).__name__, s.interval) for s in results.study.statistics}
        assert kinds["same"] == ("NormalMean", "asymptotic")
        assert kinds["a_minus_b"] == ("Difference", "bounded")
        assert len(results) == 1
        assert results
        assert "a_minus_b" in str(results)
    tally = given.tallies[(0,)]
    assert tally.counts["a_bins"] == (0, *[300] * 6)
    assert tally.counts["a_minus_total"] == 2700


@pytest.mark.slow
def test_an_asymptotic_output_has_an_asymptotic_difference_and_a_share_its_exact_interval(tmp_path):
    outputs = [
        fc.Output("a", "first", 6, compared_with="b", asymptotic=True),
        fc.Output("b", "second", 3),
        fc.Output("same", "always the same", 256, compared_with="same", asymptotic=True),
    ]
    study = fc.trial_study("two", "", [fc.Axis("x", "", int, 0, 1)], outputs, two_dice, [{"x": 0}], trials=1800)
    given = fc.run(study, output=tmp_path / "r.h5")
    for results in (given, fc.open_results(tmp_path / "r.h5")):
        kinds = {s.name: type(s).__name__ for s in results.study.statistics}
        assert kinds["a"] == "NormalMean" and kinds["a_minus_b"] == kinds["same_minus_same"] == "NormalDifference"
        gain, none = results.estimate("a_minus_b"), results.estimate("same_minus_same")
        assert gain.value == 1.5 and gain.half_width == pytest.approx(1.96 * gain.stderr, rel=1e-4)
        assert none.value == 0 and none.low == -none.high and 0.4 < none.high < 0.6  # 256 times 3.7 in 1800
        assert "~1.5" in str(results).replace(" ", "")
    fraction = fc.Output("a", "", compared_with="b", asymptotic=True)
    study = fc.trial_study(
        "two", "", AXES, [fraction, fc.Output("b", ""), fc.Output("c", "")], two_dice, [{"sides": 6}]
    )
    assert [s.interval for s in study.statistics] == ["exact", "exact", "exact", "asymptotic"]


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        (
            {"bound": 5000, "distribution": True},
            "bound must be an integer in [1, 4095] for output a with a distribution or quantiles",
        ),
        ({"bound": 5000, "quantiles": [50]}, "bound must be an integer in [1, 4095] for output a"),
        ({"bound": 6, "quantiles": [50, 100]}, "quantiles must be in [1, 99], got 100"),
        ({"bound": 6, "quantiles": 50}, "quantiles must be a list of percentages, got 50"),
        ({"bound": lambda point: 3, "distribution": True}, "bound must be an integer in [1, 4095] for output a"),
        (
            {"low": 0, "high": 1, "asymptotic": True},
            "output a must have low and high, or bound, denominator, compared_with or asymptotic",
        ),
        ({"asymptotic": 3}, "asymptotic must be True or False, got 3"),
        (
            {"asymptotic": True},
            "output a must have compared_with, or a bound above 1, to be asymptotic: a share has an exact",
        ),
    ],
)
def test_what_an_output_cannot_ask_for_is_refused(given, reported):
    with pytest.raises(fc.ParameterError, match=re.escape(reported)):
        fc.Output("a", "", **given)


def test_an_explanation_shows_what_is_counted():
    """A user's ``explain`` is plain Python, so its entries of outputs are compared with the compiled trial."""
    point, key = {"sides": 6}, DIE.key(9, {"sides": 6})

    def explain(**data):
        study = fc.trial_study(
            "die",
            "A die",
            AXES,
            OUTPUTS,
            die,
            [point],
            set_up=weights,
            explain=lambda point, key, t: fc.Explanation("text", data),
        )
        return study.explain(point, key, 3).data

    face = DIE.explain(point, key, 3).data["face"]
    for data in ({"face": face, "note": "x"}, {"others": 1}, {"face": None}):
        assert explain(**data) == data
    with pytest.raises(
        fc.StudyError, match=f"explain of die must show what is counted, but face in trial 3 at sides=6 is {face}"
    ):
        explain(face=face + 1)
