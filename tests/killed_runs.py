"""Kill a run with SIGKILL at random moments, again and again: ``killed_runs.py OUTPUT KILLS SEED`` prints JSON.

Runs are forked from this process, so that a kill meets a run at work, not an interpreter starting; checkpoints are
written all the time, so that many kills meet one half written.
"""

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
from fastcube.engine import driver
from fastcube.engine.driver import run_study
from fastcube.engine.goal import Goal
from fastcube.engine.results import open_results

driver._FIRST_CHECKPOINT = driver._CHECKPOINT_EVERY = 0.005
driver._CHECKPOINT_SHARE = 1.0


def killed(points, output, seconds):
    """One run that is killed after some seconds; leaves no other trace than the file."""
    child = os.fork()
    if child == 0:
        try:
            run_study(TOY, points, Goal(trials=10**12), output=str(output), workers=2)
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def main(output, kills, seed):
    rng = random.Random(seed)
    points = [TOY.point({"a": 1, "work": 100}), TOY.point({"a": 2, "work": 3000})]
    with tempfile.TemporaryDirectory() as folder:  # compile and import everything, once for all children
        fc.run(TOY, trials=1, output=Path(folder) / "first.h5")
    before, half_written, grown = 0, 0, 0
    for _ in range(kills):
        killed(points, output, rng.uniform(0.0, 0.15))
        half_written += any(".tmp." in name for name in os.listdir(output.parent))  # noqa: PTH208
        if output.exists():
            trials = sum(tally.trials for _, tally in open_results(output))  # raises unless whole and consistent
            assert trials >= before, "lost trials"
            grown += trials > before
            before = trials
    goal = Goal(trials=1000 + max(t.ranges[-1][1] for _, t in open_results(output) if t.ranges))
    resumed, _ = run_study(TOY, points[:1], goal, output=str(output))
    undisturbed = fc.run(TOY, a=1, work=100, trials=goal.trials)
    resumed.tallies = {key: tally for key, tally in resumed.tallies.items() if key == (1, 100.0)}
    print(json.dumps({
        "half written": half_written, "grown": grown, "left": sorted(os.listdir(output.parent)),  # noqa: PTH208
        "same": resumed.digest() == undisturbed.digest(), "trials": goal.trials,
    }))  # fmt: skip


main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
