"""The output file of a run: checked before work begins, resumed, replaced whole, and saved elsewhere if it cannot be written."""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from ..errors import ParameterError, ResultFileError, StudyError, StudyMismatchError, plain_text
from .file_rights import copy_rights, owner_and_mode
from .lock import hidden_sibling, hold_lock
from .reading import is_results_file, open_results
from .replacement import check_writable, error_reason, remove_stale
from .results import Results

#: Longest wait for a claim in seconds, in which the process that holds it signs it.
_CLAIM_TIMEOUT = 1.0


class OutputFile:
    """The results file of one run.  If it is a symbolic link, its target is replaced and the link stays.

    Raises ResultFileError at once if it is not a regular file, cannot be read, is write-protected, or its folder does not exist
    or is not writable.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)  # noqa: PTH114
        self._rescued: Path | None = None
        self._note = hidden_sibling(self.path, "idle")  # exists if the last run ended without a finished trial
        folder = self.path.parent
        try:
            if not folder.is_dir():
                raise ResultFileError(f"output folder {folder} does not exist")
            if self.path.is_dir():
                raise ResultFileError(f"output {self.path} is a folder")
            if self.path.exists():
                if not self.path.is_file():
                    raise ResultFileError(f"output {self.path} is not a regular file")
                if not os.access(self.path, os.R_OK):
                    raise ResultFileError(f"output {self.path} cannot be read: {owner_and_mode(self.path)}")
                if os.statvfs(self.path).f_flag & os.ST_RDONLY:
                    raise ResultFileError(f"output {self.path} is on a file system that is mounted read-only")
                if not os.access(self.path, os.W_OK):  # replacing would need no permission of the file itself
                    raise ResultFileError(f"output {self.path} is write-protected: {owner_and_mode(self.path)}")
            check_writable(self.path)
        except ResultFileError:
            raise
        except OSError as error:
            raise ResultFileError(f"output folder {folder} cannot be written: {error_reason(error)}") from error
        remove_stale(self.path)
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # survives renaming the folder
        weakref.finalize(self, os.close, self._folder)
        self._seen = self._signature()

    def _signature(self) -> tuple[int, int, int] | None:
        """Return inode, time of change and size, which change whenever a process replaces the file; None without a file."""
        with contextlib.suppress(OSError):
            status = self.path.stat()
            return status.st_ino, status.st_mtime_ns, status.st_size
        return None

    def resume(self, fresh: Results, force: bool) -> Results:
        """Return the results in the file, which must be of the same study and seed, or ``fresh`` if it has no trials.

        With ``force`` return ``fresh``.  The file will then be replaced; it must be empty or hold results of any study.

        A file without trials may be of any study.  Raises StudyMismatchError for a file of another study or seed,
        ResultFileError for any other file.
        """
        if not self.path.exists():
            return fresh
        if force:
            if not is_results_file(self.path):
                raise ResultFileError(f"output {self.path} is not a fastcube results file: nothing replaces it")
            return fresh
        held = open_results(self.path)
        if not held.trials:
            return fresh
        try:
            fresh.check_same_study(held, "this run", str(self.path))
        except StudyMismatchError as error:
            raise StudyMismatchError(f"{error}; use another output, or remove that file") from None
        held.study = fresh.study
        return held

    def save(self, results: Results) -> None:
        """Replace the file.  If this fails, save the results elsewhere, and raise ResultFileError with the place.

        Changes by another process are never overwritten: checking and writing happen under one lock.  Raises StudyError, and
        saves nothing, if the counts are impossible.
        """
        try:
            with hold_lock(self.path):
                if self._signature() not in (None, self._seen):
                    raise ResultFileError(f"{self.path} was changed by another process")
                results.save(self.path)
                self._seen = self._signature()
                self._note.unlink(missing_ok=True)
        except StudyError:  # its counts are impossible, and no reader would take them from another place either
            raise
        except ResultFileError as error:
            raise ResultFileError(f"{error}; {self._rescue_results(results)}") from error
        except Exception as error:  # whatever the error, the results must be saved somewhere
            if isinstance(error, MemoryError):
                reason = "not enough memory"
            elif isinstance(error, OSError):
                reason = error_reason(error)
            else:
                reason = f"{type(error).__name__}: {plain_text(str(error))}"
            raise ResultFileError(
                f"{self.path} cannot be written: {reason}; {self._rescue_results(results)}"
            ) from error

    @contextlib.contextmanager
    def claim(self, group: str) -> Iterator[None]:
        """Hold the output for one process of a group, unless ``group`` is empty: the others would count the same trials.

        Raises ParameterError if another process of the group holds it.
        """
        with contextlib.ExitStack() as held:
            if group:
                try:
                    held.enter_context(hold_lock(self.path, _CLAIM_TIMEOUT, "claim", f" of {group}"))
                except OSError as error:  # saving reports a folder that cannot be written
                    if f" of {group})" in str(error):
                        raise ParameterError(
                            f"shard and output must differ between tasks, got {self.path} of another task of {group}"
                        ) from None
            yield

    def note_idle_run(self) -> bool:
        """Record that a run of this output ended without a finished trial; return whether the previous run did too."""
        with contextlib.suppress(OSError):
            try:
                os.close(os.open(self._note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            except FileExistsError:
                self._note.unlink()
                return True
        return False

    def _rescue_results(self, results: Results) -> str:
        """Save the results at the first place that takes them, and return a text that names it."""
        for place in self._rescue_paths():
            try:
                results.save(place)
            except Exception:  # whatever the error, the next place may work
                with contextlib.suppress(OSError):  # remove the empty file that reserved the name
                    if place != self._rescued and place.stat().st_size == 0:
                        place.unlink()
                continue
            self._rescued = place
            return f"the work done is saved in {place}"
        kept = f"{self.path} keeps its last checkpoint" if self.path.exists() else "nothing could be saved"
        return f"no folder takes it: {kept}"

    def _rescue_paths(self) -> Iterator[Path]:
        """Yield paths where the results can be saved instead, best first, never over results that another run saved."""
        if self._rescued is not None:
            yield self._rescued
        stem, suffix = self.path.stem, self.path.suffix
        tried_folders = set()
        for named in (str(self.path.parent), f"/proc/self/fd/{self._folder}", ".", tempfile.gettempdir()):
            with contextlib.suppress(OSError):  # the folder was removed, or is not writable
                folder = Path(named).resolve(strict=True)
                if folder not in tried_folders:
                    tried_folders.add(folder)
                    names = (_rescue_name(folder, stem, i, suffix) for i in count())
                    yield next(name for name in names if _reserve_name(name, self.path))


def _rescue_name(folder: Path, stem: str, i: int, suffix: str) -> Path:
    """Return ``r.rescued.h5``, ``r.rescued-1.h5``, ...; a long stem is cut so that the name has at most 255 bytes."""
    end = f".rescued{f'-{i}' if i else ''}{suffix}"
    most = 255 - len(os.fsencode(end))
    return folder / (os.fsencode(stem)[:most].decode(errors="ignore") + end)


def _reserve_name(name: Path, path: Path) -> bool:
    """Create an empty file with the rights of ``path``, and return whether the name was free.  Raises OSError."""
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if path.exists() else 0o666)
    except FileExistsError:
        return False
    try:
        copy_rights(path, handle)
    finally:
        os.close(handle)
    return True
