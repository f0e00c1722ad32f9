"""The first things that a person types, on a terminal."""

import os
import pty
import subprocess
import sys

import pytest


def typed(*arguments, width=100):
    """What a terminal shows, and the exit status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "fastcube", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
        env={**os.environ, "COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(theirs)
    out = b""
    try:
        while got := os.read(ours, 4096):
            out += got
    except OSError:  # the terminal's other end was closed
        pass
    os.close(ours)
    return out.decode().replace("\r\n", "\n"), process.wait()


@pytest.mark.parametrize("arguments", [(), ("help",), ("-h",), ("--help",)])
def test_help_as_it_looks(arguments):
    shown, code = typed(*arguments)
    assert code == 0
    assert shown.startswith("Usage: fastcube") and "\nCommands:\n  list" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_help_of_a_command():
    shown = typed("help", "run")
    assert shown == typed("run", "--help")
    assert shown[0].startswith("Usage: fastcube run")


def test_version_is_one_line():
    shown, code = typed("--version")
    assert (shown.count("\n"), code) == (1, 0) and shown.startswith("fastcube ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("lsit",), "fastcube: No such command 'lsit'; did you mean list?"),
        (("help", "lsit"), "fastcube: No such command 'lsit'; did you mean list?"),
        (
            ("run", "unsafe-fractoin"),
            "fastcube: no study is called unsafe-fractoin; did you mean unsafe-fraction? (fastcube list shows all)",
        ),
        (("run",), "fastcube: Missing argument 'STUDY'; fastcube run -h shows the usage"),
        (("show",), "fastcube: Missing argument 'FILE'; fastcube show -h shows the usage"),
    ],
)
def test_mistakes_are_one_line(arguments, line):
    assert typed(*arguments) == (line + "\n", 2)
