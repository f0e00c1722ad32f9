"""The printed job script under a real Slurm: arrays, preemption, time limits, cancelling."""

import contextlib
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from helpers.processes import MPI_ENVIRONMENT, MPIEXEC, TOY_FILE, run_fastcube
from helpers.slurm_cluster import Slurm, why_unavailable
from toy import TOY

import fastcube as fc
from fastcube.results.reading import open_results

pytestmark = pytest.mark.slurm


@pytest.fixture(scope="module")
def slurm():
    if reason := why_unavailable():
        pytest.skip(reason)
    with Slurm() as started:
        yield started


def submit(slurm, folder, *options):
    """Submit the very script that is printed; gives the job's number."""
    printed = run_fastcube("slurm", TOY_FILE, *options, cwd=folder)
    assert printed.returncode == 0, printed.stderr
    (folder / "job.sh").write_text(printed.stdout)
    return slurm.call("sbatch", "--parsable", "job.sh", cwd=folder).strip()


def said(folder, job, task):
    log = folder / f"fastcube-toy-{job}_{task}.log"
    return log.read_text() if log.exists() else ""


def test_an_array_of_which_two_tasks_are_preempted_gives_the_undisturbed_result(slurm, tmp_path):
    job = submit(slurm, tmp_path, "--array", "4", "--trials", "500001", "--set", "a=1", "--set", "work=20000")
    shards = [tmp_path / f"toy-{i}.h5" for i in range(4)]
    slurm.wait(lambda: len(slurm.running(job)) == 4)
    on_n1 = [task for task, node in slurm.running(job).items() if node == "n1"]
    slurm.wait(lambda: all(shards[task].exists() for task in on_n1))
    slurm.call(
        "sbatch", "--partition=urgent", "--nodelist=n1", "--cpus-per-task=2", "--output=/dev/null", "--wrap=sleep 1"
    )
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job), seconds=120)

    assert len(on_n1) == 2
    for task in range(4):
        runs = open_results(shards[task]).history
        restarts = [run["environment"]["slurm"].get("SLURM_RESTART_COUNT", "0") for run in runs]
        assert restarts == (["0", "1"] if task in on_n1 else ["0"])
        assert ("interrupted; checkpoint written" in said(tmp_path, job, task)) == (task in on_n1)
    status = run_fastcube("status", *shards)
    assert status.stdout.splitlines()[-1] == "all 4 shards are complete"
    assert run_fastcube("merge", *shards, "-o", tmp_path / "all.h5").returncode == 0
    assert open_results(tmp_path / "all.h5").digest() == fc.run(TOY, a=1, work=20_000, trials=500_001).digest()


def test_a_time_limit_requeues_and_a_cancel_does_not(slurm, tmp_path):
    options = ("--trials", "1e9", "--set", "a=1", "--set", "work=3000", "--time", "3", "--margin", "60")
    job = submit(slurm, tmp_path, "--array", "1", *options)
    out = tmp_path / "toy-0.h5"
    # Slurm looks at time limits twice a minute, so early enough is 60 to 120 s from the start
    slurm.wait(lambda: "work remains; checkpoint written" in said(tmp_path, job, 0), seconds=200)
    before = sum(t.trials for _, t in open_results(out))
    assert before > 0
    slurm.wait(lambda: slurm.job(f"{job}_0").get("Restarts") == "1" and slurm.running(job))
    assert "interrupted" not in said(tmp_path, job, 0)
    slurm.wait(lambda: sum(t.trials for _, t in open_results(out)) > before)  # resumed: another checkpoint

    slurm.call("scancel", f"{job}_0")
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job))
    assert "interrupted; checkpoint written" in said(tmp_path, job, 0)
    ended = slurm.job(f"{job}_0")
    assert (ended["JobState"], ended["Restarts"]) == ("CANCELLED", "1")
    assert len(open_results(out).history) == 2


def drivers(folder, output):
    """Process ids of the runs in a folder that write an output."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            arguments = (process / "cmdline").read_bytes().split(b"\0")
            if output.encode() in arguments and (process / "cwd").samefile(folder):
                found.append(int(process.name))
    return found


def test_a_killed_driver_and_a_requeued_task_lose_nothing(slurm, tmp_path):
    options = ("--array", "2", "--trials", "300001", "--set", "a=1", "--set", "work=20000")
    job = submit(slurm, tmp_path, *options)
    shards = [tmp_path / f"toy-{i}.h5" for i in range(2)]
    slurm.wait(lambda: all(shard.exists() for shard in shards))
    for process in drivers(tmp_path, "toy-0.h5"):
        os.kill(process, signal.SIGKILL)
    slurm.call("scontrol", "requeue", f"{job}_1")
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job), seconds=120)
    assert slurm.job(f"{job}_0")["JobState"] == "FAILED"
    assert f"end of job {job}_0 on " in said(tmp_path, job, 0) and "exit 137" in said(tmp_path, job, 0)
    log = said(tmp_path, job, 1)
    assert [f"toy, task 1, shard 1 of 2, job {job}_1 on " in log, ", restart 1, 1 thread; toy-1.h5 holds " in log] == [
        True,
        True,
    ]

    status = run_fastcube("status", *shards)
    assert "resubmit: --array=0 (of 2 shards, one per task)" in status.stdout
    again = slurm.call("sbatch", "--parsable", "--array=0", "job.sh", cwd=tmp_path).strip()
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", again), seconds=120)
    merge = slurm.call("sbatch", "--parsable", "--array=0", "job.sh", "merge", cwd=tmp_path).strip()
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", merge), seconds=120)
    assert open_results(tmp_path / "toy.h5").digest() == fc.run(TOY, a=1, work=20_000, trials=300_001).digest()


def test_the_script_submits_warm_up_array_and_merge(slurm, tmp_path):
    options = ("--array", "3", "--tasks", "2", "--trials", "10001", "--set", "a=1", "--set", "work=0")
    (tmp_path / "job.sh").write_text(run_fastcube("slurm", TOY_FILE, *options, cwd=tmp_path).stdout)
    submitted = slurm.call("bash", "job.sh", cwd=tmp_path)
    assert re.fullmatch(r"submitted: \d+ compiles, \d+ counts, \d+ merges\n", submitted)
    slurm.wait(lambda: not slurm.call("squeue", "-h"), seconds=120)
    assert open_results(tmp_path / "toy.h5").digest() == fc.run(TOY, a=1, work=0, trials=10_001).digest()
    assert any((tmp_path / "fastcube-cache").iterdir())


ENGINES = [pytest.param("mpi", marks=pytest.mark.mpi), pytest.param("dask", marks=pytest.mark.dask)]


def submit_engine(slurm, folder, monkeypatch, engine, *options):
    """Submit the printed script as it is; the variables only let root run MPI on few processors."""
    pytest.importorskip({"mpi": "mpi4py", "dask": "distributed"}[engine])
    launcher = str(Path(MPIEXEC).parent) if MPIEXEC else ""
    for name, value in {**MPI_ENVIRONMENT, "PATH": os.pathsep.join([launcher, slurm.environment["PATH"]])}.items():
        monkeypatch.setitem(slurm.environment, name, value)
    whole = ("--engine", engine, "--ranks", "2", "--mem", "100M", "-o", "all", "--set", "a=1", *options)
    return submit(slurm, folder, *whole), folder / "all.h5"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_of_one_engine_counts_what_threads_count(slurm, tmp_path, monkeypatch, engine):
    job, out = submit_engine(slurm, tmp_path, monkeypatch, engine, "--trials", "100001", "--set", "work=0")
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job), seconds=180)
    log = (tmp_path / f"fastcube-toy-{job}.log").read_text()
    assert "exit 0 after" in log, log
    assert slurm.job(job)["JobState"] == "COMPLETED"
    assert open_results(out).digest() == fc.run(TOY, a=1, work=0, trials=100_001).digest()
    assert ("tls://" in log, "tcp://" in log, list(tmp_path.glob("*-tls-*"))) == (engine == "dask", False, [])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_of_one_engine_is_requeued_at_its_time_limit(slurm, tmp_path, monkeypatch, engine):
    """Slurm sends this signal, to the script alone."""
    job, out = submit_engine(slurm, tmp_path, monkeypatch, engine, "--trials", "1e9", "--set", "work=3000")
    log = tmp_path / f"fastcube-toy-{job}.log"
    try:
        slurm.wait(out.exists, seconds=180)
        slurm.call("scancel", "--batch", "--signal=USR1", job)
        slurm.wait(lambda: ", requeued" in log.read_text())
        assert f"end of job {job} on " in log.read_text() and "exit 75 after" in log.read_text(), log.read_text()
        before = sum(tally.trials for _, tally in open_results(out))
        slurm.wait(lambda: sum(tally.trials for _, tally in open_results(out)) > before, seconds=180)
        assert slurm.job(job)["Restarts"] == "1"
    finally:
        slurm.call("scancel", job)
        slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job))
    assert len(open_results(out).history) == 2


def test_an_exclusive_task_uses_its_whole_node(slurm, tmp_path):
    options = ("--array", "1", "--trials", "1001", "--set", "a=1", "--set", "work=0", "--sbatch=--exclusive")
    job = submit(slurm, tmp_path, *options)
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job))
    workers = len(os.sched_getaffinity(0))
    assert slurm.job(f"{job}_0")["NumCPUs"] == "2"  # of each node of the test Slurm
    assert f", {workers} thread{'s' * (workers > 1)}; toy-0.h5 holds " in said(tmp_path, job, 0)


def test_steps_of_several_tasks_are_refused_and_a_batch_step_is_not(slurm, tmp_path):
    run = f"{sys.executable} -P -m fastcube run {TOY_FILE} --set a=1 --set work=0 --trials 100 --progress none"
    lines = ("#!/bin/bash", f"{run} -o batch.h5", f"srun -n 2 {run} -o step.h5", "echo srun $?")
    (tmp_path / "job.sh").write_text("\n".join(lines) + "\n")
    job = slurm.call("sbatch", "--parsable", "-n", "2", "--output=log", "job.sh", cwd=tmp_path).strip()
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job))
    log = (tmp_path / "log").read_text()
    assert (tmp_path / "batch.h5").exists() and not (tmp_path / "step.h5").exists(), log
    assert "2 tasks of one step would count the same trials" in log and "srun 2" in log


def test_inside_an_array_a_run_without_a_shard_is_refused(slurm, tmp_path):
    (tmp_path / "job.sh").write_text(f"#!/bin/bash\n{sys.executable} -m fastcube run {TOY_FILE}\n")
    job = slurm.call("sbatch", "--parsable", "--array=0-1", "--output=%a.log", "job.sh", cwd=tmp_path).strip()
    slurm.wait(lambda: not slurm.call("squeue", "-h", "-j", job))
    for task in range(2):
        assert "inside a Slurm array each of N tasks needs its part" in (tmp_path / f"{task}.log").read_text()
