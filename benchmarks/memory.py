"""Measure the memory of each study, which ``fastcube slurm`` requests.

``python benchmarks/memory.py`` measures all studies again and writes ``data/memory.json``.  ``--table`` prints the table, and
``--points`` measures the points of POINTS, at which a further worker needs more than on any first grid.  Each figure is the
largest resident memory of a whole process, in MiB, with an empty and with a warm cache, and the increase per further worker,
from four workers and one.  Every point of the first grid runs.  As many studies are measured at once as there are processors.
All studies take some twenty minutes on two cores, mostly for compiling with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fastcube as fc
from fastcube.results.memory import MEMORY_FILE, memory_table
from fastcube.results.provenance import cpu_name, library_versions

TRIALS = 16

#: Points outside of the first grids that need much memory, and seconds in which all workers begin a trial there on free cores.
POINTS: tuple[tuple[str, dict[str, float], int], ...] = (
    ("multicast", {"n": 20, "f": 8, "destinations": 2**19}, 15),
    ("optimal-tree", {"n": 12, "links": 64, "f": 0}, 15),
    ("unsafe-critical", {"n": 26, "p": 0.0001}, 15),
    ("unsafe-critical", {"n": 30, "p": 0.00004}, 120),
)


def peak_memory(folder: str, *arguments: str) -> float:
    """Largest resident memory of a command of fastcube, in MiB."""
    roots = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR"), folder)  # machine code is also read from other roots
    environment = {**os.environ, **roots, "FASTCUBE_CACHE_DIR": str(Path(folder, "cache")), "FASTCUBE_CACHE_PATH": ""}
    command = [sys.executable, "-P", "-m", "fastcube", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(command, cwd=folder, env=environment, **quiet)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status  # Popen must not wait for it again
    if os.waitstatus_to_exitcode(status) not in (0, 75):
        raise SystemExit(f"fastcube {' '.join(arguments)} failed")
    return usage.ru_maxrss / 1024


def measure_study(name: str) -> dict[str, int]:
    """The three figures of a study, at all points of its first grid."""
    with tempfile.TemporaryDirectory() as folder:

        def run(workers: int) -> float:
            Path(folder, "r.h5").unlink(missing_ok=True)
            options = ["--trials", str(TRIALS), "--workers", str(workers), "--progress", "none"]
            return peak_memory(folder, "run", name, *options, "-o", "r.h5")

        cold, one, four = run(1), run(1), run(4)
    return {"cold": round(cold), "warm": round(one), "worker": max(0, round((four - one) / 3))}


def measure_point(name: str, point: dict[str, float], seconds: int) -> int:
    """What a further worker adds at a point, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--trials", "1e9", "--progress", "none", "--force", "-o", "r.h5", "--max-seconds", str(seconds)]
        texts = [f"{axis}={value}" if isinstance(value, int) else f"{axis}={value:f}" for axis, value in point.items()]
        values = [word for text in texts for word in ("--set", text)]
        peak_memory(folder, "warmup", name, *values)
        one, four = (peak_memory(folder, "run", name, *values, *options, "--workers", workers) for workers in "14")
    return round((four - one) / 3)


def main() -> None:
    """Measure, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the table of what was measured")
    parser.add_argument("--points", action="store_true", help="measure the points that need much memory")
    parser.add_argument("studies", nargs="*", help="measure these anew; by default all")
    given = parser.parse_args()
    known = json.loads(MEMORY_FILE.read_text()) if MEMORY_FILE.exists() else {"studies": {}}
    if given.points:
        known["points"] = [[name, point, measure_point(name, point, seconds)] for name, point, seconds in POINTS]
        MEMORY_FILE.write_text(json.dumps(known, indent=1) + "\n")
    elif not given.table:
        names = given.studies or fc.study_names()
        versions = {library: library_versions()[library] for library in ("numba", "numpy")}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, figures in zip(names, pool.map(measure_study, names), strict=True):
                known |= {
                    "processor": cpu_name(),
                    "libraries": versions,
                    "studies": {**known["studies"], name: figures},
                }
                print(name, figures, flush=True)
                MEMORY_FILE.write_text(json.dumps(known, indent=1) + "\n")
    print(memory_table())


if __name__ == "__main__":
    main()
