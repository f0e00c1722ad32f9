"""Running the command line in this process."""

import shlex
from pathlib import Path

import pytest

from fastcube.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command line in an empty folder; gives exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(line):
        with pytest.raises(SystemExit) as exit_:
            main(shlex.split(line))
        out = capsys.readouterr()
        return exit_.value.code, out.out, out.err

    return call
