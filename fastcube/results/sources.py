"""Hashes of the sources of a package, by which a worker, a cached verdict and a drawn figure know the code that made them."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

#: The folder of the package that runs.
PACKAGE = Path(__file__).resolve().parents[1]

#: State of a package's files: relative path, size, two times of change, and inode of each.
SourceState = tuple[tuple[str, int, int, int, int], ...]


class SourceTree:
    """The sources and data, ``.py`` and ``.json``, below the folder of a package.

    Parameters
    ----------
    folder : Path
        The folder of the package.  Links are followed.
    presentation : iterable of str
        Folders below it that can change the appearance of results but not their content.
    """

    def __init__(self, folder: Path, presentation: Iterable[str] = ()) -> None:
        self.folder = folder
        self._presentation = tuple(f"{name}/" for name in presentation)

    def _read_state(self) -> SourceState:
        """Return the present state of the files, in order of their paths."""
        found = []
        for place, folders, files in os.walk(self.folder, followlinks=True):
            inside = Path(place).relative_to(self.folder)
            folders[:] = [f for f in folders if f != "__pycache__"]
            for name in files:
                if name.endswith((".py", ".json")):
                    # with the time of the inode's last change, which `touch` and `git checkout` cannot set back
                    status = os.stat(f"{place}/{name}")  # noqa: PTH116
                    path = (inside / name).as_posix()
                    found.append((path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
        return tuple(sorted(found))

    @functools.cached_property
    def _hashed_files(self) -> tuple[SourceState, dict[str, str]]:
        """The state of the files before they were read, and the hash of each; computed once."""
        state = self._read_state()
        return state, {path: hashlib.sha256((self.folder / path).read_bytes()).hexdigest() for path, *_ in state}

    def hash(self, *, looks: bool) -> str:
        """Return a hash of the files; with ``looks`` also of those that only change the appearance."""
        _, hashes = self._hashed_files
        counted = [pair for pair in hashes.items() if looks or not pair[0].startswith(self._presentation)]
        return hashlib.sha256(repr(counted).encode(errors="surrogatepass")).hexdigest()[:16]

    def has_changed(self) -> bool:
        """Whether a file was changed since the first hash.

        If not, every module that this process or its children have imported since then has the hashed source.  An edit that
        was undone counts as a change, because a module may have been imported in between.
        """
        state, _ = self._hashed_files
        try:
            return self._read_state() != state
        except OSError:  # a file disappeared while the files were listed
            return True


#: The sources of fastcube.
ENGINE = SourceTree(PACKAGE, ("plot", "cli"))
