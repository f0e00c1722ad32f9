"""Kill a run with SIGKILL again and again: ``killed_runs.py OUTPUT steps|moments KILLS`` prints JSON.

Runs are forked from this process, so that a kill hits a run at work and not a starting interpreter.  With ``steps`` each
run stops at one step of writing a checkpoint and waits there for the kill; with ``moments`` it comes when it comes.
"""

import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from toy import TOY

import fastcube as fc
from fastcube.measure.goal import Goal
from fastcube.results import replacement
from fastcube.results.reading import open_results
from fastcube.running import checkpoints
from fastcube.running.driver import run_study

checkpoints.FIRST = checkpoints.EVERY = 0.005
checkpoints.TIME_FRACTION = 1.0


def wait_for_the_kill(reported):
    os.write(reported, b"here")
    while True:
        time.sleep(60)


def wait_at_step(step, reported):
    """Make this process wait at a step of writing its next checkpoint."""
    sync = os.fsync
    if step == "half written":
        os.fsync = lambda file: (os.ftruncate(file, os.fstat(file).st_size // 2), wait_for_the_kill(reported))
    elif step == "before the sync":
        os.fsync = lambda file: wait_for_the_kill(reported)
    elif step == "before the rename":
        os.fsync = lambda file: (sync(file), wait_for_the_kill(reported))
    elif step == "before the sync of the folder":
        replacement._sync_folder = lambda folder: wait_for_the_kill(reported)


STEPS = ("half written", "before the sync", "before the rename", "before the sync of the folder")


def run_and_kill(points, output, step, seconds):
    """One run that is killed at a step, or after some seconds; leaves no other trace than the file."""
    heard, reported = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            wait_at_step(step, reported)
            run_study(TOY, points, Goal(trials=10**12), output=str(output), workers=2)
        finally:
            os._exit(1)
    os.close(reported)
    if step is None:
        time.sleep(seconds)
    else:
        assert os.read(heard, 4) == b"here", "the run ended before it was killed"
    os.close(heard)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def main(output, how, kills):
    rng = random.Random(1)
    points = [TOY.point({"a": 1, "work": 100}), TOY.point({"a": 2, "work": 3000})]
    with tempfile.TemporaryDirectory() as folder:  # compile and import everything, once for all children
        fc.run(TOY, trials=1, output=Path(folder) / "first.h5")
    before, half_written, grown = 0, 0, 0
    for step in itertools.islice(itertools.cycle(STEPS if how == "steps" else [None]), kills):
        run_and_kill(points, output, step, rng.uniform(0.0, 0.15))
        half_written += any(".tmp." in name for name in os.listdir(output.parent))  # noqa: PTH208
        if output.exists():
            trials = sum(tally.trials for _, tally in open_results(output))  # raises unless whole and consistent
            assert trials >= before, "lost trials"
            grown += trials > before
            before = trials
    done = [t.ranges[-1][1] for _, t in open_results(output) if t.ranges] if output.exists() else []
    goal = Goal(trials=1000 + max(done, default=0))
    resumed, _ = run_study(TOY, points[:1], goal, output=str(output))
    undisturbed = fc.run(TOY, a=1, work=100, trials=goal.trials)
    resumed.tallies = {key: tally for key, tally in resumed.tallies.items() if key == (1, 100.0)}
    print(
        json.dumps(
            {
                "half written": half_written,
                "grown": grown,
                "left": sorted(os.listdir(output.parent)),  # noqa: PTH208
                "same": resumed.digest() == undisturbed.digest(),
                "trials": goal.trials,
            }
        )
    )


main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
