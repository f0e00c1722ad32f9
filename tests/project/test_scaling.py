"""The benchmark of the engine prints each of its figures, here at tiny sizes that say nothing about time."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "scaling.py"


@pytest.mark.slow
def test_it_tells_each_figure():
    tiny = ["--shards", "10", "--seconds", "0.05"]
    reported = subprocess.run([sys.executable, BENCHMARK, *tiny], capture_output=True, text=True, check=True).stdout
    for figure in (
        "1 processors, 8 threads:",
        "first item after",
        "an item of 1000000 trials",
        "1000 points",
        "10 shards of",
    ):
        assert figure in reported, reported
