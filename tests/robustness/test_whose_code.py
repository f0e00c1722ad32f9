"""Nothing in the working folder is run by a command that does not name it: not by its workers, not by the script it prints."""

from __future__ import annotations

import subprocess
import sys

import pytest
from helpers.planted_modules import plant_modules
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE, run_fastcube, run_in_process


@pytest.fixture
def planted(tmp_path):
    return plant_modules(tmp_path)


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
