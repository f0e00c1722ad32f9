"""Write whole HDF5 files, with the netCDF-4 conventions that xarray reads.

A file is written under a temporary name in the same folder, synced, and renamed.  It ends in a SHA-256 of the HDF5 image before
it, which readers of HDF5 ignore (``untrusted_hdf5.py`` checks it).

Files are never changed in place: a kill during an in-place write leaves an unreadable file, a rename cannot.
HDF5's file locking is off, because replacing whole files does not need it, and NFS without lockd refuses it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import itertools
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ResultFileError
from ..kernels.machine.locks import try_lock
from .lock import NO_LOCKS, hidden_sibling

if TYPE_CHECKING:
    import h5py

#: Format readable by HDF5 1.8 and later (h5dump, ncdump), which "latest" is not.
_CREATE_OPTIONS = {"libver": ("v108", "v108"), "track_order": True}

#: The end of a file: this text, and the SHA-256 of everything before it, in hexadecimal.
TRAILER = b"\nfastcube sha256 "
TRAILER_SIZE = len(TRAILER) + 64

#: Arrays with more elements are stored compressed.
MIN_COMPRESSED_SIZE = 4096

#: Age in seconds at which a temporary file may be removed on a file system without locks; writing takes far less.
STALE_SECONDS = 3600.0

#: The extended attribute that holds a POSIX access list.
_ACCESS_LIST = "system.posix_acl_access"

#: Names of the dimensions, values, and attributes of a variable.
Variable = tuple[tuple[str, ...], Any, dict[str, Any]]


@dataclass
class Group:
    """The content of a group: attributes, dimensions without coordinate values by their lengths, coordinates, variables."""

    attributes: dict[str, Any] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)
    coordinates: dict[str, Variable] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)


def set_attributes(target: Any, values: Mapping[str, Any]) -> None:
    """Set attributes, with text as fixed-length UTF-8, which every netCDF reader shows as text."""
    import h5py  # not at the top: the figures of studies use this package, and listing studies must not need h5py

    for name, value in values.items():
        if isinstance(value, str):
            encoded = value.encode(errors="backslashreplace")
            target.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
        else:
            target.attrs[name] = value


def _write_group(target: h5py.Group, group: Group, numbers: Iterator[int]) -> None:
    """Write a group with netCDF dimensions, whose numbers are unique in the file."""
    scales: dict[str, h5py.Dataset] = {}

    def write_scale(name: str, dataset: h5py.Dataset, label: str) -> None:
        dataset.make_scale(label)
        dataset.attrs["_Netcdf4Dimid"] = np.int32(next(numbers))
        scales[name] = dataset

    set_attributes(target, group.attributes)
    for name, length in group.dimensions.items():
        dataset = target.create_dataset(name, shape=(length,), dtype=">f4", track_times=False)
        write_scale(name, dataset, f"This is a netCDF dimension but not a netCDF variable.{length:10d}")
    for name, (dimensions, values, attributes) in (group.coordinates | group.variables).items():
        dataset = _create_dataset(target, name, values)
        if name in group.coordinates:
            write_scale(name, dataset, name)
        else:
            for axis, dimension in enumerate(dimensions):
                dataset.dims[axis].attach_scale(scales[dimension])
        set_attributes(dataset, attributes)


def _create_dataset(target: h5py.Group, name: str, values: Any) -> h5py.Dataset:
    """Write one text, a column of texts or an array of numbers, in the form that all known readers take."""
    import h5py

    # ASCII, of fixed length: Octave reads no other text.  The NUL at its end: netCDF 4.9.0 reads beyond a text without one
    if isinstance(values, str):
        values = values.encode("ascii")
        return target.create_dataset(
            name, data=values, dtype=h5py.string_dtype("ascii", len(values) + 1), track_times=False
        )
    data = np.asarray(values)
    # variable length, because netCDF 4.9.0 crashes on arrays of fixed-length texts
    if data.dtype.kind in "UO":
        data = data.astype(object)
        return target.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), track_times=False)
    packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if data.size > MIN_COMPRESSED_SIZE else {}
    return target.create_dataset(name, data=data, track_times=False, **packed)


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
        _write_all(handle, TRAILER)


def _write_all(handle: int, *parts: bytes | memoryview) -> None:
    """Write all bytes, also if the system takes only some of them at a time.  Raises OSError."""
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(handle, rest) :]


def build_image(groups: Mapping[str, Group]) -> bytes:
    """Return the bytes of an HDF5 file of these groups, ``/`` the root."""
    import h5py

    memory, numbers = io.BytesIO(), itertools.count()
    with h5py.File(memory, "w", **_CREATE_OPTIONS) as file:
        for name, group in groups.items():
            _write_group(file if name == "/" else file.create_group(name, track_order=True), group, numbers)
    # bytes, not a view: a view that an error's traceback keeps alive makes Python 3.13 complain at exit
    return memory.getvalue()


def write_file(path: Path, groups: Mapping[str, Group]) -> None:
    """Write a file of these groups, ``/`` the root, and replace ``path`` in one step.  Raises ResultFileError.

    Until then, and after any failure, the old file is unchanged.  HDF5 builds the file in memory, so the disk gets one
    sequential write, and a full disk is a simple OSError instead of a half-open HDF5 file.
    """
    try:
        image = build_image(groups)
    except (OSError, RuntimeError) as error:  # h5py raises either
        raise ResultFileError(f"{path} cannot be written: {error_reason(error)}") from error
    replace_file(path, image, TRAILER + hashlib.sha256(image).hexdigest().encode())


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
