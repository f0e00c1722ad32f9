"""Compiled or not, the same tallies: the kernels' Python bodies, with the plain meaning of each vector operation."""

import json
import os
import subprocess
import sys

import pytest

from fastcube.engine.engines import Item, work

POINTS = [
    ("unsafe-fraction", {"n": 2, "f": 2}, 30),
    ("unsafe-fraction", {"n": 5, "f": 3}, 150),
    ("unsafe-fraction", {"n": 8, "f": 4}, 300),
    ("unsafe-fraction", {"n": 12, "f": 6}, 200),
    ("unsafe-fraction", {"n": 20, "f": 10}, 100),
    ("unsafe-fraction", {"n": 40, "f": 8}, 100),
    ("unsafe-critical", {"n": 3, "p": 0.3}, 60),
    ("unsafe-critical", {"n": 9, "p": 0.012}, 12),
    ("unsafe-critical", {"n": 10, "p": 0.1}, 3),
    ("routing", {"n": 5, "f": 5, "links": 2, "k": 2}, 20),
    ("routing", {"n": 8, "f": 4, "links": 0, "k": 1}, 300),
    ("routing", {"n": 18, "f": 40, "links": 0, "k": 2}, 200),
    ("routing-rate", {"n": 5, "rate": 0.3, "k": 2}, 200),
    ("routing-rate", {"n": 40, "rate": 0.3, "k": 1}, 200),
    ("broadcast", {"n": 4, "f": 4, "links": 0}, 200),
    ("broadcast", {"n": 5, "f": 5, "links": 2}, 15),
    ("broadcast", {"n": 8, "f": 6, "links": 0}, 100),
    ("broadcast", {"n": 20, "f": 30, "links": 0}, 200),
    ("dualcube-routing", {"m": 2, "rate": 0.3}, 60),
    ("dualcube-routing", {"m": 4, "rate": 0.4}, 30),
    ("dualcube-routing", {"m": 12, "rate": 0.4}, 40),
    ("edst-broadcast", {"n": 5, "d": 3, "packets": 9}, 4),
    ("edge-disjoint-trees", {"n": 4, "f": 8, "links": 3}, 60),
    ("edge-disjoint-trees", {"n": 7, "f": 20, "links": 60}, 5),
]

PLAIN = """
import json, sys, warnings
warnings.simplefilter("ignore")  # NumPy scalars warn where machine words wrap around
from fastcube.engine.engines import Item, work
for study, point, trials in json.load(sys.stdin):
    print(json.dumps(work(Item((study, None), 5, tuple(point.items()), 3, 3 + trials)).slots.tolist()))
"""


@pytest.mark.slow
def test_plain_python_gives_the_same_tallies():
    plain = subprocess.run(
        [sys.executable, "-c", PLAIN],
        input=json.dumps(POINTS),
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=False,
    )
    assert plain.returncode == 0, plain.stderr[-2000:]
    for (study, point, trials), line in zip(POINTS, plain.stdout.splitlines(), strict=True):
        compiled = work(Item((study, None), 5, tuple(point.items()), 3, 3 + trials)).slots.tolist()
        assert json.loads(line) == compiled, (study, point)
