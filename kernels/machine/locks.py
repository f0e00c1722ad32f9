"""Locks of open files between processes: of a kernel's entry in the cache, of a results file.  Loads no numba."""

from __future__ import annotations

import fcntl


def try_lock(handle: int) -> bool:
    """Lock an open file unless another has: whether it is ours now.  Raises OSError where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
