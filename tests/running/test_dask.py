"""The Dask engine with a real scheduler and two worker processes on this host, some of which are killed."""

import contextlib
import importlib.util
import json
import signal
import subprocess
import sys
import time

import pytest
from helpers.processes import (
    CLEAN_ENVIRONMENT,
    NAMED_AXIS_ARGUMENTS,
    NAMED_POINTS,
    STUCK_SECONDS,
    TOY_FILE,
    BackgroundRun,
    run_fastcube,
)
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.results.reading import open_results

pytestmark = pytest.mark.dask

SHORT = ("--set", "a=1,2", "--set", "work=3000", "--trials", "60001")
LONGER = ("--set", "a=1,2", "--set", "work=20000", "--trials", "50001")
LONG = ("--set", "a=1", "--set", "work=0,1e12", "--trials", "3")


@pytest.fixture(scope="module", autouse=True)
def _available():
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed: pip install distributed")


class Cluster:
    """A scheduler and worker processes on the loopback interface; everything in one folder."""

    def __init__(self, folder, patience=3):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers = []
        self.environment = {
            **CLEAN_ENVIRONMENT,
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(patience),
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
            "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "0",
        }
        self._start_scheduler()

    def _start_scheduler(self):
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)
        )
        self._wait(lambda: self.file.exists() and self.file.stat().st_size)
        self.address = json.loads(self.file.read_text())["address"]

    def restart(self):
        """Another scheduler with another address and a worker of its own."""
        self.old_address = self.address
        self.file.unlink()
        self._start_scheduler()
        self.add_worker()

    def _start(self, *command):
        with (self.folder / f"{command[0]}-{len(self.workers)}.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *command], stdout=log, stderr=log, env=self.environment
            )

    def _wait(self, ready):
        end = time.monotonic() + STUCK_SECONDS
        while not ready():
            assert time.monotonic() < end, "Dask did not start"
            time.sleep(0.02)

    def add_worker(self):
        name = f"w{len(self.workers)}"
        self.workers.append(
            self._start(
                "worker",
                "--scheduler-file",
                str(self.file),
                "--nthreads",
                "1",
                "--nworkers",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--name",
                name,
                "--host",
                "127.0.0.1",
                "--local-directory",
                str(self.folder / name),
                "--death-timeout",
                str(STUCK_SECONDS),
            )
        )
        log = self.folder / f"worker-{len(self.workers) - 1}.log"
        self._wait(lambda: "Registered to" in log.read_text())
        return self.workers[-1]

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    with contextlib.ExitStack() as stack:

        def make(workers=2, patience=3):
            made = Cluster(tmp_path, patience)
            stack.callback(made.stop)
            for _ in range(workers):
                made.add_worker()
            return made

        yield make


def test_two_workers_give_the_digest_of_threads(cluster, tmp_path):
    out = tmp_path / "r.h5"
    done = run_fastcube("run", TOY_FILE, "--engine", f"dask:{cluster().address}", *SHORT, "-o", out)
    assert done.returncode == 0, done.stderr
    assert open_results(out).digest() == fc.run(TOY, a=[1, 2], work=3000, trials=60_001).digest()


def test_two_workers_count_the_same_trials_of_each_name(cluster, tmp_path):
    out = tmp_path / "r.h5"
    done = run_fastcube("run", *NAMED_AXIS_ARGUMENTS, "--engine", f"dask:{cluster().address}", "-o", out)
    assert done.returncode == 0, done.stderr
    assert open_results(out).digest() == fc.run("survival", **NAMED_POINTS).digest()


def test_a_worker_killed_mid_run_loses_nothing_and_counts_nothing_twice(cluster, tmp_path):
    out, dask = tmp_path / "r.h5", cluster()
    with BackgroundRun("run", TOY_FILE, "--engine", f"dask:{dask.file}", *LONGER, "-o", out) as run:
        run.wait_for(r"[1-9]\d?\.\d%")
        dask.workers[0].kill()
        code, _ = run.end()
    assert code == 0, run.said
    assert open_results(out).digest() == fc.run(TOY, a=[1, 2], work=20_000, trials=50_001).digest()


def test_workers_may_come_later(cluster, tmp_path):
    out, dask = tmp_path / "r.h5", cluster(workers=0)
    with BackgroundRun("run", TOY_FILE, "--engine", f"dask:{dask.file}", *SHORT, "-o", out) as run:
        run.wait_for("0.0%")
        dask.add_worker()
        code, _ = run.end()
    assert code == 0, run.said


def test_work_that_kills_its_workers_ends_in_one_line_with_a_checkpoint(cluster, tmp_path):
    out, dask = tmp_path / "r.h5", cluster(workers=1, patience=0)
    with BackgroundRun("run", TOY_FILE, "--engine", f"dask:{dask.file}", *LONG, "-o", out) as run:
        run.wait_for("50.0%")
        dask.workers[0].kill()
        code, lines = run.end()
    assert code == 2
    assert len(lines) == 1
    assert "of a=1,work=1000000000000.0 are gone (KilledWorker)" in lines[0]
    assert lines[0].endswith(f"the work done is in {out}: run the same command again to go on")
    assert open_results(out).tallies[1, 0.0].trials == 3


def test_a_scheduler_that_dies_leaves_a_checkpoint_and_remaining_work(cluster, tmp_path):
    out, dask = tmp_path / "r.h5", cluster(workers=1)
    with BackgroundRun("run", TOY_FILE, "--engine", f"dask:{dask.file}", *LONG, "-o", out, env=dask.environment) as run:
        run.wait_for("50.0%")
        dask.scheduler.kill()
        code, lines = run.end()
    assert code == 75, run.said
    assert "Traceback" not in run.said and "distributed" not in run.said
    assert lines == [
        f"fastcube: the scheduler {dask.address} is gone; waiting up to 10 s for it",
        lines[-1],
    ]
    assert lines[-1].startswith(f"fastcube: work remains; checkpoint written to {out}; go on with: fastcube run")
    assert open_results(out).tallies[1, 0.0].trials == 3


def test_a_scheduler_that_comes_back_is_taken_up_again(cluster, tmp_path):
    out, dask = tmp_path / "r.h5", cluster(workers=1)
    options = ("--engine", f"dask:{dask.file}", *LONGER, "-o", out)
    environment = {**dask.environment, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "300s"}
    with BackgroundRun("run", TOY_FILE, *options, env=environment) as run:
        run.wait_for(r"[1-9]\d?\.\d%")
        dask.scheduler.kill()
        dask.scheduler.wait()
        dask.restart()
        code, lines = run.end()
    assert code == 0, run.said
    assert lines[0] == f"fastcube: the scheduler {dask.old_address} is gone; waiting up to 600 s for it"
    assert "Traceback" not in run.said
    assert open_results(out).digest() == fc.run(TOY, a=[1, 2], work=20_000, trials=50_001).digest()


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGUSR1, 75)])
def test_signals_are_served_while_kernels_run(cluster, tmp_path, number, expected):
    out, dask = tmp_path / "r.h5", cluster()
    with BackgroundRun("run", TOY_FILE, "--engine", f"dask:{dask.file}", *LONG, "-o", out) as run:
        code, lines = run.wait_for("50.0%").end(number)
    assert code == expected
    assert len(lines) == 1
    assert {p["work"]: t.trials for p, t in open_results(out)} == {0.0: 3, 1e12: 0}


def test_no_scheduler_is_one_line(tmp_path):
    done = run_fastcube("run", TOY_FILE, "--engine", "dask:tcp://127.0.0.1:9", "-o", tmp_path / "r.h5")
    assert done.returncode == 2
    assert done.stderr == "fastcube: engine dask: no scheduler at tcp://127.0.0.1:9 (OSError)\n"
    broken = tmp_path / "s.json"
    broken.write_text("{}")
    done = run_fastcube("run", TOY_FILE, "--engine", f"dask:{broken}", "-o", tmp_path / "r.h5")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_without_distributed_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SystemExit) as ended:
        main(["run", TOY_FILE, "--engine", "dask:tcp://127.0.0.1:9", "-o", str(tmp_path / "r.h5")])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "fastcube: engine dask needs distributed: pip install distributed\n"
