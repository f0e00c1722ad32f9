"""The file a run writes to: checked before work begins, resumed from, replaced whole, rescued when it cannot be."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from .errors import ResultFileError, StudyMismatchError
from .hdf5 import reason, remove_stale
from .results import Results, open_results


class OutputFile:
    """A results file of one run.

    Raises ResultFileError at once when its folder does not exist or cannot be written.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        folder = self.path.parent
        if not folder.is_dir():
            raise ResultFileError(f"output folder {folder} does not exist")
        if self.path.is_dir():
            raise ResultFileError(f"output {self.path} is a folder")
        remove_stale(self.path)
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise ResultFileError(f"output folder {folder} cannot be written: {reason(error)}") from error
        self._seen = self._signature()

    def _signature(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            status = self.path.stat()
            return status.st_ino, status.st_mtime_ns
        return None

    def resume(self, fresh: Results, force: bool) -> Results:
        """What the file holds of the same study and seed, or ``fresh`` when there is none or with ``force``.

        Raises StudyMismatchError for a file of another study or seed, ResultFileError for any other file.
        """
        if force or not self.path.exists():
            return fresh
        held = open_results(self.path)
        try:
            fresh.check_same_study(held, "this run", str(self.path))
        except StudyMismatchError as error:
            raise StudyMismatchError(f"{error}; use another output, or --force to replace it") from None
        held.study = fresh.study
        return held

    def save(self, results: Results) -> None:
        """Replace the file.

        When that fails the results go beside it or to a folder that takes them, and the error says where.
        """
        try:
            if self._signature() != self._seen and self._seen is not None and self.path.exists():
                raise ResultFileError(f"{self.path} was changed by another process")
            results.save(self.path)
            self._seen = self._signature()
        except ResultFileError as error:
            raise ResultFileError(f"{error}; {self._rescue(results)}") from error

    def _rescue(self, results: Results) -> str:
        for folder in (self.path.parent, Path.cwd(), Path(tempfile.gettempdir())):
            place = folder / f"{self.path.stem}.rescued{self.path.suffix}"
            try:
                results.save(place)
            except OSError:
                continue
            return f"the work done is saved in {place}"
        kept = f"{self.path} keeps its last checkpoint" if self.path.exists() else "nothing could be saved"
        return f"no folder takes it: {kept}"
