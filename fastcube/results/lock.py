"""Let only one process write a file at a time, by an advisory lock file, held while the file is checked and replaced.

The operating system releases the lock of a process that dies, on NFS the server does (lockd).  On a file system without locks
the file is written without; then two runs whose checkpoints end in the same millisecond may interfere.
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

#: Longest wait for another writer, in seconds; a writer holds the lock for one write of the file.
LOCK_TIMEOUT = 20.0

#: Error numbers of a file system without locks.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

#: Flags for opening a lock file: no link is followed, and a FIFO under its name does not block.
_OPEN_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def hidden_sibling(path: Path, ending: str) -> Path:
    """Return the name of a hidden file next to ``path``; a hash in place of its name keeps it below the limit of 255 bytes."""
    return path.parent / f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.{ending}"


@contextlib.contextmanager
def hold_lock(path: Path, patience: float = LOCK_TIMEOUT, kind: str = "lock", group: str = "") -> Iterator[None]:
    """Hold the lock of ``path``, or a lock of another ``kind``, the ending of its file; ``group`` is added to the signature.

    Raises OSError if the folder is not writable, PermissionError if another user's lock file cannot be opened, and TimeoutError
    after ``patience`` seconds.  The messages give the lock file's name, and the last one who held it.
    """
    name = hidden_sibling(path, kind)
    handle = _acquire_lock(name, patience)
    try:
        with contextlib.suppress(OSError):  # a lock file that is only readable keeps its old signature
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}{group}".encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            name.unlink()
        os.close(handle)


def _open_lock_file(name: Path) -> int:
    """Open the lock file, creating it if necessary; a lock file that is not writable is opened for reading."""
    try:
        return os.open(name, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, 0o666)
    except PermissionError as refused:
        try:
            return os.open(name, os.O_RDONLY | _OPEN_FLAGS)
        except FileNotFoundError:  # the folder is not writable
            raise refused from None
        except PermissionError:
            raise _unwritable_error(name) from None


def _unwritable_error(name: Path) -> PermissionError:
    """Return the error for a lock file of another user, who does not let us open it."""
    return PermissionError(
        f"its lock {name} is closed to us: it can be removed when no run of its owner "
        f"(user {name.lstat().st_uid}) writes here"
    )


def _acquire_lock(name: Path, patience: float) -> int:
    """Return the handle of the lock file once its lock is ours; without a lock on a file system that has none.

    Raises OSError, and TimeoutError after ``patience`` seconds.
    """
    until = time.monotonic() + patience
    while True:
        handle = _open_lock_file(name)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise PermissionError(f"its lock {name} is not a regular file")
            # a colleague could give the lock's name to another file of ours, which signing would empty
            if status.st_nlink > 1:
                raise PermissionError(f"its lock {name} is a hard link")
            is_ours = try_lock(handle)
            # the previous holder removes the name when it releases: the held file must still be the file of this name
            with contextlib.suppress(FileNotFoundError):
                if is_ours and os.fstat(handle).st_ino == name.stat().st_ino:
                    return handle
            signed = plain_text(os.pread(handle, 200, 0).decode(errors="replace")) or "nobody"
        except OSError as error:
            if error.errno in NO_LOCKS:
                return handle
            os.close(handle)
            if error.errno == errno.EBADF:  # on NFS a write lock needs a file opened for writing
                raise _unwritable_error(name) from None
            raise
        os.close(handle)
        if not is_ours:
            if time.monotonic() >= until:
                raise TimeoutError(f"another process is writing it (lock {name}, last signed by {signed})")
            time.sleep(0.005)
