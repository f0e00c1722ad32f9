"""Locks on open files between processes, for cache entries and results files.  Does not import numba."""

import fcntl


def try_lock(handle: int) -> bool:
    """Try to lock an open file; return whether this process has the lock.  Raises OSError if the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
