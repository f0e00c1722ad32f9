"""What the machinery around the kernels costs: threads, work items, checkpoints, merging.

``python benchmarks/scaling.py`` prints each figure with what it was measured on; ``--engine dask:FILE.json``, or
``mpiexec -n 3 python -P -m mpi4py.futures benchmarks/scaling.py --engine mpi``, measures work items there instead.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import tempfile
import time
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np

import fastcube as fc
from fastcube.cli import status
from fastcube.measure import registry
from fastcube.measure.goal import Goal
from fastcube.measure.tally import Tally
from fastcube.results.combining import merge
from fastcube.results.provenance import available_cpus, cpu_name
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.running import driver
from fastcube.running.driver import run_study
from fastcube.running.engines import Done, Engine, Item, Reference, engine, work


def threads(seconds: float = 3.0, rounds: int = 3) -> None:
    """Trials a second with one and two threads.

    Others may use the machine, so the processor time that was had is told beside the wall time: trials for each second
    of it, times two, is what two free cores would give.
    """
    study = registry.study("unsafe-fraction")
    points = [study.point({"n": 16, "f": 8})]
    best = {1: (0.0, 0.0, 0.0), 2: (0.0, 0.0, 0.0)}
    run_study(study, points, Goal(trials=10**6))  # compile
    for workers in (1, 2) * rounds:
        wall, cpu = time.perf_counter(), time.process_time()
        results, _ = run_study(study, points, Goal(trials=10**15), workers=workers, max_seconds=seconds)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        trials = next(iter(results.tallies.values())).trials
        best[workers] = max(best[workers], (trials / wall, trials / cpu, cpu / wall))
    for workers, (rate, equal, had) in best.items():
        print(f"{workers} threads: {rate / 1e6:.0f}M trials/s, {equal / 1e6:.0f}M a second of {had:.2f} processors")
    here, equal = best[2][0] / best[1][0], 2 * best[2][1] / best[1][1]
    print(f"2 threads against 1: {here:.2f}x here, {equal:.2f}x for equal processor time")


class _Instant(Executor):
    """Every item is done when it is handed in: what is left is the driver's own work."""

    def __init__(self, slots: int) -> None:
        self.slots = np.zeros(slots, np.int64)

    def submit(self, function, item):  # type: ignore[no-untyped-def]
        future: Future[Done] = Future()
        future.set_result(Done(item, self.slots, 1.0))
        return future


def driver_alone(items: int = 20_000) -> None:
    """Time of the driver for one work item: hand out, take in, add up."""
    study = registry.study("unsafe-fraction")

    @contextlib.contextmanager
    def instant(name, workers):  # type: ignore[no-untyped-def]
        yield Engine(_Instant(study.tally.size), lambda: 8, 1.0)

    driver.engine, kept = instant, driver.engine
    try:
        begin = time.process_time()
        run_study(
            study, [study.point({"n": 8, "f": 4})], Goal(trials=items)
        )  # one trial an item, as each takes "a second"
        print(f"driver: {(time.process_time() - begin) / items * 1e6:.0f} us an item")
    finally:
        driver.engine = kept


def items_of(name: str, workers: int | None, items: int = 2000) -> None:
    """Wall time for one item of one trial through a real engine, all workers busy with such."""
    study = registry.study("unsafe-fraction")
    point = tuple(study.point({"n": 8, "f": 4}).items())
    with engine(name, workers) as on:
        for count in (16, items):  # the first to compile
            begin = time.perf_counter()
            futures = [on.executor.submit(work, Item(Reference.to(study), 0, point, t, t + 1)) for t in range(count)]
            for future in futures:
                future.result()
        seconds = time.perf_counter() - begin
        print(f"{name.partition(':')[0]}, {on.workers()} workers: {seconds / items * 1e6:.0f} us an item of one trial")


def _filled(points: int, first: int, stop: int) -> Results:
    study = registry.study("unsafe-fraction")
    results = Results(study, 0)
    for i in range(points):
        counts = {c.name: (0,) * c.bins if c.bins else 0 for c in study.tally.counters}
        extremes = {e.name: (i, first) for e in study.tally.extremes}
        results.tallies[5 + i % 40, i // 40] = Tally(((first, stop),), counts, extremes)
    return results


def checkpoints(folder: Path) -> None:
    """Time to write a file of so many points, with the estimates in it, and to read it."""
    for points in (56, 1000, 10_000):
        results = _filled(points, 0, 10**6)
        save, read = [], []
        for _ in range(3):
            begin = time.perf_counter()
            results.save(folder / "r.h5")
            save.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            open_results(folder / "r.h5")
            read.append(time.perf_counter() - begin)
        size = (folder / "r.h5").stat().st_size
        print(
            f"{points} points, {size / 1e3:.0f} kB: written in {min(save) * 1e3:.0f} ms, read in {min(read) * 1e3:.0f} ms"
        )


def merging(folder: Path, most: int, points: int = 56) -> None:
    """Processor time of merging 10, 100, ... shards, and of their status; and the most memory that the process has had."""
    paths = [folder / f"{i}.h5" for i in range(most)]
    for i, path in enumerate(paths):
        _filled(points, 1000 * i, 1000 * i + 1000).save(path)
    for shards in (10**k for k in range(1, len(str(most)))):
        begin = time.process_time()
        merge(paths[:shards]).save(folder / "all.h5")
        between = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            status.command.main([str(path) for path in paths[:shards]], standalone_mode=False)
        merged, told = between - begin, time.process_time() - between
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{shards} shards of {points} points: merge {merged:.2f} s, status {told:.2f} s of CPU, {peak} MiB")


def main() -> None:
    """Print all figures, or those of one engine's work items."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", help="measure work items of this engine alone")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--shards", type=int, default=1000, help="the most shards that are merged")
    given = parser.parse_args()
    print(f"fastcube {fc.__version__} on {cpu_name()}, {available_cpus()} processors")
    if given.engine:
        items_of(given.engine, given.workers)
        return
    threads()
    driver_alone()
    items_of("threads", given.workers)
    with tempfile.TemporaryDirectory() as folder:
        checkpoints(Path(folder))
        merging(Path(folder), given.shards)


if __name__ == "__main__":
    main()
