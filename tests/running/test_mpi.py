"""The MPI engine under a real launcher: three ranks, one of them the driver."""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import pytest
from helpers.processes import (
    MPI_ENVIRONMENT,
    MPIEXEC,
    NAMED_AXIS_ARGUMENTS,
    NAMED_POINTS,
    TOY_FILE,
    BackgroundRun,
    run_fastcube,
)
from toy import TOY

import fastcube as fc
from fastcube.cli import main
from fastcube.results.reading import open_results

pytestmark = pytest.mark.mpi

SHORT = ("--set", "a=1,2", "--set", "work=3000", "--trials", "60001")
# three quick trials, then three of half an hour each
LONG = ("--set", "a=1", "--set", "work=0,1e12", "--trials", "3")


@pytest.fixture(scope="module", autouse=True)
def _available():
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed: pip install mpi4py")
    if MPIEXEC is None:
        pytest.skip("there is no mpiexec: pip install mpi4py")


LAUNCH = [MPIEXEC, "-n", "3", sys.executable, "-P", "-m", "mpi4py.futures", "-m", "fastcube"]


def launched(*arguments, study=(TOY_FILE,)):
    return BackgroundRun("run", *study, "--engine", "mpi", *arguments, command=LAUNCH, env=MPI_ENVIRONMENT)


def ranks(launcher):
    """Process ids of the ranks that the launcher started."""
    return [int(pid) for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]


def test_three_ranks_give_the_digest_of_threads(tmp_path):
    out = tmp_path / "r.h5"
    with launched(*SHORT, "-o", out) as run:
        code, _ = run.end()
    assert code == 0, run.said
    assert open_results(out).digest() == fc.run(TOY, a=[1, 2], work=3000, trials=60_001).digest()
    assert open_results(out).history[0]["resources"]["engine"] == "mpi"


def test_three_ranks_count_the_same_trials_of_each_name(tmp_path):
    out = tmp_path / "r.h5"
    with launched("-o", out, study=NAMED_AXIS_ARGUMENTS) as run:
        code, _ = run.end()
    assert code == 0, run.said
    assert open_results(out).digest() == fc.run("survival", **NAMED_POINTS).digest()


def test_usr1_to_the_launcher_checkpoints_and_another_engine_resumes(tmp_path):
    out = tmp_path / "r.h5"
    with launched(*LONG, "-o", out) as run:
        code, lines = run.wait_for_file(out).end(signal.SIGUSR1)
    assert code == 75
    assert lines == [f"fastcube: work remains; checkpoint written to {out}; go on with: the same mpiexec command"]
    counted = {
        p["work"]: t.trials for p, t in open_results(out)
    }  # on busy processors the third quick trial may have to wait
    assert 0 < counted[0.0] <= 3 and counted[1e12] == 0
    assert (
        run_fastcube("run", TOY_FILE, "--set", "a=1", "--set", "work=0", "--trials", "5003", "-o", out).returncode == 0
    )
    assert open_results(out).tallies[1, 0.0] == fc.run(TOY, a=1, work=0, trials=5003).tallies[1, 0.0]


def test_term_to_all_ranks_checkpoints_while_kernels_run(tmp_path):
    # as Slurm does at scancel and preemption
    out = tmp_path / "r.h5"
    with launched(*LONG, "-o", out) as run:
        run.wait_for_file(out)
        for rank in ranks(run.process.pid):
            os.kill(rank, signal.SIGTERM)
        code, lines = run.end()
    assert code == 143
    assert lines[0].startswith("fastcube: interrupted; checkpoint written")
    assert 0 < open_results(out).tallies[1, 0.0].trials <= 3


def test_term_to_the_launcher_leaves_the_last_checkpoint(tmp_path):
    out = tmp_path / "r.h5"
    with launched(*LONG, "-o", out) as run:
        run.wait_for_file(out)
        code, _ = run.end(signal.SIGTERM)
    assert code != 0
    assert 0 < open_results(out).tallies[1, 0.0].trials <= 3


def test_a_rank_that_dies_ends_the_job_and_leaves_the_last_checkpoint(tmp_path):
    out = tmp_path / "r.h5"
    with launched(*LONG, "-o", out) as run:
        run.wait_for_file(out)
        os.kill(ranks(run.process.pid)[-1], signal.SIGKILL)
        code, _ = run.end()
    assert code != 0
    assert 0 < open_results(out).tallies[1, 0.0].trials <= 3


def test_a_launcher_of_another_mpi_is_refused(tmp_path):
    # MPICH's mpiexec around a Python that loads Open MPI: unrelated processes, each would do all the work
    done = run_fastcube(
        "run", TOY_FILE, "--engine", "mpi", "-o", tmp_path / "r.h5", env={**MPI_ENVIRONMENT, "PMI_SIZE": "3"}
    )
    assert done.returncode == 2
    message = "MPI has 1 ranks but the launcher started 3: mpi4py uses another MPI than the launcher's"
    assert done.stderr == f"fastcube: {message}\n"


def test_without_a_launcher_it_says_how(tmp_path):
    done = run_fastcube("run", TOY_FILE, "--engine", "mpi", "-o", tmp_path / "r.h5", env=MPI_ENVIRONMENT)
    assert done.returncode == 2
    assert "engine mpi needs a launcher: mpiexec -n 3 python -P -m mpi4py.futures -m fastcube run" in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_mpi4py_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(SystemExit) as ended:
        main(["run", TOY_FILE, "--engine", "mpi", "-o", str(tmp_path / "r.h5")])
    assert ended.value.code == 2
    assert "engine mpi needs mpi4py and an MPI: pip install mpi4py" in capsys.readouterr().err
