"""Where a study's table chooses a kernel although another one is faster: ``python benchmarks/dispatch.py [STUDY ...]``.

All kernels that serve a point count the same trials in turns.  The points are those of the study's grids, and points on both
sides of each change from one kernel to the next.  A line is printed where the chosen kernel takes more than ``LIMIT`` times
the CPU time per trial of the fastest; no line means that the tables fit this processor.  ``--all`` prints every point.
Routes in a dual-cube change from lanes to one route at a time within one kernel, so the rates just below and above the change
are compared instead.

CPU times and the least of several short turns are compared, so that other programs on the machine disturb little.

Processors differ: ``NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES= python benchmarks/dispatch.py`` measures without AVX-512.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import fastcube as fc
from fastcube.kernels.dualcube.lanes import is_faster_in_lanes
from fastcube.kernels.machine.target import CPU_NAME, FEATURES
from fastcube.results.provenance import cpu_name

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from helpers.study_table import STUDIES

Point = dict[str, Any]

#: A function of a number of trials that counts them, and returns the CPU seconds that they took.
Counter = Callable[[int], float]

#: A choice is reported when it takes this many times as long as the fastest kernel.
LIMIT = 1.15

#: A choice this many times as long as the fastest kernel is measured once more, for longer, before it is reported.
NEAR = 1.1

#: CPU seconds of the trials by which a kernel's speed is first estimated.
PROBE = 0.002

#: Measurements in turns, the second only for choices that look slow: CPU seconds of the fastest kernel in a turn, the number of
#: turns, and up to how many times as long as the fastest a kernel may take to have turns.
MEASUREMENTS = ((0.01, 4, 3.0), (0.06, 5, 1.5))

#: CPU seconds of the fastest kernel after which there are no more than two turns: some trials take seconds.
ENOUGH = 0.3

#: Most trials of a turn.
MOST_TRIALS = 1 << 24

#: Seconds of a trial below which a kernel decides the point without a trial.
DECIDED = 1e-9

#: Most points of one grid.
MOST_POINTS = 12


def make_counter(study: fc.Study, kernel: Any, point: Point) -> Counter:
    """Return the counter of a kernel at a point, compiled."""
    compiled, key, params = kernel.compiled, np.uint64(study.key(1, point)), study.parameters(point)

    def count(trials: int) -> float:
        slots = study.tally.new_tally()
        begin = time.thread_time()
        compiled(key, 0, trials, params, slots)
        return time.thread_time() - begin

    return count


def estimate_seconds(count: Counter) -> float:
    """Return the approximate CPU seconds per trial."""
    count(1)  # touches the memory for the first time
    trials = 1
    while (took := count(trials)) < PROBE and trials < MOST_TRIALS:
        trials *= 8
    return took / trials


def time_in_turns(counters: Mapping[str, Counter], chosen: Collection[str]) -> dict[str, float]:
    """Return the CPU seconds per trial of each counter: exact ones of the chosen and of those that are nearly as fast."""
    seconds = {name: estimate_seconds(count) for name, count in counters.items()}
    for span, turns, most in MEASUREMENTS:
        fastest = min(seconds.values())
        trials = max(1, min(MOST_TRIALS, round(span / fastest)))
        timed = [name for name in counters if name in chosen or seconds[name] < most * fastest]
        seconds |= dict.fromkeys(timed, math.inf)
        for name in timed * min(turns, 2 + int(ENOUGH / (trials * fastest))):
            seconds[name] = min(seconds[name], counters[name](trials) / trials)
        if fastest < DECIDED or max(seconds[name] for name in chosen) < NEAR * min(seconds.values()):
            break
    return seconds


def choose(name: str, point: Point) -> str:
    """Return the kernel that the study uses at a point."""
    return STUDIES[name].table.choose_name(*point.values())


def grid_points(name: str) -> Iterator[Point]:
    """Yield some points of each grid, evenly spread, that several kernels serve."""
    for grid in fc.study(name).grids:
        points = [point for point in grid.points if len(STUDIES[name].find_serving(point)) > 1]
        for i in range(min(MOST_POINTS, len(points))):
            yield points[i * len(points) // min(MOST_POINTS, len(points))]


def edge_points(name: str) -> Iterator[Point]:
    """Yield both sides of the changes between two kernels, at the smallest, a middle and the largest n where they occur."""
    table, sweep = STUDIES[name].table, STUDIES[name].sweep
    for others in sweep.others if sweep else ():
        points = sweep.find_points(name, others)
        changes: dict[tuple[str, str], list[tuple[Point, Point]]] = {}
        for (n, i), point in points.items():
            beyond = points.get((n, i + 1), point)
            one, other = choose(name, point), choose(name, beyond)
            if one != other and table.is_served(other, *point.values()) and table.is_served(one, *beyond.values()):
                changes.setdefault((one, other), []).append((point, beyond))
        for pairs in changes.values():
            for at in sorted({0, len(pairs) // 2, len(pairs) - 1}):
                yield from pairs[at]


def report_study(name: str, every: bool) -> int:
    """Print the points of a study where the choice is slow; return their number."""
    slow, seen = 0, []
    row, study = STUDIES[name], fc.study(name)
    for point in itertools.chain(grid_points(name), edge_points(name)):
        if point in seen:
            continue
        seen.append(point)
        serving = row.find_serving(point)
        counters = {kernel: make_counter(study, row.table.load_kernel(kernel), point) for kernel in serving}
        chosen = choose(name, point)
        seconds = time_in_turns(counters, [chosen])
        behind = max(seconds[chosen], DECIDED) / max(min(seconds.values()), DECIDED)
        slow += behind > LIMIT
        if every or behind > LIMIT:
            times = ", ".join(f"{kernel} {1e9 * s:.3g} ns" for kernel, s in seconds.items())
            print(f"{name} {tuple(point.values())}: {behind:.2f} with {chosen}; {times}", flush=True)
    print(f"{name}: {slow} of {len(seen)} points", flush=True)
    return slow


def report_dualcube(every: bool) -> int:
    """Print the m where routes in a dual-cube change from lanes to one at a time at a wrong rate; return their number."""
    study, kernel = fc.study("dualcube-routing"), STUDIES["dualcube-routing"].table.load_kernel("scalar.ROUTES")
    is_in_lanes, slow = getattr(is_faster_in_lanes, "py_func", is_faster_in_lanes), 0
    sizes = (7, 8, 9, 10, 12, 16)
    for m in sizes:
        last = max(i for i in range(1000) if is_in_lanes(m, i / 1000))
        rates = {"lanes": last / 1000, "one at a time": (last + 1) / 1000}
        counters = {
            way: make_counter(study, kernel, study.point({"m": m, "rate": rate})) for way, rate in rates.items()
        }
        seconds = time_in_turns(counters, [*counters])
        jump = seconds["lanes"] / seconds["one at a time"]
        slow += not 1 / LIMIT < jump < LIMIT
        if every or not 1 / LIMIT < jump < LIMIT:
            print(f"dualcube-routing ({m}, {last / 1000}): lanes take {jump:.2f} times as long as one route at a time")
    print(f"dualcube-routing: {slow} of {len(sizes)} changes", flush=True)
    return slow


def main() -> None:
    """Print the report of the studies named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [name for name, row in STUDIES.items() if row.sweep and len(row.table.names) > 1]
    parser.add_argument(
        "studies", nargs="*", choices=[[], *names], metavar="STUDY", help="names of studies (default: all)"
    )
    parser.add_argument("--all", action="store_true", help="print every point")
    arguments = parser.parse_args()
    vectors = next((kind for kind in ("avx512f", "avx2", "ssse3", "neon") if kind in FEATURES), "128 bits")
    print(f"{cpu_name()}, compiled for {CPU_NAME}, {vectors}")
    slow = 0
    for name in arguments.studies or names:
        slow += report_dualcube(arguments.all) if name == "dualcube-routing" else report_study(name, arguments.all)
    print(f"{slow} slow choices")


if __name__ == "__main__":
    main()
