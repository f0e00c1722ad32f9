"""Checkpoints: when the results of a run are saved."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable

from ..errors import ResultFileError
from ..results.results import Results
from .stages import Stages

#: Seconds from the start to the first checkpoint, and between later ones.
FIRST, EVERY = 2.0, 15.0
#: Checkpoints become rarer as a run gets longer, because thousands of runs may share one file system: every 1% of the time
#: run so far, at most this far apart.  A signal still saves at once.
GROWTH, AT_MOST = 0.01, 300.0
#: Checkpoints of large files are rarer, so that writing takes at most this fraction of the time.
TIME_FRACTION = 0.05

_LOG = logging.getLogger("fastcube.driver")


class Checkpoints:
    """Saves the tallies of a run now and then, and at its end.

    Parameters
    ----------
    stages : Stages
        The points of the run with their tallies.
    save : callable
        Writes the results to the run's file, if it has one.
    every : float, optional
        Seconds between checkpoints; by default EVERY, and more in a long run.

    Attributes
    ----------
    due : float
        Time of the next checkpoint.
    has_stored_trials : bool
        Whether the file has trials, of this run or of an earlier one.
    has_new_trials : bool
        Whether trials were counted since the results were last saved; the loop sets it.
    """

    def __init__(self, stages: Stages, save: Callable[[Results], None], every: float | None) -> None:
        self.stages, self._save, self._every = stages, save, every
        self._begun = time.monotonic()
        self.due = self._begun + FIRST
        self.has_stored_trials = stages.results.trials > 0
        self.has_new_trials = False
        self._has_new_points = stages.adds_points

    def save_now_and_then(self, report: Callable[[str], None]) -> None:
        """Save if a checkpoint is due and there are new trials; a failure is reported, because a later attempt may succeed."""
        begun = time.monotonic()
        if begun < self.due:
            return
        if not self.has_new_trials:  # workers may be starting or in long trials, so try again soon
            self.due = begun + FIRST
            return
        try:
            self._store()
            _LOG.info("checkpoint of %d trials in %.2f s", self.stages.done, time.monotonic() - begun)
        except ResultFileError as error:
            report(f"fastcube: checkpoint failed: {error}")
        now = time.monotonic()
        interval = self._every or min(AT_MOST, max(EVERY, GROWTH * (now - self._begun)))
        self.due = now + max(interval, (now - begun) / TIME_FRACTION)

    def save_at_end(self, is_finished: bool) -> bool:
        """Save at the end of the run.  Return False if the file has everything already.  Raises ResultFileError.

        A run that is not finished writes no file without trials, which would have no use.
        """
        self.stages.store_tallies()
        if is_finished and not self.has_new_trials and not self._has_new_points:
            return False
        if is_finished or self.stages.results.trials:
            self._store()
            _LOG.info("%d trials done and saved", self.stages.done)
        return True

    def save_after_failure(self) -> None:
        """Save the trials that were counted before a failure, if possible."""
        self.stages.store_tallies()
        if (self.has_new_trials or self._has_new_points) and self.stages.results.trials:
            with contextlib.suppress(OSError):
                self._store()

    def stop(self) -> None:
        """Make no further checkpoints."""
        self.due = math.inf

    def _store(self) -> None:
        """Save the results with the present tallies.  Raises ResultFileError."""
        self.stages.store_tallies()
        self._save(self.stages.results)
        self.has_new_trials = self._has_new_points = False
        self.has_stored_trials = True
