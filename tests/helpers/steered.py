"""``fastcube`` as a process that a test steers: ``steered.py items=1000 checkpoints=FILE ... -- run STUDY ...``.

The process waits at the event that a test needs, so that no test depends on the speed of the machine.  The process says
on standard error what it waits at.

    items=N            work items that end after trial N say "held" and never end
    checkpoints=FILE   checkpoints begin at once, say "about to write", and wait until FILE exists
    checkpoints=none   there is none but the last
    saving=never       writing says "saving" and never ends
    repeats=none       a second signal is a second wish, however soon it comes
"""

import os
import sys
import threading
import time
from pathlib import Path

from fastcube.cli import main
from fastcube.results.output import OutputFile
from fastcube.running import checkpoints, signals, work_loop
from fastcube.running.checkpoints import Checkpoints

NEVER = 1e9


def announce(text):
    print(f"\n{text}", file=sys.stderr, flush=True)


def hold_items(last):
    work = work_loop.run_unit

    def work_or_wait(item):
        if item.stop > last:
            announce("held")
            threading.Event().wait()
        return work(item)

    work_loop.run_unit = work_or_wait


def hold_checkpoints(gate):
    checkpoint = Checkpoints.save_now_and_then

    def save_or_wait(self, report):
        if time.monotonic() >= self.due and self.has_new_trials and not gate.exists():
            announce("about to write")
            while not gate.exists():
                time.sleep(0.01)
        checkpoint(self, report)

    Checkpoints.save_now_and_then = save_or_wait
    checkpoints.FIRST = 0.05


def hold_saving(*_):
    announce("saving")
    while True:  # in turns, so that signals are served
        time.sleep(1)


def install_steps(what, how):
    if what == "items":
        hold_items(int(how))
    elif (what, how) == ("checkpoints", "none"):
        checkpoints.FIRST = NEVER
    elif what == "checkpoints":
        hold_checkpoints(Path(how))
    elif (what, how) == ("saving", "never"):
        OutputFile.save = hold_saving
    elif (what, how) == ("repeats", "none"):
        signals.REPEAT_SECONDS = 0.0
    else:
        raise SystemExit(f"{what}={how}?")


if __name__ == "__main__":
    end = sys.argv.index("--")
    for argument in sys.argv[1:end]:
        install_steps(*argument.split("=", 1))
    del sys.argv[1 : end + 1]  # what the process says of itself is as without this file
    try:
        main(sys.argv[1:])
    except SystemExit as ended:  # without waiting for the threads that wait
        sys.stdout.flush()
        os._exit(ended.code)
