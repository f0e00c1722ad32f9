"""Compare dual-cube routing with its reference implementation in plain Python, on the same trials and in one process.

``python benchmarks/dualcube_twin.py`` prints a ratio for each point of the published grid and some further points.  It is the
CPU time of the reference implementation for routing alone, divided by the kernel's for a whole trial (sampled, routed and
tallied). The reference implementation of the tests routes the pairs of the kernel's first trials with the same statuses, and
both must deliver equally many routes with equally many links.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from fastcube.kernels.dualcube import replay
from fastcube.kernels.dualcube.layout import DUALCUBE_ROUTING
from fastcube.kernels.dualcube.scalar import ROUTES
from fastcube.measure import registry
from fastcube.running.benchmark import Benchmark, kernel_runner

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from reference.dualcube import Practical, lazy_faults

STUDY = registry.study("dualcube-routing")
RATES = [i / 20 for i in range(11)]
TWIN_TRIALS = 500


def time_ratio(m: int, rate: float) -> float:
    """The twin's time a route over the kernel's time a trial."""
    key = np.uint64(STUDY.key(0, {"m": m, "rate": rate}))
    drawn = [replay.sample_dualcube_routing.compiled(key, trial, m, rate) for trial in range(TWIN_TRIALS)]
    cases = [(lazy_faults(int(status), rate), int(s), int(t)) for valid, status, s, t in drawn if valid]
    found = []

    def run_twin() -> int:
        found[:] = [Practical(m, faulty).route(s, t)[0] for faulty, s, t in cases]
        return TWIN_TRIALS

    kernel = kernel_runner(STUDY, {"m": m, "rate": rate}, 100_000, ROUTES)
    ours, theirs = Benchmark(f"m={m} rate={rate}", "twin", kernel, run_twin).measure(5)
    slots = DUALCUBE_ROUTING.new_tally()
    ROUTES.compiled(key, 0, TWIN_TRIALS, np.array([m, rate]), slots)
    counts, _ = DUALCUBE_ROUTING.read(slots)
    links = [len(path) - 1 for path in found if path is not None]
    if (len(cases), len(links), sum(links)) != (counts["valid"], counts["delivered"], counts["length"]):
        raise SystemExit(f"the twin and the kernel disagree at m={m} rate={rate}")
    return theirs / ours


def main() -> None:
    """Print the table."""
    print("   m  " + "".join(f"{rate:8.2f}" for rate in RATES))
    least = float("inf")
    for m in (5, 6, 7, 8, 9, 12, 20, 30):
        ratios = [time_ratio(m, rate) for rate in RATES]
        least = min(least, *ratios)
        print(f"{m:4d}  " + "".join(f"{r:7.0f}x" for r in ratios), flush=True)
    print(f"least: {least:.0f}x")


if __name__ == "__main__":
    main()
