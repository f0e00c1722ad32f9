"""Command lines about edge-disjoint spanning trees: correct lines, and errors that end in one line and status 2."""

from __future__ import annotations

import json
import shlex

import pytest

from fastcube.cli import main


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


RIGHT = [
    "run edst-broadcast --set n=3 --set d=0:3 --set packets=1,4 --trials 2 -o e.h5",
    "run edst-broadcast --set n=2 --set d=2 --set packets=1048576 --trials 1 -o e.h5 --plot e.png",
    "run edge-disjoint-trees --set n=4 --set f=14 --set links=32 --trials 20 -o e.h5 --plot e.png",
    "run edge-disjoint-trees --grid links --set n=3 --set links=0:12:4 --trials 20 -o e.h5",
    "replay edst-broadcast --point n=5,d=4,packets=9 --trial 3",
    "replay edge-disjoint-trees --point n=5,f=6,links=4 --trial 3 --json",
]

WRONG = [
    ("run edst-broadcast --set n=3 --set d=4 --set packets=1", "d must be in [0, 3] for n=3, got 4"),
    ("run edst-broadcast --set n=13", "n must be in [2, 12]"),
    ("run edst-broadcast --set packets=0", "packets must be in [1, 1048576]"),
    ("run edst-broadcast --set packets=2e6", "packets must be in [1, 1048576]"),
    ("run edst-broadcast --set f=1", "f is not an axis"),
    ("run edge-disjoint-trees --set n=3 --set f=7 --set links=0", "f must be in [0, 6] for n=3, got 7"),
    ("run edge-disjoint-trees --set n=3 --set f=0 --set links=13", "links must be in [0, 12] for n=3, got 13"),
    ("run edge-disjoint-trees --set n=1", "n must be in [2, 12]"),
    ("run edge-disjoint-trees --grid link", "grid must be one of nodes, links"),
    ("replay edge-disjoint-trees --point n=3,f=7,links=0 --trial 0", "f must be in [0, 6]"),
    ("replay edst-broadcast --point n=3,d=1 --trial 0", "packets is missing"),
]


@pytest.mark.parametrize("line", RIGHT)
def test_right_lines(run, line):
    status, out, err = run(line)
    assert status == 0, err
    if "--json" in line:
        data = json.loads(out)
        assert data["study"] == "edge-disjoint-trees" and len(data["cut"]) == data["trees"]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_wrong_lines(run, line, message):
    status, out, err = run(line)
    assert status == 2 and out == ""
    assert message in err and "Traceback" not in err and len(err.strip().splitlines()) == 1
