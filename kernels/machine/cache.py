"""Where machine code is cached, and what is checked before any of it is loaded.

Numba's own cache answers with old code when a callee in another file was edited, and two processes that
store different signatures or CPU types under one index can swap machine code.  So the cache folder's name
carries a hash of all kernel sources, numba's version, Python's version and the CPU; every kernel has one
signature, hence all writers of an entry write the same thing.  The root is the first usable one of
``$FASTCUBE_CACHE_DIR``, ``$XDG_CACHE_HOME/fastcube``, ``~/.cache/fastcube`` and the temporary directory.

Entries are pickles and machine code: a flipped bit in one gives other numbers, and whoever can write to the folder can
run code as its reader.  So every entry has a checksum beside it, verified before numba opens it, and every folder from
the root down must be ours, no link, and not writable by others (the root's own path is resolved first: caches are
often links to scratch).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np

import fastcube.kernels

from .locks import try_lock


def _build_cache_tag() -> str:
    """Name what machine code depends on besides what it is made of (``content.py``): compiler, interpreter, CPU."""
    digest = hashlib.sha256()
    digest.update(f"{llvmlite.__version__} {np.__version__}\0".encode())
    cpu = os.environ.get("NUMBA_CPU_NAME") or llvmlite.binding.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES") or llvmlite.binding.get_host_cpu_features().flatten()
    digest.update(features.encode())
    for name in sorted(os.environ):
        if name.startswith("NUMBA_") and name not in {
            "NUMBA_CACHE_DIR",
            "NUMBA_NUM_THREADS",
        }:  # may change machine code
            digest.update(f"{name}={os.environ[name]}\0".encode())
    return f"{digest.hexdigest()[:16]}-numba{numba.__version__}-py{platform.python_version()}-{cpu}"


def list_cache_roots() -> Iterator[Path]:
    """Where the folder of a cache may be, best first."""
    if named := os.environ.get("FASTCUBE_CACHE_DIR"):
        yield Path(named)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        yield Path(xdg) / "fastcube"
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / ".cache" / "fastcube"
    # the cache holds pickles: in a folder that all users share, ours has a name and an owner of its own
    with contextlib.suppress(OSError):  # no temporary folder either
        yield Path(tempfile.gettempdir()) / f"fastcube-{os.getuid()}"


def explain_unusable(folder: Path) -> str | None:
    """Why a folder may not hold what is loaded again, made if need be; None when it may."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return "is a link or no folder"
        if status.st_uid != os.getuid():
            return "belongs to another user"
        if status.st_mode & 0o022:
            return "can be written by others"
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _warn_refused(folder: Path, why: str) -> None:
    warn_once(f"compiled kernels are not kept in {folder}: it {why}")


@functools.cache
def cache_folder() -> Path | None:
    """Folder of this version's machine code, made if need be; None when no root is writable."""
    tag = _build_cache_tag()
    for named in list_cache_roots():
        root = Path(os.path.realpath(named))
        for folder in (root, root / tag):
            if (why := explain_unusable(folder)) is not None:
                if folder.exists() and why.startswith(("is", "belongs", "can")):
                    _warn_refused(folder, why)
                break
        else:
            return root / tag
    warn_once("no folder for compiled kernels can be written, each run compiles anew; set FASTCUBE_CACHE_DIR")
    return None


@functools.cache  # once each
def warn_once(text: str) -> None:
    """Say something once."""
    warnings.warn(text, RuntimeWarning, stacklevel=3)


def _list_sources(code: Callable[..., Any]) -> list[Path] | None:
    """All files that a function from outside of this package may be made of; None when it has no file.

    Of a function in a package all of that package's, else the files beside its own.
    """
    file = Path(code.__code__.co_filename)
    if not file.is_file():
        return None
    package = getattr(sys.modules.get(code.__module__), "__package__", "") or ""
    here = file.resolve()
    found = here.parents[package.count(".")].rglob("*.py") if package else here.parent.glob("*.py")
    return sorted(path for path in found if path.is_file())  # no folder, no FIFO of such a name


def folder_of(code: Callable[..., Any] | None) -> Path | None:
    """Where machine code that holds this function is cached: with ours, or in a folder named by the hash of its sources."""
    folder = cache_folder()
    if code is None or folder is None or code.__module__.startswith(fastcube.kernels.__name__ + "."):
        return folder
    if (sources := _list_sources(code)) is None:
        return None
    digest = hashlib.sha256()
    for path in sources:
        digest.update(str(path).encode(errors="surrogateescape") + b"\0" + path.read_bytes() + b"\0")
    own = folder / f"code-{digest.hexdigest()[:16]}"
    if (why := explain_unusable(own)) is not None:
        _warn_refused(own, why)
        return None
    return own


def _read_regular_file(path: Path) -> bytes:
    """The bytes of a regular file: a FIFO in its place would keep its reader waiting for ever.  Raises OSError."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read()


#: Seconds that a process waits for another to compile the same kernel; none takes half as long, and then it compiles by itself.
LOCK_TIMEOUT = 120


class CacheEntry:
    """What numba keeps of one kernel: an index and the machine code it names, with their checksums beside them.

    Parameters
    ----------
    index : path
        Numba's index file of the function; the machine code's files start with the same name.
    """

    def __init__(self, index: Path) -> None:
        self.index = index
        with contextlib.suppress(OSError):  # before numba makes it, with whatever rights the user's habits give
            index.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.sums = index.with_suffix(".sha256")

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Wait while another process compiles this kernel, then keep others from it; not where files cannot be locked."""
        if self.sums.exists():  # there is no need to: it is stored
            yield
            return
        lock = self.index.with_suffix(".lock")
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError):
                handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
                held.callback(os.close, handle)
                held.callback(lock.unlink, missing_ok=True)
                until = time.monotonic() + LOCK_TIMEOUT
                while not try_lock(handle) and time.monotonic() < until:
                    time.sleep(0.02)
            yield

    def _names(self) -> list[Path]:
        return [self.index, *sorted(self.index.parent.glob(f"{self.index.stem}.*.nbc"))]

    def _hash_files(self) -> dict[str, str]:
        return {path.name: hashlib.sha256(_read_regular_file(path)).hexdigest() for path in self._names()}

    def verify_checksums(self) -> bool:
        """Whether there is an entry that may be loaded.  What is wrong is removed, so that it is compiled anew."""
        if not self.index.exists():
            return False
        with contextlib.suppress(OSError, ValueError):
            if (
                explain_unusable(self.index.parent) is None
                and json.loads(_read_regular_file(self.sums)) == self._hash_files()
            ):
                return True
        for path in (*self._names(), self.sums):
            with contextlib.suppress(OSError):
                path.unlink()
        return False

    def write_checksums(self) -> None:
        """Write the checksums of what numba has just stored."""
        with contextlib.suppress(OSError):
            sums = json.dumps(self._hash_files())  # another process may just be replacing them
            handle, name = tempfile.mkstemp(dir=self.index.parent, prefix=".sum")
            with os.fdopen(handle, "w") as file:
                file.write(sums)
            os.replace(name, self.sums)  # noqa: PTH105
