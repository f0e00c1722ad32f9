"""Fixtures of the command line."""

from helpers.command_line import command_runner  # noqa: F401  (a fixture)
