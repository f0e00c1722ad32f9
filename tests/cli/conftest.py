"""Fixtures of the command line."""

from helpers.command_line import run  # noqa: F401  (a fixture)
