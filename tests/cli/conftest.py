"""Fixtures of the command line."""

import pytest
from helpers.command_line import command_runner  # noqa: F401  (a fixture)

from fastcube.running import planning


@pytest.fixture(autouse=True)
def brief_measurement(monkeypatch):
    """A plan, a list and a job script measure the time of trials; the tests read only that a time is given."""
    monkeypatch.setattr(planning, "SECONDS", 0.01)
