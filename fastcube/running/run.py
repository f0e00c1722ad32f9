"""``fastcube.run``: run a study from Python, as the command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import check_file_path, check_flag, parse_count
from ..measure import registry
from ..measure.goal import make_goal
from ..measure.grid import build_points, parse_number
from ..measure.study import Study
from ..results.results import Results
from .driver import run_study
from .progress import Progress
from .signals import raise_signal_error


def run(
    study: str | Study,
    *,
    grid: str | None = None,
    output: str | Path | None = None,
    trials: int | str | None = None,
    precision: float | str | None = None,
    relative: float | str | None = None,
    events: int | str | None = None,
    target: str | None = None,
    shard: tuple[int, int] | str | None = None,
    seed: int = 0,
    engine: str = "threads",
    workers: int | None = None,
    max_seconds: float | None = None,
    progress: str = "none",
    force: bool = False,
    checkpoint: float | None = None,
    **axes: Any,
) -> Results:
    """Run a study and return its results.

    Parameters
    ----------
    study : str or Study
        Name of an installed study, a Python file that holds one, or a Study.
    grid : str, optional
        Name of one of the study's grids; by default its first.
    output : path, optional
        Results file.  If it exists, the run resumes from it.  Checkpoints are written into it.
    trials : int, optional
        Trials per point; by default the grid's number, unless a precision, relative precision or number of events is given.
    precision, relative : float, optional
        Stop at this half-width of the 95% interval of the target statistic, absolute or as a fraction of the estimate.
    events : int, optional
        Stop at this number of trials with a nonzero target statistic.
    target : str, optional
        The target statistic; by default the study's first.
    shard : (int, int), optional
        ``(I, N)``: run only part I of the trials in N parts, with I in [0, N - 1].
    seed : int
        In [0, 2^63 - 1].
    engine, workers : str, int
        The engine: ``threads``, ``mpi``, ``dask:tcp://...`` or ``dask:FILE.json``.  By default as many threads as the
        affinity mask, SLURM_CPUS_PER_TASK and the control groups' quotas allow.
    max_seconds : float, optional
        Stop after this time, in seconds, and return the results so far.  Run again to continue.
    progress : str
        ``auto``, ``bar``, ``lines`` or ``none``.
    force : bool
        Whether to start afresh and replace the results file ``output``; any other file is refused.
    checkpoint : float, optional
        Seconds between checkpoints; by default 15, and in a long run 1% of its time, at most 300.
    **axes
        Values of the study's axes, each a single value, an iterable, or text as on the command line; by default the grid's.

    Returns
    -------
    Results

    Raises
    ------
    ParameterError, StudyMismatchError, ResultFileError, MissingDependencyError
    KeyboardInterrupt, SystemExit
        After SIGINT, SIGTERM or SIGHUP, once the checkpoint is written; after a second signal at once.

    Examples
    --------
    >>> results = fc.run("unsafe-fraction", n=5, f=[1, 2], trials=1000)
    >>> results.trials
    2000
    >>> results.estimate("unsafe_fraction", f=1).value  # a single faulty node makes no node unsafe
    0.0
    """
    chosen = registry.study(study)
    force = check_flag("force", force)
    goal = make_goal(
        chosen,
        chosen.grid(grid),
        trials=trials,
        precision=precision,
        relative=relative,
        events=events,
        target=target,
        shard=shard,
    )
    results, code = run_study(
        chosen,
        build_points(chosen, axes, grid),
        goal,
        grid=grid,
        seed=parse_count("seed", seed),
        output=None if output is None else str(check_file_path("output", output)),
        engine_name=engine,
        workers=None if workers is None else parse_count("workers", workers),
        max_seconds=None if max_seconds is None else parse_number("max_seconds", max_seconds),
        progress=Progress(progress),
        force=force,
        checkpoint=None if checkpoint is None else parse_number("checkpoint", checkpoint),
    )
    raise_signal_error(code)
    return results
