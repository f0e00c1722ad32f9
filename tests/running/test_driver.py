"""The driver: the same trials give the same bits however they are run; stopping, extending, refusing."""

import itertools
import random
import subprocess
import sys
import threading
import warnings
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.adding import merge_results
from helpers.coin import COIN
from helpers.compiled import mark_others_slow
from helpers.executors import Clock, ClosingClient, ImmediateExecutor, ShuffledExecutor, set_trial_seconds, use_executor
from helpers.processes import TOY_FILE
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.errors import EngineError, StudyMismatchError
from fastcube.measure import registry
from fastcube.measure.goal import Goal
from fastcube.measure.tally import Tally
from fastcube.results import output as output_file
from fastcube.results.combining import merge
from fastcube.results.lock import hidden_sibling
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.running import driver, lost_scheduler, point_work, run_checks, work_loop
from fastcube.running.driver import run_study
from fastcube.running.engines import Engine, open_engine
from fastcube.running.launchers import task_group
from fastcube.running.signals import FINISHED, WORK_REMAINS
from fastcube.running.work_units import WorkUnit, run_unit

TRIALS = 5003  # prime: no split comes out even


def plain(study, points, trials, seed=0):
    """The result without a driver: one kernel call a point."""
    registry.register_live_study(study)
    results = Results(study, seed)
    for point in points:
        done = run_unit(WorkUnit(study, seed, tuple(point.items()), 0, trials))
        results.tallies[tuple(point.values())] = Tally.from_slots(study.tally, 0, trials, done.slots[0])
    return results


@pytest.fixture(scope="module")
def undisturbed():
    return plain(TOY, TOY.grid().points, TRIALS).digest()


# ---------------------------------------------------------------- the same bits


@pytest.mark.parametrize(
    ("workers", "seconds"),
    mark_others_slow([(2, 1e-3), (1, 1e-3), (3, 1e-3), *itertools.product((1, 2, 3), (1e-5, 0.2))]),
)
def test_workers_and_length_of_items_change_nothing(monkeypatch, undisturbed, workers, seconds):
    with ThreadPoolExecutor(workers) as pool:
        use_executor(monkeypatch, pool, workers, seconds)
        assert fc.run(TOY, trials=TRIALS).digest() == undisturbed


@pytest.mark.parametrize("seed", mark_others_slow(range(5)))
def test_order_of_finishing_changes_nothing(monkeypatch, undisturbed, seed):
    executor = ShuffledExecutor(seed)
    use_executor(monkeypatch, executor, 3, 1e-3)
    original = work_loop.WorkLoop._wait

    def wait(self):
        executor.run(1)
        return original(self)

    monkeypatch.setattr(work_loop.WorkLoop, "_wait", wait)
    assert fc.run(TOY, trials=TRIALS).digest() == undisturbed


@pytest.mark.parametrize("count", mark_others_slow([1, 2, 7, 64], default=3))
def test_shards_in_any_order_and_nesting(undisturbed, count):
    rng = random.Random(count)
    parts = []
    for i in range(count):
        shard = fc.run(TOY, trials=TRIALS, shard=(i, count))
        assert all(t.ranges == ((TRIALS * i // count, TRIALS * (i + 1) // count),) for _, t in shard)
        parts.append((f"s{i}", shard))
    while len(parts) > 1:
        rng.shuffle(parts)
        take = rng.randint(2, min(5, len(parts)))
        parts = [("nested", merge_results(parts[:take])), *parts[take:]]
    assert parts[0][1].digest() == undisturbed


def test_more_shards_than_trials():
    parts = [(str(i), fc.run(TOY, trials=3, shard=(i, 5))) for i in range(5)]
    assert merge_results(parts).digest() == fc.run(TOY, trials=3).digest()


def interrupted_often(monkeypatch, points, goal, output):
    """Run again and again, each time for so many looks at the clock, until it is finished; gives result and codes."""
    Clock(monkeypatch, step=1.0)
    use_executor(monkeypatch, ImmediateExecutor(), 1, 1e9)
    codes = []
    while not codes or codes[-1] == WORK_REMAINS:
        results, code = run_study(TOY, points, goal, output=output, max_seconds=30)
        codes.append(code)
        open_results(output)
    assert codes[-1] == FINISHED
    assert len(codes) > 2
    return results, codes


def test_interrupted_and_resumed_is_undisturbed(monkeypatch, tmp_path):
    out = str(tmp_path / "r.h5")
    points = [TOY.point({"a": 1, "work": 200}), TOY.point({"a": 2, "work": 10})]
    _, codes = interrupted_often(monkeypatch, points, Goal(trials=20_011), out)
    assert open_results(out).digest() == plain(TOY, points, 20_011).digest()
    assert len(open_results(out).history) == len(codes)


# ---------------------------------------------------------------- stopping


def expected_stop(study, point, statistic, reached, cap=2**17):
    """Smallest power of two from 2^12 whose prefix satisfies ``reached``, by separate fixed runs."""
    for k in range(12, 18):
        results = plain(study, [point], min(cap, 2**k))
        tally = results.tallies[tuple(point.values())]
        if reached(results.estimates(point)[statistic], tally) or 2**k >= cap:
            return min(cap, 2**k)
    raise AssertionError("not reached")


GOALS = {
    "precision": ({"precision": 0.012}, "head", lambda e, t: (e.high - e.low) / 2 <= 0.012),
    "relative": ({"relative": 0.25}, "head", lambda e, t: (e.high - e.low) / 2 <= 0.25 * e.value),
    "events": ({"events": 60}, "head", lambda e, t: t.counts["head_nonzero"] >= 60),
    "target": ({"precision": 0.05, "target": "bits"}, "bits", lambda e, t: (e.high - e.low) / 2 <= 0.05),
    "first of two": (
        {"precision": 0.0005, "events": 250},
        "head",
        lambda e, t: (e.high - e.low) / 2 <= 0.0005 or t.counts["head_nonzero"] >= 250,
    ),
}


@pytest.mark.parametrize("name", mark_others_slow(GOALS, default=3))
def test_where_a_target_stops_does_not_depend_on_the_machine(monkeypatch, name):
    options, statistic, reached = GOALS[name]
    stops = [expected_stop(COIN, point, statistic, reached) for point in COIN.grid().points]
    digests = set()
    for workers, seconds in ((1, 0.2), (2, 1e-3), (3, 1e-2)):
        with ThreadPoolExecutor(workers) as pool:
            use_executor(monkeypatch, pool, workers, seconds)
            results = fc.run(COIN, **options)
        by_point = [results.tallies[tuple(p.values())] for p in COIN.grid().points]
        assert [t.ranges for t in by_point] == [((0, stop),) for stop in stops]
        digests.add(results.digest())
    assert len(digests) == 1


def test_the_number_of_events_is_a_sharp_limit():
    seen = plain(COIN, [COIN.grid().points[1]], 4096).tallies[0.01,].counts["head_nonzero"]
    assert fc.run(COIN, p=0.01, events=seen).tallies[0.01,].trials == 4096
    assert fc.run(COIN, p=0.01, events=seen + 1).tallies[0.01,].trials == 8192


def test_effort_goes_where_it_is_needed():
    stops = {p: fc.run(COIN, relative=0.09, p=p).tallies[p,].trials for p in (0.5, 0.01)}
    assert stops[0.5] == 2**12 < stops[0.01]


def test_trials_cap_a_target():
    assert [t.trials for _, t in fc.run(COIN, precision=1e-4, trials=5000)] == [5000, 5000]
    assert [t.trials for _, t in fc.run(COIN, precision=0.4, trials=5000)] == [4096, 4096]
    assert [t.trials for _, t in fc.run(COIN, precision=0.4, trials=1000)] == [1000, 1000]


def test_no_trial_past_the_next_power_of_two_starts(monkeypatch):
    executor = ShuffledExecutor(1)
    given = []
    submit = executor.submit
    monkeypatch.setattr(executor, "submit", lambda f, item: (given.append(item), submit(f, item))[1])
    use_executor(monkeypatch, executor, 3, 1e-3)
    original = work_loop.WorkLoop._wait
    monkeypatch.setattr(work_loop.WorkLoop, "_wait", lambda self: (executor.run(1), original(self))[1])
    fc.run(COIN, p=0.01, relative=0.2)
    counted = 0
    for item in given:
        while item.first >= max(2**12, counted):
            assert counted in (0, *(2**k for k in range(12, 20)))
            counted = max(2**12, 2 * counted)
        assert item.stop <= max(2**12, counted)


def test_a_target_interrupted_and_resumed_stops_at_the_same_trial(monkeypatch, tmp_path):
    out = str(tmp_path / "r.h5")
    points = [TOY.point({"a": 1, "work": 60})]
    goal = Goal(precision=0.004)
    whole, _ = run_study(TOY, points, goal)
    results, _ = interrupted_often(monkeypatch, points, goal, out)
    assert results.digest() == whole.digest() == open_results(out).digest()


def test_whatever_a_closed_client_is_asked_the_scheduler_is_lost(monkeypatch):
    """Each call of a run in turn meets a client that has closed itself."""
    Clock(monkeypatch, step=1e-3)
    monkeypatch.setattr(lost_scheduler, "_wait_for_signal", lambda wake: None)  # a second of each of the runs
    points, goal = [TOY.point({"a": 1, "work": 0})], Goal(trials=1000)
    for last in itertools.count(1):
        client = ClosingClient(last)
        monkeypatch.setattr(driver, "open_engine", client.open_engine)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            code = run_study(TOY, points, goal)[1]
        if not client.closed:
            break
        assert code == WORK_REMAINS
        assert [str(one.message) for one in caught] == ["the scheduler tcp://gone is gone; waiting up to 0 s for it"]
    assert code == 0 and last > 5


def test_a_deadline_says_so_and_keeps_what_was_done(monkeypatch):
    Clock(monkeypatch, step=1.0)
    use_executor(monkeypatch, ImmediateExecutor(), 1, 1e9)
    results, code = run_study(TOY, [TOY.point({"a": 1, "work": 0})], Goal(trials=10**6), max_seconds=20)
    assert code == WORK_REMAINS
    assert 0 < results.tallies[1, 0.0].trials < 10**6


def test_one_long_trial_does_not_hold_up_the_deadline(monkeypatch):
    end = threading.Event()
    monkeypatch.setattr(work_loop, "run_unit", lambda item: end.wait())
    with ThreadPoolExecutor(1) as pool:
        use_executor(monkeypatch, pool, 1, 0.2)
        results, code = run_study(TOY, [TOY.point({"a": 1, "work": 0})], Goal(trials=100), max_seconds=0.05)
        end.set()
    assert code == WORK_REMAINS
    assert results.tallies[1, 0.0].trials == 0


# ---------------------------------------------------------------- extending


def test_more_trials_extend_a_finished_run(tmp_path, undisturbed):
    out = tmp_path / "r.h5"
    fc.run(TOY, trials=700, output=out)
    assert fc.run(TOY, trials=TRIALS, output=out).digest() == undisturbed == open_results(out).digest()


def test_fewer_trials_and_repeated_runs_change_nothing(tmp_path):
    out = tmp_path / "r.h5"
    fc.run(TOY, trials=700, output=out)
    before = out.read_bytes()
    assert {t.trials for _, t in fc.run(TOY, trials=300, output=out)} == {700}
    fc.run(TOY, trials=700, output=out)
    fc.run(TOY, a=2, trials=100, output=out)
    assert out.read_bytes() == before


def test_new_points_are_added(tmp_path):
    out = tmp_path / "r.h5"
    fc.run(TOY, a=1, work=0, trials=700, output=out)
    results = fc.run(TOY, a=[2, 3], work=0, trials=500, output=out)
    assert {p["a"]: t.trials for p, t in results} == {1: 700, 2: 500, 3: 500}
    assert results.tallies[3, 0.0] == fc.run(TOY, a=3, work=0, trials=500).tallies[3, 0.0]


def test_a_tighter_target_extends_and_a_looser_one_changes_nothing(tmp_path):
    out = tmp_path / "r.h5"
    fc.run(COIN, precision=0.01, output=out)
    tight = fc.run(COIN, precision=0.004, output=out)
    assert tight.digest() == fc.run(COIN, precision=0.004).digest()
    assert fc.run(COIN, precision=0.01, output=out).digest() == tight.digest()


def test_a_target_after_a_fixed_number_completes_the_next_power_of_two(tmp_path):
    out = tmp_path / "r.h5"
    fc.run(COIN, trials=5000, output=out)
    assert {t.ranges for _, t in fc.run(COIN, precision=0.4, output=out)} == {((0, 8192),)}


def test_merged_shards_extend_like_a_whole(tmp_path, undisturbed):
    for i in range(3):
        fc.run(TOY, trials=1000, shard=(i, 3), output=tmp_path / f"{i}.h5")
    merge([tmp_path / f"{i}.h5" for i in range(3)]).save(tmp_path / "all.h5")
    assert fc.run(TOY, trials=TRIALS, output=tmp_path / "all.h5").digest() == undisturbed


def test_doubling_trials_and_shards_keeps_the_finished_shards(tmp_path):
    paths = [tmp_path / f"{i}.h5" for i in range(6)]
    for i in range(3):
        fc.run(TOY, trials=1000, shard=(i, 3), output=paths[i])
    for i in range(3, 6):
        fc.run(TOY, trials=2000, shard=(i, 6), output=paths[i])
    assert merge(paths).digest() == fc.run(TOY, trials=2000).digest()


def test_a_shard_of_another_partition_is_refused(tmp_path):
    out = tmp_path / "1.h5"
    fc.run(TOY, trials=1000, shard=(1, 2), output=out)
    with pytest.raises(
        fc.ParameterError, match=r"1.h5 holds trials 500..999 .* shard 1/2 of 2000 trials is 1000..1999"
    ):
        fc.run(TOY, trials=2000, shard=(1, 2), output=out)


def test_force_starts_afresh(tmp_path):
    out = tmp_path / "r.h5"
    fc.run(TOY, trials=700, seed=1, output=out)
    with pytest.raises(
        StudyMismatchError, match=r"has seed 1, this run has seed 2; use another output, or remove that file"
    ):
        fc.run(TOY, trials=100, seed=2, output=out)
    assert open_results(out).seed == 1
    fc.run(TOY, a=1, trials=100, seed=2, output=out, force=True)
    assert open_results(out).digest() == fc.run(TOY, a=1, trials=100, seed=2).digest()


# ---------------------------------------------------------------- seeds and refusals


def test_seeds_differ_in_every_counter_and_points_are_independent():
    one, two = fc.run(TOY, seed=1), fc.run(TOY, seed=2)
    assert all(a.counts["octal_total"] != b.counts["octal_total"] for (_, a), (_, b) in zip(one, two, strict=True))
    first, second = (tally.counts for _, tally in one)
    assert first != second


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_out_of_range(seed):
    with pytest.raises(fc.ParameterError, match=r"seed must be in \[0, 9223372036854775807\]"):
        fc.run(TOY, seed=seed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard": (0, 2), "precision": 0.1}, "shard takes a fixed number of trials"),
        ({"shard": (0, 2), "events": 5}, "shard takes a fixed number of trials"),
        ({"shard": (2, 2)}, "shard must be I/N with 0 <= I < N <= 1000000, got 2/2"),
        ({"trials": 0}, "trials must be in"),
        ({"precision": 0.0}, "precision must be in"),
        ({"relative": 2.0}, "relative must be in"),
        ({"target": "octal"}, "target needs a precision"),
        ({"target": "nothing", "events": 3}, "nothing is not a statistic of toy, which has bit, octal"),
        ({"max_seconds": 0}, "max-seconds must be positive"),
        ({"workers": 0}, "workers must be in"),
        ({"engine": "cloud"}, "engine must be threads, mpi, dask:tcp://HOST:PORT or dask:FILE.json, got cloud"),
        ({"engine": "gpu"}, "got gpu: fastcube has no code for GPUs"),
        ({"engine": "cuda:0"}, "got cuda: fastcube has no code for GPUs"),
        ({"engine": "dask:nowhere.json"}, "scheduler file nowhere.json does not exist|pip install"),
        ({"a": 101}, r"a must be in \[0, 100\], got 101"),
    ],
)
def test_bad_values_are_refused_before_anything_runs(tmp_path, options, message):
    out = tmp_path / "r.h5"
    with pytest.raises((fc.ParameterError, fc.MissingDependencyError), match=message):
        fc.run(TOY, output=out, **options)
    assert not out.exists()


@pytest.mark.parametrize(
    "variables",
    [
        {"SLURM_STEP_NUM_TASKS": "3", "SLURM_JOB_ID": "12"},
        {"PMI_SIZE": "2"},
        {"OMPI_COMM_WORLD_SIZE": "4"},
        {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_JOB_ID": "12", "SLURM_JOB_ID": "14"},
    ],
)
def test_tasks_with_one_and_the_same_shard_are_refused(monkeypatch, capsys, tmp_path, variables):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output_file, "_CLAIM_TIMEOUT", 0.01)
    for name, text in variables.items():
        monkeypatch.setenv(name, text)

    def run_line(name):
        with pytest.raises(SystemExit) as caught:
            main(["run", str(TOY_FILE), "--set", "a=1", "--trials", "80", "--shard", "2/8", "-o", name])
        return caught.value.code, capsys.readouterr().err

    with output_file.OutputFile("r.h5").claim(task_group()):
        code, said = run_line("r.h5")
        assert (code, said.count("\n")) == (2, 1)
        assert "shard and output must differ between tasks, got r.h5 of another task of the " in said
        assert run_line("other.h5")[0] == 0
        monkeypatch.setenv("SLURM_RESTART_COUNT", "1")  # the system may requeue a job whose node is only out of reach
        assert run_line("r.h5")[0] == 0
        monkeypatch.delenv("SLURM_RESTART_COUNT")
        Path("r.h5").unlink()
    assert run_line("r.h5")[0] == 0
    assert sorted(path.name for path in Path().iterdir()) == ["other.h5", "r.h5"]


def test_a_claim_that_a_killed_task_left_is_removed(tmp_path):
    claim = hidden_sibling(tmp_path / "r.h5", "claim")
    claim.write_text("process 1 on nowhere")
    output_file.OutputFile(str(tmp_path / "r.h5"))
    assert not claim.exists()


def test_a_slurm_array_without_shards_is_refused_with_the_right_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    with pytest.raises(SystemExit) as caught:
        main(["run", str(Path(__file__).parents[1] / "helpers/toy.py"), "-o", str(tmp_path / "r.h5")])
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert f'--shard "$SLURM_ARRAY_TASK_ID/N" -o {tmp_path}/r-"$SLURM_ARRAY_TASK_ID".h5' in said
    assert said.count("\n") == 1
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize(
    ("size", "rank", "launcher"),
    [
        ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun -n 3"),
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpiexec -n 3"),
        ("PMI_SIZE", "PMI_RANK", "mpiexec -n 3"),
    ],
)
def test_tasks_of_a_step_without_shards_are_refused_with_both_commands(
    monkeypatch, capsys, tmp_path, size, rank, launcher
):
    monkeypatch.setenv(size, "3")
    monkeypatch.setenv(rank, "1")
    monkeypatch.chdir(tmp_path)
    for study, output in ((TOY_FILE, f' -o toy-"${rank}".h5'), ("s.toml", "")):
        Path("s.toml").write_text(f'[[run]]\nstudy = "{TOY_FILE}"\n')
        for engine in ("threads", "dask:tcp://127.0.0.1:9"):
            with pytest.raises(SystemExit) as caught:
                arguments = ["run", study, "--engine", engine, "--trials", "7"]
                monkeypatch.setattr(sys, "argv", ["fastcube", *arguments, "--force"])
                main([*arguments, "--force"])
            again = f"fastcube run {study} --engine {engine} --trials 7"
            said = capsys.readouterr().err
            assert caught.value.code == 2
            assert said.count("\n") == 1
            assert f"""{launcher} bash -c '{again} --shard "${rank}/3"{output}'""" in said
            assert f"mpiexec -n 3 python -P -m mpi4py.futures -m {again} --engine mpi" in said
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


@pytest.mark.parametrize("output", ["a b.h5", "$(touch PWNED).h5", "a;id.h5", "it's.h5", 'a"b.h5'])
def test_the_advised_command_of_a_task_is_one_that_a_shell_runs(output, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
    monkeypatch.setenv("SLURM_PROCID", "0")
    monkeypatch.chdir(tmp_path)
    arguments = ["run", TOY_FILE, "-o", output]
    monkeypatch.setattr(sys, "argv", ["fastcube", *arguments])
    with pytest.raises(SystemExit):
        main(arguments)
    advice = capsys.readouterr().err.partition("srun -n 2 ")[2].partition(", or let one driver")[0]
    shown = 'fastcube() { printf "%s\\n" "${@: -1}"; }; export -f fastcube; '
    done = subprocess.run(["bash", "-c", shown + advice], capture_output=True, text=True, check=True)
    assert done.stdout == output.removesuffix(".h5") + "-0.h5\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "environment",
    [
        {"SLURM_NTASKS": "3", "SLURM_PROCID": "0"},  # the batch step of a job with several tasks
        {"SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "3"},
        {"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "2"},  # mpiexec starts its daemons by srun
    ],
)
def test_a_single_task_of_a_job_runs(monkeypatch, capsys, tmp_path, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as caught:
        main(["run", TOY_FILE, "--set", "a=1", "--set", "work=0", "--trials", "10", "-o", str(tmp_path / "r.h5")])
    assert caught.value.code == 0, capsys.readouterr().err


def test_tasks_of_a_step_with_a_shard_run(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "3")
    options = ["--set", "a=1", "--set", "work=0", "--trials", "10", "--shard", "1/3", "-o", str(tmp_path / "r.h5")]
    with pytest.raises(SystemExit) as caught:
        main(["run", TOY_FILE, *options])
    assert caught.value.code == 0, capsys.readouterr().err


# ---------------------------------------------------------------- items


def test_items_grow_from_what_finished(monkeypatch):
    given = []

    class Recorder(ThreadPoolExecutor):
        def submit(self, function, item):
            given.append(item.stop - item.first)
            return super().submit(function, item)

    set_trial_seconds(monkeypatch, 1e-6)
    with Recorder(2) as pool:
        use_executor(monkeypatch, pool, 1000, 0.01)  # claims to be a thousand workers
        fc.run(TOY, a=1, trials=200_000)
    assert given[:16] == [1] * 16
    assert all(later <= 16 * max(given[:i]) for i, later in enumerate(given) if i)
    assert max(given) > 1000
    assert len(given) < 500


def test_trials_that_are_done_together_are_not_parted():
    """However slow: a lattice of 64 trials costs as much for one."""
    work = point_work.PointWork(None, [{}], [], together=64)
    work.todo.append((5, 200))
    work.timed, work.seconds, work.largest = 1, 10.0, 1
    assert [work.take(0.2) for _ in range(4)] == [(5, 64), (64, 128), (128, 192), (192, 200)]


def test_items_get_longer_with_many_workers():
    assert Engine(None, lambda: 2, 1.0, 4e-4).length() == 1.0
    assert Engine(None, lambda: 10_000, 1.0, 4e-4).length() == pytest.approx(8.0)


def test_a_result_that_is_told_twice_is_counted_once(monkeypatch):
    class Twice(ThreadPoolExecutor):
        def submit(self, function, item):
            future = super().submit(function, item)
            add = future.add_done_callback
            future.add_done_callback = lambda call: (add(call), add(call))
            return future

    with Twice(2) as pool:
        use_executor(monkeypatch, pool, 2, 1e-3)
        assert fc.run(TOY, trials=TRIALS).digest() == plain(TOY, TOY.grid().points, TRIALS).digest()


class Breaking(ThreadPoolExecutor):
    """Loses its workers after some items."""

    left = 10

    def submit(self, function, item):
        self.left -= 1
        if self.left < 0:
            future = Future()
            future.set_exception(BrokenExecutor("gone"))
            return future
        return super().submit(function, item)


def test_lost_workers_are_one_line_and_the_work_is_kept(monkeypatch, tmp_path):
    out = tmp_path / "r.h5"
    set_trial_seconds(monkeypatch, 1e-6)
    with Breaking(1) as pool:
        use_executor(monkeypatch, pool, 1, 1e-5)
        with pytest.raises(
            EngineError, match=r"workers of trials .* of a=1,work=0.0 are gone \(BrokenExecutor\); the work"
        ):
            fc.run(TOY, trials=TRIALS, output=out)
    assert 0 < open_results(out).tallies[1, 0.0].trials < TRIALS
    with Breaking(1) as pool:
        use_executor(monkeypatch, pool, 1, 1e-5)
        with pytest.raises(EngineError, match=r"run the same command again without force to go on$"):
            fc.run(TOY, trials=TRIALS, output=out, force=True)
    monkeypatch.setattr(driver, "open_engine", open_engine)
    assert fc.run(TOY, trials=TRIALS, output=out).digest() == plain(TOY, TOY.grid().points, TRIALS).digest()


def test_an_error_in_a_trial_keeps_its_type_and_the_work_done(monkeypatch, tmp_path):
    out = tmp_path / "r.h5"

    def failing(item):
        if item.first > 100:
            raise ZeroDivisionError("in a trial")
        return run_unit(item)

    monkeypatch.setattr(work_loop, "run_unit", failing)
    with pytest.raises(ZeroDivisionError):
        fc.run(TOY, trials=TRIALS, output=out, workers=1)
    assert 100 < open_results(out).tallies[1, 0.0].trials < TRIALS


@pytest.mark.parametrize("study", [TOY, TOY_FILE], ids=["object", "file"])
def test_a_run_asks_each_check_once(monkeypatch, study):
    asked = []

    def note_calls(place, name):
        original = getattr(place, name)

        def note(*args, **options):
            asked.append(name)
            return original(*args, **options)

        monkeypatch.setattr(place, name, note)

    note_calls(registry, "register_live_study")
    note_calls(driver, "check_run")
    note_calls(run_checks, "check_numba_settings")
    for name in ("check", "check_points"):
        note_calls(Goal, name)
    fc.run(study, trials=1)
    assert sorted(asked) == ["check", "check_numba_settings", "check_points", "check_run", "register_live_study"]
