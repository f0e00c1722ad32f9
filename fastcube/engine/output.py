"""The file a run writes to: checked before work begins, resumed from, replaced whole, rescued when it cannot be."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from ..errors import ResultFileError, StudyMismatchError
from .hdf5 import reason, remove_stale
from .reading import open_results
from .results import Results


class OutputFile:
    """A results file of one run.  A symbolic link stays one: what it points to is replaced.

    Raises ResultFileError at once when it is no regular file, is write-protected, or its folder does not exist or
    cannot be written.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)  # noqa: PTH114
        self._rescued: Path | None = None
        folder = self.path.parent
        try:
            if not folder.is_dir():
                raise ResultFileError(f"output folder {folder} does not exist")
            if self.path.is_dir():
                raise ResultFileError(f"output {self.path} is a folder")
            if self.path.exists():
                if not self.path.is_file():
                    raise ResultFileError(f"output {self.path} is not a regular file")
                if not os.access(self.path, os.W_OK):  # replacing would need no permission of the file itself
                    raise ResultFileError(f"output {self.path} is write-protected")
            with tempfile.TemporaryFile(dir=folder):
                pass
        except ResultFileError:
            raise
        except OSError as error:
            raise ResultFileError(f"output folder {folder} cannot be written: {reason(error)}") from error
        remove_stale(self.path)
        self._seen = self._signature()

    def _signature(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            status = self.path.stat()
            return status.st_ino, status.st_mtime_ns, status.st_size
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
        """Replace the file.  When that fails the results go beside it or elsewhere, and the ResultFileError says where."""
        try:
            if self._signature() not in (None, self._seen):
                raise ResultFileError(f"{self.path} was changed by another process")
            results.save(self.path)
            self._seen = self._signature()
        except ResultFileError as error:
            raise ResultFileError(f"{error}; {self._rescue(results)}") from error

    def _rescue(self, results: Results) -> str:
        for place in self._refuges():
            try:
                results.save(place)
            except OSError:
                continue
            self._rescued = place
            return f"the work done is saved in {place}"
        kept = f"{self.path} keeps its last checkpoint" if self.path.exists() else "nothing could be saved"
        return f"no folder takes it: {kept}"

    def _refuges(self) -> Iterator[Path]:
        """Where to save instead, best first: never over what another run rescued."""
        if self._rescued is not None:
            yield self._rescued
        stem, suffix = self.path.stem, self.path.suffix
        for folder in (str(self.path.parent), ".", tempfile.gettempdir()):
            names = (Path(folder, f"{stem}.rescued{f'-{i}' if i else ''}{suffix}").absolute() for i in count())
            with contextlib.suppress(OSError):  # a current folder that was removed
                yield next(name for name in names if not name.exists())
