"""What an MPI launcher or Slurm says in environment variables: the number of tasks, and the job that a task belongs to."""

from __future__ import annotations

import os

from ..errors import plain_text
from ..results.environment import read_count

#: Environment variables of Open MPI, other MPIs and srun: number of tasks, and number of this task.
_TASK_VARIABLES = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


def launched_tasks() -> tuple[int, str] | None:
    """Return the number of tasks that a launcher started, and the variable that numbers them; None without a launcher.

    The batch step of a Slurm job has one task, whatever the value of ``SLURM_NTASKS``, which is not read.  Raises ParameterError
    if the number is not an integer.
    """
    for size, rank in _TASK_VARIABLES:
        if (count := read_count(size)) is not None:
            return count, rank
    return None


def task_group() -> str:
    """Return a name of the job array or step that this process is a task of; empty for a process on its own."""
    launched, variables = launched_tasks(), os.environ
    is_array = "SLURM_ARRAY_TASK_ID" in variables
    if not is_array and (launched is None or launched[0] < 2):
        return ""
    job = variables.get("SLURM_ARRAY_JOB_ID", variables.get("SLURM_JOB_ID", ""))
    kind = "the array" if is_array else "the step"
    return plain_text(f"{kind}, job {job or 'unknown'}, restart {variables.get('SLURM_RESTART_COUNT', '0')}", 100)
