"""Executors that a test steers, instead of threads whose order and speed are the machine's."""

import contextlib
import random
from concurrent.futures import Executor, Future

from fastcube.errors import ParameterError
from fastcube.running import checkpoints, driver, lost_scheduler, signals, work_loop
from fastcube.running.engines import Engine
from fastcube.running.work_units import FinishedUnit


class ImmediateExecutor(Executor):
    """Runs each work unit in this thread when it is submitted."""

    def submit(self, function, item):
        future = Future()
        future.set_result(function(item))
        return future


class ReversedExecutor(Executor):
    """Does four items at a time, the last one first, in this thread."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, item):
        out = Future()
        self.waiting.append((out, function, item))
        if len(self.waiting) == 4:
            for future, do, one in reversed(self.waiting):
                try:
                    future.set_result(do(one))
                except Exception as error:
                    future.set_exception(error)
            self.waiting.clear()
        return out


class ShuffledExecutor(Executor):
    """Finishes submitted work units in a random order, a few at a time, in this thread."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.waiting = []
        self.sizes = []

    def submit(self, function, item):
        self.waiting.append((Future(), function, item))
        self.sizes.append(item.stop - item.first)
        future = self.waiting[-1][0]
        if len(self.waiting) == 6:
            self.run(3)
        return future

    def run(self, count):
        self.random.shuffle(self.waiting)
        for _ in range(min(count, len(self.waiting))):
            future, function, item = self.waiting.pop()
            future.set_result(function(item))


class ClosingClient(Executor):
    """A client whose scheduler is gone at its call number ``last``: that call and all later ones fail as Dask's do."""

    def __init__(self, last):
        self.calls, self.last = 0, last

    @property
    def closed(self):
        return self.calls >= self.last

    def call(self):
        self.calls += 1
        if self.closed:
            raise AttributeError("'NoneType' object has no attribute 'ncores'")

    def count_workers(self):
        self.call()
        return 1

    def submit(self, function, item):
        self.call()
        future = Future()
        future.set_result(function(item))
        result = future.result
        future.result = lambda: (self.call(), result())[1]
        return future

    @contextlib.contextmanager
    def open_engine(self, *_):
        """Open the engine once; afterwards no scheduler answers."""
        if self.closed:
            raise ParameterError("engine dask: no scheduler")
        yield Engine(self, self.count_workers, 1e-3, scheduler="tcp://gone", is_closed=lambda: self.closed)


def use_executor(monkeypatch, executor, workers, seconds):
    """Make every run use this executor, with items of about so many seconds."""

    @contextlib.contextmanager
    def open_engine(name, count):
        yield Engine(executor, lambda: workers, seconds)

    monkeypatch.setattr(driver, "open_engine", open_engine)


def set_trial_seconds(monkeypatch, seconds):
    """Make the driver believe that every trial takes so many seconds."""
    work = work_loop.run_unit

    def work_timed(item):
        done = work(item)
        return FinishedUnit(item, done.slots, seconds * (item.stop - item.first))

    monkeypatch.setattr(work_loop, "run_unit", work_timed)


class Clock:
    """The driver's clock: does not advance except by sleeping, and ``step`` seconds at every look."""

    def __init__(self, monkeypatch, step=0.0):
        self.now, self.step = 1000.0, step
        for module in (driver, work_loop, checkpoints, lost_scheduler, signals):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self):
        self.now += self.step
        return self.now

    def sleep(self, seconds):
        self.now += seconds
