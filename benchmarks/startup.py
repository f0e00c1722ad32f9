"""Measure the start of commands: ``python benchmarks/startup.py`` prints the least CPU seconds of several runs of each.

The limits are 0.2 s for ``fastcube --help`` and 1.5 s for a tiny run whose kernels were compiled before.

``--first`` measures the first run of each study's default grid, with 64 trials per point and an empty cache, and the same run
again.  Then it measures ``fastcube warmup`` of all studies with another empty cache.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import fastcube as fc

ROUNDS = 10


def cpu_seconds(*arguments: str, cache: str = "") -> float:
    """CPU seconds of one run of the command line, whose kernels are cached in the folder ``cache`` if one is given."""
    environment = {**os.environ, "FASTCUBE_CACHE_DIR": cache} if cache else None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "fastcube", *arguments], capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_first_runs(folder: str) -> None:
    """Print the table of first runs."""
    for name in fc.study_names():
        line = ("run", name, "--trials", "64", "--progress", "none", "--force", "-o", str(Path(folder) / "r.h5"))
        first, again = (cpu_seconds(*line, cache=str(Path(folder) / name)) for _ in range(2))
        print(f"{name:20} {first:5.1f} s, again {again:4.1f} s", flush=True)
    print(f"{'warmup':20} {cpu_seconds('warmup', cache=str(Path(folder) / 'all')):5.1f} s")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", action="store_true", help="first runs of all studies, from an empty cache")
    with tempfile.TemporaryDirectory() as folder:
        if parser.parse_args().first:
            measure_first_runs(folder)
            return
        file = str(Path(folder) / "r.h5")
        tiny = ("run", "unsafe-fraction", "--set", "n=8", "--set", "f=4", "--trials", "1000", "-o", file)
        first = cpu_seconds(*tiny)
        commands = {"--help": ("--help",), "list": ("list",), "show": ("show", file), "a tiny run": (*tiny, "--force")}
        for name, arguments in commands.items():
            seconds = [cpu_seconds(*arguments) for _ in range(ROUNDS)]
            print(f"{name:12} {min(seconds):.2f} s ({max(seconds):.2f} s at most)")
    print(f"{'its first':12} {first:.2f} s, with compiling unless the cache had it")


if __name__ == "__main__":
    main()
