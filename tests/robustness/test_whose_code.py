"""Nothing in the working folder is run by a command that was not told to: not by its workers, not by the script it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE, run_fastcube, run_in_process

from fastcube.audit import deciding, registries
from fastcube.errors import EngineError
from fastcube.results import worker_process

CLAIMS = str(Path(__file__).parents[1] / "helpers/toy_claims.py")


@pytest.fixture
def planted(tmp_path):
    """A working folder where each module's name is taken by a file that leaves a trace, and so is fastcube's."""
    folder = tmp_path / "planted"
    (folder / "fastcube").mkdir(parents=True)
    trace = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__ + ' '); raise SystemExit(77)"
    (folder / "fastcube" / "__init__.py").write_text(trace)
    for name in sys.stdlib_module_names | {"numba", "numpy", "click", "h5py", "scipy", "llvmlite"}:
        (folder / f"{name}.py").write_text(trace)
    return folder


def test_claims_are_decided_by_the_package_alone(planted, tmp_path):
    done = run_fastcube("claims", CLAIMS, "false", "--quick", cwd=planted)
    assert done.returncode == 0, done.stderr
    assert "refuted" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_every_line_of_the_printed_script_that_runs_python_leaves_the_folder_out(capsys):
    script = run_in_process(capsys, "slurm", TOY_FILE, "--array", "1", "--trials", "10")[1]
    lines = [line for line in script.splitlines() if sys.executable in line]
    assert lines and all(f"{sys.executable} -P -m fastcube " in line for line in lines)


@pytest.mark.slow
def test_the_printed_script_runs_the_package_alone(planted, tmp_path):
    script = run_fastcube("slurm", TOY_FILE, "--array", "1", "--trials", "10", cwd=tmp_path).stdout
    environment = {**CLEAN_ENVIRONMENT, "SLURM_ARRAY_TASK_ID": "0"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=planted, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (planted / "toy-0.h5").exists()
    assert not (tmp_path / "ran").exists()


def test_a_worker_of_another_package_gets_no_work(monkeypatch):
    monkeypatch.setattr(deciding, "hash_sources", lambda looks: "edited-meanwhile")
    taken = []
    with pytest.raises(
        EngineError, match=r"a worker of the claims runs the package \S+ \w{16}, this process .*-meanwhile"
    ):
        deciding.decide_claims(registries.claims(CLAIMS, "last"), taken.append)
    assert taken == []


def test_a_worker_that_cannot_begin_ends_the_deciding(monkeypatch):
    monkeypatch.setattr(worker_process, "_START", "raise SystemExit(3)")
    with pytest.raises(EngineError, match="a worker of the claims ended with status 3 before it began"):
        deciding.decide_claims(registries.claims(CLAIMS, "last"), [].append, workers=1)
