"""Running the command line in this process."""

import shlex
from pathlib import Path

import pytest

from fastcube.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(name="run")
def command_runner(capsys, monkeypatch, tmp_path):
    """Run a command line in an empty folder; gives exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run_line(line):
        with pytest.raises(SystemExit) as exit_:
            main(shlex.split(line))
        out = capsys.readouterr()
        return exit_.value.code, out.out, out.err

    return run_line
