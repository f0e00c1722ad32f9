"""Writing a whole HDF5 file: beside, fsynced, renamed; with the netCDF-4 conventions that xarray reads.

A SHA-256 of the image ends the file (``untrusted_hdf5.py`` reads it).  Readers of HDF5 ignore what stands behind the image.

Files are never changed in place: a kill during an in-place write leaves an unreadable file, a rename cannot.
Locking is off throughout, because with whole-file replacement nothing needs it and NFS without lockd refuses it.
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
from typing import Any

import h5py
import numpy as np

from ..errors import ResultFileError
from ..kernels.machine.locks import try_lock
from .lock import hidden_sibling

#: Readable by HDF5 1.8 and later (h5dump, ncdump); "latest" would shut those out.
_CREATE_OPTIONS = {"libver": ("v108", "v108"), "track_order": True}

#: What ends a file: this, and the SHA-256 of all that stands before it, in hexadecimal.
TRAILER = b"\nfastcube sha256 "
TRAILER_SIZE = len(TRAILER) + 64

#: Arrays of more elements than this are stored compressed.
MIN_COMPRESSED_SIZE = 4096

#: Seconds after which the temporary of a writer that is gone may be removed.
STALE_SECONDS = 3600.0


#: Values with the dimensions that they are over, and their attributes.
Variable = tuple[tuple[str, ...], Any, dict[str, Any]]


@dataclass
class Group:
    """What a group of a file holds: attributes, dimensions, those without coordinate values by their lengths, and variables."""

    attributes: dict[str, Any] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)
    coordinates: dict[str, Variable] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)


def set_attributes(target: Any, values: Mapping[str, Any]) -> None:
    """Set attributes; text as fixed-length UTF-8, which every netCDF reader shows as text."""
    for name, value in values.items():
        if isinstance(value, str):
            encoded = value.encode(errors="backslashreplace")
            target.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
        else:
            target.attrs[name] = value


def _write_group(target: h5py.Group, group: Group, numbers: Iterator[int]) -> None:
    """Write a group with netCDF's dimensions, which are numbered through the whole file."""
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
    data = np.asarray(values)
    if data.dtype.kind in "UO":
        data = data.astype(object)
        return target.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), track_times=False)
    packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if data.size > MIN_COMPRESSED_SIZE else {}
    return target.create_dataset(name, data=data, track_times=False, **packed)


@contextlib.contextmanager
def _open_temporary(path: Path) -> Iterator[tuple[Path, int]]:
    """A new file beside ``path`` and its handle, locked as long as it is open; removed in the end unless it was renamed.

    The name is drawn and made by this call, so that no thread, process or container shares it, and nothing that is there
    already, a link least of all, is written to.  Raises OSError.
    """
    name = hidden_sibling(path, f"tmp.{secrets.token_hex(8)}")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: its age alone protects it
            try_lock(handle)
        yield name, handle
    finally:
        os.close(handle)
        with contextlib.suppress(OSError):
            name.unlink(missing_ok=True)


def remove_stale(path: Path) -> None:
    """Delete the temporaries of ``path`` that killed writers left: old ones whose lock is free, whatever host they were on."""
    with contextlib.suppress(OSError):
        begin = hidden_sibling(path, "tmp.").name
        for sibling in path.parent.iterdir():
            if sibling.name.startswith(begin):
                with contextlib.suppress(OSError):  # another user's, or gone
                    _remove_if_stale(sibling)


def _remove_if_stale(temporary: Path) -> None:
    handle = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > STALE_SECONDS and try_lock(handle):
            temporary.unlink()
    finally:
        os.close(handle)


def check_writable(path: Path) -> None:
    """Make and remove a temporary as writing ``path`` will.  Raises OSError."""
    with _open_temporary(path) as (_, handle):
        _write_all(handle, TRAILER)


def _write_all(handle: int, *parts: bytes | memoryview) -> None:
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(handle, rest) :]


def write_file(path: Path, groups: Mapping[str, Group]) -> None:
    """Write a file of these groups, ``/`` the root, and replace ``path`` in one step.  Raises ResultFileError.

    The old file stays as it was until then, and after any failure.  HDF5 builds the file in memory, so that the disk
    sees one sequential write, and a full disk is one plain OSError instead of a half-open HDF5 file.
    """
    try:
        memory, numbers = io.BytesIO(), itertools.count()
        with h5py.File(memory, "w", **_CREATE_OPTIONS) as file:
            for name, group in groups.items():
                _write_group(file if name == "/" else file.create_group(name, track_order=True), group, numbers)
        # the memory's own bytes, not copied; a view of it kept in an error's traceback makes Python 3.13 complain at the end
        image = memory.getvalue()
    except (OSError, RuntimeError) as error:  # h5py raises either
        raise ResultFileError(f"{path} cannot be written: {error_reason(error)}") from error
    replace_file(path, image, TRAILER + hashlib.sha256(image).hexdigest().encode())


def replace_file(path: Path, *parts: bytes | memoryview) -> None:
    """Put these bytes in place of the file in one step; the old one stays after any failure.  Raises ResultFileError."""
    try:
        with _open_temporary(path) as (temporary, handle):
            _write_all(handle, *parts)
            os.fsync(handle)
            temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultFileError(f"{path} cannot be written: {error_reason(error)}") from error


def _sync_folder(folder: Path) -> None:
    """Make a rename durable.  Some network file systems cannot, and the file is whole either way: not an error."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def error_reason(error: BaseException) -> str:
    """The cause of a failed file operation in a few words."""
    number = getattr(error, "errno", None)
    if number is None and (match := re.search(r"errno = (\d+)", str(error))):
        number = int(match[1])
    if number == errno.ENOSPC:
        return "no space left on the disk"
    return os.strerror(number).lower() if number else " ".join(str(error).split())
