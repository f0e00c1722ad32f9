"""Copy owner, group, mode and access list from a file to its replacement, and name them in messages."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

#: The extended attribute that holds a POSIX access list.
_ACCESS_LIST = "system.posix_acl_access"


def copy_rights(source: Path, handle: int) -> None:
    """Give an open file the owner, group, mode and access list of ``source``, as far as the user may.

    If the group cannot be set, the user's own group stays, with no more rights than all other users have.  If ``source`` does
    not exist, the file keeps the rights that the umask allows.
    """
    with contextlib.suppress(OSError):
        old, new = source.stat(), os.fstat(handle)
        mode = stat.S_IMODE(old.st_mode)
        if old.st_uid != new.st_uid:
            with contextlib.suppress(PermissionError):
                os.fchown(handle, old.st_uid, -1)
        if old.st_gid != new.st_gid:
            try:
                os.fchown(handle, -1, old.st_gid)
            except PermissionError:
                mode &= ~0o070 | (mode & 0o007) << 3
        _copy_access_list(source, handle, has_group=os.fstat(handle).st_gid == old.st_gid)
        os.fchmod(handle, mode)


def _copy_access_list(source: Path, handle: int, has_group: bool) -> None:
    """Copy a POSIX access list; if there is none, or the group differs, remove the list inherited from the folder."""
    if not hasattr(os, "getxattr"):
        return
    try:
        access_list = os.getxattr(source, _ACCESS_LIST) if has_group else None
    except OSError:  # no list, or a file system without access lists
        access_list = None
    with contextlib.suppress(OSError):
        if access_list is None:
            os.removexattr(handle, _ACCESS_LIST)
        else:
            os.setxattr(handle, _ACCESS_LIST, access_list)


def owner_and_mode(path: str | Path) -> str:
    """Return owner and mode of a file: ``it belongs to alice, mode 0640``; empty if they are not available."""
    try:
        status = Path(path).stat()
    except (OSError, TypeError):
        return ""
    try:
        owner = Path(path).owner()
    except (KeyError, OSError):  # a user without a name, as in a container
        owner = f"user {status.st_uid}"
    return f"it belongs to {owner}, mode {stat.S_IMODE(status.st_mode):04o}"
