"""One writer at a time for a file: an advisory lock beside it, held for the moment of looking and replacing.

The kernel drops the lock of a process that dies.  On NFS it is the server's (lockd); a file system that knows no locks
is written without, and then two runs that finish a checkpoint within the same millisecond could still meet.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

#: Longest wait for another writer, seconds; what it holds the lock for is one write of the file.
PATIENCE = 60.0

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


@contextlib.contextmanager
def exclusive(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of ``path``.  Raises OSError where its folder cannot be written, TimeoutError past ``patience``."""
    name = path.with_name(f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.lock")
    handle = _acquired(name, patience)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            name.unlink()
        os.close(handle)


def _acquired(name: Path, patience: float) -> int:
    until = time.monotonic() + patience
    while True:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return handle
            os.close(handle)
            if not isinstance(error, BlockingIOError):
                raise
        else:
            # the one before us removes the name as it lets go: what we hold must be what the name means now
            with contextlib.suppress(OSError):
                if os.fstat(handle).st_ino == name.stat().st_ino:
                    return handle
            os.close(handle)
            continue
        if time.monotonic() >= until:
            raise TimeoutError(errno.ETIMEDOUT, "another process is writing it")
        time.sleep(0.005)
