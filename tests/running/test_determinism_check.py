"""A trial is a function of (key, t): one that draws from a state is refused when compiled, one that differs when counted."""

import re
import runpy
import sys

import numba
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import run_fastcube, without_compile_news

import fastcube as fc
from fastcube.errors import NondeterminismError
from fastcube.running import determinism_check, work_loop

AXES, OUTPUTS, POINTS = [fc.Axis("a", "a", int, 0, 9)], [fc.Output("odd", "odd")], [{"a": 1}]

HEAD = """
import random
import numba
import numpy as np
import fastcube as fc
from numpy.random import shuffle as mix
from helpers import draws
other = np.random
aliased = np.random.rand
generator = np.random.default_rng(1)

@fc.blocks.block
def helped(t):
    return np.random.randint(2)

@fc.trial
def drawing(params):
    return np.full(1, np.random.randint(2))

@fc.trial
def still(params):
    return np.zeros(9, np.int64)

"""

TAIL = """
STUDY = fc.trial_study("mine", "mine", [fc.Axis("a", "a", int, 0, 9)], [fc.Output("odd", "odd")], odd, [{{"a": 1}}],
                       set_up={set_up}, trials=100)
"""

#: The source of a state, and its report: the name, and the file with the line of the call.
DRAWS = {
    "direct": ("out[0] = np.random.rand() < 0.5", "np.random.rand", "mine.py"),
    "alias": ("out[0] = aliased() < 0.5", "np.random.rand", "mine.py"),
    "module": ("out[0] = other.rand() < 0.5", "np.random.rand", "mine.py"),
    "helper": ("out[0] = helped(t)", "np.random.randint", "mine.py, line 14)"),
    "another file": ("out[0] = draws(t)", "np.random.randint", "helpers.py, line 6)"),
    "shuffle": ("mix(room)", "np.random.shuffle", "mine.py"),
    "generator": ("out[0] = generator.random() < 0.5", "a NumPy generator", "mine.py"),
    "random": ("out[0] = random.random() < 0.5", "random.random", "mine.py"),
    "objmode": ("with numba.objmode(x='int64'):\n        x = 1\n    out[0] = x", "objmode", "mine.py"),
}
#: What the default run compiles: drawn here, elsewhere, and by no function of NumPy's.
FIRST = {"direct", "another file", "objmode"}
HELPERS = """
import numpy as np
import fastcube as fc
@fc.blocks.block
def draws(t):
    return np.random.randint(2)
"""


#: A kernel that calls the trial and nothing else, which compiles in a fraction of the time of a study's.
ALONE = """
@fc.blocks.kernel("void(uint64, int64, float64[::1], int64[::1], float64[::1])", cache=False)
def alone(key, t, params, room, out):
    odd(key, t, params, room, out)
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a file whose trial samples in this way, and its imports; return the file and the expected message."""

    def write(how, tail):
        body, *reported = DRAWS[how]
        (tmp_path / "helpers.py").write_text(HELPERS)
        trial = f"@fc.trial\ndef odd(key, t, params, room, out):\n    {body}\n"
        (tmp_path / "mine.py").write_text(HEAD + trial + tail)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "helpers", raising=False)
        return tmp_path / "mine.py", *reported

    return write


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    "how", mark_others_slow(sorted((how for how in DRAWS if how != "generator"), key=FIRST.__contains__, reverse=True))
)
def test_a_kernel_that_draws_from_a_state_is_refused(written, how):
    file, name, place = written(how, ALONE)
    place = re.escape(place.replace(",", '",').removesuffix(")"))  # as Numba has it
    with pytest.raises(numba.core.errors.NumbaError, match=rf"(?s)^{name} .*{place}"):
        _ = runpy.run_path(str(file))["alone"].compiled


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.slow
@pytest.mark.parametrize("how", sorted(DRAWS))
def test_what_draws_from_a_state_is_refused(tmp_path, written, how):
    _, name, place = written(how, TAIL.format(set_up="still"))
    with pytest.raises(fc.StudyError, match=rf": (?:Numba|Typing)Error: {name} .*{re.escape(place)}.*") as refused:
        fc.run(str(tmp_path / "mine.py"), output=tmp_path / "mine.h5")
    assert ", line " in str(refused.value)
    assert not (tmp_path / "mine.h5").exists()


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_set_up_that_draws_is_refused_by_run_and_replay_in_this_process_and_the_next(tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS)
    trial = "@fc.trial\ndef odd(key, t, params, room, out):\n    out[0] = room[0]\n"
    (tmp_path / "mine.py").write_text(HEAD + trial + TAIL.format(set_up="drawing"))
    for arguments in (
        ("run", "mine.py", "--progress", "none"),
        ("replay", "mine.py", "--point", "a=1", "--trial", "3"),
    ):
        done = run_fastcube(*arguments, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
        assert done.returncode == 2
        assert len(without_compile_news(done.stderr).splitlines()) == 1, done.stderr
        assert "np.random.randint is not a function of (key, t)" in done.stderr
    assert not (tmp_path / "mine.h5").exists()


def test_ours_are_not_counted_twice():
    assert determinism_check.is_builtin_study(fc.study("routing"), {"n": 5, "f": 2, "links": 0, "k": 1})
    assert not determinism_check.is_builtin_study(study_of(forgets), {"a": 1})


@fc.trial
def workspace(params):
    return np.zeros(1, np.int64)


@fc.trial
def remembers(key, t, params, workspace, out):
    workspace[0] += 1
    out[0] = workspace[0] & 1


@fc.trial
def forgets(key, t, params, workspace, out):
    workspace[0] = t
    out[0] = workspace[0] & 1


def study_of(trial):
    return fc.trial_study("mine", "mine", AXES, OUTPUTS, trial, POINTS, set_up=workspace, trials=10_000)


def test_a_trial_that_minds_the_one_before_is_refused_and_nothing_is_stored(tmp_path):
    with pytest.raises(NondeterminismError, match=r"^trials 0\.\.\d+ of mine at a=1 count otherwise a second time: "):
        fc.run(study_of(remembers), output=tmp_path / "r.h5")
    assert not [*tmp_path.iterdir()]
    assert fc.run(study_of(forgets)).estimate("odd", a=1).value == 0.5


def test_the_first_item_of_a_run_is_the_one_counted_again(monkeypatch):
    items = []
    kind = work_loop.WorkUnit
    monkeypatch.setattr(work_loop, "WorkUnit", lambda *a, **k: items.append(kind(*a, **k)) or items[-1])
    fc.run(study_of(forgets), a=[1, 2], trials=3000)
    assert [item.repeated_trials for item in items[:1]] == [3000]
    assert not any(item.repeated_trials for item in items[1:])


class Counts:
    """Counts in one counter; slow trials where said."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.asked = clock, seconds, []

    def __call__(self, first, stop):
        self.asked.append((first, stop))
        self.clock.now += self.seconds * (stop - first)
        return [determinism_check.Tally(((first, stop),), {"x": stop - first}, {})]


class Clock:
    now = 0.0


@pytest.mark.parametrize(("seconds", "trials"), [(0.2, 0), (0.03, 3), (0.001, 64), (1e-5, 4096)])
def test_as_many_as_a_tenth_of_a_second_holds(monkeypatch, seconds, trials):
    clock = Clock()
    monkeypatch.setattr(determinism_check.time, "thread_time", lambda: clock.now)
    count = Counts(clock, seconds)
    determinism_check.check_repeats(count, 7, 10**6, seconds, "x")
    assert max((b - a for a, b in count.asked), default=0) == trials
    if trials:
        half = 7 + (trials // 2 | 1)
        assert count.asked[-2:] == [(half, 7 + trials), (7, half)]
    count.asked.clear()
    determinism_check.check_repeats(count, 7, 2, 1e-5, "x")
    assert count.asked[-1] == (7, 8)
