"""Measure the costs of the machinery around the kernels: threads, work units, checkpoints, merging.

``python benchmarks/scaling.py`` prints each figure with its machine; ``--engine dask:FILE.json``, or
``mpiexec -n 3 python -P -m mpi4py.futures benchmarks/scaling.py --engine mpi``, measures work units of that engine instead.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import h5py
import numpy as np

import fastcube as fc
from fastcube.measure import registry
from fastcube.measure.goal import Goal
from fastcube.measure.tally import Tally
from fastcube.results.hdf5 import TRAILER, TRAILER_SIZE, set_attributes
from fastcube.results.provenance import available_cpus, cpu_name, provenance
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.running import driver
from fastcube.running.driver import run_study
from fastcube.running.engines import Engine, open_engine
from fastcube.running.work_units import FinishedUnit, StudyReference, WorkUnit, run_unit


def measure_threads(seconds: float, rounds: int = 3) -> None:
    """Print the trials per second on 1, 2, 4, ... processors with 1 to 8 threads, which share the processors if they are more.

    Other programs may use the machine, so the processor time is printed next to the wall time.  Trials per second of processor
    time show the loss by threads alone.
    """
    study = registry.study("unsafe-fraction")
    points = [study.point({"n": 16, "f": 8})]
    run_study(study, points, Goal(trials=10**6))  # compile
    mine = os.sched_getaffinity(0)
    cases = [(cpus, workers) for cpus in (1, 2, 4, 8) if cpus <= len(mine) for workers in (1, 2, 4, 8)]
    best = dict.fromkeys(cases, (0.0, 0.0, 0.0))
    for cpus, workers in cases * rounds:
        os.sched_setaffinity(0, sorted(mine)[:cpus])  # threads that start now inherit it
        wall, cpu = time.perf_counter(), time.process_time()
        results, _ = run_study(study, points, Goal(trials=10**15), workers=workers, max_seconds=seconds)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        trials = next(iter(results.tallies.values())).trials
        best[cpus, workers] = max(best[cpus, workers], (trials / cpu, trials / wall, cpu / wall))
    os.sched_setaffinity(0, mine)
    for (cpus, workers), (equal, rate, had) in best.items():
        print(
            f"{cpus} processors, {workers} threads: {equal / 1e6:.0f}M trials a second of processor time, "
            f"{rate / 1e6:.0f}M a second of the clock ({had:.2f} processors had)"
        )


class _InstantExecutor(Executor):
    """Complete every work unit when it is submitted, so that only the driver's own work remains."""

    def __init__(self, slots: int) -> None:
        self.slots = np.zeros((1, slots), np.int64)  # one row per point

    def submit(self, function, item):  # type: ignore[no-untyped-def]
        future: Future[FinishedUnit] = Future()
        future.set_result(FinishedUnit(item, self.slots, 1.0))
        return future


def measure_driver(items: int = 20_000) -> None:
    """Time of the driver for one work item: hand out, take in, add up."""
    study = registry.study("unsafe-fraction")

    @contextlib.contextmanager
    def instant_engine(name, workers):  # type: ignore[no-untyped-def]
        yield Engine(_InstantExecutor(study.tally.size), lambda: 8, 1.0)

    driver.open_engine, kept = instant_engine, driver.open_engine
    try:
        begin = time.process_time()
        run_study(
            study, [study.point({"n": 8, "f": 4})], Goal(trials=items)
        )  # one trial an item, as each takes "a second"
        print(f"driver: {(time.process_time() - begin) / items * 1e6:.0f} us an item")
    finally:
        driver.open_engine = kept


def measure_items(name: str, workers: int | None, most: int = 10**6) -> None:
    """Wall time for items of 1, 10, 100, ... trials through a real engine, all workers busy with such; and for the first."""
    study = registry.study("unsafe-fraction")
    point = tuple(study.point({"n": 8, "f": 4}).items())
    begin = time.perf_counter()
    with open_engine(name, workers) as on:

        def time_items(trials: int, items: int) -> tuple[float, float]:
            begin = time.perf_counter()
            todo = [
                WorkUnit(StudyReference.from_study(study), 0, point, i * trials, (i + 1) * trials) for i in range(items)
            ]
            inside = sum(done.seconds for done in on.executor.map(run_unit, todo))
            return (time.perf_counter() - begin) / items, inside / items

        time_items(1, 1)
        label = f"{name.partition(':')[0]}, {on.workers()} workers"
        print(f"{label}: first item after {time.perf_counter() - begin:.2f} s")
        time_items(1, 16 * on.workers())
        for trials in (10**k for k in range(len(str(most)))):
            each, inside = time_items(trials, max(20, 2000 * 1000 // max(1000, trials)))
            fraction = inside / on.workers() / each
            print(f"{label}: {each * 1e6:.0f} us an item of {trials} trials, {fraction:.0%} of it in the kernel")


def _make_results(points: int, first: int, stop: int, goal: Goal | None = None) -> Results:
    study = registry.study("unsafe-fraction")
    results = Results(study, 0, {}, goal or Goal())
    for i in range(points):
        counts = {c.name: (0,) * c.bins if c.bins else 0 for c in study.tally.counters}
        maxima = {e.name: (i, first) for e in study.tally.maxima}
        results.tallies[5 + i % 40, i // 40] = Tally(((first, stop),), counts, maxima)
    return results


def _write_shards(folder: Path, number: int, points: int) -> list[Path]:
    """Files as the tasks of an array leave them, of 1,000 trials a point and one run.

    The first is saved; in a copy of it each other gets its trials, goal and digest, which takes a tenth of the time.
    """
    paths = [folder / f"{i}.h5" for i in range(number)]
    saved = _make_results(points, 0, 1000)
    saved.history = [provenance(engine="threads", seconds=1.0)]
    saved.save(paths[0])
    image = paths[0].read_bytes()[:-TRAILER_SIZE]
    for i, path in enumerate(paths):
        part = _make_results(points, 1000 * i, 1000 * i + 1000, Goal(1000 * number, shard=(i, number)))
        changed = io.BytesIO(image)
        with h5py.File(changed, "r+") as file:
            file["raw/ranges"][:, 1:] = 1000 * i, 1000 * i + 1000
            for maximum in part.study.tally.maxima:
                file[f"raw/max_{maximum.name}"][:, 1] = 1000 * i
            set_attributes(file, {"digest": part.digest(), "goal": part.goal.to_json()})
        whole = changed.getvalue()
        path.write_bytes(whole + TRAILER + hashlib.sha256(whole).hexdigest().encode())
    return paths


def measure_checkpoints(folder: Path) -> None:
    """Print the processor time to write and to read a file of this number of points, and the fraction of a run that it takes."""
    for points in (56, 1000):
        results = _make_results(points, 0, 10**6)
        save, read = [], []
        for _ in range(3):
            begin = time.process_time()
            results.save(folder / "r.h5")
            save.append(time.process_time() - begin)
            begin = time.process_time()
            open_results(folder / "r.h5")
            read.append(time.process_time() - begin)
        size = (folder / "r.h5").stat().st_size
        fractions = ", ".join(f"{min(save) / interval:.2%} every {interval} s" for interval in (1, 15, 300))
        print(
            f"{points} points, {size / 1e3:.0f} kB: written in {min(save) * 1e3:.0f} ms ({fractions}), "
            f"read in {min(read) * 1e3:.0f} ms of CPU"
        )


def _run_command(folder: Path, *arguments: str) -> tuple[float, int]:
    """Processor time of a command, and the most memory, in MiB, of any command so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "fastcube", *arguments], cwd=folder, capture_output=True, check=False
    )
    if done.returncode > (arguments[0] == "status"):  # a status of fewer shards than there are exits with 1
        done.check_returncode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss // 1024


def measure_merging(folder: Path, most: int, points: int = 56) -> None:
    """Print the time of the commands ``merge`` and ``status`` for 1, 10, 100, ... shards."""
    paths = [path.name for path in _write_shards(folder, most, points)]
    for shards in (10**k for k in range(len(str(most)))):
        reported, _ = _run_command(folder, "status", *paths[:shards])
        merged, peak = _run_command(folder, "merge", *paths[:shards], "-o", f"all-{shards}.h5")
        print(f"{shards} shards of {points} points: merge {merged:.2f} s, status {reported:.2f} s of CPU, {peak} MiB")


def main() -> None:
    """Print all figures, or only the work units of one engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", help="measure work items of this engine alone")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--shards", type=int, default=1000, help="the most shards that are merged, a power of ten")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each run with threads")
    given = parser.parse_args()
    print(f"fastcube {fc.__version__} on {cpu_name()}, {available_cpus()} processors")
    if given.engine:
        measure_items(given.engine, given.workers)
        return
    measure_threads(given.seconds)
    measure_driver()
    measure_items("threads", given.workers)
    with tempfile.TemporaryDirectory() as folder:
        measure_checkpoints(Path(folder))
        measure_merging(Path(folder), given.shards)


if __name__ == "__main__":
    main()
