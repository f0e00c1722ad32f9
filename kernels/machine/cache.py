"""The cache of machine code: its folders, and the checks before an entry is loaded.

The name of an entry is a hash of the compiled functions and values (``content.py``), not of files on disk, which may change
while a process runs.  The name of its folder covers everything else that affects machine code, and nothing that does not: the
versions of Python (without the third number), numba, llvmlite and NumPy, some of numba's settings, and the processor.  Hence
all writers of one entry write the same code, and checkouts, installations and the nodes of a cluster share it.  For code from
outside this package the folder's name also contains a hash of its files, because numba lets files register functions that no
kernel refers to by name.

New entries go to the first usable root of ``$FASTCUBE_CACHE_DIR``, ``$XDG_CACHE_HOME/fastcube``, ``~/.cache/fastcube`` and the
temporary directory.  Entries are also loaded from read-only folders: those of ``$FASTCUBE_CACHE_PATH``, ``share/fastcube`` of the
installation, and roots that this process may not write to.

Blocks declared ``stored`` have entries of their own (``stored_blocks.py``), which kernels that are compiled later use.

Entries are pickles and machine code.  A flipped bit changes results, and whoever can write to the folder can run code as its
reader.  So every entry has a checksum file, which is verified before numba opens the entry.  No folder from the root down may be
a link or be writable by others.  A folder that is written must belong to the user.  A folder that is only read may also belong to
root or to the owner of site-packages, who could change fastcube itself.  Links in the root's own path are resolved first, because
caches are often links to scratch space.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

import fastcube.kernels

from .cache_roots import choose_folder, explain_distrust, read_regular_file, trusted_roots, warn_once, write_file
from .compiling import note_compilation
from .locks import try_lock
from .target import keep_code_features, read_target

#: Numba's settings that change machine code.  ``BOUNDSCHECK`` is None, 0 or 1, and 0 takes the checks out of users' functions
#: too.  With ``FULL_TRACEBACKS`` a failed check prints.  ``USING_SVML`` is what ``DISABLE_INTEL_SVML`` decides.  Settings of
#: the processor enter with its name and features.
CODE_SETTINGS = (
    *("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "DEBUG_JIT", "DEBUG_NRT", "EXTEND_VARIABLE_LIFETIMES", "FULL_TRACEBACKS"),
    *("LLVM_REFPRUNE_FLAGS", "LLVM_REFPRUNE_PASS", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE", "USING_SVML"),
    "USE_LEGACY_TYPE_SYSTEM",  # of some versions
)


def build_cache_tag() -> str:
    """Return the name of the cache folder: a hash of versions and numba's settings (however they were set), and the processor."""
    numba.config.reload_config()  # the environment may have changed since numba was imported; the compiler reads it again, too
    settings = [(name, repr(getattr(numba.config, name))) for name in CODE_SETTINGS if hasattr(numba.config, name)]
    cpu, features = read_target()
    whole = (llvmlite.__version__, np.__version__, keep_code_features(features), settings)
    digest = hashlib.sha256(repr(whole).encode(errors="surrogatepass")).hexdigest()[:16]
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{digest}-numba{numba.__version__}-py{python}-{cpu}"


def cache_folder() -> Path | None:
    """Return the folder for new machine code, made if needed; None if no root is writable."""
    return choose_folder(build_cache_tag())


def list_read_only_folders() -> list[Path]:
    """Return the folders besides ``cache_folder`` that may contain machine code for this process."""
    tag, own = build_cache_tag(), cache_folder()
    return [root / tag for root in trusted_roots() if root / tag != own and _is_open_folder(root / tag)]


def _is_open_folder(folder: Path) -> bool:
    """Whether there is a folder that this user may read.  If only the permission is missing, warn, once per process."""
    try:
        os.scandir(folder).close()
    except OSError as error:
        if isinstance(error, PermissionError):
            warn_once(f"compiled kernels are not loaded from {folder}: permission denied")
        return False
    return True


def _list_sources(code: Callable[..., Any]) -> list[Path] | None:
    """Return all Python files that a function from outside ``fastcube.kernels`` may depend on; None if it has no file.

    For a function in a package these are the package's files, otherwise those in the folder of its own file.
    """
    file = Path(code.__code__.co_filename)
    if not file.is_file():
        return None
    package = getattr(sys.modules.get(code.__module__), "__package__", "") or ""
    here = file.resolve()
    found = here.parents[package.count(".")].rglob("*.py") if package else here.parent.glob("*.py")
    return sorted(path for path in found if path.is_file())  # leave out folders and FIFOs with such a name


def code_subfolder(code: Callable[..., Any] | None) -> str | None:
    """Return the subfolder of a cache folder for kernels that contain ``code``: ``.`` for code of ``fastcube.kernels``.

    For other code the subfolder is named by a hash of its files; None if it has no files.
    """
    if code is None or str(code.__module__).startswith(fastcube.kernels.__name__ + "."):
        return "."
    if (sources := _list_sources(code)) is None:
        return None
    digest = hashlib.sha256()
    for path in sources:
        with contextlib.suppress(PermissionError):  # a colleague's file that this user cannot import either
            content = path.read_bytes()
            digest.update(str(path).encode(errors="surrogateescape") + b"\0" + content + b"\0")
    return f"code-{digest.hexdigest()[:16]}"


def list_entries(place: str) -> list[CacheEntry]:
    """Return the possible entries at a place, the writable folder's first."""
    own = cache_folder()
    entries = [] if own is None else [CacheEntry(own, place)]
    return entries + [CacheEntry(folder, place, writable=False) for folder in list_read_only_folders()]


#: Seconds between two attempts to take a lock that another process holds.
_LOCK_POLL = 0.05

#: Seconds to wait for another process that compiles.  The slowest kernel takes about 30 s of CPU, on a crowded machine ten
#: minutes, but a scheduler may suspend the process that compiles it for hours, and then it keeps its lock.
_LOCK_PATIENCE = 900.0


class CacheEntry:
    """The files of one kernel in the cache: an index, the machine code that it names, and their checksums.

    Parameters
    ----------
    folder : path
        The cache folder, named by ``build_cache_tag``.
    place : str
        Path of the entry's index file relative to ``folder``.
    writable : bool
        Whether this process may write and remove entries.
    """

    def __init__(self, folder: Path, place: str, writable: bool = True) -> None:
        self.folder, self.writable = folder, writable
        self.index = folder / place
        self.sums = self.index.with_suffix(".sha256")
        self.lost = self.index.with_suffix(".lost")  # see ``lost_time.py``

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Yield whether the entry may be loaded.  If not, hold its lock, after waiting for another process that compiles it.

        The operating system frees a lock when the process that holds it ends.  Where files cannot be locked, or if the other
        process is suspended, nothing is held.  Then two processes may compile the entry, and the last one to store it counts.
        Files of a damaged entry are removed, unless a suspended process may be storing them.
        """
        with contextlib.ExitStack() as held:
            stored = self.verify_checksums()
            if not stored and self.writable:
                may_remove = True
                try:
                    self.make_folders()
                    self._lock(held)
                except TimeoutError:
                    may_remove = False  # the suspended process may be storing these files
                except OSError:
                    pass
                stored = self.verify_checksums()
                if not stored and may_remove:
                    self._remove()
            yield stored

    def make_folders(self) -> None:
        """Make the folders of the entry, before numba makes them with the permissions of the user's umask.  Raises OSError."""
        for folder in self._folders():
            folder.mkdir(mode=0o700, exist_ok=True)

    def _folders(self) -> list[Path]:
        inside = self.index.parent.relative_to(self.folder).parts
        return [self.folder.joinpath(*inside[:i]) for i in range(len(inside) + 1)]

    def _lock(self, held: contextlib.ExitStack) -> None:
        """Lock this entry until ``held`` is closed, or wait until another process has stored it.

        Raises TimeoutError if it is neither locked nor stored after ``_LOCK_PATIENCE`` seconds.
        """
        lock = self.index.with_suffix(".lock")
        known, until = "", time.monotonic() + _LOCK_PATIENCE
        with contextlib.ExitStack() as waiting:
            while not self.verify_checksums():
                with contextlib.ExitStack() as opened:
                    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
                    opened.callback(os.close, handle)
                    if not try_lock(handle):
                        if time.monotonic() >= until:
                            raise TimeoutError(f"{lock} is locked")
                        holder = os.pread(handle, 200, 0).decode(errors="replace")
                        if holder and holder != known:
                            known = holder
                            waiting.close()
                            waiting.enter_context(note_compilation(self.index.stem.partition("-")[0], holder))
                    elif _is_file_at(handle, lock):  # if not, the process that held the lock has removed the file
                        os.ftruncate(handle, 0)
                        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
                        opened.callback(lock.unlink, missing_ok=True)
                        held.push(opened.pop_all())
                        return
                time.sleep(_LOCK_POLL)

    def _names(self) -> list[Path]:
        return [self.index, *sorted(self.index.parent.glob(f"{self.index.stem}.*.nbc"))]

    def _hash_files(self) -> dict[str, str]:
        return {path.name: hashlib.sha256(read_regular_file(path)).hexdigest() for path in self._names()}

    def _is_trusted(self) -> bool:
        """Whether only trusted users can have written the entry's folders, from the root down, and its files."""
        owners = {os.getuid()} if self.writable else None
        return all(explain_distrust(path, owners) is None for path in (*self._folders(), *self._names(), self.sums))

    def has_checksums(self) -> bool:
        """Whether the entry was stored, without a look at its content."""
        with contextlib.suppress(OSError):
            return self.sums.exists()
        return False

    def verify_checksums(self) -> bool:
        """Whether the entry is whole and may be loaded."""
        with contextlib.suppress(OSError, ValueError):  # also where its folder is closed to this user
            if self.index.exists() and self._is_trusted():
                return bool(json.loads(read_regular_file(self.sums)) == self._hash_files())
        return False

    def _remove(self) -> None:
        for path in (*self._names(), self.sums):
            with contextlib.suppress(OSError):
                path.unlink()

    def write_checksums(self) -> None:
        """Write the checksums of the files that numba has just stored."""
        with contextlib.suppress(OSError):
            sums = json.dumps(self._hash_files())  # raises OSError if another process replaces the files at this moment
            write_file(self.sums, sums.encode(), 0o600)

    def copy_into(self, root: Path) -> None:
        """Copy the entry to the cache below ``root``, readable by every user.  Raises OSError."""
        copy = CacheEntry(root / self.folder.name, str(self.index.relative_to(self.folder)))
        for folder in (root, *copy._folders()):
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                folder.chmod(0o755)  # independent of the umask
        for path in (*reversed(self._names()), self.sums):  # checksums last: an entry without checksums is not loaded
            write_file(copy.index.parent / path.name, read_regular_file(path), 0o644)


def _is_file_at(handle: int, path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
