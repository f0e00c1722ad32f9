"""A whole HDF5 file at a time: written beside, fsynced, renamed; with the netCDF-4 conventions that xarray reads.

Files are never changed in place: a kill during an in-place write leaves an unreadable file, a rename cannot.
Locking is off throughout, because with whole-file replacement nothing needs it and NFS without lockd refuses it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..errors import FastcubeError, ResultFileError

#: Readable by HDF5 1.8 and later (h5dump, ncdump); "latest" would shut those out.
_NEW = {"libver": ("v108", "v108"), "track_order": True}

#: Before HDF5 2 the image of a file in memory has cleared flags but the old checksum: it cannot be read.
_IMAGES_ARE_WHOLE = h5py.version.hdf5_version_tuple >= (2,)


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
                encoded = value.encode()
                target.attrs.create(name, np.array(encoded), dtype=h5py.string_dtype("utf-8", max(1, len(encoded))))
            else:
                target.attrs[name] = value

    def _dataset(self, name: str, values: Any) -> h5py.Dataset:
        data = np.asarray(values)
        if data.dtype.kind in "UO":
            data = data.astype(object)
            return self.group.create_dataset(name, data=data, dtype=h5py.string_dtype("utf-8"), track_times=False)
        packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True} if data.size > 4096 else {}
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


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}.tmp.{socket.gethostname()}.{os.getpid()}")


def remove_stale(path: Path) -> None:
    """Delete temporary files that writers of ``path`` on this host left behind when they were killed."""
    pattern = re.compile(re.escape(f"{path.name}.tmp.{socket.gethostname()}.") + r"(\d+)$")
    with contextlib.suppress(OSError):
        for sibling in path.parent.iterdir():
            if (match := pattern.match(sibling.name)) and not Path(f"/proc/{match[1]}").exists():
                sibling.unlink(missing_ok=True)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[NetCDF]:
    """Build a file; on leaving without an error it replaces ``path`` in one step.  Raises ResultFileError.

    The old file stays as it was until then, and after any failure.  HDF5 builds the file in memory, so that the disk
    sees one sequential write, and a full disk is one plain OSError instead of a half-open HDF5 file.
    """
    temporary = _temporary(path)
    try:
        if _IMAGES_ARE_WHOLE:
            with h5py.File(path.name, "w", driver="core", backing_store=False, **_NEW) as file:
                yield NetCDF(file)
                file.flush()
                image = file.id.get_file_image()
        else:
            memory = io.BytesIO()
            with h5py.File(memory, "w", **_NEW) as file:
                yield NetCDF(file)
            image = memory.getvalue()
        with temporary.open("wb") as raw:
            raw.write(image)
            raw.flush()
            os.fsync(raw.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except (OSError, RuntimeError) as error:  # h5py raises either
        raise ResultFileError(f"{path} cannot be written: {reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


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


@contextlib.contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open a file for reading.

    Raises ResultFileError for one that is missing, truncated or no HDF5, and for whatever goes wrong while the
    caller reads a damaged one.
    """
    if not path.exists():
        raise ResultFileError(f"{path} does not exist")
    if path.is_dir():
        raise ResultFileError(f"{path} is a folder, not a results file")
    try:
        file = h5py.File(path, "r", locking=False)
    except OSError as error:
        text = str(error)
        if "truncated file" in text:
            raise ResultFileError(f"{path} is truncated: not a whole HDF5 file") from error
        if "file signature not found" in text or path.stat().st_size == 0:
            raise ResultFileError(f"{path} is not an HDF5 file") from error
        raise ResultFileError(f"{path} cannot be read: {reason(error)}") from error
    with file:
        try:
            yield file
        except FastcubeError:
            raise
        except (LookupError, OSError, RuntimeError, TypeError, ValueError) as error:  # h5py's, by what is damaged
            raise ResultFileError(f"{path} is damaged: {' '.join(str(error).split())}") from error
