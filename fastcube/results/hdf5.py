"""Writing a whole HDF5 file: beside, fsynced, renamed; with the netCDF-4 conventions that xarray reads.

A SHA-256 of the image ends the file (``image.py`` reads it).  Readers of HDF5 ignore what stands behind the image.

Files are never changed in place: a kill during an in-place write leaves an unreadable file, a rename cannot.
Locking is off throughout, because with whole-file replacement nothing needs it and NFS without lockd refuses it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..errors import ResultFileError
from ..kernels.machine.locks import try_lock

#: Readable by HDF5 1.8 and later (h5dump, ncdump); "latest" would shut those out.
_NEW = {"libver": ("v108", "v108"), "track_order": True}

#: What ends a file: this, and the SHA-256 of all that stands before it, in hexadecimal.
TRAILER = b"\nfastcube sha256 "
TRAILER_SIZE = len(TRAILER) + 64

#: Arrays of more elements than this are stored compressed.
PACKED = 4096

#: Seconds after which the temporary of a writer that is gone may be removed.
STALE = 3600.0


class NetCDF:
    """A group of an HDF5 file under construction: dimensions with coordinates, and variables over them."""

    def __init__(self, group: h5py.Group, dimensions: list[str] | None = None) -> None:
        self.group = group
        self._order = [] if dimensions is None else dimensions
        self._scales: dict[str, h5py.Dataset] = {}

    def attributes(self, target: Any, **values: Any) -> None:
        """Set attributes; text as fixed-length UTF-8, which every netCDF reader shows as text."""
        for name, value in values.items():
            if isinstance(value, str):
                encoded = value.encode(errors="backslashreplace")
                target.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
            else:
                target.attrs[name] = value

    def _dataset(self, name: str, values: Any) -> h5py.Dataset:
        data = np.asarray(values)
        if data.dtype.kind in "UO":
            data = data.astype(object)
            return self.group.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), track_times=False)
        packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if data.size > PACKED else {}
        return self.group.create_dataset(name, data=data, track_times=False, **packed)

    def _scale(self, name: str, dataset: h5py.Dataset, label: str) -> None:
        dataset.make_scale(label)
        dataset.attrs["_Netcdf4Dimid"] = np.int32(len(self._order))
        self._order.append(name)
        self._scales[name] = dataset

    def coordinate(self, name: str, values: Any, **attributes: Any) -> None:
        """A dimension with its coordinate values."""
        dataset = self._dataset(name, values)
        self._scale(name, dataset, name)
        self.attributes(dataset, **attributes)

    def dimension(self, name: str, length: int) -> None:
        """A dimension without coordinate values."""
        dataset = self.group.create_dataset(name, shape=(length,), dtype=">f4", track_times=False)
        self._scale(name, dataset, f"This is a netCDF dimension but not a netCDF variable.{length:10d}")

    def variable(self, name: str, dimensions: Sequence[str], values: Any, **attributes: Any) -> None:
        """An array over dimensions made before."""
        dataset = self._dataset(name, values)
        for axis, dimension in enumerate(dimensions):
            dataset.dims[axis].attach_scale(self._scales[dimension])
        self.attributes(dataset, **attributes)

    def subgroup(self, name: str) -> NetCDF:
        """A group inside this one; dimensions are numbered on through the whole file."""
        return NetCDF(self.group.create_group(name, track_order=True), self._order)


def _prefix(path: Path) -> str:
    """How the names of a file's temporaries begin: short whatever its own, because file systems take 255 bytes."""
    return f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}.tmp."


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, int]]:
    """A new file beside ``path`` and its handle, locked as long as it is open; removed in the end unless it was renamed.

    The name is drawn and made by this call, so that no thread, process or container shares it, and nothing that is there
    already, a link least of all, is written to.  Raises OSError.
    """
    name = path.with_name(_prefix(path) + secrets.token_hex(8))
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
        for sibling in path.parent.iterdir():
            if sibling.name.startswith(_prefix(path)):
                with contextlib.suppress(OSError):  # another user's, or gone
                    _remove_if_stale(sibling)


def _remove_if_stale(temporary: Path) -> None:
    handle = os.open(temporary, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > STALE and try_lock(handle):
            temporary.unlink()
    finally:
        os.close(handle)


def check_writable(path: Path) -> None:
    """Make and remove a temporary as writing ``path`` will.  Raises OSError."""
    with _temporary(path) as (_, handle):
        _write_all(handle, TRAILER)


def _write_all(handle: int, *parts: bytes | memoryview) -> None:
    for part in parts:
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(handle, rest) :]


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[NetCDF]:
    """Build a file; on leaving without an error it replaces ``path`` in one step.  Raises ResultFileError.

    The old file stays as it was until then, and after any failure.  HDF5 builds the file in memory, so that the disk
    sees one sequential write, and a full disk is one plain OSError instead of a half-open HDF5 file.
    """
    try:
        memory = io.BytesIO()
        with h5py.File(memory, "w", **_NEW) as file:
            yield NetCDF(file)
        # the memory's own bytes, not copied; a view of it kept in an error's traceback makes Python 3.13 complain at the end
        image = memory.getvalue()
        replace_whole(path, image, TRAILER + hashlib.sha256(image).hexdigest().encode())
    except ResultFileError:
        raise
    except (OSError, RuntimeError) as error:  # h5py raises either
        raise ResultFileError(f"{path} cannot be written: {reason(error)}") from error


def replace_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Put these bytes in place of the file in one step; the old one stays after any failure.  Raises ResultFileError."""
    try:
        with _temporary(path) as (temporary, handle):
            _write_all(handle, *parts)
            os.fsync(handle)
            temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ResultFileError(f"{path} cannot be written: {reason(error)}") from error


def _sync_folder(folder: Path) -> None:
    """Make a rename durable.  Some network file systems cannot, and the file is whole either way: not an error."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def reason(error: BaseException) -> str:
    """The cause of a failed file operation in a few words."""
    number = getattr(error, "errno", None)
    if number is None and (match := re.search(r"errno = (\d+)", str(error))):
        number = int(match[1])
    if number == errno.ENOSPC:
        return "no space left on the disk"
    return os.strerror(number).lower() if number else " ".join(str(error).split())
