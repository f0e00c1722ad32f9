"""One writer at a time for a file: an advisory lock beside it, held for the moment of looking and replacing.

The kernel drops the lock of a process that dies.  On NFS it is the server's (lockd); a file system that knows no locks
is written without, and then two runs that finish a checkpoint within the same millisecond could still meet.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import plain_text
from ..kernels.machine.locks import try_lock

#: Longest wait for another writer, seconds; what it holds the lock for is one write of the file.
LOCK_TIMEOUT = 20.0

#: Errors of a file system without locks.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

#: A lock's own file is opened so: no link is followed, and a FIFO in its place keeps nobody waiting.
_OPEN_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def hidden_sibling(path: Path, what: str) -> Path:
    """A hidden file of ours beside another: its name is short whatever the other's, because file systems take 255 bytes."""
    return path.parent / f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.{what}"


@contextlib.contextmanager
def hold_lock(path: Path, patience: float = LOCK_TIMEOUT) -> Iterator[None]:
    """Hold the lock of ``path``.

    Raises OSError where its folder cannot be written, PermissionError with the lock's name where another user's lock is closed to
    us, TimeoutError past ``patience``, with its name and who signed it last.
    """
    name = hidden_sibling(path, "lock")
    handle = _acquire_lock(name, patience)
    try:
        with contextlib.suppress(OSError):  # one that we may only read keeps its signature
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            name.unlink()
        os.close(handle)


def _open_lock_file(name: Path) -> int:
    """The lock's file, made if need be; one that its maker left behind and we may not write is opened to be read."""
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, 0o666)
    except PermissionError as refused:
        try:
            return os.open(name, os.O_RDONLY | _OPEN_FLAGS)
        except FileNotFoundError:  # it is the folder that we may not write
            raise refused from None
        except PermissionError:
            raise _is_unwritable(name) from None


def _is_unwritable(name: Path) -> PermissionError:
    return PermissionError(
        f"its lock {name} is closed to us: it can be removed when no run of its owner "
        f"(user {name.lstat().st_uid}) writes here"
    )


def _acquire_lock(name: Path, patience: float) -> int:
    until = time.monotonic() + patience
    while True:
        handle = _open_lock_file(name)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise PermissionError(f"its lock {name} is not a regular file")
            ours = try_lock(handle)
            # the one before us removes the name as it lets go: what we hold must be what the name means now
            with contextlib.suppress(FileNotFoundError):
                if ours and os.fstat(handle).st_ino == name.stat().st_ino:
                    return handle
            signed = plain_text(os.pread(handle, 200, 0).decode(errors="replace")) or "nobody"
        except OSError as error:
            if error.errno in NO_LOCKS:
                return handle
            os.close(handle)
            if error.errno == errno.EBADF:  # NFS locks for writing only what may be written
                raise _is_unwritable(name) from None
            raise
        os.close(handle)
        if not ours:
            if time.monotonic() >= until:
                raise TimeoutError(f"another process is writing it (lock {name}, last signed by {signed})")
            time.sleep(0.005)
