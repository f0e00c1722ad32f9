"""Kernels that change during a run: which one begins, when another takes over, and that the counts do not depend on it."""

import contextlib
import itertools
import logging
import pickle
from concurrent.futures import Executor, Future
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from helpers.executors import ImmediateExecutor, ShuffledExecutor, use_executor
from toy import TOY

import fastcube as fc
from fastcube.kernels.machine import compiling
from fastcube.kernels.machine.cache import CacheEntry
from fastcube.kernels.machine.dispatch import Alternative
from fastcube.kernels.machine.lost_time import LostTime
from fastcube.measure import registry
from fastcube.measure.tally import Tally
from fastcube.running import driver, work_loop
from fastcube.running.engines import Engine
from fastcube.running.point_work import PointWork
from fastcube.running.progress import Progress
from fastcube.running.run_kernels import RunKernels, choose_first_kernels

NAMES = ("slow", "middle", "fast")
TRIALS = 3000


class PickledExecutor(Executor):
    """Runs units in this thread, after a way through pickle as to another process."""

    def submit(self, function, item):
        future = Future()
        try:
            future.set_result(function(pickle.loads(pickle.dumps(item))))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def open_remote(name, workers):
    yield Engine(PickledExecutor(), lambda: 2, 1e-4, remote=True)


class FakeKernel:
    """Counts like the kernel of the toy study; says whether it is compiled, and how often it was called."""

    def __init__(self, name, ready=False):
        self.label, self.ready, self.seconds, self.loaded = name, ready, 0.0, ready
        self.function = TOY.kernel(POINT).function
        self.calls, self.compiled_at = 0, None
        self.lost_time = LostTime(None)

    @property
    def compiled(self):
        self.ready = True

        def count(*arguments):
            self.calls += arguments[2] > arguments[1]
            return TOY.kernel(POINT).compiled(*arguments)

        return count


POINT = TOY.point({"a": 1, "work": 0})


def make_study(compile_seconds, trial_seconds, ready=()):
    """The toy study with three kernels, and these kernels by name."""
    kernels = {name: FakeKernel(name, name in ready) for name in NAMES}
    some = {
        name: Alternative(kernels[name], cost, time)
        for name, cost, time in zip(NAMES, compile_seconds, trial_seconds, strict=True)
    }
    return replace(TOY, kernel=lambda point: kernels["fast"], alternatives=lambda point: some), kernels


@pytest.fixture(scope="module")
def undisturbed():
    return fc.run(TOY, trials=TRIALS).digest()


def calls(kernels):
    return {name: kernel.calls for name, kernel in kernels.items()}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("costs", list(itertools.permutations([1e-3, 2e-3, 3e-3])))
def test_every_order_of_change_over_counts_the_same(monkeypatch, undisturbed, costs, workers):
    """The cheapest kernel begins, and the fastest one takes over, with or without the third between."""
    study, kernels = make_study(costs, [3.0, 2.0, 1.0])
    use_executor(monkeypatch, ImmediateExecutor(), workers, 1e-4)
    assert fc.run(study, trials=TRIALS).digest() == undisturbed
    first = NAMES[costs.index(min(costs))]
    assert kernels[first].calls
    assert kernels["fast"].calls


@pytest.mark.parametrize("seed", range(3))
def test_kernels_in_turn_by_unit_count_the_same(monkeypatch, undisturbed, seed):
    study, kernels = make_study([1, 1, 1], [3, 2, 1])
    turns = itertools.cycle(NAMES)
    monkeypatch.setattr(RunKernels, "kernel_name", lambda self, work: next(turns))
    executor = ShuffledExecutor(seed)
    use_executor(monkeypatch, executor, 3, 1e-4)
    wait = work_loop.WorkLoop._wait
    monkeypatch.setattr(work_loop.WorkLoop, "_wait", lambda self: (executor.run(1), wait(self))[1])
    assert fc.run(study, trials=TRIALS).digest() == undisturbed
    assert all(calls(kernels).values())


def test_a_kernel_that_does_not_pay_is_not_compiled(undisturbed):
    study, kernels = make_study([1, 1e9, 1e9], [3e-6, 2e-6, 1e-6])
    assert fc.run(study, trials=TRIALS).digest() == undisturbed
    assert not kernels["middle"].ready
    assert not kernels["fast"].ready


def test_a_compiled_kernel_counts_from_the_first_unit():
    study, kernels = make_study([1, 1e9, 1e9], [3, 2, 1], ready=["fast"])
    fc.run(study, trials=TRIALS)
    assert (kernels["slow"].calls, kernels["middle"].calls) == (0, 0)
    study, kernels = make_study([1, 1e9, 1e9], [3e-6, 2e-6, 1e-6], ready=["middle"])
    fc.run(study, trials=TRIALS)
    assert (kernels["slow"].calls, kernels["fast"].calls) == (0, 0)


def test_a_compilation_that_fails_leaves_the_run_alone(monkeypatch, undisturbed, caplog):
    """It is logged in one line, and no other kernel is tried."""
    study, kernels = make_study([1e-3, 3e-3, 2e-3], [3, 2, 1])
    monkeypatch.setattr(driver, "open_engine", open_remote)

    def raise_lines(kernel):
        raise RuntimeError("no lowering\n" * 50)

    fail = property(raise_lines)
    for name in ("middle", "fast"):
        monkeypatch.setattr(kernels[name], "__class__", type("Broken", (FakeKernel,), {"compiled": fail}))
    with caplog.at_level(logging.WARNING, "fastcube.driver"):
        assert fc.run(study, trials=TRIALS).digest() == undisturbed
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "no faster kernel of toy is used: compiling the trial of toy failed: RuntimeError"
    )
    assert "\n" not in record.getMessage()
    assert not kernels["middle"].calls
    assert kernels["slow"].calls


def test_workers_of_other_processes_change_over_alike(monkeypatch, undisturbed):
    study, kernels = make_study([1e-3, 1e9, 2e-3], [3, 2, 1])
    monkeypatch.setattr(driver, "open_engine", open_remote)
    assert fc.run(study, trials=TRIALS).digest() == undisturbed
    assert kernels["slow"].calls
    assert kernels["fast"].calls


def place_of(trials=0, **seconds):
    """A work: its kernels by name with their seconds of compiling, each of which takes a second per trial, and its trials."""
    return {name: Alternative(name, cost, 1.0) for name, cost in seconds.items()}, trials


def test_the_first_kernels_are_the_cheapest_that_serve_all_works():
    small = [place_of(small6=3, whole=5), place_of(small7=3, whole=5), place_of(small8=3, whole=5, lanes=18)]
    for places, ready, expected in (
        (small, (), {"whole"}),
        (small[:1], (), {"small6"}),
        (small, ("lanes",), {"lanes", "whole"}),
        ([*small, place_of(merged=8)], (), {"whole", "merged"}),
        ([], (), set()),
    ):
        assert choose_first_kernels(places, ready.__contains__, 2) == expected


@pytest.mark.parametrize(("trials", "expected"), [(1, "quick"), (8, "fast"), (10**6, "quick")])
def test_the_first_kernel_depends_on_the_trials_of_short_runs(trials, expected):
    """A kernel that takes long to compile begins only where that is the shorter run; a long run changes over to it."""
    some = {"quick": Alternative("quick", 1.0, 2.0), "fast": Alternative("fast", 5.0, 0.5)}
    assert choose_first_kernels([(some, trials)], lambda kernel: False, 1) == {expected}


def corner_points(study):
    """Points of the lowest values of the axes and the next, in which trials have least to do, and of the highest."""
    values = [getattr(axis, "names", None) or (axis.low, axis.low + 1, axis.high) for axis in study.axes]
    for corner in itertools.product(*values):
        with contextlib.suppress(fc.ParameterError):
            yield study.point(dict(zip([axis.name for axis in study.axes], corner, strict=True)))


@pytest.mark.parametrize("name", fc.study_names())
def test_alternatives_serve_their_points_and_hold_the_fastest_kernel(name):
    study = fc.study(name)
    points = [*corner_points(study), *(p for grid in study.grids for p in grid.points)]
    for point in {tuple(p.items()): p for p in points}.values():
        some = study.alternatives(point)
        assert not some or study.kernel(point) in [one.kernel for one in some.values()]
        assert all(one.compile_seconds > 0 and one.trial_seconds > 0 for one in some.values())


#: Points with several kernels, whose trials the kernels of the table share out.
SHARED = [
    ("unsafe-fraction", {"n": 8, "f": 4}),
    ("unsafe-fraction", {"n": 12, "f": 5}),
    ("routing", {"n": 8, "f": 4, "links": 0, "k": 1}),
    ("survival", {"network": "hypercube", "n": 6, "f": 20, "links": 0}),
    ("survival", {"network": "crossed", "n": 8, "f": 30, "links": 3}),
    ("routing-rules", {"n": 9, "f": 6, "links": 0}),
    ("routing-rules", {"n": 20, "f": 150, "links": 0}),
]


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "point"), SHARED, ids=lambda value: value if isinstance(value, str) else "")
def test_the_kernels_of_a_table_in_turn_count_the_same(monkeypatch, name, point):
    study = fc.study(name)
    alone = fc.run(name, **point, trials=50_000).digest()
    names = [*study.alternatives(study.point(point))]
    assert len(names) > 1
    turns = itertools.cycle(names)
    monkeypatch.setattr(RunKernels, "kernel_name", lambda self, work: next(turns))
    monkeypatch.setattr(RunKernels, "note_unit", lambda self, work, unit: None)
    use_executor(monkeypatch, ImmediateExecutor(), 2, 1e-3)
    assert fc.run(name, **point, trials=50_000).digest() == alone


def loop_of(monkeypatch, tmp_path, **engine):
    """The loop of a run that has counted nothing, with two kernels that are not compiled."""
    study, _ = make_study([1, 2, 3], [3, 2, 1])
    made = []
    monkeypatch.setattr(work_loop.WorkLoop, "run", lambda self: made.append(self) or 75)
    given = Engine(ImmediateExecutor(), lambda: 2, 1.0, **engine)
    monkeypatch.setattr(driver, "open_engine", lambda name, workers: contextlib.nullcontext(given))
    driver.run_study(registry.register_live_study(study), [POINT], driver.Goal(trials=10), progress=Progress("none"))
    return made[0]


def test_a_run_says_what_it_compiles_and_for_how_long(monkeypatch, tmp_path):
    loop = loop_of(monkeypatch, tmp_path)
    assert loop._compiling_text() == ""
    with compiling.note_compilation("slow"):
        compiling.present_compilation().begun -= 24
        assert loop._compiling_text() == "compiling 1 of 1: toy, 24 s"
    with compiling.note_compilation("slow", "process 77 on node1"):
        assert loop._compiling_text() == "waiting for process 77 on node1, which compiles toy, 0 s"
    loop._begin_upgrade()
    assert loop.upgrade is None  # before the first unit


def test_a_run_says_that_workers_compile(monkeypatch, tmp_path):
    loop = loop_of(monkeypatch, tmp_path, remote=True)
    loop.begun -= 7
    assert loop._compiling_text() == "workers are compiling 1 of 1: toy, 7 s"


@pytest.mark.parametrize("reported", [False, True])
def test_a_long_compilation_is_one_warning_unless_it_is_reported(monkeypatch, caplog, reported):
    monkeypatch.setattr(compiling, "WARN_SECONDS", 0.0)
    context = compiling.report_compilations() if reported else compiling.note_compilation("outer", "process 1 on a")
    with caplog.at_level(logging.WARNING, "fastcube.kernels"), context:
        if reported:
            compiling._warn(compiling.Compilation("inner"))
        else:
            compiling._warn(compiling.present_compilation())
    assert bool(caplog.messages) is not reported
    assert all(
        text == "waiting for process 1 on a, which compiles outer, once for this machine: 0 s so far"
        for text in caplog.messages
    )


class Unit(NamedTuple):
    """A finished unit of 1,000 trials that took a second, by the kernel ``slow``, which was compiled before."""

    unit: SimpleNamespace = SimpleNamespace(kernel="slow", first=0, stop=1000)
    seconds: float = 1.0
    compiling: float = 0.0


@pytest.mark.parametrize(("expected_pace", "pays"), [(1e-3, True), (1e-5, False)])
def test_a_machine_that_counts_slowly_is_expected_to_compile_slowly(expected_pace, pays):
    """Of 20,000 trials that take 20 s, the faster kernel saves 15 s; its 5 s are 500 s if trials take 100 times as long."""
    study, _ = make_study([1, 1e9, 5], [expected_pace, expected_pace, expected_pace / 4], ready=["slow"])
    work = PointWork(study.tally, [study.point(POINT)], [Tally.empty(study.tally)])
    work.plan(0, 20_000)
    run_kernels = RunKernels(study, [work], lambda: 1)
    run_kernels.note_unit(work, Unit())
    assert (run_kernels.find_upgrade([work]) is not None) is pays


def runs_until_compiled(tmp_path, pace, trials=3000):
    """How many equal runs do without the fast kernel, whose compilation takes a second, and the sum that they have lost."""
    lost_time = LostTime(CacheEntry(tmp_path, "fast.nbi"))
    for before in range(100):
        study, kernels = make_study([1e-3, 1e9, 1.0], [pace, pace, pace / 4], ready=["slow"])
        kernels["fast"].lost_time = lost_time
        lost = lost_time.seconds
        assert fc.run(study, a=1, work=0, trials=trials, workers=1).trials == trials
        if kernels["fast"].ready:
            assert not kernels["slow"].calls  # it was compiled first
            assert not lost_time.seconds
            return before, lost
    return None, lost_time.seconds


@pytest.mark.parametrize("pace", [2.5e-5, 1e-4, 1.9e-4])
def test_what_many_runs_lost_pays_for_the_faster_kernel(tmp_path, pace):
    """Each run loses less than a second, and the first one that finds more than a second lost compiles it."""
    each = 3000 * pace * 3 / 4
    assert each < 1
    before, lost = runs_until_compiled(tmp_path, pace)
    assert before == int(1 / each) + 1
    assert lost == pytest.approx(before * each, abs=0.01)


def test_what_a_short_run_loses_is_not_recorded(tmp_path):
    assert runs_until_compiled(tmp_path, 1e-7) == (None, 0.0)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("text", ["", "-5", "nan", "inf", "many"])
def test_a_damaged_record_of_lost_time_is_nothing_lost(tmp_path, text):
    entry = CacheEntry(tmp_path, "fast.nbi")
    entry.lost.write_text(text)
    lost_time = LostTime(entry)
    assert lost_time.seconds == 0
    lost_time.add(0.25)
    assert lost_time.seconds == 0.25
    lost_time.forget()
    assert not [*tmp_path.iterdir()]


def test_a_compilation_that_failed_beside_the_trials_is_not_paid_for(tmp_path, monkeypatch, undisturbed):
    """Compiled first by a later run, it would end that run."""
    study, kernels = make_study([1e-3, 1e9, 2e-3], [3, 2, 1])
    kernels["fast"].lost_time = LostTime(CacheEntry(tmp_path, "fast.nbi"))
    fails = property(lambda kernel: 1 / 0)
    monkeypatch.setattr(kernels["fast"], "__class__", type("Broken", (FakeKernel,), {"compiled": fails}))
    monkeypatch.setattr(driver, "open_engine", open_remote)
    assert fc.run(study, trials=TRIALS).digest() == undisturbed
    assert not kernels["fast"].lost_time.seconds
