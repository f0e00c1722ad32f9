"""The lines that a run adds to the log of its Slurm job: who computes what, and what it used."""

from __future__ import annotations

import os
import resource
import socket
import time

from ..errors import count_text, plain_text
from ..results.provenance import package_version
from .progress import Progress
from .stages import Stages


class JobLog:
    """The first and the last line of a run in the log of its Slurm job; silent outside Slurm or without progress reports.

    Parameters
    ----------
    progress : Progress
        Prints the lines.
    engine : str
        Name of the engine.
    """

    def __init__(self, progress: Progress, engine: str) -> None:
        self._progress, self._engine = progress, engine
        self._is_wanted = "SLURM_JOB_ID" in os.environ and progress.style != "none"
        self._begun, self._cpu_begun = time.monotonic(), sum(os.times()[:2])

    def begin(self, stages: Stages, workers: int, output: str | None) -> None:
        """Print which process computes which study and where, and the trials that the file has already."""
        if not self._is_wanted:
            return
        goal, done = stages.goal, stages.done
        part = "" if goal.shard is None else f"shard {goal.shard[0]} of {goal.shard[1]}, "
        kind = "thread" if self._engine == "threads" else "worker"
        held = f"{done:,} trials" if stages.wanted is None else f"{100 * done / max(1, stages.wanted):.1f}%"
        self._print(
            f"fastcube {package_version()}, {stages.study.name}, {_task_text()}{part}job {_job_number()} on "
            f"{socket.gethostname()}, restart {os.environ.get('SLURM_RESTART_COUNT', '0')}, {count_text(workers, kind)}; "
            f"{output or 'no file'} holds {held}"
        )

    def end(self, workers: int) -> None:
        """Print the use of processors and memory, which is known if all workers are threads of this process."""
        if not self._is_wanted or self._engine != "threads":
            return
        busy = (sum(os.times()[:2]) - self._cpu_begun) / (time.monotonic() - self._begun) / workers
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        requested = os.environ.get("SLURM_MEM_PER_NODE", "")
        memory = f"{peak:.0f} of {requested} MiB" if requested else f"{peak:.0f} MiB"
        self._print(f"used {busy:.0%} of {count_text(workers, 'processor')}, at most {memory}")

    def _print(self, text: str) -> None:
        """Print a line with its time.  Variables of the scheduler, which the text names, may hold line breaks."""
        self._progress.print_line(f"{time.strftime('%Y-%m-%dT%H:%M:%S')}  {plain_text(text, 1000)}")


def _job_number() -> str:
    """Return the number of this job, or of the array and the task in it."""
    job = os.environ["SLURM_JOB_ID"]
    task = os.environ.get("SLURM_ARRAY_TASK_ID")
    return job if task is None else f"{os.environ.get('SLURM_ARRAY_JOB_ID', job)}_{task}"


def _task_text() -> str:
    """Return the number of this task of an array as text; empty outside an array."""
    task = os.environ.get("SLURM_ARRAY_TASK_ID")
    return "" if task is None else f"task {task}, "
