"""Replace whole files in one step, so that a kill or a full disk never leaves a part of a file.

The new content is written to a temporary file in the same folder, synced, and renamed.  Files are never changed in place: a kill
during an in-place write leaves an unreadable file, a rename cannot.  A writer holds a lock on its temporary file, so a temporary
file whose lock is free was left by a killed writer, and ``remove_stale`` deletes it.  It treats in the same way the lock file by
which a run claims a results file for itself, its claim (``output.py``).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ..errors import ResultFileError
from ..kernels.machine.locks import try_lock
from .file_rights import copy_rights, owner_and_mode
from .lock import NO_LOCKS, hidden_sibling

#: Age in seconds at which a temporary file may be removed on a file system without locks; writing takes far less.
STALE_SECONDS = 3600.0


def replace_file(path: Path, *parts: bytes | memoryview) -> None:
    """Replace the file by these bytes in one step.  After a failure the old file is unchanged.  Raises ResultFileError."""
    try:
        try:
            _write_and_rename(path, *parts)
        except FileNotFoundError:  # locks may be valid on one host only, and another host removed the temporary file
            _write_and_rename(path, *parts)
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultFileError(f"{path} cannot be written: {error_reason(error)}") from error


def _write_and_rename(path: Path, *parts: bytes | memoryview) -> None:
    """Write a temporary file, sync it, and give it the name ``path``.  Raises OSError."""
    with _open_temporary(path) as (temporary, handle):
        _write_all(handle, *parts)
        os.fsync(handle)
        temporary.replace(path)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable.  Some network file systems cannot do it; the file is whole anyway, so this is no error."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _open_temporary(path: Path) -> Iterator[tuple[Path, int]]:
    """Create a temporary file in the folder of ``path``, and yield its name and handle; it is locked while it is open.

    At the end the file is removed, unless it was renamed.  It gets the rights of ``path`` before its first byte is written.
    Its random name is created by this call alone, so no other thread, process or container uses the same file, and no existing
    file or link is ever written to.  Raises OSError.
    """
    name, handle = _create_locked_temporary(path)
    try:
        copy_rights(path, handle)
        yield name, handle
    finally:
        os.close(handle)
        with contextlib.suppress(OSError):
            name.unlink(missing_ok=True)


def _create_locked_temporary(path: Path) -> tuple[Path, int]:
    """Return the name and the handle of a new temporary file, locked if the file system has locks.  Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = hidden_sibling(path, f"tmp.{secrets.token_hex(8)}")
        handle = os.open(name, flags, 0o600 if path.exists() else 0o666)
        try:
            # another process may take an unlocked temporary file for a dead writer's, and remove it before it is locked
            if try_lock(handle) and os.fstat(handle).st_nlink:
                return name, handle
        except OSError:  # no locks on this file system; then no process removes the file within an hour
            return name, handle
        os.close(handle)


def remove_stale(path: Path) -> None:
    """Delete the temporary files and the claim of ``path`` that killed writers left on any host: files with a free lock.

    Without locks it is unknown whether a writer lives, so a temporary file is deleted an hour after its last change.
    """
    with contextlib.suppress(OSError):
        begin = hidden_sibling(path, "tmp.").name, hidden_sibling(path, "claim").name
        with os.scandir(path.parent) as siblings:
            for name in [sibling.name for sibling in siblings if sibling.name.startswith(begin)]:
                with contextlib.suppress(OSError):  # it belongs to another user, or is already gone
                    _remove_if_stale(path.parent / name)


def _remove_if_stale(temporary: Path) -> None:
    """Delete one file of ``remove_stale`` unless its writer may live.  Raises OSError."""
    handle = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return
        try:
            is_stale = try_lock(handle)
        except OSError as error:
            is_stale = error.errno in NO_LOCKS and time.time() - status.st_mtime > STALE_SECONDS
        if is_stale:
            temporary.unlink()
    finally:
        os.close(handle)


def check_writable(path: Path) -> None:
    """Create and remove a temporary file, as writing ``path`` would.  Raises OSError if writing would fail."""
    with _open_temporary(path) as (_, handle):
        _write_all(handle, b"fastcube")  # a full disk may have space for an empty file only


def _write_all(handle: int, *parts: bytes | memoryview) -> None:
    """Write all bytes, also if the system takes only some of them at a time.  Raises OSError."""
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(handle, rest) :]


def error_reason(error: BaseException) -> str:
    """Return the cause of a failed file operation in a few words."""
    number = getattr(error, "errno", None)
    if number is None and (match := re.search(r"errno = (\d+)", str(error))):
        number = int(match[1])
    if number == errno.ENOSPC:
        return "no space left on the disk"
    if number == errno.EACCES and (name := getattr(error, "filename", None)) and (owner := owner_and_mode(name)):
        return f"permission denied ({owner})"
    return os.strerror(number).lower() if number else " ".join(str(error).split())
