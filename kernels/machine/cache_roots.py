"""Folders for the user's caches, and the conditions for loading from them.  Does not import numba."""

import contextlib
import functools
import os
import stat
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path


def list_cache_roots() -> Iterator[Path]:
    """Yield the possible root folders of a cache, best first."""
    if named := os.environ.get("FASTCUBE_CACHE_DIR"):
        yield Path(named)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        yield Path(xdg) / "fastcube"
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / ".cache" / "fastcube"
    # The cache contains pickles, so in the temporary folder, which all users share, it has a subfolder owned by this user.
    with contextlib.suppress(OSError):  # no temporary folder either
        yield Path(tempfile.gettempdir()) / f"fastcube-{os.getuid()}"


def explain_distrust(path: Path, owners: Collection[int] | None = None) -> str | None:
    """Return why a file or folder must not be loaded; None if it may be.  Raises OSError if it does not exist.

    ``owners`` are the users whose files may be loaded, by default root, this user and the owner of site-packages.
    """
    owners = owners or trusted_owners()
    status = path.lstat()
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return "is a link or no folder"
    if status.st_uid not in owners:
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others (chmod go-w)"
    return None


def explain_unusable(folder: Path) -> str | None:
    """Return why a folder cannot be used for a cache; None if it can.  The folder is made if needed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (why := explain_distrust(folder, {os.getuid()})) is not None:
            return why
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _warn_refused(folder: Path, why: str) -> None:
    """Warn that a folder is not used although it could be written."""
    warn_once(f"compiled kernels are not kept in {folder}: it {why}")


@functools.cache
def choose_folder(tag: str) -> Path | None:
    """Return the folder ``tag`` of the first root that can be written, made if needed; None, with a warning, if none can be."""
    for named in list_cache_roots():
        root = Path(os.path.realpath(named))
        for folder in (root, root / tag):
            if (why := explain_unusable(folder)) is not None:
                with contextlib.suppress(OSError):  # no such folder, or one above it is closed to this user
                    if why.startswith(("is", "belongs", "can")) and explain_distrust(folder):
                        _warn_refused(folder, why)
                break
        else:
            return root / tag
    warn_once("no folder for compiled kernels can be written, each run compiles anew; set FASTCUBE_CACHE_DIR")
    return None


@functools.cache
def trusted_owners() -> frozenset[int]:
    """Return the ids of users whose files may be loaded: root, this user, and the owner of site-packages."""
    owners = {0, os.getuid()}
    with contextlib.suppress(OSError):
        owners.add(Path(sysconfig.get_path("purelib")).stat().st_uid)
    return frozenset(owners)


@functools.cache
def trusted_roots() -> tuple[Path, ...]:
    """Return the roots that entries may be loaded from without writing, in the order of search; includes the writable root."""
    named = [Path(place) for place in os.environ.get("FASTCUBE_CACHE_PATH", "").split(os.pathsep) if place]
    out = []
    for place in [*named, Path(sys.prefix) / "share" / "fastcube", *list_cache_roots()]:
        root = Path(os.path.realpath(place))
        with contextlib.suppress(OSError):  # there is no such folder
            if (why := explain_distrust(root)) is None:
                out.append(root)
            elif place in named:
                warn_once(f"compiled kernels are not loaded from {root}: it {why}")
    return tuple(dict.fromkeys(out))


@functools.cache  # once for each text
def warn_once(text: str) -> None:
    """Issue a RuntimeWarning with this text, once per process."""
    warnings.warn(text, RuntimeWarning, stacklevel=3)


def read_regular_file(path: Path) -> bytes:
    """Return the content of a regular file.  Raises OSError for any other file, because reading a FIFO would block for ever."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read()


def write_file(path: Path, content: bytes, mode: int) -> None:
    """Replace a file atomically.  Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            os.fchmod(handle, mode)
        os.replace(name, path)  # noqa: PTH105
    except BaseException:  # a full disk, or a signal
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108
        raise
