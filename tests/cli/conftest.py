"""Fixtures of the command line."""

import pytest
from helpers.command_line import command_runner  # noqa: F401  (a fixture)

from fastcube.cli import main


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    """Run a command in the test's folder; return exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        reported = capsys.readouterr()
        return ended.value.code, reported.out, reported.err

    return call
